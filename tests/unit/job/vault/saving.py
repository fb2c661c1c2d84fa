"""What a rank would have saved, and vaults to look after it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from supernoded.job.vault.catalogue import Tier
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.names import MARKER, place_part
from supernoded.job.vault.rounds import Rounds
from supernoded.job.vault.storing import Storing
from supernoded.testing.clock import ManualClock

JOB = "llama"
FAST = str(Path("/dev/shm").resolve()) if os.access("/dev/shm", os.W_OK) else None  # where a sync takes no time


class Stopped(BaseException):
    """The machine lost power here."""


class StoppingFiles(SystemFiles):
    """Works `left` operations, then stops for good; a copy is stopped half-way. `before` is asked before each."""

    def __init__(self, left: int, before: Callable[[str], None] = lambda name: None) -> None:
        super().__init__()
        self.left, self.before = left, before

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if (
            name.startswith("_")
            or not callable(found)
            or name in {"before", "list_names", "is_there", "is_folder", "find_age", "measure", "find_space"}
        ):
            return found

        def count(*arguments: Any) -> Any:
            self.before(name)
            self.left -= 1
            if self.left < 0:
                if name in {"copy", "write_record"} and self.left == -1:
                    Path(arguments[1 if name == "copy" else 0]).write_bytes(b"half")
                raise Stopped
            return found(*arguments)

        return count


class Turned(ManualClock):
    """A clock for what never sleeps."""

    def turn(self, seconds: float) -> None:
        self._now += seconds


class Bench:
    """Two tiers in a folder, and vaults over them."""

    def __init__(self, folder: Path, *, marked: bool = True) -> None:
        self.shared = Tier(name="shared", root=folder / "shm", committed=False)
        self.durable = Tier(name="durable", root=folder / "disk", committed=True)
        self.tiers = (self.shared, self.durable)
        self.clock = Turned()
        for tier in self.tiers:
            tier.root.mkdir()
        if marked:
            (self.durable.root / MARKER).touch()

    def save(self, step: int, ranks: Mapping[int, bytes] | None = None, world: int = 2, run: str = "", taken: float = 0.0) -> None:
        for rank, content in (ranks or {rank: b"%d of %d" % (rank, step) for rank in range(world)}).items():
            save_part(self.shared.root, step, rank, world, content, run, taken or float(step))

    def make(
        self,
        files: SystemFiles | None = None,
        node: str = "n0",
        level: int | None = None,
        limit: int = 10**9,
        pid: int = 1,
        forget_s: float = 1e10,
    ) -> Rounds:
        pen = Pen(node=node, pid=pid, level=level, headroom=0)
        port = files or SystemFiles()
        storing = Storing(port, self.shared.root, self.durable, pen, 2, 0, self.clock)
        return Rounds(port, self.shared, storing, self.durable, pen, limit, 60.0, forget_s, self.clock)


def save_part(root: Path, step: int, rank: int, world: int, content: bytes, run: str = "", taken: float = 1.0) -> Path:
    """As the client does it: a draft, and one rename."""
    folder = place_part(root, JOB, step, rank)
    draft = folder.with_name(folder.name + ".tmp")
    draft.mkdir(parents=True)
    (draft / "model.pt").write_bytes(content)
    record = {
        "v": 1,
        "job": JOB,
        "rank": rank,
        "world": world,
        "step": step,
        "taken": taken,
        "files": {"model.pt": len(content)},
        "run": run,
    }
    (draft / "rank.json").write_text(json.dumps(record))
    if folder.exists():
        old = folder.with_name(folder.name + ".old.tmp")
        folder.rename(old)
        SystemFiles().remove(old)
    draft.rename(folder)
    return folder
