"""What lies on the tiers, by the bytes that ranks have written: nothing that a vault says is believed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

SHARE = 2048  # bytes of a rank's part, which stand for its gigabytes
FILE, RECORD, WHOLE = "model.pt", "rank.json", "whole.json"
SNAPSHOTS = "snapshots"
VOLATILE = frozenset({"status.json", ".status.json.tmp"})  # written every second, and of no checkpoint


def make_content(rank: int, step: int) -> bytes:
    """What a rank saves at a step, unlike any other."""
    line = b"rank %d at step %d\n" % (rank, step)
    return (line * (SHARE // len(line) + 1))[:SHARE]


def place_step(tier: Path, job: str, step: int) -> Path:
    """A step's folder."""
    return tier / job / f"step-{step:012d}"


def find_shared(tiers: Iterable[Path], job: str, world: int) -> int:
    """The newest step of which every rank's part is in the shared memory of some node; 0 when there is none."""
    folders = list(tiers)
    steps = {step for tier in folders for step in _list_steps(tier / job)}
    whole = (step for step in steps if all(_is_there(folders, job, step, rank) for rank in range(world)))
    return max(whole, default=0)


def find_durable(tier: Path, job: str) -> int:
    """The newest step that storage calls whole and that is; 0 when there is none. What is called whole and is not counts as none."""
    return max((step for step in _list_steps(tier / job) if _is_whole(tier, job, step)), default=0)


def count_unfinished(tier: Path, job: str) -> int:
    """Steps that were begun on storage and are not whole there."""
    return sum(not _is_whole(tier, job, step) for step in _list_steps(tier / job))


def count_drafts(tier: Path, job: str) -> int:
    """What lies on storage under a temporary name."""
    return sum(1 for _ in (tier / job).rglob(".*.tmp"))


def find_published(tier: Path) -> str:
    """The newest snapshot of the memory pool that has a manifest; empty when none has."""
    return max((path.stem for path in (tier / SNAPSHOTS).glob("ckpt_*.json")), default="")


def read_state(tiers: Iterable[Path]) -> tuple[tuple[str, int, int], ...]:
    """What tells that something has changed on any of them."""
    found = [(path, path.lstat()) for tier in tiers for path in sorted(tier.rglob("*")) if path.name not in VOLATILE]
    return tuple((str(path), stat.st_mtime_ns, stat.st_ino) for path, stat in found)


def _is_whole(tier: Path, job: str, step: int) -> bool:
    folder = place_step(tier, job, step)
    try:
        world = int(json.loads((folder / WHOLE).read_bytes())["world"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return world > 0 and all(_is_there([tier], job, step, rank) for rank in range(world))


def _is_there(tiers: Iterable[Path], job: str, step: int, rank: int) -> bool:
    wanted = make_content(rank, step)
    return any(_read(place_step(tier, job, step) / f"rank-{rank:05d}") == wanted for tier in tiers)


def _read(part: Path) -> bytes:
    try:
        return (part / FILE).read_bytes() if (part / RECORD).exists() else b""
    except OSError:
        return b""


def _list_steps(folder: Path) -> list[int]:
    names = (path.name.removeprefix("step-") for path in folder.glob("step-*"))
    return [int(name) for name in names if name.isdecimal()]
