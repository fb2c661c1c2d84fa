"""A card that is watched passes only when it answers all the time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cards.watching import Told, judge_watch
from supernoded.model import Reading, State, Value
from tests.unit.cards.rooms import read

BEGIN, END = 100.0, 115.0
BEFORE = [Told(read("card.temperature", 50.0, 98.0), 110.5)]


def tell(*readings: Reading, fresh: float = 12.5) -> list[Told]:
    return [Told(reading, reading.at + fresh) for reading in readings]


def judge(*readings: Reading, serial: str = "", before: list[Told] | None = None) -> tuple[str, ...]:
    return judge_watch(BEFORE if before is None else before, tell(*readings), BEGIN, END, serial).faults


STEADY = [read("card.temperature", 50.0, at) for at in (103.0, 108.0, 113.0)]


def test_a_card_that_answers_passes_and_says_what_it_rests_on() -> None:
    seen = judge_watch(BEFORE, tell(*STEADY, read("card.errors_uncorrected", 7.0, 113.0)), BEGIN, END)
    assert (seen.faults, seen.text) == ((), "3 readings by tool, no new uncorrected error")
    assert judge_watch(BEFORE, tell(*STEADY), BEGIN, END).text.endswith("uncorrected errors are not counted")


@pytest.mark.parametrize(
    ("readings", "fault"),
    [
        ([], "it did not answer once in 15.0 s"),
        ([read("card.temperature", None, 103.0, note="npu-smi: no answer")], "it did not answer once in 15.0 s: npu-smi: no answer"),
        ([*STEADY[:2], read("card.temperature", None, 110.0, note="the tool hangs")], "did not answer: the tool hangs"),
        ([*STEADY, read("card.present", 0.0, 112.0)], "tool says that it is not there"),
        ([*STEADY, read("card.health", frozenset({"OK", "0x80E01801"}), 112.0)], "its health says 0x80E01801"),
        (
            [*STEADY, read("card.errors_uncorrected", 5.0, 103.0), read("card.errors_uncorrected", 7.0, 108.0)],
            "2 uncorrected errors came while it was watched",
        ),
        ([*STEADY, read("card.serial", "SN3", 103.0), read("card.serial", "SN9", 108.0)], "card SN3 was in the slot, now it is SN9"),
    ],
)
def test_what_fails_is_named(readings: list[Reading], fault: str) -> None:
    assert any(fault in one for one in judge(*readings))


def test_an_old_good_reading_covers_no_silence() -> None:
    late = judge_watch([], tell(read("card.temperature", 50.0, 101.0), fresh=5.0), BEGIN, END)
    assert late.faults == ("15.0 s after the beginning it did not answer",)


def test_a_card_that_was_silent_before_has_half_the_time_to_answer() -> None:
    silent = [Told(read("card.temperature", None, 98.0, note="no answer"), 110.5)]
    assert judge(*STEADY, before=silent) == ()
    assert judge(STEADY[2], before=silent) == ("its first answer came 13.0 s after the beginning",)


def test_one_source_suffices_and_a_counter_that_was_reset_counts_from_there() -> None:
    bmc = read("card.power", None, 104.0, source="bmc", note="timeout")
    assert judge(*STEADY, bmc, read("card.health", frozenset({"OK"}), 104.0)) == ()
    assert judge(*STEADY, read("card.errors_uncorrected", 9.0, 103.0), read("card.errors_uncorrected", 0.0, 108.0)) == ()


def test_the_card_that_was_asked_for_is_the_one_that_is_tested() -> None:
    serial = read("card.serial", "SN9", 103.0)
    assert judge(*STEADY, serial, serial="SN3") == ("card SN3 was in the slot, now it is SN9",)
    assert judge(*STEADY, serial, serial="SN9") == ()
    assert judge(*STEADY, serial="SN3") == ()  # a tool that tells no serial


VALUES = st.one_of(st.none(), st.floats(), st.text(max_size=3), st.frozensets(st.text(max_size=3), max_size=2))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["card.temperature", "card.health", "card.present", "card.errors_uncorrected", "card.serial"]),
            VALUES,
            st.floats(90, 130),
            st.sampled_from(list(State)),
        ),
        max_size=12,
    )
)
def test_nothing_that_is_read_makes_it_raise(rows: list[tuple[str, Value, float, State]]) -> None:
    readings = [
        Reading(subject="n0/card3", quantity=quantity, value=value, unit="1", at=at, state=state, source="tool")
        for quantity, value, at, state in rows
    ]
    seen = judge_watch(BEFORE, tell(*readings), BEGIN, END, "SN3")
    answers = [one for one in readings if one.state is State.GOOD and one.quantity in {"card.temperature", "card.health"}]
    assert seen.faults or answers
