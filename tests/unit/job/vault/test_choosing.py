from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from supernoded.job.vault.catalogue import Held
from supernoded.job.vault.choosing import Choice, choose
from supernoded.job.vault.records import Saved

TIERS = ("shared", "durable")


def part(tier: str, step: int, rank: int, world: int = 2, run: str = "", taken: float = 1.0, fault: str = "") -> Held:
    saved = Saved(rank=rank, world=world, step=step, taken=taken, files={"a": 1}, run=run)
    return Held(tier=tier, step=step, rank=rank, folder=Path(tier, str(step), str(rank)), saved=saved, fault=fault)


def pick(
    held: list[Held], bad: set[tuple[str, int, int]] | None = None, step: int | None = None, ranks: frozenset[int] | None = None
) -> Choice:
    def verify(one: Held) -> str:
        return f"{one.folder} does not hold" if (one.tier, one.step, one.rank) in (bad or set()) else ""

    return choose(held, TIERS, verify, step=step, ranks=ranks)


def where(choice: Choice) -> dict[int, str]:
    return {rank: held.tier for rank, held in choice.parts.items()}


EVERYWHERE = [part(tier, step, rank) for tier in TIERS for step in (1, 2) for rank in (0, 1)]


def test_the_newest_step_from_the_nearest_tier() -> None:
    choice = pick(EVERYWHERE)

    assert (choice.step, where(choice), choice.passed) == (2, {0: "shared", 1: "shared"}, [])


def test_a_part_that_does_not_hold_comes_from_the_next_tier() -> None:
    choice = pick(EVERYWHERE, {("shared", 2, 1)})

    assert (choice.step, where(choice)) == (2, {0: "shared", 1: "durable"})
    assert choice.passed == ["shared/2/1 does not hold"]


def test_a_rank_that_holds_nowhere_makes_the_step_before_the_newest() -> None:
    choice = pick(EVERYWHERE, {("shared", 2, 1), ("durable", 2, 1)})

    assert (choice.step, where(choice)) == (1, {0: "shared", 1: "shared"})
    assert choice.passed[-2:] == ["step 2: rank 1 has no part whose hashes hold", "step 2 is passed over: it is not whole"]


def test_a_missing_rank_is_named() -> None:
    choice = pick([part("shared", 2, 0), *EVERYWHERE[:2]])

    assert choice.step == 1
    assert "step 2: no good part of 1 of 2 ranks, the first is rank 1" in choice.passed


def test_two_starts_of_the_job_are_never_mixed_and_the_later_comes_first() -> None:
    mixed = [part("shared", 2, 0, run="a"), part("shared", 2, 1, run="b", taken=9.0)]
    assert pick(mixed).step is None
    both = [*mixed, part("durable", 2, 1, run="a"), part("durable", 2, 0, run="b", taken=9.0)]
    assert {held.saved.run for held in pick(both).parts.values() if held.saved} == {"b"}


def test_a_node_that_sees_only_its_own_ranks_answers_for_those() -> None:
    own = [part("shared", 3, rank, world=16) for rank in (8, 9)]

    assert pick(own).step is None
    assert pick(own, ranks=frozenset({8, 9})).step == 3


def test_a_step_that_was_asked_for_is_that_or_none() -> None:
    assert pick(EVERYWHERE, step=1).step == 1
    choice = pick(EVERYWHERE, step=7)
    assert (choice.step, choice.passed) == (None, ["step 7 is on no tier"])


def test_what_does_not_count_is_said() -> None:
    assert pick([part("durable", 1, 0, world=1, fault="no whole manifest")]).passed[0] == "no whole manifest"


PARTS = st.builds(part, st.sampled_from(TIERS), st.integers(0, 3), st.integers(0, 2), st.integers(1, 3), st.sampled_from(["", "b"]))


@given(st.lists(PARTS, max_size=30), st.sets(st.tuples(st.sampled_from(TIERS), st.integers(0, 3), st.integers(0, 2))))
def test_what_is_chosen_is_whole_of_one_start_and_holds(held: list[Held], bad: set[tuple[str, int, int]]) -> None:
    choice = pick(held, bad)

    if choice.step is None:
        assert not choice.parts
        assert len(choice.passed) >= len({one.step for one in held})
        return
    records = [one.saved for one in choice.parts.values() if one.saved is not None]
    assert set(choice.parts) == set(range(records[0].world))
    assert {(one.world, one.run) for one in records} == {(records[0].world, records[0].run)}
    assert not {(one.tier, one.step, one.rank) for one in choice.parts.values()} & bad
