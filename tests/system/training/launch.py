"""Starts the ranks of a training on this node, starts all of them anew when one dies, and does what the daemon orders.

    SUPERNODED_JOB_SOCKET=... SUPERNODED_VAULT=... python launch.py 4 train.py --steps 1000

As torchrun does. After ranks that were stopped in order it waits for the order to resume.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from supernoded.job.client import Launcher, connect

LOOK = 0.05  # seconds between two looks at the ranks
MOST_STARTS = 5  # after which a job that dies is given up


class Ranks:
    """The rank processes on this node, of one start or another."""

    def __init__(self, world: int, command: Sequence[str], folder: Path) -> None:
        self._world, self._command, self._folder = world, command, folder
        self.starts = 0
        self._ranks: list[subprocess.Popen[bytes]] = []

    def start(self) -> str:
        """Start all; why not, where they run already."""
        if any(one.poll() is None for one in self._ranks):
            return "the ranks run already"
        self.starts += 1
        common = {"WORLD_SIZE": self._world, "LOCAL_WORLD_SIZE": self._world, "SUPERNODED_JOB_RUN": f"start{self.starts}"}
        common |= {"TRAIN_MEET": self._folder / str(self.starts)}
        for_each = [{**common, "RANK": rank, "LOCAL_RANK": rank} for rank in range(self._world)]
        texts = [{name: str(value) for name, value in one.items()} for one in for_each]
        self._ranks = [subprocess.Popen([sys.executable, *self._command], env={**os.environ, **one}) for one in texts]
        say(f"start {self.starts}: {' '.join(str(one.pid) for one in self._ranks)}")
        return ""

    def kill(self) -> str:
        """End all, at once."""
        for one in self._ranks:
            one.kill()
        for one in self._ranks:
            one.wait()
        return ""

    @property
    def broken(self) -> bool:
        """Whether one has died."""
        return any(one.poll() not in {None, 0} for one in self._ranks)


def say(line: str) -> None:
    """In one write."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Until it is told to end, or the ranks die too often."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    world, *command = int(sys.argv[1]), *sys.argv[2:]
    launcher = connect(os.environ.get("TRAIN_JOB", "train"), 0, world=world).launcher()
    with tempfile.TemporaryDirectory(prefix="launch-") as folder:
        ranks = Ranks(world, command, Path(folder))
        try:
            ranks.start()
            while ranks.starts < MOST_STARTS or not ranks.broken:
                look_after(ranks, launcher)
        finally:
            ranks.kill()
            launcher.close()
    return 1


def look_after(ranks: Ranks, launcher: Launcher) -> None:
    """Do what is ordered, or what a death asks for."""
    order = launcher.wait(LOOK)
    if order is not None:
        say(f"order {order.kind}")
        why = ranks.kill() if order.kind == "abort" else ranks.start() if order.kind == "resume" else "there are no other cards"
        launcher.acted(order, why)
    elif ranks.broken:
        ranks.kill()
        ranks.start()


if __name__ == "__main__":
    sys.exit(main())
