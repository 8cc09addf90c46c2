"""What one run of the command line knows: which home, and the hub's API, opened when it is first needed."""

from __future__ import annotations

from manyhands.cli.client import Address, Api, HttpApi, find_daemon
from manyhands.cli.output import note
from manyhands.cli.progress import Progress
from manyhands.errors import UnavailableError
from manyhands.home import Home, find_home


class Session:
    """The home that was chosen and the way to its hub."""

    def __init__(self) -> None:
        self.home_option: str | None = None
        self._api: Api | None = None

    @property
    def home(self) -> Home:
        return find_home(self.home_option)

    @property
    def api(self) -> Api:
        """The running daemon, else the hub in this process."""
        if self._api is None:
            self._api = self.daemon() or self._in_process()
        return self._api

    def daemon(self) -> Api | None:
        """The running daemon, or nothing."""
        address = find_daemon(self.home)
        if address is None:
            return None
        api = HttpApi(address)
        return api if address.chosen or _answers(api, address) else None

    def required_daemon(self) -> Api:
        """The running daemon; being without one is an error."""
        api = self.daemon()
        if api is None:
            raise UnavailableError(
                f"No daemon is running for {self.home.path}.", hint="Start it with `manyhands up`."
            )
        return api

    def _in_process(self) -> Api:
        from manyhands.cli.inprocess import InProcessApi

        note("no daemon is running: doing it in this process (`manyhands up` starts one)")
        with Progress("starting the hub"):
            return InProcessApi.start(self.home)

    def close(self) -> None:
        """Let go of the hub; without a daemon its servers end here."""
        if self._api is not None:
            api, self._api = self._api, None
            if api.is_daemon:
                return
            with Progress("ending servers"):
                api.close()


def _answers(api: HttpApi, address: Address) -> bool:
    """Whether someone listens there: a daemon that is going down has left its note but serves no more."""
    import socket
    from urllib.parse import urlsplit

    parts = urlsplit(address.url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=2):
            return True
    except OSError:
        return False
