from __future__ import annotations

import pytest

from supernoded.job.vault.drifting import LEAST, ROUNDS, Drift, Packed


def feed(drift: Drift, total: Packed, rounds: int, **of_one: float) -> Packed:
    """The sums after so many rounds that are alike."""
    one = {"before": 4.0e6, "after": 2.0e6, "cpu_s": 0.5, "copy_s": 1.0} | of_one
    for _ in range(rounds):
        total = Packed(
            before=total.before + int(one["before"]),
            after=total.after + int(one["after"]),
            cpu_s=total.cpu_s + one["cpu_s"],
            copy_s=total.copy_s + one["copy_s"],
        )
        drift.note(total)
    return total


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"after": 3.9e6}, "zstd now packs 1.03:1, in its first 8 rounds packs 2:1 (C12)"),
        ({"after": 1.0e6}, "zstd now packs 4:1, in its first 8 rounds packs 2:1 (C12)"),
        ({"cpu_s": 0.2}, "zstd now takes 20 % of a processor, in its first 8 rounds takes 50 % of a processor (C12)"),
        ({"copy_s": 4.0, "cpu_s": 2.0}, "zstd now needs 1e+03 s for a gigabyte, in its first 8 rounds needs 250 s for a gigabyte (C12)"),
    ],
    ids=str,
)
def test_what_drifts_by_much_is_told_beside_its_own_baseline(change: dict[str, float], words: str) -> None:
    drift = Drift()
    total = feed(drift, Packed(), ROUNDS)
    total = feed(drift, total, ROUNDS - 1, **change)
    assert drift.judge() == []
    total = feed(drift, total, 1, **change)
    assert drift.judge() == [words]
    feed(drift, total, ROUNDS)
    assert drift.judge() == []


def test_what_varies_a_little_or_once_is_no_drift() -> None:
    drift = Drift()
    total = feed(drift, Packed(), ROUNDS)
    total = feed(drift, total, ROUNDS - 3, after=2.6e6, cpu_s=0.8, copy_s=1.5)
    feed(drift, total, 3, after=0.1e6, cpu_s=8.0, copy_s=9.0)
    assert drift.judge() == []


def test_rounds_that_pack_little_or_nothing_are_counted_with_the_next() -> None:
    drift = Drift()
    total = feed(drift, Packed(), 3 * ROUNDS, before=LEAST / 4, after=LEAST / 8, cpu_s=0.1, copy_s=0.2)
    assert drift.judge() == []  # six rounds of it
    drift.note(total)
    drift.note(Packed(before=total.before + 10**7, after=total.after, cpu_s=total.cpu_s, copy_s=total.copy_s))
    assert drift.judge() == []
