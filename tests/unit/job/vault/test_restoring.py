from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.errors import VaultError
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.names import MARKER, place_part
from supernoded.job.vault.restoring import choose_step, list_steps, restore, verify_job
from tests.unit.job.vault.saving import JOB, Bench

FILES = SystemFiles()


def fill(folder: Path, level: int | None = None) -> Bench:
    bench = Bench(folder)
    rounds = bench.make(level=level)
    for step in (1, 2):
        bench.save(step)
        rounds.run()
    return bench


@pytest.mark.parametrize("level", [None, 1, 19])
def test_a_step_comes_back_as_it_was_saved(tmp_path: Path, level: int | None) -> None:
    bench = fill(tmp_path, level)
    choice = choose_step(FILES, [bench.durable], JOB)
    made = restore(FILES, choice, tmp_path / "deep" / "out")

    assert [path.name for path in made] == ["rank-00000", "rank-00001"]
    assert [(path / "model.pt").read_bytes() for path in made] == [b"0 of 2", b"1 of 2"]
    assert sorted(path.name for path in made[0].iterdir()) == ["model.pt", "rank.json"]


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    bench = fill(tmp_path)
    choice = choose_step(FILES, bench.tiers, JOB)
    restore(FILES, choice, tmp_path / "out")

    with pytest.raises(VaultError, match="is there already; restore into another folder"):
        restore(FILES, choice, tmp_path / "out")


def test_a_part_that_breaks_after_it_was_chosen_leaves_nothing(tmp_path: Path) -> None:
    bench = fill(tmp_path, 1)
    choice = choose_step(FILES, [bench.durable], JOB)
    (choice.parts[1].folder / "model.pt.zst").write_bytes(b"not packed")

    with pytest.raises(VaultError, match="is not packed with zstd"):
        restore(FILES, choice, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["rank-00000"]


def test_listing_and_verifying_name_what_is_wrong(tmp_path: Path) -> None:
    bench = fill(tmp_path)
    assert verify_job(FILES, bench.tiers, JOB) == (8, [])
    broken = place_part(bench.durable.root, JOB, 2, 0) / "model.pt"
    broken.write_bytes(b"0 of 3")
    (place_part(bench.durable.root, JOB, 1, 0) / "sums.json").unlink()

    good, wrong = verify_job(FILES, bench.tiers, JOB)
    assert good == 6
    assert any(str(broken) in line and "has the SHA-256" in line for line in wrong)
    lines = list(list_steps(FILES, bench.tiers, JOB))
    assert lines[0] == "shared   step-000000000002  2 of 2 parts  12 bytes  whole"
    assert "durable  step-000000000001  1 of 2 parts  6 bytes  not whole" in lines


def test_a_tier_that_is_not_mounted_is_passed_over_with_a_sentence(tmp_path: Path) -> None:
    bench = fill(tmp_path)
    (bench.durable.root / MARKER).unlink()
    FILES.remove(bench.shared.root / JOB)
    choice = choose_step(FILES, bench.tiers, JOB)

    assert choice.step is None
    assert choice.passed == [f"the tier durable is passed over: {bench.durable.root} has no {MARKER}, it is not mounted"]
