"""A private upsd of NUT on a free loopback port, with a `dummy-ups` for each device that a test writes."""

from __future__ import annotations

import asyncio
import getpass
import os
from dataclasses import dataclass, field
from pathlib import Path

from tests.protocol.mosquitto import free_port

PATIENCE = 20.0  # seconds until something must be there
USERS = "[admin]\n  password = secret\n  actions = SET\n  instcmds = ALL\n"


def find(program: str) -> str:
    """The path of one of NUT's own programs: what is in PATH is a wrapper that does nothing unless the machine is set up."""
    folders = ("/lib/nut", "/usr/lib/nut", "/usr/libexec/nut", "/sbin", "/usr/sbin")
    found = next((path for folder in folders if (path := Path(folder) / program).exists()), None)
    assert found is not None, f"{program} of NUT is not installed: `make test` installs it (Debian: apt-get install nut-server nut-client)"
    return str(found)


@dataclass
class Upsd:
    """One server. A device is a file of `dummy-ups`: `.dev` is read when it changes, `.seq` line by line and over again."""

    folder: Path
    port: int = field(default_factory=free_port)
    settings: str = ""  # more lines of upsd.conf
    processes: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)  # `upsd`, and each driver by its device
    _drivers: dict[str, str] = field(default_factory=dict)  # of each device
    _devices: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, file: str, text: str) -> None:
        """A device of `dummy-ups`, before the start."""
        path = self.folder / file
        path.write_text(text)
        mode = "dummy-loop" if file.endswith(".seq") else "dummy-once"
        # Where upsd is slow to read, a driver with 800 variables gives it up unless it is synchronous.
        self.add_driven(name, "dummy-ups", f"port = {path}\n mode = {mode}\n synchronous = yes\n")

    def add_driven(self, name: str, driver: str, words: str) -> None:
        """A device of any driver, before the start."""
        self._drivers[name] = driver
        self._devices[name] = f"[{name}]\n driver = {driver}\n pollinterval = 1\n {words}\n"

    def change(self, file: str, text: str) -> None:
        """What a `.dev` says from now on; two changes within a second are two for its driver."""
        draft, path = self.folder / "draft", self.folder / file
        draft.write_text(text)
        time = path.stat().st_mtime + 10.0
        os.utime(draft, (time, time))
        draft.rename(path)

    async def start(self) -> None:
        """Drivers first, as on a machine; whoever asks finds them at WAIT."""
        for name, text in (
            ("ups.conf", "".join(self._devices.values())),
            ("upsd.conf", f"LISTEN 127.0.0.1 {self.port}\nMAXAGE 1\n{self.settings}"),
            ("upsd.users", USERS),
        ):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o600)
        self.folder.chmod(0o700)
        await asyncio.gather(*(self.start_driver(name) for name in self._drivers if not self._find_socket(name).exists()))
        await self._run("upsd", "upsd")
        async with asyncio.timeout(PATIENCE):
            while not await self._listens():
                assert self.processes["upsd"].returncode is None, self.log("upsd")

    async def start_driver(self, name: str) -> None:
        """One driver, until it can be asked."""
        await self._run(name, self._drivers[name], "-a", name)
        async with asyncio.timeout(PATIENCE):
            while not self._find_socket(name).exists():
                assert self.processes[name].returncode is None, self.log(name)
                await asyncio.sleep(0.01)

    def _find_socket(self, name: str) -> Path:
        """Where upsd looks for a driver."""
        return self.folder / f"{self._drivers[name]}-{name}"

    async def _run(self, name: str, program: str, *arguments: str) -> None:
        places = ("NUT_CONFPATH", "NUT_STATEPATH", "NUT_ALTPIDPATH", "NUT_PIDPATH")
        environment = dict(os.environ) | dict.fromkeys(places, str(self.folder))
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = await asyncio.create_subprocess_exec(
                find(program),
                *arguments,
                "-u",
                getpass.getuser(),
                "-F",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
            )

    async def _listens(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            await asyncio.sleep(0.01)
            return False
        writer.close()
        await writer.wait_closed()
        return True

    def log(self, name: str) -> str:
        """What one of the programs said."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    async def end(self, name: str) -> None:
        """End one of them."""
        process = self.processes.pop(name)
        if process.returncode is None:
            process.kill()
        await process.wait()
        if name in self._drivers:
            self._find_socket(name).unlink(missing_ok=True)

    async def stop(self) -> None:
        """End all of them."""
        for name in list(self.processes):
            await self.end(name)
