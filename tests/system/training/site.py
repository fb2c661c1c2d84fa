"""A node with a daemon and a vault, which training may run on: real processes over folders of the test's own."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from supernoded.ctl.client import AdminClient
from supernoded.job.client import MARKER
from supernoded.messages import JobRow, Jobs
from tests.system.daemons import LOOK, PATIENCE, Lines

TIERS = 'shared = "{shared}"\ndurable = "{durable}"\nheadroom_mb = 0\npoll_s = 0.05\nretry_s = 1\nkeep = 2\n'


@dataclass
class Vault:
    """`supernoded-vault run`, from entering to leaving the context."""

    config: Path
    log: Lines = field(default_factory=Lines)
    pid: int = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        command = (sys.executable, "-m", "supernoded.job.vault", "run", "--config", str(self.config))
        process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
        self.pid = process.pid
        reading = asyncio.create_task(self._read(process.stdout))
        try:
            yield
        finally:
            process.terminate()
            await process.wait()
            await reading

    async def _read(self, stream: asyncio.StreamReader | None) -> None:
        while stream is not None and (line := await stream.readline()):
            self.log.hear(line.decode().rstrip("\n"))


@dataclass
class Tiers:
    """Two folders for checkpoints, `durable` given to the vault, and what a container knows of them."""

    shared: Path
    durable: Path
    socket: Path

    def __post_init__(self) -> None:
        for each in (self.shared, self.durable):
            each.mkdir(parents=True)
        (self.durable / MARKER).touch()

    def describe(self) -> str:
        """The table `[vault]`."""
        return f"[vault]\n{TIERS.format(shared=self.shared, durable=self.durable)}"

    @property
    def environment(self) -> Mapping[str, str]:
        return {"SUPERNODED_JOB_SOCKET": str(self.socket), "SUPERNODED_VAULT": f"{self.shared}:{self.durable}"}


async def until_job(socket: Path, fits: Callable[[JobRow], object], name: str = "train", within: float = PATIENCE) -> JobRow:
    """The job as the daemon at that socket sees it, once it fits."""
    client, job = AdminClient([socket], PATIENCE), None
    try:
        async with asyncio.timeout(within):
            while True:
                told = (await asyncio.to_thread(client.get, "jobs", Jobs)).answer
                job = next((one for one in told.jobs if one.job == name), None)
                if job is not None and fits(job):
                    return job
                await asyncio.sleep(LOOK)
    except TimeoutError:
        raise AssertionError(f"within {within:g} s the job did not become so: {job}") from None


@dataclass
class Asked:
    """A command that ends some time."""

    process: asyncio.subprocess.Process

    async def end(self) -> tuple[int, str]:
        """Its code, and all that it said."""
        told, _ = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, told.decode()


@asynccontextmanager
async def ask_to_save(socket: Path, name: str = "train") -> AsyncIterator[Asked]:
    """`supernodectl checkpoint request --wait`."""
    command = (sys.executable, "-m", "supernoded.ctl", "--socket", str(socket), "checkpoint", "request", name, "--wait")
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
    try:
        yield Asked(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
