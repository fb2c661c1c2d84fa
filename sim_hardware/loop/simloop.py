"""SimLoop: virtual time with processes that can be killed or paused between any two callbacks."""

from __future__ import annotations

import asyncio
import inspect
import signal
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from contextvars import Context, copy_context
from random import Random
from typing import Any, TypeVar, TypeVarTuple

from sim_hardware.loop.burial import bury, unheard
from sim_hardware.loop.calls import NetworkLoop
from sim_hardware.loop.process import HERE, Process, Turn
from sim_hardware.loop.trace import Entry, Trace
from sim_hardware.loop.virtual import Failure

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

EPOCH = 1_800_000_000.0  # wall time at virtual second 0: 2027-01-15 08:00 UTC
FIRST_PID = 1000
IGNORED = frozenset({signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH})  # signal(7): these end no process


class SimLoop(NetworkLoop):
    """The simulated world: one seed, one clock, many processes. Same seed, same run."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self.processes: dict[str, Process] = {}  # the newest incarnation of each name
        self.on_end: list[Callable[[Process], None]] = []
        self.on_close: list[Callable[[], None]] = []  # called when the world is over and everybody is dead
        self.executor_delay = 0.0005  # seconds before an executor's work, and again behind it
        self._streams: dict[str, Random] = {}
        self._trace = Trace()

    # chance and trace

    def stream(self, name: str) -> Random:
        """The stream of chance called `name`; asking again gives the same one, further on."""
        if name not in self._streams:
            self._streams[name] = Random(f"{self.seed}/{name}")  # a string seed does not depend on hash()
        return self._streams[name]

    def wall(self) -> float:
        """The virtual wall time, in seconds since the Unix epoch."""
        return EPOCH + self.time()

    def trace(self, who: str, *what: str | float | bytes | None) -> None:
        """Write an entry into the trace."""
        self._trace.add(Entry(self.time(), who, " ".join(map(str, what))))

    def count(self, data: bytes) -> None:
        """Count something into the digest without an entry."""
        self._trace.count(data)

    def leave_out(self, folder: str) -> None:
        """A folder's name that is another in every run counts as `~` into the digest."""
        self._trace.folder = folder.encode()

    @property
    def entries(self) -> list[Entry]:
        """The trace, oldest first; only the newest 100,000 entries are kept."""
        return list(self._trace.entries)

    def digest(self) -> str:
        """A hash of all that happened: entries, bytes on the network, and how many turns each process took."""
        return self._trace.digest(repr([(str(process), process.turns) for process in self.lives]))

    # executors

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Run the work inline, with a delay before and behind it: a crash may fall on either side."""
        del executor
        future: asyncio.Future[T] = self.create_future()

        def work() -> None:
            try:
                settle, outcome = future.set_result, func(*args)
            except BaseException as error:  # noqa: BLE001 - it belongs to who awaits the future, as with a real executor
                self.call_later(self.executor_delay, _settle, future, future.set_exception, error)
            else:
                self.call_later(self.executor_delay, _settle, future, settle, outcome)

        self.call_later(self.executor_delay, work)
        return future

    # processes

    def here(self) -> Process:
        """The process that is running now."""
        return HERE.get(self.site)

    def spawn(
        self, name: str, main: Callable[[], Coroutine[Any, Any, object]], *, host: str | None = None, uid: int = 0, gid: int = 0
    ) -> Process:
        """Start the next incarnation of `name` on `host` (default: a host of that name). Raises ValueError while one lives."""
        old = self.processes.get(name)
        if old is not None and not old.dead:
            raise ValueError(f"process {old} is still alive; kill it before it is started again")
        number = old.number + 1 if old else 1
        process = Process(name, number, host or name, FIRST_PID + len(self.lives), self.create_future(), uid, gid)
        self.processes[name] = process
        self.lives.append(process)
        self.create_task(self._live(process, main), name="main", context=_context_of(process))
        return process

    async def _live(self, process: Process, main: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """What `asyncio.run` does, and then the end of the process."""
        code = 1
        try:
            await main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        except Exception as error:  # noqa: BLE001 - the process ends of it, whatever it is, and the harness sees it
            if not process.dead:
                self.failures.append(Failure(self.time(), str(process), "the main coroutine failed", error))
        finally:
            if not process.dead:  # else this is the burial
                await self._cancel(process)
                self._end(process, code)

    async def _cancel(self, process: Process) -> None:
        me = asyncio.current_task()
        rest = [task for task in process.tasks if task is not me and not task.done()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        for _, generator in sorted(process.generators.items()):
            await generator.aclose()

    def _end(self, process: Process, code: int) -> None:
        process.exit_code = code
        process.tasks = [task for task in process.tasks if not task.done()]
        process.kept.extend(process.generators.values())  # else they would be collected, and closed
        for task in process.tasks:
            asyncio.tasks._unregister_task(task)  # documented for loops: `all_tasks` must not find the dead
        process.ended.set_result(code)
        for hook in self.on_end:
            hook(process)

    def kill(self, process: Process, signum: int = signal.SIGKILL) -> None:
        """End a process between two callbacks: none of its callbacks and no `finally` runs any more."""
        if process is self.site:
            raise ValueError("the site is the world itself and cannot be killed")
        if not process.dead:
            self._end(process, -signum)

    def pause(self, process: Process) -> None:
        """Hold a process as SIGSTOP does: its callbacks wait, its timers fall due unheard."""
        process.paused = True

    def resume(self, process: Process) -> None:
        """Let a paused process go on with all that has waited, in order."""
        process.paused = False
        if not process.dead:
            self._ready.extend(process.held)
            process.held.clear()

    def at(self, when: float, callback: Callable[[*Ts], object], *args: *Ts) -> asyncio.TimerHandle:
        """Call at a virtual time as the site, whoever asks: what a scenario plans outlives the process it kills."""
        return self.call_at(when, callback, *args, context=_context_of(self.site))

    def after(self, delay: float, callback: Callable[[*Ts], object], *args: *Ts) -> asyncio.TimerHandle:
        """Call in `delay` seconds as the site, whoever asks."""
        return self.at(self.time() + delay, callback, *args)

    # signals

    def add_signal_handler(self, sig: int, callback: Callable[[*Ts], object], *args: *Ts) -> None:
        """Remember the handler for the running process. Raises as asyncio does: TypeError, ValueError, RuntimeError."""
        if inspect.iscoroutinefunction(callback):
            raise TypeError("coroutines cannot be used with add_signal_handler()")
        if signal.Signals(sig) in (signal.SIGKILL, signal.SIGSTOP):
            raise RuntimeError(f"sig {sig} cannot be caught")
        self._refuse_closed()
        context = copy_context()
        process = self.owner(context)
        process.handlers[sig] = Turn(callback, args, self, context=context, process=process)

    def remove_signal_handler(self, sig: int) -> bool:
        """Forget the running process's handler; False when there was none."""
        return HERE.get(self.site).handlers.pop(signal.Signals(sig), None) is not None

    def deliver(self, process: Process, signum: int) -> None:
        """Send a signal: to its handler, or with its default effect. A dead process takes none."""
        if process.dead:
            return
        if signum == signal.SIGCONT:
            self.resume(process)
        if signum == signal.SIGSTOP:
            self.pause(process)
        elif signum in process.handlers:
            self._ready.append(process.handlers[signum])
        elif signum not in IGNORED:
            self.kill(process, signum)

    # the end of the world

    async def shutdown_asyncgens(self) -> None:
        """Close the site's asynchronous generators."""
        for _, generator in sorted(self.site.generators.items()):
            await generator.aclose()

    def close(self) -> None:
        """Stop the world, then let go of what was alive in it; what a `finally` still wants is too late for any effect here."""
        if self.is_closed():
            return
        for process in self.lives[1:]:
            self.kill(process)
        with unheard():
            super().close()
            for process in self.lives:
                for task in process.tasks:
                    bury(task)
                process.tasks.clear()
                process.kept.clear()
                process.held.clear()
            for hook in self.on_close:
                hook()


def _context_of(process: Process) -> Context:
    """A context that holds nothing else: a process inherits nothing from the one that asked for it, which may be dead by then."""
    context = Context()
    context.run(HERE.set, process)
    return context


def _settle(future: asyncio.Future[T], settle: Callable[[Any], None], outcome: object) -> None:
    if not future.done():
        settle(outcome)
