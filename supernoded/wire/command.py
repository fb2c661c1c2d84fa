"""A program of the system as a wire: bounded in time and output, and never run twice at a time."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Sequence
from contextlib import suppress

from supernoded.errors import WireError
from supernoded.wire.pen import Pen
from supernoded.wire.ports import Answer

MOST_OUTPUT = 1024 * 1024  # bytes of each of stdout and stderr
GRACE = 1.0  # seconds: for a killed program to end, and for the last output of one whose children keep its pipes open
OUT, ERR = 1, 2


class ToolCommand:
    """A `Command` with fixed leading arguments, run without a shell."""

    def __init__(self, argv: Sequence[str], pen: Pen) -> None:
        if not argv:
            raise WireError("a command needs at least the name of its program")
        self.argv = tuple(argv)
        self._pen = pen
        self._free = asyncio.Lock()
        self._last: _Run | None = None

    async def run(self, *arguments: str, within: float = 10.0) -> Answer:
        """See `Command.run`."""
        return await self._run(arguments, within, lambda: None)

    async def order(self, scope: str, *arguments: str, within: float = 10.0) -> Answer:
        """See `Command.order`; the program is started in the same step in which the pen is asked."""
        return await self._run(arguments, within, lambda: self._pen.ask(scope))

    async def _run(self, arguments: Sequence[str], within: float, ask: Callable[[], None]) -> Answer:
        argv = (*self.argv, *arguments)
        name = " ".join(argv)
        try:
            async with asyncio.timeout(within), self._free:
                run = await self._start(argv, name, ask)
                try:
                    await run.exited.wait()
                    await run.finish_output()
                finally:
                    run.end()
                return run.answer()
        except TimeoutError as error:
            raise WireError(f"{name}: {await self._bury()} within {within:g} s") from error

    async def _bury(self) -> str:
        """Give what was killed a moment to end, so that its process is reaped."""
        if self._last is None or self._free.locked():
            return "an earlier run did not make room"
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await self._last.exited.wait()
        return "did not end and was killed"

    async def _start(self, argv: Sequence[str], name: str, ask: Callable[[], None]) -> _Run:
        if self._last is not None and not self._last.exited.is_set():
            raise WireError(f"{name}: its last run (pid {self._last.pid}) was killed and has not ended yet; no second one is begun")
        loop = asyncio.get_running_loop()
        ask()
        try:
            _, run = await loop.subprocess_exec(
                _Run, *argv, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, start_new_session=True, env=_environment()
            )
        except (OSError, ValueError) as error:  # ValueError: a zero byte in an argument
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise WireError(f"{name}: cannot be started: {reason}; is {argv[0]} installed and in PATH?") from error
        self._last = run
        return run


class _Run(asyncio.SubprocessProtocol):
    """One process from start to end. What it prints beyond the cap is read and thrown away, so that it need not block."""

    def __init__(self) -> None:
        self.exited = asyncio.Event()
        self.pid = 0
        self._silent = asyncio.Event()
        self._printed = {OUT: bytearray(), ERR: bytearray()}
        self._open = {OUT, ERR}
        self._cut = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.SubprocessTransport):
            raise TypeError(f"{transport!r} is no process")
        self._transport = transport
        self.pid = transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        room = MOST_OUTPUT - len(self._printed[fd])
        self._printed[fd] += data[:room]
        self._cut = self._cut or len(data) > room

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc
        self._open.discard(fd)
        if not self._open:
            self._silent.set()

    def process_exited(self) -> None:
        self.exited.set()

    async def finish_output(self) -> None:
        """Wait for the end of the output, but not long: a daemonised child may keep the pipes for ever."""
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await self._silent.wait()

    def end(self) -> None:
        """Kill whatever of it still runs, its children too, and let go of the pipes."""
        if not self.exited.is_set() or self._open:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._transport.close()

    def answer(self) -> Answer:
        """What came of it."""
        out, err = (self._printed[fd].decode(errors="replace") for fd in (OUT, ERR))
        return Answer(self._transport.get_returncode() or 0, out, err, self._cut)


def _environment() -> dict[str, str]:
    """Ours, in the language that parsers know, without the right to speak to systemd in our name."""
    return {**{name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"}, "LC_ALL": "C"}
