"""The manifests of a step: each node's own, and the whole one, written by whoever sees the last part. Two who write it write the same."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Tier, list_ranks, read_part
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen, put_record
from supernoded.job.vault.names import SUMS_FILE, WHOLE_FILE, name_node, name_step, read_node
from supernoded.job.vault.records import Entry, NodeManifest, Whole, agree, decode, encode, make_entry


def add_part(files: Files, tier: Tier, job: str, step: int, rank: int, pen: Pen) -> None:
    """Enter a durable part into this node's manifest, unless it stands there. Raises OSError, VaultError when the part is damaged."""
    path = tier.root / job / name_step(step) / name_node(pen.node)
    entry = _read_entry(files, tier, job, step, rank)
    known = _read_node(files, path)
    if known.get(rank) == entry:
        return
    manifest = NodeManifest(v=1, step=step, node=pen.node, parts={**known, rank: entry})
    put_record(files, path, encode(manifest), pen)


def complete_step(files: Files, tier: Tier, job: str, step: int, world: int, pen: Pen, now: float) -> Whole | None:
    """The step's whole manifest, written when every part is there; None while one is missing. Raises OSError.

    The names, then the manifests tell cheaply that it is not time yet: a file a node instead of one a rank. What is then written is what
    the parts themselves say.
    """
    folder = tier.root / job / name_step(step)
    ranks = list_ranks(files, folder)
    if len(ranks) < world or agree(_collect(files, tier, job, step, ranks)):
        return None
    parts = _confirm(files, tier, job, step, ranks)
    if agree(parts):
        return None
    whole = Whole(
        v=1,
        step=step,
        world=len(parts),
        run=parts[0].run,
        taken=max(one.taken for one in parts.values()),
        size=sum(one.size for one in parts.values()),
        parts={rank: parts[rank].digest for rank in sorted(parts)},
        by=pen.node,
        at=now,
    )
    put_record(files, folder / WHOLE_FILE, encode(whole), pen)
    return whole


def _collect(files: Files, tier: Tier, job: str, step: int, ranks: list[int]) -> dict[int, Entry]:
    """Every part there is as the nodes' manifests have it; what stands in none, or in two that differ, is looked at itself."""
    folder = tier.root / job / name_step(step)
    told: dict[int, set[Entry]] = {}
    for name in files.list_names(folder):
        if read_node(name) is not None:
            for rank, entry in _read_node(files, folder / name).items():
                told.setdefault(rank, set()).add(entry)
    sure = {rank: next(iter(told[rank])) for rank in ranks if len(told.get(rank, ())) == 1}
    return {**sure, **_confirm(files, tier, job, step, [rank for rank in ranks if rank not in sure])}


def _confirm(files: Files, tier: Tier, job: str, step: int, ranks: list[int]) -> dict[int, Entry]:
    """The parts as they lie there. A damaged one is none: the node that has it in shared memory says so and writes it anew."""
    found: dict[int, Entry] = {}
    for rank in ranks:
        with contextlib.suppress(VaultError, FileNotFoundError):
            found[rank] = _read_entry(files, tier, job, step, rank)
    return found


def _read_entry(files: Files, tier: Tier, job: str, step: int, rank: int) -> Entry:
    held = read_part(files, msgspec.structs.replace(tier, committed=True), job, step, rank)
    if held.fault or held.saved is None:
        raise VaultError(held.fault)
    return make_entry(held.saved, files.read_record(held.folder / SUMS_FILE))


def _read_node(files: Files, path: Path) -> dict[int, Entry]:
    """The parts of a node's manifest; none where it is damaged or not there: it is then made anew out of the parts."""
    try:
        return decode(NodeManifest, files.read_record(path)).parts
    except (VaultError, FileNotFoundError):
        return {}
