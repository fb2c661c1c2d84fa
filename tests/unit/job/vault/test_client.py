"""The client restores from the folders itself, with the standard library alone: it must choose what the vault chooses."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from supernoded.job.client import Job, connect
from supernoded.job.vault.catalogue import Held
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.names import name_step, place_part
from supernoded.job.vault.restoring import choose_step
from tests.unit.job.vault.saving import FAST, JOB, Bench

STEPS, WORLD = (1, 2, 3), 2
# What befalls a file of one rank's part in one tier.
DAMAGES = (
    "flip",
    "cut",
    "remove part",
    "remove rank.json",
    "remove sums.json",
    "garble rank.json",
    "garble sums.json",
    "remove whole.json",
)


def join(bench: Bench, rank: int, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setenv("SUPERNODED_VAULT", f"{bench.shared.root}:{bench.durable.root}")
    return connect(JOB, rank, world=WORLD, path="/nowhere/job.sock")


def damage(root: Path, step: int, rank: int, how: str) -> None:
    folder = place_part(root, JOB, step, rank)
    verb, _, name = how.partition(" ")
    path = folder / (name or "model.pt")
    if how == "remove part":
        shutil.rmtree(folder, ignore_errors=True)
    elif how == "remove whole.json":
        (root / JOB / name_step(step) / "whole.json").unlink(missing_ok=True)
    elif path.is_file():
        data = path.read_bytes()
        if verb == "remove":
            path.unlink()
        else:
            path.write_bytes({"flip": bytes([data[0] ^ 1, *data[1:]]), "cut": data[:-1], "garble": b"{" + data}[verb])


def agree_on(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> tuple[int | None, list[bytes]]:
    """What ranks find that agree through their collective: the smallest of what they found, until all are the same."""
    jobs = [join(bench, rank, monkeypatch) for rank in range(WORLD)]
    bound = 10**12 - 1
    while True:
        found = [job._look(bound) for job in jobs]
        steps = {one[0] if one else -1 for one in found}
        if len(steps) == 1:
            return (steps.pop() if found[0] else None), [one[1]["model.pt"].read_bytes() for one in found if one]
        bound = min(steps)


def vault_choice(bench: Bench) -> tuple[int | None, list[Held]]:
    choice = choose_step(SystemFiles(), bench.tiers, JOB)
    return choice.step, [held for _, held in sorted(choice.parts.items())]


HARM = st.lists(
    st.tuples(st.sampled_from(["shared", "durable"]), st.sampled_from(STEPS), st.integers(0, WORLD - 1), st.sampled_from(DAMAGES)),
    max_size=8,
)


def harm(bench: Bench, harms: list[tuple[str, int, int, str]]) -> None:
    rounds = bench.make()
    for step in STEPS:
        bench.save(step)
        rounds.run()
    hashed = [one for one in harms if one[0] == "durable" or one[3] != "remove sums.json"]  # without hashes a flipped bit cannot be seen
    for tier, step, rank, how in hashed:
        damage({"shared": bench.shared.root, "durable": bench.durable.root}[tier], step, rank, how)


@settings(max_examples=100)
@given(harms=HARM)
@example(harms=[("shared", 3, 0, "remove part"), ("durable", 3, 1, "flip")])
@example(harms=[("shared", 3, 0, "flip"), ("durable", 3, 1, "garble sums.json"), ("durable", 3, 1, "garble rank.json")])
def test_client_and_vault_choose_the_same_step_and_the_same_bytes(harms: list[tuple[str, int, int, str]]) -> None:
    """Damage in both tiers in different ranks included: each puts the step together out of what is good in either."""
    with tempfile.TemporaryDirectory(dir=FAST) as name, pytest.MonkeyPatch.context() as monkeypatch:
        bench = Bench(Path(name))
        harm(bench, harms)
        step_of_client, contents = agree_on(bench, monkeypatch)
        step_of_vault, held = vault_choice(bench)

        assert step_of_client == step_of_vault
        assert contents == [(one.folder / "model.pt").read_bytes() for one in held]
        assert step_of_client is None or contents == [b"%d of %d" % (rank, step_of_client) for rank in range(WORLD)]


def test_what_the_client_saves_the_vault_makes_durable_and_the_client_gets_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path)
    ranks = [join(bench, rank, monkeypatch) for rank in range(WORLD)]
    for rank in ranks:
        assert rank.save(4, {"model.pt": b"weights", "optimizer.pt": b""}), rank.trouble
    assert bench.make().run().wholes[JOB].step == 4
    SystemFiles().remove(bench.shared.root / JOB)  # the node has lost its memory

    found = ranks[1].restore()

    assert found is not None
    assert (found[0], found[1]["model.pt"].read_bytes(), found[1]["optimizer.pt"].read_bytes()) == (4, b"weights", b"")
    assert found[1]["model.pt"].is_relative_to(bench.durable.root)
