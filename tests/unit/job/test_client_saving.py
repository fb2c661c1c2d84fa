from __future__ import annotations

import json
import os
import tempfile
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.job import client
from supernoded.job.client import Job, connect


class Folders:
    """Tiers with steps in them."""

    def __init__(self, root: Path) -> None:
        self.shared, self.durable = root / "shm", root / "disk"
        for tier in (self.shared, self.durable):
            tier.mkdir()
        (self.durable / ".supernoded-vault").touch()

    def make_rank(self, monkeypatch: pytest.MonkeyPatch, rank: int, world: int = 1, run: str = "", *, durable: bool = False) -> Job:
        tiers = [self.durable] if durable else [self.shared, self.durable]
        monkeypatch.setenv("SUPERNODED_VAULT", os.pathsep.join(map(str, tiers)))
        monkeypatch.setenv("SUPERNODED_JOB_RUN", run)
        return connect("train", rank, world=world, path=str(self.shared / "none"))

    def seal(self, step: int, world: int = 1) -> None:
        """What the vault does on the durable tier."""
        folder = self.durable / f"train/step-{step:012d}"
        parts = {}
        for rank in range(world):
            home = folder / f"rank-{rank:05d}"
            sums = {
                path.name: {"size": path.stat().st_size, "sha256": sha256(path.read_bytes()).hexdigest()}
                for path in home.iterdir()
                if path.name != "rank.json"
            }
            (home / "sums.json").write_text(json.dumps({"v": 1, "pack": "none", "files": sums}))
            parts[str(rank)] = sha256((home / "sums.json").read_bytes()).hexdigest()
        (folder / "whole.json").write_text(json.dumps({"v": 1, "step": step, "world": world, "run": "", "taken": 1.0, "parts": parts}))


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def home(folders: Folders, step: int, rank: int = 0) -> Path:
    return folders.shared / f"train/step-{step:012d}/rank-{rank:05d}"


def test_parts_are_written_as_they_are_and_become_whole_in_one_rename(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)
    seen: list[bool] = []

    def look(file: Any) -> None:
        file.write(b"by a function")
        seen.append(home(folders, 3).exists())

    strided = memoryview(bytes(range(20)))[::2]
    assert job.save(3, {"a": bytearray(b"12345"), "empty": b"", "strided": strided, "function": look}), job.trouble
    found = job.restore()
    assert found is not None
    step, parts = found
    assert seen == [False]
    assert step == 3
    read = {name: path.read_bytes() for name, path in parts.items()}
    assert read == {"a": b"12345", "empty": b"", "strided": strided.tobytes(), "function": b"by a function"}
    card = json.loads((home(folders, 3) / "rank.json").read_text())
    assert {key: card[key] for key in ("v", "job", "rank", "world", "step", "files")} == {
        "v": 1, "job": "train", "rank": 0, "world": 1, "step": 3, "files": {"a": 5, "empty": 0, "strided": 10, "function": 13},
    }  # fmt: skip


def test_the_same_step_saved_again_takes_the_place_of_the_first(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)
    assert job.save(3, {"a": b"first"})
    assert job.save(3, {"a": b"second"})
    assert (home(folders, 3) / "a").read_bytes() == b"second"
    assert [path.name for path in home(folders, 3).parent.iterdir()] == ["rank-00000"]


@pytest.mark.parametrize("name", ["..", "a/b", "rank.json", "sums.json", ".hidden", "a.tmp", "a.zst", ""])
def test_a_part_that_can_be_no_file_of_a_checkpoint_is_refused(name: str, folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)
    assert job.save(3, {name: b""}) is False
    assert "is no name of a part" in job.trouble
    assert job.restore() is None


def test_what_does_not_fit_is_said_before_it_is_written(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)
    (folders.shared / "room.json").write_text('{"limit": 9, "used": 5, "room": 4, "text": "two steps are not durable yet"}')
    assert job.save(3, {"a": b"12345"}) is False
    assert "5 bytes do not fit into the 4 that the vault leaves: two steps are not durable yet" in job.trouble
    assert not list(home(folders, 3).parent.iterdir())


def test_a_function_of_the_callers_that_fails_is_the_callers_and_leaves_nothing(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)

    def fail(file: Any) -> None:
        file.write(b"half")
        raise KeyError("optimizer")

    with pytest.raises(KeyError):
        job.save(3, {"a": fail})
    assert not list(home(folders, 3).parent.iterdir())


