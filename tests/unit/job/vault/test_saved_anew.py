"""Parts that change under the vault's hands, come back, or are no parts at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from supernoded.job.vault.catalogue import read_catalogue
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.names import place_part
from supernoded.job.vault.restoring import choose_step
from tests.unit.job.vault.saving import JOB, Bench, StoppingFiles, save_part


def test_garbage_in_shared_memory_is_named_and_stops_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.save(2)
    secret = tmp_path / "secret"
    secret.write_bytes(b"abc")
    (bench.shared.root / "stray").write_text("x")
    (bench.shared.root / JOB / "notes").mkdir()
    (bench.shared.root / JOB / "step-000000000003").write_text("no folder")
    (bench.shared.root / JOB / "step-000000000001" / "rank-00000").mkdir(parents=True)
    link = save_part(bench.shared.root, 1, 1, 2, b"abc")
    (link / "model.pt").unlink()
    (link / "model.pt").symlink_to(secret)
    short = save_part(bench.shared.root, 1, 2, 3, b"abc")
    (short / "model.pt").write_bytes(b"abcd")
    fifo = save_part(bench.shared.root, 1, 3, 4, b"abc")
    (fifo / "model.pt").unlink()
    os.mkfifo(fifo / "model.pt")
    outcome = bench.make().run()

    said = "\n".join(outcome.troubles["shared"])
    assert outcome.troubles["durable"] == []
    assert outcome.wholes[JOB].step == 2
    for words in ("rank.json is not there", "is a link, and only files are copied", "has 4 bytes, and its rank said 3", "no regular file"):
        assert words in said
    assert not [path for path in bench.durable.root.rglob("model.pt") if path.read_bytes() == b"abc"]


def test_a_step_that_is_saved_again_before_it_was_whole_replaces_its_parts(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    rounds = bench.make()
    bench.save(5, {0: b"old"}, world=2, run="a")
    rounds.run()
    bench.save(5, {0: b"new", 1: b"new"}, world=2, run="b", taken=99.0)
    whole = rounds.run().wholes[JOB]

    assert (whole.run, whole.taken) == ("b", 99.0)
    assert (place_part(bench.durable.root, JOB, 5, 0) / "model.pt").read_bytes() == b"new"


def test_a_part_that_is_replaced_while_another_vault_calls_the_old_one_whole(tmp_path: Path) -> None:
    """The job begins anew and saves step 5; another vault sees the last part of the old save in the very moment."""
    bench = Bench(tmp_path)
    bench.save(5, {0: b"old", 1: b"one"})
    bench.make(node="n1").run()
    whole = bench.durable.root / JOB / "step-000000000005" / "whole.json"
    kept = whole.read_bytes()
    whole.unlink()
    bench.save(5, {0: b"new"}, run="b", taken=99.0)
    SystemFiles().remove(place_part(bench.shared.root, JOB, 5, 1))
    files = StoppingFiles(10**6)

    def complete(name: str) -> None:
        if name == "copy":
            whole.write_bytes(kept)

    files.before = complete
    rounds = bench.make(files)

    assert [rounds.run().wholes, rounds.run().wholes] == [{}, {}]
    assert not whole.exists()
    bench.save(5, {1: b"two"}, run="b", taken=99.0)
    assert rounds.run().wholes[JOB].run == "b"


def test_a_nodes_manifest_that_is_behind_does_not_spoil_the_whole_one(tmp_path: Path) -> None:
    """Its vault was killed after it had replaced a part and before it had said so."""
    bench = Bench(tmp_path)
    rounds = bench.make()
    bench.save(5, {0: b"old"}, world=2)
    rounds.run()
    manifest = bench.durable.root / JOB / "step-000000000005" / "node-n0.json"
    behind = manifest.read_bytes()
    bench.save(5, {0: b"new"}, world=2, taken=99.0)
    rounds.run()
    manifest.write_bytes(behind)
    SystemFiles().remove(bench.shared.root / JOB)
    bench.save(5, {1: b"one"}, world=2, taken=99.0)

    assert bench.make(node="n1").run().wholes[JOB].by == "n1"
    assert choose_step(SystemFiles(), [bench.durable], JOB).step == 5


@pytest.mark.parametrize("moment", ["copy", "write_record", "hash_back", "sync_folder"])
def test_a_part_that_changes_while_it_is_copied_is_taken_at_the_next_round(tmp_path: Path, moment: str) -> None:
    bench = Bench(tmp_path)
    bench.save(5)
    files = StoppingFiles(10**6)
    changes = iter([b"1 of X"])

    def change(name: str) -> None:
        if name == moment:
            for content in changes:
                bench.save(5, {1: content, 0: b"0 of X"}, taken=99.0)

    files.before = change
    rounds = bench.make(files)
    for _ in range(3):
        rounds.run()
        assert choose_step(SystemFiles(), [bench.shared], JOB).step == 5  # no hashes of the old part beside the new one
        for held in read_catalogue(SystemFiles(), bench.durable, JOB).parts:
            assert held.saved is not None
            assert ((held.folder / "model.pt").read_bytes()[-1:] == b"X") == (held.saved.taken == 99.0)

    choice = choose_step(SystemFiles(), [bench.durable], JOB)
    assert choice.step == 5
    assert len({(choice.parts[rank].folder / "model.pt").read_bytes()[-1:] for rank in (0, 1)}) == 1


def test_a_job_that_begins_anew_under_the_same_name_is_told_that_it_is_not_copied(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    rounds = bench.make()
    for step in (100, 200):
        bench.save(step, taken=1.0)
        rounds.run()
    bench.save(3, taken=50.0)

    said = rounds.run().troubles["shared"]
    assert f"step 3 of {JOB} was saved after step 200, which is durable, and is not copied: give the job another name" in said[0]


def test_a_job_that_comes_back_to_a_damaged_step_makes_it_durable_anew(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    rounds = bench.make()
    for step in (1, 2):
        bench.save(step, taken=1.0)
        rounds.run()
    (place_part(bench.durable.root, JOB, 2, 0) / "model.pt").write_bytes(b"0 of X")
    assert choose_step(SystemFiles(), [bench.durable], JOB).step == 1
    bench.save(2, run="b", taken=50.0)

    assert rounds.run().wholes[JOB].run == "b"
    choice = choose_step(SystemFiles(), [bench.durable], JOB)
    assert (choice.step, {held.saved.run for held in choice.parts.values() if held.saved}) == (2, {"b"})


def test_a_job_that_comes_back_to_a_sound_step_leaves_it_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    rounds = bench.make()
    bench.save(2, taken=1.0)
    rounds.run()
    bench.save(2, run="b", taken=50.0)

    assert rounds.run().wholes == {}
    choice = choose_step(SystemFiles(), [bench.durable], JOB)
    assert {held.saved.taken for held in choice.parts.values() if held.saved} == {1.0}


def test_a_folder_that_becomes_a_link_gives_nothing_away(tmp_path: Path) -> None:
    """The rank's folder is exchanged for a link to another one after its record was read: what is there is not copied."""
    bench = Bench(tmp_path)
    bench.save(1)
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "model.pt").write_bytes(b"secret")
    files = StoppingFiles(10**6)

    def exchange(name: str) -> None:
        folder = place_part(bench.shared.root, JOB, 1, 0)
        if name == "copy" and not folder.is_symlink():
            folder.rename(tmp_path / "away")
            folder.symlink_to(secrets)

    files.before = exchange
    said = bench.make(files).run().troubles["shared"]

    assert any("is not what was opened" in line for line in said)
    assert not [path for path in bench.durable.root.rglob("model.pt") if path.read_bytes() == b"secret"]
