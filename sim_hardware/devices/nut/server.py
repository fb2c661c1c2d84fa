"""The NUT server of one UPS, on asyncio."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sim_hardware.devices.garbling import Garbling
from sim_hardware.devices.nut.session import Session
from sim_hardware.devices.nut.unit import Account, Unit
from sim_hardware.devices.nut.variables import Dialect
from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.shutdown import Shutdown

LONGEST_LINE = 4096  # bytes without an end, at which the server hangs up; ours


class NutServer:
    """A device of the bench: `ups/A`, at `nut://host:port/ups-a`."""

    def __init__(
        self,
        panel: Panel,
        ups: str,
        *,
        dialect: Dialect = "absent",
        account: Account | None = None,
        shutdown: Shutdown | None = None,
        seed: int = 0,
    ) -> None:
        self.unit = Unit(panel, ups, dialect=dialect, account=account, shutdown=shutdown)
        self.garbling = Garbling(seed, self.name)
        self._connections: dict[_Connection, None] = {}  # in order, as a set has none
        self._timer: asyncio.TimerHandle | None = None

    @property
    def name(self) -> str:
        """Its key among the endpoints."""
        return f"ups/{self.unit.ups}"

    @property
    def impairment(self) -> Impairment:
        """How its answering is impaired."""
        return self.unit.impairment

    @asynccontextmanager
    async def serve(self, host: str, port: int = 0) -> AsyncIterator[str]:
        """Listen, and give the URL. Raises OSError."""
        server = await asyncio.get_running_loop().create_server(lambda: _Connection(self), host, port)
        try:
            yield f"nut://{host}:{server.sockets[0].getsockname()[1]}/{self.unit.name}"
        finally:
            server.close()
            for connection in list(self._connections):
                connection.hang_up()
            if self._timer is not None:
                self._timer.cancel()

    def arm(self) -> None:
        """Set the timer to what is due next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self.unit.shutdown.due
        if due < math.inf:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, due - self.unit.panel.now()), self._run)

    def _run(self) -> None:
        self.unit.shutdown.run()
        self.arm()

    def add(self, connection: _Connection) -> None:
        """A client has come."""
        self._connections[connection] = None

    def remove(self, connection: _Connection) -> None:
        """A client has gone."""
        self._connections.pop(connection, None)


class _Connection(asyncio.Protocol):
    """Answers one line after the other, each after the device's delay. While lines wait, or nobody takes the answers, no more is read."""

    def __init__(self, server: NutServer) -> None:
        self.server = server
        self._transport: asyncio.Transport | None = None
        self._session: Session | None = None
        self._buffer = b""
        self._lines: deque[bytes] = deque()
        self._last = False  # nothing is taken after what waits
        self._full = False  # the client takes no answers
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client: taken, or turned away by a reset."""
        if not isinstance(transport, asyncio.Transport):
            raise TypeError(f"a NUT server speaks on streams, not on {transport!r}")
        if self.server.impairment.refusing:
            transport.abort()
            return
        peer = transport.get_extra_info("peername")
        self._transport = transport
        self._session = Session(self.server.unit, str(peer[0]) if peer else "")
        self.server.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        del exc
        if self._timer is not None:
            self._timer.cancel()
        if self._session is not None:
            self._session.end()
        self._transport = None
        self.server.remove(self)

    def hang_up(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Bytes of a line, or of several."""
        if self.server.impairment.silent:
            self._buffer = b""
            return
        if self._last:
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        self._lines.extend(lines)
        if len(self._buffer) > LONGEST_LINE:
            self._lines.append(b"")  # no command
            self._last, self._buffer = True, b""
        self._go_on()

    def _go_on(self) -> None:
        """Answer what has waited long enough."""
        while self._lines and self._timer is None and not self._full:
            delay = self.server.impairment.delay_s
            if delay > 0.0:
                self._timer = asyncio.get_running_loop().call_later(delay, self._wake)
            else:
                self._answer(self._lines.popleft())
        if self._transport is not None and not self._transport.is_closing():
            (self._transport.pause_reading if self._lines else self._transport.resume_reading)()

    def pause_writing(self) -> None:
        """The client takes no answers."""
        self._full = True

    def resume_writing(self) -> None:
        """It takes them again."""
        self._full = False
        self._go_on()

    def _wake(self) -> None:
        self._timer = None
        self._answer(self._lines.popleft())
        self._go_on()

    def _answer(self, line: bytes) -> None:
        transport, session = self._transport, self._session
        if transport is None or session is None or transport.is_closing():
            return
        answer = session.answer(line)
        self.server.arm()
        if not self.server.impairment.silent:
            transport.write(self.server.garbling.garble(answer, self.server.impairment.garbled))
        if session.over or (self._last and not self._lines):
            transport.close()
