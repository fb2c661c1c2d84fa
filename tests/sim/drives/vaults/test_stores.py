"""The tiers as files: a disk that is full in mid-write, and a truth that believes bytes alone."""

from __future__ import annotations

import errno
import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from sim_hardware.drives.vaults.files import CHUNK, SimFiles, Volume
from sim_hardware.drives.vaults.stores import Stores
from sim_hardware.drives.vaults.truth import count_drafts, count_unfinished, find_durable, find_shared, make_content, place_step
from sim_hardware.plant.job.orders import RequestCheckpoint
from sim_hardware.rack import load_rack
from sim_hardware.world import World

JOB, WORLD = "train", 2


def write(tier: Path, step: int, rank: int, content: bytes | None = None) -> Path:
    part = place_step(tier, JOB, step) / f"rank-{rank:05d}"
    part.mkdir(parents=True)
    (part / "model.pt").write_bytes(make_content(rank, step) if content is None else content)
    (part / "rank.json").write_text("{}")
    return part


def vouch(tier: Path, step: int, text: str = '{"world": 2}') -> None:
    (place_step(tier, JOB, step) / "whole.json").write_text(text)


def test_a_disk_takes_what_there_is_room_for_and_then_fails_with_the_name(tmp_path: Path) -> None:
    disk, source = tmp_path / "disk", tmp_path / "part"
    disk.mkdir()
    source.write_bytes(b"x" * 4 * CHUNK)
    files = SimFiles(Volume(disk, capacity=int(2.5 * CHUNK)), lambda _: False)

    assert files.find_space(disk) == (int(2.5 * CHUNK), int(2.5 * CHUNK))
    with pytest.raises(OSError, match="No space left") as caught:
        files.copy(source, disk / "copy", None)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(disk / "copy"))
    assert (disk / "copy").stat().st_size == int(2.5 * CHUNK)
    with pytest.raises(OSError, match="No space left"):
        files.write_record(disk / "record", b"1")
    (disk / "copy").unlink()
    files.write_record(disk / "other", b"1")
    assert files.copy(source, tmp_path / "elsewhere", None).size == 4 * CHUNK


def test_only_what_every_rank_wrote_counts_as_durable(tmp_path: Path) -> None:
    for step in (3, 4, 5, 6):
        write(tmp_path, step, 0)
        write(tmp_path, step, 1, b"half" if step == 5 else None)
        if step != 4:
            vouch(tmp_path, step, "garbage" if step == 6 else '{"world": 2}')
    (place_step(tmp_path, JOB, 6) / ".rank-00001.n0.7.tmp").mkdir()
    assert find_durable(tmp_path, JOB) == 3
    assert (count_unfinished(tmp_path, JOB), count_drafts(tmp_path, JOB)) == (3, 1)
    assert find_durable(tmp_path / "none", JOB) == 0


def test_a_step_is_in_memory_where_its_parts_are_on_some_node(tmp_path: Path) -> None:
    nodes = [tmp_path / "n0", tmp_path / "n1"]
    write(nodes[0], 3, 0)
    write(nodes[1], 3, 1)
    write(nodes[0], 4, 0)
    assert find_shared(nodes, JOB, WORLD) == 3
    shutil.rmtree(nodes[1])
    assert find_shared(nodes, JOB, WORLD) == 0


class Site:
    def __init__(self, folder: Path) -> None:
        self.time = 0.0
        self.world = World(load_rack("vault-2x4"), 1, lambda: self.time)
        self.stores = Stores(self.world, folder / "vaults", JOB, lambda: 1.8e9 + self.time)

    def save(self) -> int:
        """At once, by the job's own hand."""
        self.world.order(RequestCheckpoint(JOB))
        self.time += 10.0
        return int(float(str(self.world.truth(f"job/{JOB}", "job.committed_step"))))

    def make_durable(self, step: int) -> None:
        """Whole on storage, with sums and all, as far as the vault's own rules ask."""
        parts = {}
        for node in ("n0", "n1"):
            for part in sorted(place_step(self.stores.find_shared(node), JOB, step).glob("rank-*")):
                home = place_step(self.stores.durable, JOB, step) / part.name
                shutil.copytree(part, home)
                parts[int(part.name[5:])] = home
        raise_sums(parts, place_step(self.stores.durable, JOB, step), step)


def raise_sums(parts: dict[int, Path], home: Path, step: int) -> None:
    digests = {}
    for rank, part in parts.items():
        data = (part / "model.pt").read_bytes()
        sums = json.dumps({"v": 1, "pack": "none", "files": {"model.pt": {"size": len(data), "sha256": sha256(data).hexdigest()}}})
        (part / "sums.json").write_text(sums)
        digests[str(rank)] = sha256(sums.encode()).hexdigest()
    whole = {"v": 1, "step": step, "world": 8, "run": "run0", "taken": 1.0, "size": 1, "parts": digests, "by": "n0", "at": 2.0}
    (home / "whole.json").write_text(json.dumps(whole))


def test_ranks_go_on_from_memory_while_all_have_it_and_else_from_storage(tmp_path: Path) -> None:
    site = Site(tmp_path)
    assert site.stores.choose() == (0, "durable")
    first = site.save()
    assert site.stores.choose() == (first, "shared")
    site.make_durable(first)
    second = site.save()
    assert second > first
    assert site.stores.choose() == (second, "shared")
    site.stores.forget("n1")  # its ranks have nothing newer than what is on storage, and nobody goes on alone
    assert site.stores.choose() == (first, "durable")
    site.stores.forget("n0")
    shutil.rmtree(place_step(site.stores.durable, JOB, first))
    assert site.stores.choose() == (0, "durable")


def test_others_take_all_room_and_give_it_back(tmp_path: Path) -> None:
    stores = Site(tmp_path).stores
    assert not stores.is_full()
    stores.fill(full=True)
    assert stores.is_full()
    stores.fill(full=False)
    assert not stores.is_full()
