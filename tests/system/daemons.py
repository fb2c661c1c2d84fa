"""A real daemon process: its settings in a folder of the test's own, a notify socket that the test reads, its log, its admin socket."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from supernoded.ctl.client import AdminClient, UnreachableError
from supernoded.messages import Answer, Filter, Status

T = TypeVar("T", bound=Answer)

PATIENCE = 20.0  # seconds for anything that must come
LOOK = 0.05  # seconds between two looks at what tells nothing by itself
STOP_WITHIN = 5.0  # the daemon's own promise
KEPT_OUT = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM", "STATE_DIRECTORY", "RUNTIME_DIRECTORY")
NOBODY = '[mqtt]\nhost = "127.0.0.1"\nport = 1\n'  # a broker that is not there


class Lines:
    """What somebody says, piece by piece, as it comes."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._news = asyncio.Event()

    def hear(self, text: str) -> None:
        self.heard.append(text)
        self._news.set()
        self._news = asyncio.Event()

    async def wait(self, pattern: str, since: int = 0, within: float = PATIENCE) -> str:
        """The first piece after the first `since` that the pattern is found in."""
        try:
            async with asyncio.timeout(within):
                while True:
                    news = self._news
                    found = [text for text in self.heard[since:] if re.search(pattern, text, re.MULTILINE)]
                    if found:
                        return found[0]
                    await news.wait()
        except TimeoutError:
            raise AssertionError(f"{pattern!r} was not heard within {within:g} s after:\n" + "\n".join(self.heard)) from None

    async def once(self, pattern: str) -> None:
        """It is heard, now or soon, and so far not twice."""
        await self.wait(pattern)
        assert self.count(pattern) == 1, "\n".join(self.heard)

    def count(self, pattern: str) -> int:
        return sum(1 for text in self.heard if re.search(pattern, text, re.MULTILINE))


@dataclass
class Daemon:
    """One daemon, perhaps of several lives. `tables` and `keys` are added to the settings that every test needs."""

    folder: Path
    tables: str = NOBODY
    keys: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    state: Path | None = None
    runtime: Path | None = None
    name: str = "n0"
    enter: Sequence[str] = ()  # what to put before its command, such as what enters a network namespace
    log: Lines = field(default_factory=Lines)
    told: Lines = field(default_factory=Lines)  # to the service manager
    process: asyncio.subprocess.Process | None = None

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file, self.notify = self.folder / "supernoded.toml", self.folder / "notify"
        self.state, self.runtime = self.state or self.folder / "state", self.runtime or self.folder / "run"
        self.socket, self.journal = self.runtime / "admin.sock", self.state / "journal.db"
        self.write(self.tables, self.keys)

    def write(self, tables: str, keys: str = "") -> None:
        """Settings for the next start or reload: `keys` of no table, and `tables`."""
        head = f'node = "{self.name}"\nstate = "{self.state}"\nruntime = "{self.runtime}"\n{keys}\n'
        self.file.write_text(f'{head}[admin]\ngroup = ""\noperators = ""\n{tables}')

    async def __aenter__(self) -> Self:
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._line.setblocking(False)
        self._line.bind(str(self.notify))
        asyncio.get_running_loop().add_reader(self._line, lambda: self.told.hear(self._line.recv(4096).decode()))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()
        asyncio.get_running_loop().remove_reader(self._line)
        self._line.close()

    async def launch(self, *options: str) -> None:
        """Start the process and wait for nothing."""
        env = {name: value for name, value in os.environ.items() if name not in KEPT_OUT}
        env |= {"NOTIFY_SOCKET": str(self.notify), "PYTHONUNBUFFERED": "1", **self.environment}
        command = (*self.enter, sys.executable, "-m", "supernoded", "--config", str(self.file), *options)
        self.process = await asyncio.create_subprocess_exec(*command, cwd=self.folder, env=env, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
        self._reading = asyncio.create_task(self._read(self.process))

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        while process.stdout is not None and (line := await process.stdout.readline()):
            self.log.hear(line.decode().rstrip("\n"))

    async def start(self, within: float = PATIENCE) -> None:
        """Start it and wait until it is ready."""
        since = len(self.told.heard)
        await self.launch()
        await self._unless_it_ends(self.told.wait("^READY=1$", since, within), within)

    async def _unless_it_ends(self, work: Coroutine[Any, Any, str], within: float) -> None:
        heard, ended = asyncio.create_task(work), asyncio.create_task(self.wait(2 * within))
        await asyncio.wait([heard, ended], return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if not heard.done():
            heard.cancel()
            raise AssertionError(f"it has ended with {ended.result()}:\n" + "\n".join(self.log.heard))
        heard.result()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def wait(self, within: float = PATIENCE) -> int:
        """Its exit code; all of its log has been read by then."""
        assert self.process is not None
        async with asyncio.timeout(within):
            code = await self.process.wait()
            await self._reading
        return code

    async def stop(self) -> int:
        """Ask it to stop; the exit code."""
        self.signal(signal.SIGTERM)
        return await self.wait(STOP_WITHIN)

    async def kill(self) -> None:
        """As `kill -9`, if it still runs."""
        if self.process is not None:
            if self.process.returncode is None:
                self.process.kill()
            await self.process.wait()
            await self._reading

    async def reload(self, tables: str, keys: str = "") -> None:
        """Write other settings, and wait until it has taken or refused them."""
        self.write(tables, keys)
        await self.reload_file()

    async def reload_file(self) -> None:
        """Have it read its file again, and wait until it has taken or refused it."""
        since = len(self.told.heard)
        self.signal(signal.SIGHUP)
        await self.told.wait("^RELOADING=1$", since)
        await self.told.wait("^READY=1$", since)

    async def ask(self, path: str, kind: type[T], wanted: Filter | None = None) -> T:
        """One question over the admin socket."""
        return (await asyncio.to_thread(AdminClient([self.socket], PATIENCE).get, path, kind, wanted)).answer

    async def until(
        self, path: str, kind: type[T], fits: Callable[[T], object], wanted: Filter | None = None, within: float = PATIENCE
    ) -> T:
        """Ask until the answer fits."""
        answer: T | None = None
        try:
            async with asyncio.timeout(within):
                while True:
                    try:
                        answer = await self.ask(path, kind, wanted)
                    except UnreachableError:
                        answer = None
                    if answer is not None and fits(answer):
                        return answer
                    await asyncio.sleep(LOOK)
        except TimeoutError:
            raise AssertionError(f"{path} did not become so within {within:g} s: {answer}\n" + "\n".join(self.log.heard)) from None

    async def status(self) -> Status:
        return await self.ask("status", Status)


def install(folder: Path, name: str, module: str, source: str = "") -> str:
    """A distribution with one plugin, without pip; gives the PYTHONPATH. Without a source the module is found elsewhere."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[supernoded.plugins]\n{name} = {module}\n")
    if source:
        (folder / f"{module}.py").write_text(source)
    return str(folder)


def write_port(tree: Path, device: str, *, up: bool = True, symbol_errors: int = 0) -> Path:
    """One port of an InfiniBand tree; gives its folder."""
    port = tree / device / "ports" / "1"
    (port / "counters").mkdir(parents=True, exist_ok=True)
    facts = {"state": "4: ACTIVE" if up else "1: DOWN", "phys_state": "5: LinkUp" if up else "2: Polling", "rate": "200 Gb/sec (4X HDR)"}
    for file, text in (facts | {"counters/symbol_error": str(symbol_errors)}).items():
        draft = port / "draft"
        draft.write_text(f"{text}\n")
        draft.rename(port / file)
    return port
