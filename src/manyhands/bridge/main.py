"""The entry of the bridge: from the options to the end of its parent.

Nothing but the standard library and this package is imported here, so that a client's `initialize` is
answered at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence

from manyhands.bridge.journal import Journal
from manyhands.bridge.options import Options, parse
from manyhands.bridge.relay import Relay
from manyhands.bridge.upstream import Upstream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, NoReturn

DRAIN_S = 2.0
PARENT_LOOK_S = 1.0


class Bridge:
    """One client on stdio, one daemon."""

    def __init__(self, options: Options, version: str, reads: IO[bytes], writes: IO[bytes]) -> None:
        self._options = options
        self._reads = reads
        self._writes = writes
        self._writing = threading.Lock()
        self._is_broken = False
        self._journal = Journal(options.log_file)
        self._upstream = Upstream(options, self._journal)
        agent = options.agent_id is not None
        self._relay = Relay(self._upstream, self._write, self._journal, version, agent=agent)

    def run(self) -> None:
        """Serve until the client is gone."""
        self._journal.write(f"started for {self._options.channel_id or self._options.directory}")
        try:
            self._start_agent()
            while not self._is_broken and (line := self._reads.readline()):
                if line.strip():
                    self._relay.take(line)
            if not self._is_broken:
                self._upstream.wait_at_most(DRAIN_S / 2)  # else its absence would not be said in time
                self._relay.drain(DRAIN_S)
        finally:
            self._end()

    def _start_agent(self) -> None:
        if self._options.agent_id is None:
            return
        from manyhands.bridge.agent import AgentLine

        line = AgentLine(self._options.agent_id, self._upstream, self._relay, self._journal)
        threading.Thread(target=line.run, name="agent", daemon=True).start()

    def _write(self, data: bytes) -> None:
        try:
            with self._writing:
                self._writes.write(data + b"\n")
                self._writes.flush()
        except (OSError, ValueError):  # the client is gone; the next line read will be the end
            self._is_broken = True

    def _end(self) -> None:
        self._upstream.is_closing = True
        self._relay.close()
        self._upstream.say_goodbye(self._options.agent_id)
        self._journal.write("ended")


def main(arguments: Sequence[str], version: str) -> NoReturn:
    """Run the bridge on this process's own stdio. `UsageError` before anything has happened."""
    run(parse(arguments), version)


def run(options: Options, version: str) -> NoReturn:
    """The same, from options."""
    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, _stop)
    code = 0
    try:
        _watch_parent()
        bridge = Bridge(options, version, sys.stdin.buffer, sys.stdout.buffer)
        bridge.run()
    except KeyboardInterrupt:
        code = 130
    # Threads that read from sockets for ever must not hold up the end.
    os._exit(code)


def _stop(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _watch_parent() -> None:
    """End with whoever started us, also when somebody else holds the other end of stdin."""
    parent = os.getppid()

    def watch() -> None:
        import time

        while os.getppid() == parent:
            time.sleep(PARENT_LOOK_S)
        os.kill(os.getpid(), signal.SIGTERM)

    if hasattr(os, "getppid") and os.name == "posix":
        threading.Thread(target=watch, name="parent", daemon=True).start()
