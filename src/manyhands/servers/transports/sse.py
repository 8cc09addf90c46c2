"""The SSE transport of the 2024-11-05 revision: one event stream down, one POST a message up.

Used as `Client(SseTransport(url, ...))`. Not the SDK's: there one failed POST ends the writing side, and an
event over 1 MiB cannot be received.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, cast

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest

from manyhands.errors import NeedsAuthError, UnavailableError
from manyhands.servers.transports.frames import Malformed, parse_line
from manyhands.servers.transports.http_client import IsolatingClient, shown_url
from manyhands.servers.transports.pending import WatchedRead, WatchedWrite
from manyhands.servers.transports.remote import RemoteTransport
from manyhands.servers.transports.types import BAD_ANSWER, FRAME_TOO_LARGE, TRANSPORT_FAILED

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_MOST_POSTS = 64
_MOST_REDIRECTS = 5

_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing = MemoryObjectReceiveStream[SessionMessage]
_Events = AsyncIterator[httpx2.ServerSentEvent]


def _same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    return (one.scheme, one.netloc) == (other.scheme, other.netloc)


class SseTransport(RemoteTransport):
    """A session over one event stream and a POST for each message."""

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[TransportStreams]:
        async with self._client() as client, self._event_stream(client) as events:
            endpoint = await self._endpoint(events)
            incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
            async with incoming, read, write, outgoing, anyio.create_task_group() as tasks:
                tasks.start_soon(self._receive, events, incoming)
                tasks.start_soon(self._post_all, client, endpoint, outgoing, incoming)
                yield WatchedRead(read, self._pending, self.closed.set), WatchedWrite(write, self._pending)
                tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def _event_stream(self, client: IsolatingClient) -> AsyncIterator[_Events]:
        response = await self._opened(client)
        try:
            if self.unauthorized:
                raise NeedsAuthError(f"The server wants a sign-in (HTTP {response.status_code}).")
            if response.status_code != 200:
                raise self._unreachable(f"HTTP {response.status_code}")
            events = aiter(httpx2.EventSource(response, max_event_size=self._max_frame))
            async with aclosing(cast("AsyncGenerator[httpx2.ServerSentEvent, None]", events)):
                yield events
        finally:
            await response.aclose()

    async def _opened(self, client: IsolatingClient) -> httpx2.Response:
        """The event stream's response; redirects are followed as long as they stay at its origin."""
        headers = {"accept": "text/event-stream", "cache-control": "no-store"}
        request = client.build_request("GET", self._url, headers=headers)
        try:
            for _ in range(_MOST_REDIRECTS):
                response = await client.send(request, stream=True, follow_redirects=False)
                following = response.next_request
                if following is None or not _same_origin(following.url, request.url):
                    return response
                await response.aclose()
                request = following
        except httpx2.HTTPError as error:
            raise self._unreachable(f"{type(error).__name__}: {error}") from error
        raise self._unreachable("too many redirects")

    def _unreachable(self, reason: str) -> UnavailableError:
        self._problem = reason
        return UnavailableError(
            f"{shown_url(self._url)} gives no event stream: {reason}.",
            hint="Check the URL, and whether the server speaks streamable HTTP instead.",
        )

    async def _endpoint(self, events: _Events) -> httpx2.URL:
        """Where messages go, as the first event says. Another origin would get our headers: refused."""
        try:
            async for event in events:
                if event.event == "endpoint":
                    base = httpx2.URL(self._url)
                    endpoint = base.join(event.data)
                    if not _same_origin(endpoint, base):
                        raise self._unreachable(
                            f"its endpoint {shown_url(str(endpoint))} is of another origin"
                        )
                    return endpoint
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise self._unreachable(str(error)) from error
        raise self._unreachable("it ended before it named its endpoint")

    async def _receive(self, events: _Events, incoming: _Incoming) -> None:
        async with incoming:
            try:
                try:
                    async for event in events:
                        if event.event == "message" and event.data:
                            await self._deliver(event.data, incoming)
                except (httpx2.HTTPError, httpx2.StreamError) as error:
                    await self._fail_all(error, incoming)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def _fail_all(self, error: Exception, incoming: _Incoming) -> None:
        """The stream that all answers come by is broken: say why before it closes."""
        self._problem = f"The event stream broke: {error}"
        code = FRAME_TOO_LARGE if "byte limit" in str(error) else TRANSPORT_FAILED
        await self._fail(None, code, self._problem, incoming)

    async def _deliver(self, data: str, incoming: _Incoming) -> None:
        for item in parse_line(data.encode("utf-8", "replace")):
            if not isinstance(item, Malformed):
                await incoming.send(SessionMessage(item))
            elif item.id is None:
                self._garbage += 1
            else:
                text = f"The server's answer is malformed: {item.problem}."
                await self._fail(item.id, BAD_ANSWER, text, incoming)

    async def _post_all(
        self, client: IsolatingClient, endpoint: httpx2.URL, outgoing: _Outgoing, incoming: _Incoming
    ) -> None:
        free = anyio.Semaphore(_MOST_POSTS)
        async with anyio.create_task_group() as tasks:
            async for item in outgoing:
                if isinstance(item.message, JSONRPCRequest):
                    await free.acquire()
                    tasks.start_soon(self._post_request, client, endpoint, item, incoming, free)
                else:  # notifications keep their order
                    await self._post(client, endpoint, item)

    async def _post_request(
        self,
        client: IsolatingClient,
        endpoint: httpx2.URL,
        item: SessionMessage,
        incoming: _Incoming,
        free: anyio.Semaphore,
    ) -> None:
        assert isinstance(item.message, JSONRPCRequest)
        try:
            response = await self._post(client, endpoint, item)
            if response.status_code >= 300:
                await self._fail_by(item.message.id, response, incoming)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        finally:
            free.release()

    async def _post(
        self, client: IsolatingClient, endpoint: httpx2.URL, item: SessionMessage
    ) -> httpx2.Response:
        body = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        return await client.send(client.build_request("POST", endpoint, json=body))

    async def _fail_by(self, request_id: int | str, response: httpx2.Response, incoming: _Incoming) -> None:
        """Fail a request by the answer to its POST, which may carry a JSON-RPC error or may not."""
        messages = parse_line(response.content.replace(b"\n", b" "))
        error = next((message.error for message in messages if isinstance(message, JSONRPCError)), None)
        code = error.code if error else TRANSPORT_FAILED
        text = error.message if error else f"The server answered HTTP {response.status_code}."
        await self._fail(request_id, code, text, incoming)

    async def _fail(self, request_id: int | str | None, code: int, text: str, incoming: _Incoming) -> None:
        for error in self._pending.failed(request_id, code, text):
            await incoming.send(SessionMessage(error))
