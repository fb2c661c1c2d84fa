"""Which step a restart takes: the newest that is whole, each part from the nearest tier that has it. Pure.

The client chooses by the same rules from docs/vault.md; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from supernoded.job.vault.catalogue import Held
from supernoded.job.vault.records import Saved

Verify = Callable[[Held], str]  # what is wrong with a part's files; empty = every hash holds


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The step, the part of each rank, and a sentence for everything that was passed over."""

    step: int | None
    parts: Mapping[int, Held] = {}
    passed: Sequence[str] = ()


def choose(
    held: Iterable[Held], tiers: Sequence[str], verify: Verify, *, step: int | None = None, ranks: frozenset[int] | None = None
) -> Choice:
    """The newest whole step, or the one that was asked for.

    Args:
        held: the parts of one job in all tiers.
        tiers: their names, the nearest first.
        verify: hashes a part's files; asked for no more parts than needed.
        step: this one and no other.
        ranks: judge over these instead of all: where nobody sees all parts, each node answers for its own.
    """
    passed: list[str] = []
    by_step: dict[int, list[Held]] = {}
    for one in held:
        by_step.setdefault(one.step, []).append(one)
    wanted = sorted(by_step, reverse=True) if step is None else [step]
    for number in wanted:
        parts = _choose_parts(by_step.get(number, []), tiers, verify, ranks, passed)
        if parts:
            return Choice(step=number, parts=parts, passed=passed)
        passed.append(f"step {number} is passed over: it is not whole" if number in by_step else f"step {number} is on no tier")
    return Choice(step=None, passed=passed)


def _choose_parts(
    held: Sequence[Held], tiers: Sequence[str], verify: Verify, ranks: frozenset[int] | None, passed: list[str]
) -> Mapping[int, Held]:
    """A part for each rank out of one step and one run; nothing when one is missing. Parts of two runs are never mixed."""
    passed += [one.fault for one in held if one.fault]
    runs: dict[tuple[int, str], list[tuple[Held, Saved]]] = {}
    for one in held:
        if one.saved is not None and not one.fault:
            runs.setdefault((one.saved.world, one.saved.run), []).append((one, one.saved))
    newest_first = sorted(runs, key=lambda key: max(saved.taken for _, saved in runs[key]), reverse=True)
    for world, run in newest_first:
        wanted = sorted(ranks) if ranks is not None else list(range(world))
        there: dict[int, list[Held]] = {}
        for one, _ in runs[world, run]:
            there.setdefault(one.rank, []).append(one)
        lost = [rank for rank in wanted if rank not in there]
        if lost:
            passed.append(f"step {held[0].step}: no good part of {len(lost)} of {len(wanted)} ranks, the first is rank {lost[0]}")
            continue
        parts = _verify_parts(wanted, there, tiers, verify, passed)
        if len(parts) == len(wanted):
            return parts
    return {}


def _verify_parts(
    wanted: Sequence[int], there: Mapping[int, Sequence[Held]], tiers: Sequence[str], verify: Verify, passed: list[str]
) -> Mapping[int, Held]:
    """The nearest part of each rank whose hashes hold; ends at the first rank that has none."""
    chosen: dict[int, Held] = {}
    for rank in wanted:
        for one in sorted(there[rank], key=lambda part: tiers.index(part.tier)):
            fault = verify(one)
            if not fault:
                chosen[rank] = one
                break
            passed.append(fault)
        if rank not in chosen:
            passed.append(f"step {there[rank][0].step}: rank {rank} has no part whose hashes hold")
            return chosen
    return chosen
