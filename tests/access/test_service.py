"""Limited tokens: shown once, kept as a hash, good for one channel, revoked at once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from manyhands.access import store as rows
from manyhands.access.service import AccessService
from manyhands.access.types import TOKEN_MARK, Grant, Principal
from manyhands.chat.service import ChannelService
from manyhands.chat.types import Channel
from manyhands.errors import InvalidError, NotFoundError
from manyhands.events import EventBus
from manyhands.store.engine import Store
from manyhands.testing.clock import FakeClock

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def channels(store: Store, bus: EventBus, clock: FakeClock) -> ChannelService:
    return ChannelService(store, bus, clock)


@pytest.fixture
def access(store: Store, clock: FakeClock) -> AccessService:
    return AccessService(store, clock)


@pytest.fixture
async def channel(channels: ChannelService, tmp_path: Path) -> Channel:
    return (await channels.find_or_create(dir_path=str(tmp_path)))[0]


async def test_a_token_says_for_whom_it_speaks(access: AccessService, channel: Channel) -> None:
    grant = Grant(channel.id, agent_id="builder", author_id="ann", flags=frozenset({"gateway"}))
    token = await access.issue(grant)
    assert token.startswith(TOKEN_MARK)
    who = await access.who(token)
    assert who is not None
    assert (who.kind, who.channel_id, who.project) == ("agent", channel.id, channel.dir_path)
    assert (who.agent_id, who.author, who.flags) == ("builder", "ann", frozenset({"gateway"}))


async def test_only_a_hash_of_the_token_is_kept(
    access: AccessService, store: Store, channel: Channel
) -> None:
    token = await access.issue(Grant(channel.id))
    kept = (await store.read(lambda conn: rows.select_tokens(conn, 10, None)))[0]
    assert token not in repr(kept)
    assert token not in repr(kept.wire())


async def test_an_unknown_token_is_nobodys(access: AccessService) -> None:
    assert await access.who("anything") is None
    assert await access.who(TOKEN_MARK + "anything") is None


async def test_a_revoked_token_is_nobodys_at_once(access: AccessService, channel: Channel) -> None:
    secret, token = await access.issue_token(Grant(channel.id))
    assert await access.who(secret) is not None
    assert await access.revoke(token.id)
    assert await access.who(secret) is None
    assert not await access.revoke(token.id)


async def test_all_tokens_of_a_channel_are_revoked_together(access: AccessService, channel: Channel) -> None:
    secrets = [await access.issue(Grant(channel.id)) for _ in range(3)]
    assert [await access.who(secret) is None for secret in secrets] == [False] * 3
    assert await access.revoke_of_channel(channel.id) == 3
    assert [await access.who(secret) is None for secret in secrets] == [True] * 3


async def test_a_token_goes_with_its_channel(
    access: AccessService, channels: ChannelService, channel: Channel
) -> None:
    secret = await access.issue(Grant(channel.id))
    await channels.delete(channel.id)
    assert await access.who(secret) is None


async def test_a_token_is_over_when_its_time_is(
    access: AccessService, channel: Channel, clock: FakeClock
) -> None:
    secret = await access.issue(Grant(channel.id, expires_at=clock.now() + timedelta(seconds=60)))
    assert await access.who(secret) is not None
    clock.advance(61)
    assert await access.who(secret) is None
    await access.issue(Grant(channel.id))
    assert len((await access.list()).items) == 1, "what is over is not kept"


async def test_a_token_for_no_channel_is_refused(access: AccessService) -> None:
    with pytest.raises(NotFoundError):
        await access.issue(Grant("ch_none"))


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201])
async def test_a_name_that_cannot_be_shown_is_refused(
    access: AccessService, channel: Channel, name: str
) -> None:
    with pytest.raises(InvalidError):
        await access.issue(Grant(channel.id, author_id=name))


# --- scope


async def test_a_scope_holds_the_channels_of_its_project_and_nothing_else(
    access: AccessService, channels: ChannelService, channel: Channel, tmp_path: Path
) -> None:
    thread = await channels.create_thread(channel.id, "a thread")
    below = await channels.create_thread(thread.id, "below it")
    made = await channels.create("made by an agent")
    await access.adopt(made.id, thread.id)
    (tmp_path / "other").mkdir()
    other, _ = await channels.find_or_create(dir_path=str(tmp_path / "other"))
    free = await channels.create("free")
    inside = [channel.id, thread.id, below.id, made.id]
    for own in inside:
        scope = access.scope_of(Principal("tok", "agent", own), channels)
        assert await scope.visible() == frozenset(inside)
        assert (await scope.channel()).id == own
        for one in inside:
            assert (await scope.channel(one)).id == one
        for one in (other.id, free.id, "ch_none"):
            with pytest.raises(NotFoundError, match="There is no channel"):
                await scope.channel(one)


async def test_what_is_not_there_and_what_is_anothers_look_the_same(
    access: AccessService, channels: ChannelService, channel: Channel
) -> None:
    secret = await channels.create("secret")
    scope = access.scope_of(Principal("tok", "agent", channel.id), channels)
    said = []
    for one in (secret.id, "ch_none"):
        with pytest.raises(NotFoundError) as refusal:
            await scope.channel(one)
        said.append(str(refusal.value).replace(one, "ID"))
    assert said[0] == said[1]


async def test_the_owner_who_names_no_channel_sees_all_and_has_none_of_its_own(
    access: AccessService, channels: ChannelService, channel: Channel
) -> None:
    scope = access.scope_of(Principal(), channels)
    assert await scope.visible() is None
    assert (await scope.channel(channel.id)).id == channel.id
    with pytest.raises(InvalidError, match="X-Manyhands-Channel"):
        await scope.channel()
