from __future__ import annotations

from supernoded.model import Reading, Value
from supernoded.recording import Sieve
from tests.unit.worlds import reading


def test_on_change_and_at_most_once_a_minute() -> None:
    sieve = Sieve()
    kept = [r.at for at in range(0, 300, 5) for r in sieve.sift([reading(float(at), at=float(at))])]
    assert kept == [0.0, 60.0, 120.0, 180.0, 240.0]


def test_what_does_not_change_is_written_once() -> None:
    sieve = Sieve()
    assert len([r for at in range(0, 600, 5) for r in sieve.sift([reading(1.0, at=float(at))])]) == 1


def test_a_change_of_state_is_written_at_once() -> None:
    sieve = Sieve()
    states = [sieve.sift([reading(v, at=at)]) for at, v in ((0.0, 1.0), (1.0, None), (2.0, None), (3.0, 1.0))]
    assert [len(rows) for rows in states] == [1, 1, 0, 1]


def test_flags_and_words_of_a_fixed_few_and_switches_that_turn_are_written_at_once_and_free_texts_wait() -> None:
    def count(quantity: str, unit: str, *values: Value) -> int:
        sieve = Sieve()
        told = [Reading(subject="x", quantity=quantity, value=one, unit=unit, at=float(at)) for at, one in enumerate(values)]
        return len(sieve.sift(told))

    ol, ob = frozenset({"ol"}), frozenset({"ob"})
    assert count("ups.status", "flags", ol, ol, ob, ob, ol) == 3
    assert count("outlet.state", "text", "on", "off", "off", "on") == 3
    assert count("pdu.armed", "1", 0.0, 1.0, 1.0, 0.0) == 3
    assert count("link.width", "1", 4.0, 2.0, 1.0) == 1
    assert count("pdu.event_count", "1", 0.0, 1.0) == 1
    assert count("host.top_process", "text", "a", "b", "c") == 1
    assert count("x.acme.word", "text", "a", "b") == 1


def test_what_does_not_change_is_written_again_before_its_row_is_forgotten() -> None:
    sieve = Sieve()
    kept = [r.at for at in range(0, 7 * 86_400, 3_600) for r in sieve.sift([reading(1.0, at=float(at))])]
    assert kept == [day * 86_400.0 for day in range(7)]
    sieve.forget(6 * 86_400.0 + 1)
    assert sieve.sift([reading(1.0, at=6 * 86_400.0 + 30)]) != []
