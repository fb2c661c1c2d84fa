"""A service that speaks JSON over HTTP, on a port, and how its answering is impaired there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from aiohttp import web

from sim_hardware.devices.panel import Impairment
from sim_hardware.plant.chance import draw, start_chance

_SHUTDOWN_S = 0.1


class Replied(Protocol):
    """What goes back over the wire."""

    @property
    def status(self) -> int:
        """The code."""
        ...

    @property
    def body(self) -> dict[str, Any] | None:
        """A JSON object, or nothing."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """More of them than the content's."""
        ...


class Answering(Protocol):
    """The service itself: from a request to its reply, without input or output of its own."""

    def answer(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Replied:
        """Whatever the request is, there is a reply."""
        ...

    def refuse_body(self, text: str) -> Replied:
        """The reply to one that is too large."""
        ...


class HttpDevice:
    """See `sim_hardware.devices.panel.Device`; without TLS."""

    def __init__(self, name: str, service: Answering, impairment: Impairment, chance: str) -> None:
        self.name, self.impairment = name, impairment
        self._answering = service
        self._chance = start_chance(0, chance)

    @asynccontextmanager
    async def serve(self, host: str, port: int = 0) -> AsyncIterator[str]:
        """Listen, and give the URL of the machine. Raises OSError."""
        server = web.Server(self._receive, handler_cancellation=True, access_log=None)
        runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=_SHUTDOWN_S)
        await runner.setup()
        try:
            async with await asyncio.get_running_loop().create_server(lambda: self._let_in(server), host, port) as listener:
                yield f"http://{host}:{listener.sockets[0].getsockname()[1]}"
        finally:
            await runner.cleanup()

    def is_closed(self) -> bool:
        """Whether nobody listens at present."""
        return self.impairment.refusing

    def _let_in(self, server: web.Server) -> asyncio.BaseProtocol:
        """A listener cannot turn its port off and on between two calls, so a refused connection is reset as soon as it is made."""
        return _Reset() if self.is_closed() else server()

    async def _receive(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            raw = await request.read()
        except web.HTTPRequestEntityTooLarge as error:
            return self._write(self._answering.refuse_body(error.text or ""))
        if self.is_closed() and request.transport is not None:
            request.transport.abort()
        if self.is_closed() or self.impairment.silent:
            await asyncio.Event().wait()  # until the caller leaves
        response = self._write(self._answering.answer(request.method, request.raw_path, raw, request.headers))
        await asyncio.sleep(self.impairment.delay_s)  # an order is carried out by then, whether or not its caller still waits
        return response

    def _write(self, reply: Replied) -> web.Response:
        if reply.body is None:
            return web.Response(status=reply.status, headers=reply.headers)
        data = self._garble(json.dumps(reply.body, allow_nan=False).encode())
        return web.Response(status=reply.status, headers=reply.headers, body=data, content_type="application/json")

    def _garble(self, data: bytes) -> bytes:
        """Of the garbled answers half end early, and half have a byte that JSON cannot have."""
        self._chance, dice = draw(self._chance)
        if dice >= self.impairment.garbled:
            return data
        self._chance, where = draw(self._chance)
        place = int(where * len(data))
        return data[:place] if dice < self.impairment.garbled / 2 else data[:place] + b"\0" + data[place + 1 :]


class _Reset(asyncio.Protocol):
    """Ends a connection without a word."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        if isinstance(transport, asyncio.Transport):
            transport.abort()
