from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.names import MARKER, place_part
from supernoded.job.vault.records import Sum
from supernoded.job.vault.restoring import choose_step
from supernoded.job.vault.rounds import Outcome, Rounds
from supernoded.job.vault.storing import Storing
from tests.unit.job.vault.saving import JOB, Bench, Stopped, StoppingFiles


def list_steps(root: Path) -> list[int]:
    return sorted(int(path.name[5:]) for path in (root / JOB).glob("step-*"))


class Failing(SystemFiles):
    """A durable tier on which an operation fails with `number` for as long as `broken` stands."""

    def __init__(self, operation: str, number: int, root: Path) -> None:
        super().__init__()
        self.broken = True
        setattr(self, operation, self._break(getattr(super(), operation), number, root))

    def _break(self, work: Any, number: int, root: Path) -> Any:
        def fail(*arguments: Any) -> Any:
            path = arguments[1] if len(arguments) > 2 else arguments[0]
            if self.broken and Path(path).is_relative_to(root):
                raise OSError(number, os.strerror(number), str(path))
            return work(*arguments)

        return fail


def test_a_step_becomes_durable_and_its_hashes_come_to_shared_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.save(7)
    outcome = bench.make().run()

    assert outcome.troubles == {"shared": [], "durable": []}
    whole = outcome.wholes[JOB]
    assert (whole.step, whole.world, whole.taken, whole.size, whole.by) == (7, 2, 7.0, 12, "n0")
    for tier in bench.tiers:
        sums = json.loads((place_part(tier.root, JOB, 7, 1) / "sums.json").read_text())
        assert sums["files"]["model.pt"] == {"size": 6, "sha256": hashlib.sha256(b"1 of 7").hexdigest()}
    assert bench.make().run().wholes[JOB].step == 7  # the next vault tells it again, to a daemon that may not know


def test_an_idle_round_tells_nothing_twice(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.save(7)
    rounds = bench.make()
    rounds.run()

    assert rounds.run().wholes == {}


def test_old_steps_leave_both_tiers(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    rounds = bench.make()
    for step in range(1, 6):
        bench.save(step)
        rounds.run()

    assert list_steps(bench.durable.root) == [4, 5]
    assert list_steps(bench.shared.root) == [4, 5]


def test_an_unmounted_tier_is_not_filled_and_everything_stays_in_shared_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path, marked=False)
    rounds = bench.make()
    for step in range(1, 6):
        bench.save(step)
        outcome = rounds.run()

    assert "has no .supernoded-vault: it is not mounted" in outcome.troubles["durable"][0]
    assert list(bench.durable.root.iterdir()) == []
    assert list_steps(bench.shared.root) == [1, 2, 3, 4, 5]
    (bench.durable.root / MARKER).touch()
    bench.clock.turn(60.0)
    assert rounds.run().troubles["durable"] == []
    assert choose_step(SystemFiles(), [bench.durable], JOB).step == 5


@pytest.mark.parametrize(
    "operation", ["copy", "write_record", "rename", "sync_folder", "make_folder", "find_space", "is_there", "hash_back"]
)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.ESTALE, errno.EACCES])
def test_a_tier_in_trouble_loses_nothing_and_is_tried_again(tmp_path: Path, operation: str, number: int) -> None:
    bench = Bench(tmp_path)
    files = Failing(operation, number, bench.durable.root)
    rounds = bench.make(files)
    for step in (1, 2, 3, 4):
        bench.save(step)
        bench.clock.turn(100.0)
        outcome = rounds.run()

        assert len(outcome.troubles["durable"]) == 1
        assert outcome.troubles["durable"][0].startswith(str(bench.durable.root))
    assert list_steps(bench.shared.root) == [1, 2, 3, 4]
    files.broken = False
    bench.clock.turn(100.0)
    assert rounds.run().troubles == {"shared": [], "durable": []}
    assert choose_step(SystemFiles(), [bench.durable], JOB).step == 4


