"""The vault dies between any two operations: an older step can always be restored, and the next vault finishes the work."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.restoring import choose_step
from tests.unit.job.vault.saving import FAST, JOB, Bench, Stopped, StoppingFiles

MANY = 10_000


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in which a sync takes no time, where the system has one."""
    with tempfile.TemporaryDirectory(dir=FAST) as name:
        yield Path(name)


def count_operations(folder: Path, level: int | None, rounds: int = 1) -> int:
    folder.mkdir()
    bench = prepare(folder)
    files = StoppingFiles(MANY)
    for _ in range(rounds):
        bench.make(files, level=level).run()
    return MANY - files.left


def prepare(folder: Path) -> Bench:
    """Step 1 and 2 are durable, 3 has just been saved: it will be flushed, and 1 removed."""
    bench = Bench(folder)
    for step in (1, 2):
        bench.save(step)
        bench.make().run()
    bench.save(3)
    return bench


def durable_step(bench: Bench) -> int | None:
    """What a node that has lost its memory comes back to."""
    return choose_step(SystemFiles(), [bench.durable], JOB).step


@pytest.mark.parametrize(("level", "stride"), [(None, 1), (1, 3)], ids=["plain", "zstd"])
def test_a_vault_that_is_killed_anywhere_leaves_a_whole_step_and_the_next_one_goes_on(memory: Path, level: int | None, stride: int) -> None:
    total = count_operations(memory / "all", level)
    found: list[int | None] = []
    for left in range(0, total, stride):
        folder = memory / str(left)
        folder.mkdir()
        bench = prepare(folder)
        with pytest.raises(Stopped):
            bench.make(StoppingFiles(left), level=level).run()

        found.append(durable_step(bench))
        assert choose_step(SystemFiles(), bench.tiers, JOB).step == 3  # nothing is lost of what lies in shared memory
        bench.make(level=level, pid=2).run()
        assert durable_step(bench) == 3
        assert sorted(path.name for path in (bench.durable.root / JOB).iterdir() if path.name.startswith("step")) == [
            f"step-{step:012d}" for step in (2, 3)
        ]

    assert total > 30
    assert set(found) == {2, 3}
    assert found == sorted(found, key=lambda step: step or 0)  # it becomes durable at one moment, and stays so


def test_what_dead_vaults_leave_is_cleared_up(memory: Path) -> None:
    bench = prepare(memory)
    files = StoppingFiles(MANY)

    def stop(name: str) -> None:
        files.left = 0 if name == "hash_back" else files.left

    files.before = stop
    with pytest.raises(Stopped):
        bench.make(files, pid=2**22 + 1).run()  # above the kernel's largest process number: dead for certain
    drafts = list(bench.durable.root.rglob(".*.tmp"))
    bench.make(pid=1).run()

    assert len(drafts) == 1
    assert list(bench.durable.root.rglob(".*.tmp")) == []


def test_two_vaults_in_step_on_one_mount_do_each_other_no_harm(memory: Path) -> None:
    """Before each operation of the one the other does a whole round, once for each place."""
    total = count_operations(memory / "all", None)
    for at in range(total):
        folder = memory / str(at)
        folder.mkdir()
        bench = prepare(folder)
        files = StoppingFiles(MANY)

        def meet(_: str, files: StoppingFiles = files, at: int = at, bench: Bench = bench) -> None:
            if MANY - files.left == at:
                bench.make(node="n1", pid=3).run()

        files.before = meet
        first = bench.make(files)
        troubles = first.run().troubles
        bench.clock.turn(100.0)
        assert first.run().troubles == {"shared": [], "durable": []}, troubles
        assert durable_step(bench) == 3
        assert choose_step(SystemFiles(), bench.tiers, JOB).step == 3


def test_two_nodes_complete_a_step_together(memory: Path) -> None:
    (memory / "a").mkdir()
    (memory / "b").mkdir()
    near, far = Bench(memory / "a"), Bench(memory / "b")
    far.durable = near.durable
    near.save(5, {0: b"a"}, world=2)
    far.save(5, {1: b"b"}, world=2)
    one, two = near.make(node="n0"), far.make(node="n1")

    assert one.run().wholes == {}
    assert two.run().wholes[JOB].by == "n1"
    assert one.run().wholes[JOB].by == "n1"
    assert durable_step(near) == 5
    assert sorted(path.name for path in (near.durable.root / JOB / "step-000000000005").glob("node-*")) == ["node-n0.json", "node-n1.json"]
