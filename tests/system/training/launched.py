"""A training of four rank processes as a test sees it: started by `launch.py` in a folder like a container, which has the client alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Self

from tests.system.daemons import PATIENCE, Lines

HERE = Path(__file__).parent
WORLD = 4
LONG = 3 * PATIENCE  # seconds for a training that has to begin, on a machine that has much else to do
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PACE = "0.02"  # seconds a step

Curve = list[tuple[int, str]]


def make_container(folder: Path, checkout: Path) -> None:
    """The scripts, and of supernoded one file."""
    shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns("__pycache__", "test_*"))
    package = folder / "supernoded" / "job"
    package.mkdir(parents=True)
    for one in (package, package.parent):
        (one / "__init__.py").touch()
    shutil.copy(checkout / "supernoded" / "job" / "client.py", package)


@dataclass
class Launched:
    """A launcher and its ranks, from entering to leaving the context. `curve` is every loss that was printed, in order."""

    container: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ("--steps", "1000000", "--every", "1000000", "--pace", PACE)
    script: str = "train.py"
    curve: Curve = field(default_factory=list)
    said: Lines = field(default_factory=Lines)  # all else
    process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        command = (sys.executable, "launch.py", str(WORLD), self.script, *self.options)
        env = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(self.container), **self.environment}
        self.process = await asyncio.create_subprocess_exec(
            *command, cwd=self.container, env=env, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True
        )
        self._news = asyncio.Event()
        self._reading = asyncio.create_task(self._read(self.process))
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self.process is not None
        self.process.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # whoever is left
        await self.process.wait()
        await self._reading

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():  # empty ones too: what several dying ranks say is mixed
            match line.decode(errors="replace").split():
                case ["step", step, "loss", loss]:
                    self.curve.append((int(step), loss))
                case _:
                    self.said.hear(line.decode(errors="replace").rstrip("\n"))
            self._news.set()
            self._news = asyncio.Event()

    @property
    def step(self) -> int:
        """The last."""
        return self.curve[-1][0] if self.curve else 0

    async def until_step(self, step: int) -> None:
        """Till this one is done."""
        try:
            async with asyncio.timeout(LONG):
                while self.step < step:
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"step {self.step}, not {step}, after:\n" + "\n".join(self.said.heard)) from None

    async def go_on(self, steps: int = 20) -> None:
        """So many steps more."""
        await self.until_step(self.step + steps)

    @property
    def turns(self) -> list[int]:
        """The last steps before the job was set back, each time."""
        return [before for (before, _), (after, _) in pairwise(self.curve) if after <= before]

    async def hear_ranks(self, words: str, start: int = 1) -> set[str]:
        """What every rank of a start says with these words after its number."""
        first = await self.said.wait(f"^start {start}: ", within=LONG)
        since = self.said.heard.index(first)
        return {(await self.said.wait(rf"^rank {rank} {words}", since, LONG)).split(" ", 2)[2] for rank in range(WORLD)}

    async def kill_rank(self, rank: int, start: int = 1) -> None:
        """As `kill -9`."""
        told = await self.said.wait(rf"^start {start}: ", within=LONG)
        os.kill(int(told.split()[2 + rank]), signal.SIGKILL)


async def expect_undisturbed(training: Launched, *back_to: int) -> None:
    """Nothing is left out, and each step that was done, repeated ones too, has the loss of an undisturbed run to the last bit.

    `back_to` are the steps that the job was set back to, one after the other.
    """
    steps, turns = [step for step, _ in training.curve], training.turns
    spans = zip((0, *back_to), (*turns, steps[-1]), strict=True)
    assert steps == [step for begin, end in spans for step in range(begin + 1, end + 1)]
    undisturbed = await train_undisturbed(training.container, max(steps))
    assert [one for one in training.curve if undisturbed[one[0]] != one[1]] == []


async def train_undisturbed(container: Path, steps: int) -> dict[int, str]:
    """The losses by step where nothing happens, and there is no daemon."""
    nowhere = {"SUPERNODED_JOB_SOCKET": str(container / "nowhere"), "SUPERNODED_VAULT": str(container / "nothing")}
    async with Launched(container, nowhere, ("--steps", str(steps), "--every", "1000000")) as training:
        await training.hear_ranks("ends")
        assert [step for step, _ in training.curve] == list(range(1, steps + 1))
        return dict(training.curve)