def test_a_tier_in_trouble_is_tried_after_growing_pauses(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.save(1)
    asked = 0

    class Counting(Failing):
        def find_space(self, folder: Path) -> tuple[int, int]:
            nonlocal asked
            asked += folder == bench.durable.root
            return super().find_space(folder)

    rounds = bench.make(Counting("copy", errno.EIO, bench.durable.root))
    for _ in range(100):
        rounds.run()
        bench.clock.turn(1.0)

    assert asked == 7  # at 0, 1, 3, 7, 15, 31 and 63 s, and each time at the first part alone


def test_a_full_tier_says_how_many_bytes_are_missing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.save(1)

    class Small(SystemFiles):
        def find_space(self, folder: Path) -> tuple[int, int]:
            return (4, 1000) if folder == bench.durable.root else (10**9, 10**9)

    said = bench.make(Small()).run().troubles["durable"]
    assert "has 4 bytes free and 6 are needed beside a head-room of 0: 2 bytes are missing" in said[0]


def test_storage_that_gives_back_other_bytes_is_caught_before_the_step_counts(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.save(1)

    class Lying(SystemFiles):
        def copy(self, source: Path, target: Path, level: int | None) -> Sum:
            found = super().copy(source, target, level)
            target.write_bytes(target.read_bytes()[:-1] + b"X")
            return found

    said = bench.make(Lying()).run().troubles["durable"]
    assert "what was written is not what the storage has" in said[0]
    assert choose_step(SystemFiles(), [bench.durable], JOB).step is None


def test_shared_memory_alone_keeps_two_steps_with_their_hashes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    pen = bench.make()._pen
    rounds = Rounds(SystemFiles(), bench.shared, None, None, pen, 10**9, 60.0, 1e10, bench.clock)
    for step in (1, 2, 3):
        bench.save(step)
        assert rounds.run().troubles == {"shared": [], "durable": []}

    assert list_steps(bench.shared.root) == [2, 3]
    assert (place_part(bench.shared.root, JOB, 3, 0) / "sums.json").exists()


def test_when_memory_is_full_ranks_can_read_it_and_people_too(tmp_path: Path) -> None:
    bench = Bench(tmp_path, marked=False)
    for step in (1, 2, 3):
        bench.save(step, {0: bytes(1000)}, world=1)
    outcome: Outcome = bench.make(limit=1500).run()

    said = json.loads((bench.shared.root / "room.json").read_text())
    assert (said["limit"], said["room"]) == (1500, 0)
    assert "that must stay, and the limit is 1500" in said["text"]
    assert outcome.troubles["shared"][0].startswith(f"step 1 of {JOB} left shared memory before it was durable")
    assert list_steps(bench.shared.root) == [2, 3]


def test_a_whole_step_that_vanished_from_the_tier_keeps_its_copy_in_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    storing = Storing(SystemFiles(), bench.shared.root, bench.durable, bench.make()._pen, 2, 0, bench.clock)
    bench.save(1)
    rounds = Rounds(SystemFiles(), bench.shared, storing, bench.durable, bench.make()._pen, 10**9, 60.0, 1e10, bench.clock)
    rounds.run()
    assert storing.is_safe(JOB, 1)
    (bench.durable.root / JOB / "step-000000000001" / "whole.json").unlink()

    assert not storing.is_safe(JOB, 1)


def test_the_file_port_stops_when_it_is_told() -> None:
    files = StoppingFiles(0)
    with pytest.raises(Stopped):
        files.sync_folder(Path("/tmp"))


def test_what_is_durable_of_a_job_that_has_ended_leaves_shared_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    rounds = bench.make(forget_s=3600.0)
    for step in (1, 2, 3):
        bench.save(step, taken=bench.clock.wall())
        rounds.run()
    bench.clock.turn(3000.0)
    rounds.run()
    assert list_steps(bench.shared.root) == [2, 3]
    bench.clock.turn(700.0)
    rounds.run()

    assert list_steps(bench.shared.root) == []
    assert choose_step(SystemFiles(), bench.tiers, JOB).step == 3
    long_ago = time.time() - 3700.0
    os.utime(bench.shared.root / JOB, (long_ago, long_ago))
    rounds.run()
    assert not (bench.shared.root / JOB).exists()
    assert rounds.run().jobs == []
