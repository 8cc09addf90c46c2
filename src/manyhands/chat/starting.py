"""Which messages start a run. Pure, and the same for every platform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from manyhands.chat.mentions import mentions_hub
from manyhands.chat.platforms import LOCAL
from manyhands.chat.types import Channel, Message

DEEPEST = 8
"""An agent may start an agent that starts an agent; so many of them, and then a person has to."""


@dataclass(frozen=True, slots=True)
class Start:
    """What comes of a message, and why."""

    does: Literal["joins", "runs", "nothing"]
    reason: str


def decide_start(channel: Channel, message: Message, own_run_in: str | None) -> Start:
    """`own_run_in`: the channel where the run of the agent that wrote it goes on, if it does one.

    A person's message may join a run that is going on. That of an agent or a schedule never does: it would
    speak with what the person has allowed to that run.
    """
    meant = mentions_hub(message.mentions)
    if message.speaker == "person":
        if meant or channel.platform == LOCAL:
            return Start("joins", "a person said it here" if not meant else "it mentions the hub")
        return Start("nothing", "it does not mention the hub")
    if message.speaker == "schedule":
        return Start("runs", "its time has come")
    if channel.id == own_run_in:
        return Start("nothing", "an agent's message starts nothing in the channel of its own run")
    return Start("runs", "it mentions the hub") if meant else Start("nothing", "it does not mention the hub")
