"""How long it takes at worst, against the figures of the trade."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.reflex.arithmetic import (
    Pace,
    explain,
    find_refusal,
    list_crowded,
    list_late,
    pace_of,
    sum_detection,
    sum_exchange,
    sum_frame,
)
from supernoded.settings.reflex import Contact, Parity, Reflex, ReflexLine, ShedFrame, Trigger

BAUDS = st.sampled_from([300, 1200, 9600, 19_200, 38_400, 57_600, 115_200, 230_400, 1_000_000])


def make_line(name: str = "x", baud: int = 115_200, poll_ms: float = 0.0, turnaround_ms: float = 4.0) -> ReflexLine:
    return ReflexLine(name=name, device=Path(f"/dev/{name}"), baud=baud, poll_ms=poll_ms, turnaround_ms=turnaround_ms)


def make_reflex(
    baud: int = 115_200, poll_ms: float = 0.0, deadline_ms: float = 20.0, frames: int = 1, contact: Contact | None = None
) -> Reflex:
    register = None if contact is not None else 1
    return Reflex(
        deadline_ms=deadline_ms,
        lines=tuple(make_line(name, baud, poll_ms) for name in ("ua", "ub", "p")),
        triggers=tuple(
            Trigger(feed=feed, line=f"u{feed}", register=register, above=0 if register else None, contact=contact, frames=frames)
            for feed in "ab"
        ),
        frames=(ShedFrame(line="p", coil=1000),),
    )


@pytest.mark.parametrize(
    ("baud", "milliseconds"), [(9600, 13.18), (19_200, 6.59), (38_400, 4.04), (57_600, 3.28), (115_200, 2.51), (230_400, 2.13)]
)
def test_eight_bytes_and_their_silence(baud: int, milliseconds: float) -> None:
    """The table of Modbus over Serial Line, 11 bits a character."""
    pace = Pace(baud)
    assert 1e3 * (pace.time_bytes(8) + pace.silence) == pytest.approx(milliseconds, abs=0.01)


@pytest.mark.parametrize(
    ("parity", "stop", "bits"), [(Parity.NONE, 1, 10), (Parity.NONE, 2, 11), (Parity.EVEN, 1, 11), (Parity.ODD, 2, 12)]
)
def test_the_format_counts(parity: Parity, stop: int, bits: int) -> None:
    line = ReflexLine(name="x", device=Path("/dev/x"), parity=parity, stop=stop)
    assert pace_of(line).bits == bits


def test_9600_baud_cannot_meet_20_ms_with_a_poll_in_flight_and_says_why() -> None:
    reflex = make_reflex(9600, poll_ms=60.0, contact=Contact.CTS)
    [(place, fault)] = list_late(reflex)
    assert place == 0
    assert fault.startswith("cannot be out within 20 ms: ")
    assert "8 bytes at 9600 baud 8.33 ms" in fault
    assert "silence 3.65 ms" in fault
    assert "longest that may be in flight 60.00 ms" in fault
    assert fault.endswith("= 76.98 ms")


def test_9600_baud_cannot_meet_20_ms_from_a_register_at_all() -> None:
    assert [place for place, _ in list_late(make_reflex(9600))] == [0]


def test_contacts_at_115200_baud_meet_20_ms() -> None:
    assert list(list_late(make_reflex(contact=Contact.DCD))) == []
    [sentence] = explain(make_reflex(contact=Contact.DCD))
    assert sentence.startswith("p: look at the contact 1.00 ms + debounce 3.00 ms + scheduling 1.00 ms + 8 bytes at 115200 baud 0.69 ms")
    assert sentence.endswith(" + silence 1.75 ms = 7.44 ms, of 20 ms")


def test_a_line_asked_oftener_than_it_can_carry_is_named() -> None:
    reflex = make_reflex(9600, deadline_ms=500)
    assert [place for place, _ in list_crowded(reflex)] == [0, 1]
    assert list(list_crowded(make_reflex())) == []


def test_two_feeds_on_one_line_wait_for_each_other() -> None:
    lines = (make_line("u"), make_line("p"))
    triggers = tuple(Trigger(feed=feed, line="u", register=1, above=0, unit=unit, interval_ms=20) for feed, unit in (("a", 1), ("b", 2)))
    reflex = Reflex(lines=lines, triggers=triggers, frames=(ShedFrame(line="p", coil=1),))
    alone = Reflex(lines=lines, triggers=triggers[:1], frames=())
    one_look = sum_exchange(lines[0], 8, 7).total
    assert sum_detection(reflex, triggers[0]).total == pytest.approx(sum_detection(alone, triggers[0]).total + one_look)


@given(BAUDS, st.integers(1, 250), st.integers(1, 250), st.floats(0, 500))
def test_a_poll_is_let_in_exactly_when_its_sum_is_within_its_room(baud: int, request: int, answer: int, room: float) -> None:
    line = make_line(baud=baud, poll_ms=room)
    refusal = find_refusal(line, request, answer)
    assert (refusal is None) == (sum_exchange(line, request, answer).total <= room / 1e3)
    if refusal is not None:
        assert f"{baud} baud" in refusal
        assert f"{sum_exchange(line, request, answer).total * 1e3:.2f} ms" in refusal


@given(BAUDS, st.integers(1, 5), st.floats(0, 50), st.sampled_from([None, Contact.CTS]))
def test_the_whole_is_never_less_than_its_parts(baud: int, frames: int, poll_ms: float, contact: Contact | None) -> None:
    reflex = make_reflex(baud, poll_ms, frames=frames, contact=contact)
    worst = sum_frame(reflex, reflex.frames[0]).total
    pace = pace_of(reflex.lines[2])
    detection = max(sum_detection(reflex, trigger).total for trigger in reflex.triggers)
    assert worst == pytest.approx(detection + poll_ms / 1e3 + 0.001 + pace.time_bytes(8) + pace.silence)
    assert [place for place, _ in list_late(reflex)] == ([0] if worst > 0.02 else [])
    longer = sum_frame(make_reflex(baud, poll_ms + 1, frames=frames, contact=contact), reflex.frames[0]).total
    assert longer > worst