def test_without_a_folder_nothing_is_saved_and_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SUPERNODED_VAULT", raising=False)
    monkeypatch.setattr(client, "SHARED", str(tmp_path / "none"))
    job = connect("train", 0, path=str(tmp_path / "none.sock"))
    assert job.save(3, {"a": b""}) is False
    assert "SUPERNODED_VAULT" in job.trouble
    assert job.restore() is None


def test_a_step_that_misses_a_rank_or_mixes_two_starts_is_passed_over(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    for rank in range(2):
        assert folders.make_rank(monkeypatch, rank, 2).save(3, {"a": b"old"})
    assert folders.make_rank(monkeypatch, 0, 2).save(4, {"a": b"lone"})
    assert folders.make_rank(monkeypatch, 0, 2, "one").save(5, {"a": b"of one start"})
    assert folders.make_rank(monkeypatch, 1, 2, "two").save(5, {"a": b"of another"})
    found = folders.make_rank(monkeypatch, 0, 2).restore()
    assert found is not None
    assert found[0] == 3


@pytest.mark.parametrize("damage", ["short", "hash", "card", "gone"])
def test_a_damaged_step_is_passed_over_for_an_older_one(damage: str, folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)
    for step in (3, 4):
        assert job.save(step, {"a": b"12345"})
    place = home(folders, 4)
    if damage == "hash":
        (place / "sums.json").write_text(json.dumps({"v": 1, "files": {"a": {"size": 5, "sha256": "0" * 64}}}))
    elif damage == "gone":
        (place / "a").unlink()
    else:
        (place / ("a" if damage == "short" else "rank.json")).write_text("[1")
    found = job.restore()
    assert found is not None
    assert found[0] == 3
    assert "step 4 is passed over" in job.trouble


def test_the_durable_tier_counts_once_its_manifest_is_whole_and_it_is_mounted(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = folders.make_rank(monkeypatch, 0, durable=True)
    assert writer.save(9, {"a": b"12345"})
    job = folders.make_rank(monkeypatch, 0)
    assert job.save(3, {"a": b"near"})
    newest = job.restore()
    assert newest is not None
    assert newest[0] == 3, "no manifest yet"
    folders.seal(9)
    newest = job.restore()
    assert newest is not None
    assert (newest[0], newest[1]["a"].read_bytes()) == (9, b"12345")
    (folders.durable / ".supernoded-vault").unlink()
    newest = job.restore()
    assert newest is not None
    assert newest[0] == 3
    assert "not mounted" in job.trouble


def test_of_one_step_the_nearest_tier_is_read(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folders.make_rank(monkeypatch, 0, durable=True).save(3, {"a": b"12345"})
    folders.seal(3)
    job = folders.make_rank(monkeypatch, 0)
    assert job.save(3, {"a": b"12345"})
    found = job.restore()
    assert found is not None
    assert found[1]["a"].parent == home(folders, 3)


def test_ranks_agree_on_the_newest_step_that_all_have(folders: Folders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two nodes with shared memory of their own."""
    other = tmp_path / "other"
    other.mkdir()
    there = Folders(other)
    ranks = [folders.make_rank(monkeypatch, 0), there.make_rank(monkeypatch, 0)]
    for rank, steps in zip(ranks, ((2, 3, 5), (2, 3, 4)), strict=True):
        for step in steps:
            assert rank.save(step, {"a": b"x"})
    barrier, given, found = threading.Barrier(2), dict[int, int](), dict[int, Any]()

    def restore(number: int) -> None:
        def reduce(value: int) -> int:
            given[number] = value
            barrier.wait(10)
            largest = max(given.values())
            barrier.wait(10)
            return largest

        found[number] = ranks[number].restore(reduce)

    threads = [threading.Thread(target=restore, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number][0] for number in range(2)] == [3, 3]


@given(
    st.dictionaries(
        st.sampled_from(["rank", "world", "step", "taken", "files", "run", "local"]),
        st.none() | st.text() | st.integers() | st.lists(st.integers()),
    )
)
def test_no_card_raises(card: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "rank-00000"
        place.mkdir()
        (place / "rank.json").write_text(json.dumps(card))
        assert client._choose([(Path(folder), False)], 0) is None or {"rank", "world", "taken", "files"} <= card.keys()
