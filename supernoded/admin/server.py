"""The admin server: every request judged by its caller, bounded in time, size and number, and every change recorded."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from supernoded.admin.access import Gate, Right, caller_of
from supernoded.admin.desk import Desk, Request
from supernoded.admin.listening import Listen
from supernoded.admin.routes import CALLER, BadRequestError, Handler, make_problem, make_routes
from supernoded.errors import AdminError, JournalError, NotFoundError, SupernodedError

READING_METHODS = frozenset({"GET", "HEAD"})
LONGEST_DETAIL = 1_000  # characters of a request or answer that go to the journal


@dataclass(frozen=True)
class Bounds:
    """What one server takes upon itself. Times are in seconds."""

    patience: float = 10.0  # for a request that reads
    change_patience: float = 60.0  # for one that changes: leaving `act` waits for devices to be handed back
    most_requests: int = 16  # at once
    most_connections: int = 32
    largest_body: int = 65_536  # bytes
    shutdown: float = 1.0


@asynccontextmanager
async def serve_admin(desk: Desk, gate: Gate, listen: Listen, log: logging.Logger, bounds: Bounds | None = None) -> AsyncIterator[None]:
    """Answer on what `listen` opens for as long as the context stands. Raises SettingsError when it cannot listen."""
    counter = _Counter(desk, gate, log, bounds or Bounds())
    runner = web.AppRunner(
        counter.make_application(), handle_signals=False, access_log=None, logger=log, shutdown_timeout=counter.bounds.shutdown
    )
    await runner.setup()
    try:
        async with listen(_Door(runner, counter.bounds.most_connections)):
            yield
    finally:
        await runner.cleanup()
        await counter.close()


class _Door:
    """Lets connections in. When there are too many, the oldest goes: whoever holds one open without asking locks nobody out."""

    def __init__(self, runner: web.AppRunner, most: int) -> None:
        self._runner, self._most = runner, most

    def __call__(self) -> asyncio.Protocol:
        server = self._runner.server
        if server is None:
            raise AdminError("the admin server has stopped")
        connections = server.connections
        for handler in connections[: max(0, len(connections) - self._most + 1)]:
            if isinstance(handler.transport, asyncio.Transport):
                handler.transport.abort()
        return server()


class _Counter:
    """Where requests are received; the desk behind it does the work."""

    def __init__(self, desk: Desk, gate: Gate, log: logging.Logger, bounds: Bounds) -> None:
        self.bounds = bounds
        self._desk, self._gate, self._log = desk, gate, log
        self._requests = 0
        self._changes: dict[asyncio.Task[web.StreamResponse], None] = {}  # a dict keeps the order, a set would not

    def make_application(self) -> web.Application:
        @web.middleware
        async def receive(request: web.Request, handler: Handler) -> web.StreamResponse:
            response = await self._receive(request, handler)
            response.force_close()  # one request a connection: none lingers
            return response

        application = web.Application(middlewares=[receive], client_max_size=self.bounds.largest_body)
        application.add_routes(make_routes(self._desk))
        return application

    async def close(self) -> None:
        """Cut off the changes still under way; each is recorded as such."""
        for task in self._changes:
            task.cancel()
        await asyncio.gather(*self._changes, return_exceptions=True)

    async def _receive(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        most = self.bounds.most_requests
        if self._requests >= most:
            return make_problem(503, f"{self._requests} requests are being answered, the limit is {most}; ask again in a moment")
        self._requests += 1
        try:
            request[CALLER] = caller_of(request)
            return await (self._read if request.method in READING_METHODS else self._change)(request, handler)
        except AdminError as error:
            return make_problem(403, str(error))
        except TimeoutError:
            return make_problem(504, f"{request.path}: not done within {self.bounds.patience:g} s; the daemon is overloaded or stuck")
        finally:
            self._requests -= 1

    async def _read(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        async with asyncio.timeout(self.bounds.patience):
            return await self._answer(request, handler, Right.READ)

    async def _change(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A change goes on when its caller has left or its time is up: half a hand-back is worse than a late one."""
        body = await self._read_body(request)
        task = asyncio.create_task(self._perform(request, handler, body))
        self._changes[task] = None
        task.add_done_callback(self._changes.pop)
        done, _ = await asyncio.wait({task}, timeout=self.bounds.change_patience)
        if not done:
            return make_problem(504, f"not done after {self.bounds.change_patience:g} s; it goes on, and the journal will say how it ended")
        return task.result()

    async def _read_body(self, request: web.Request) -> bytes | None:
        """What was sent, None when it is too large; a caller that does not finish sending is given up."""
        try:
            async with asyncio.timeout(self.bounds.patience):
                return await request.read()
        except web.HTTPRequestEntityTooLarge:
            return None

    async def _perform(self, request: web.Request, handler: Handler, body: bytes | None) -> web.StreamResponse:
        response: web.StreamResponse = make_problem(500, "cut off before it was done; the daemon's log says why")
        try:
            if body is None:
                response = make_problem(413, f"the body is larger than {self.bounds.largest_body} bytes")
            else:
                response = await self._answer(request, handler, Right.CHANGE)
        finally:
            await self._record(request, body or b"", response)
        return response

    async def _answer(self, request: web.Request, handler: Handler, right: Right) -> web.StreamResponse:
        try:
            refusal = await self._gate.find_refusal(request[CALLER], right)
            return make_problem(403, refusal) if refusal else await handler(request)
        except BadRequestError as error:
            return make_problem(400, str(error))
        except NotFoundError as error:
            return make_problem(404, str(error))
        except AdminError as error:
            return make_problem(409, str(error))
        except SupernodedError as error:
            return make_problem(503, str(error))
        except web.HTTPException as error:
            return make_problem(error.status, _explain(error, request))

    async def _record(self, request: web.Request, body: bytes, response: web.StreamResponse) -> None:
        record = Request(
            caller=request[CALLER],
            verb=f"{request.method} {request.path}"[:LONGEST_DETAIL],
            detail=body.decode(errors="replace")[:LONGEST_DETAIL],
            answer=f"{response.status} {response.text if isinstance(response, web.Response) else ''}"[:LONGEST_DETAIL],
            accepted=response.status < 400,
        )
        try:
            await self._desk.record(record)
        except JournalError as error:  # the change stands; a safe mode must be reachable with a broken journal too
            self._log.error("a change is not in the journal (%s): %s", error, record)


def _explain(error: web.HTTPException, request: web.Request) -> str:
    if isinstance(error, web.HTTPNotFound):
        return f"there is no {request.path}; docs/admin-api.md lists the paths"
    if isinstance(error, web.HTTPMethodNotAllowed):
        return f"{request.path} takes {', '.join(sorted(error.allowed_methods))}, not {request.method}"
    return error.reason
