"""Limited tokens: issued for one channel, recognised, revoked. Only their hashes are kept.

What a token's holder may touch is decided in `scope.py`; at which doors it is taken is the API's business.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from manyhands.access import store as rows
from manyhands.access.scope import Channels, Scope
from manyhands.access.types import TOKEN_MARK, Grant, Principal, Token
from manyhands.clock import Clock
from manyhands.errors import InvalidError, NotFoundError
from manyhands.ids import new_id
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.store.engine import Store

REMEMBERED = 4096
NAME_LIMIT = 200


class AccessService:
    """The use cases of limited tokens."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: OrderedDict[str, Token] = OrderedDict()

    async def issue(self, grant: Grant) -> str:
        """A new token for this grant; it is shown this once."""
        return (await self.issue_token(grant))[0]

    async def issue_token(self, grant: Grant) -> tuple[str, Token]:
        """The same, with what is kept of it."""
        _check_name("agent_id", grant.agent_id)
        _check_name("author_id", grant.author_id)
        secret = TOKEN_MARK + secrets.token_urlsafe(32)
        now = self._clock.now()

        def work(conn: Connection) -> Token:
            rows.delete_expired(conn, now)
            root = rows.find_root(conn, grant.channel_id)
            if root is None:
                raise NotFoundError(
                    f"There is no channel {grant.channel_id!r}.", hint="`manyhands channels list` shows them."
                )
            token = _make_token(grant, _hash(secret), root[1], now)
            rows.insert_token(conn, token)
            return token

        return secret, await self._store.write(work)

    async def who(self, token: str) -> Principal | None:
        """Whose token this is; nothing when it is unknown, revoked or over."""
        if not token.startswith(TOKEN_MARK):
            return None
        digest = _hash(token)
        found = self._known.get(digest) or await self._look_up(digest)
        if found is None:
            return None
        if found.expires_at is not None and found.expires_at <= self._clock.now():
            self._known.pop(digest, None)
            return None
        return found.principal

    async def _look_up(self, digest: str) -> Token | None:
        found = await self._store.read(lambda conn: rows.find_token(conn, digest))
        if found is not None:
            self._known[digest] = found
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return found

    async def list(self, limit: int = DEFAULT_LIMIT, cursor: str | None = None) -> Page[Token]:
        """Every token that holds, newest first."""
        found = await self._store.read(lambda conn: rows.select_tokens(conn, limit + 1, cursor))
        items, more = cut_page(found, limit)
        return Page(items, items[-1].id if more else None)

    async def revoke(self, token_id: str) -> bool:
        """It is good for nothing from now on; whether there was one."""
        self._forget(lambda token: token.id == token_id)
        return bool(await self._store.write(lambda conn: rows.delete_token(conn, token_id)))

    async def revoke_of_channel(self, channel_id: str) -> int:
        """Every token of a channel; how many there were."""
        self._forget(lambda token: token.channel_id == channel_id)
        return await self._store.write(lambda conn: rows.delete_of_channel(conn, channel_id))

    def forget(self) -> None:
        """Look tokens up anew: a channel went, and with it those of its threads."""
        self._known.clear()

    def _forget(self, wanted: Callable[[Token], bool]) -> None:
        for digest in [digest for digest, token in self._known.items() if wanted(token)]:
            del self._known[digest]

    # --- scope

    def scope_of(self, principal: Principal, channels: Channels) -> Scope:
        """What it may touch."""
        return Scope(principal, channels, self)

    async def family(self, channel_id: str) -> frozenset[str]:
        """The channels of the same project."""
        return await self._store.read(lambda conn: rows.select_family(conn, channel_id))

    async def same_family(self, one: str, other: str) -> bool:
        """Whether two channels belong to one project."""

        def work(conn: Connection) -> bool:
            first, second = rows.find_root(conn, one), rows.find_root(conn, other)
            if first is None or second is None:
                return False
            return first[0] == second[0] or (first[1] is not None and first[1] == second[1])

        return one == other or await self._store.read(work)

    async def adopt(self, channel_id: str, origin_id: str) -> None:
        """A free channel that was made from another one belongs to that one's project."""
        await self._store.write(lambda conn: rows.insert_origin(conn, channel_id, origin_id))


def _make_token(grant: Grant, digest: str, project: str | None, now: datetime) -> Token:
    return Token(
        id=new_id("tok"),
        hash=digest,
        channel_id=grant.channel_id,
        project=project,
        agent_id=grant.agent_id,
        author_id=grant.author_id,
        flags=grant.flags,
        created_at=now,
        expires_at=grant.expires_at,
    )


def _check_name(field: str, value: str | None) -> None:
    if value is None:
        return
    if not value.strip() or len(value) > NAME_LIMIT or not value.isprintable():
        raise InvalidError(
            f"The {field} is empty, longer than {NAME_LIMIT} characters or holds control characters.",
            hint="Give a short name.",
        )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
