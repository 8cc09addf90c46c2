"""The part of a channel's conversation that the model of a run reads."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from manyhands.chat import message_store, run_store
from manyhands.chat.recovery import since_summary
from manyhands.chat.types import Message, Run

HISTORY = 400
"""Messages of the conversation that are read back; older ones have been summed up or do not matter."""


def select_history(conn: Connection, run: Run, before: str | None = None) -> Sequence[Message]:
    """What was said in the channel, and then the run's own messages, up to the one with the id `before`.

    A run that waited its turn reads what the runs before it said, though its prompt was sent earlier; prompts
    of runs that still wait are not shown to it.
    """
    own = [message for message in message_store.select_of_run(conn, run.id) if _is_before(message, before)]
    reply = next((message.id for message in own if message.role == "assistant"), before)
    waiting = run_store.select_waiting(conn, run.channel_id)
    earlier = [
        message
        for message in message_store.select_conversation(conn, run.channel_id, HISTORY)
        if message.run_id not in (run.id, *waiting) and _is_before(message, reply)
    ]
    return since_summary([*earlier, *own])


def _is_before(message: Message, border: str | None) -> bool:
    return border is None or message.id < border
