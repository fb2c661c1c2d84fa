"""A Redfish service on a port, and how its answering is impaired there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.redfish.board import Board, Later, call_later
from sim_hardware.devices.redfish.service import Service
from sim_hardware.devices.redfish.sessions import Sessions
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import Body, RefusalError, Reply
from sim_hardware.plant.chance import draw, start_chance

Fit = Callable[[Board, Tree], Body]  # puts one kind of equipment into the tree, and gives back what the service root links to

USER, PASSWORD = "admin", "simulated"
_SHUTDOWN_S = 0.1


class RedfishDevice:
    """A controller that speaks Redfish over HTTP, without TLS; see `sim_hardware.devices.panel.Device`."""

    def __init__(self, name: str, panel: Panel, fit: Fit, *, login: tuple[str, str] = (USER, PASSWORD), later: Later = call_later) -> None:
        self.name, self.impairment = name, Impairment()
        self.board = Board(panel, self.impairment, later)
        self.service = Service(self.board, Sessions(self.board, name, login), name, lambda tree: fit(self.board, tree))
        self._chance = start_chance(0, f"redfish/{name}")

    @asynccontextmanager
    async def serve(self, host: str, port: int = 0) -> AsyncIterator[str]:
        """Listen, and give the URL of the machine; the service is at /redfish/v1/ there. Raises OSError."""
        server = web.Server(self._receive, handler_cancellation=True, access_log=None)
        runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=_SHUTDOWN_S)
        await runner.setup()
        try:
            async with await asyncio.get_running_loop().create_server(lambda: self._let_in(server), host, port) as listener:
                yield f"http://{host}:{listener.sockets[0].getsockname()[1]}"
        finally:
            await runner.cleanup()

    def _is_closed(self) -> bool:
        return self.impairment.refusing or self.board.is_away()

    def _let_in(self, server: web.Server) -> asyncio.BaseProtocol:
        """A listener cannot turn its port off and on between two calls, so a refused connection is reset as soon as it is made."""
        return _Reset() if self._is_closed() else server()

    async def _receive(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            raw = await request.read()
        except web.HTTPRequestEntityTooLarge as error:
            return self._write(RefusalError(413, "PayloadTooLarge", f"the body is too large: {error.text}").reply())
        if self._is_closed() and request.transport is not None:
            request.transport.abort()
        if self._is_closed() or self.impairment.silent:
            await asyncio.Event().wait()  # until the caller leaves
        response = self._write(self.service.answer(request.method, request.raw_path, raw, request.headers))
        await asyncio.sleep(self.impairment.delay_s)  # an order is carried out by then, whether or not its caller still waits
        return response

    def _write(self, reply: Reply) -> web.Response:
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
