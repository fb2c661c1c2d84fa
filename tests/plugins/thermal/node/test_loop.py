"""What the fan loop promises whatever it reads."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.model import Reading, Setpoint, Value
from supernoded_thermal.node.loop import FanLoop, FanMemory
from supernoded_thermal.node.settings import NodeSettings
from tests.plugins.thermal.node.room import PARTS, SETTINGS, read, see, series

CARDS = tuple(f"n0/card{slot}" for slot in range(4))
LOOP = FanLoop("n0", CARDS, SETTINGS)
LEAST = SETTINGS.least_percent
numbers = st.floats(-200.0, 200.0) | st.none()


def sights(celsius: dict[str, Value], now: float = 60.0) -> list[Reading]:
    """One look at every part and card at `now`, and a good one before it."""
    found = []
    for subject, value in celsius.items():
        quantity = "card.temperature" if "/card" in subject else "host.temperature"
        found += [read(subject, quantity, 50.0, now - 40.0), read(subject, quantity, value, now)]
    return found


def steer(celsius: dict[str, Value], memory: FanMemory, now: float = 60.0) -> tuple[FanMemory, Setpoint]:
    memory, setpoint = LOOP.steer(see(sights(celsius, now), now, dict(LOOP.watches)), memory)
    assert setpoint is not None
    return memory, setpoint


def at(duty: float) -> FanMemory:
    return LOOP.start(Setpoint(target="n0/fans", quantity="fan.duty", value=duty, unit="%"))


def all_at(celsius: float) -> dict[str, Value]:
    return {**{f"n0/sensor/{part}": celsius for part in PARTS}, **dict.fromkeys(CARDS, celsius)}


def test_before_the_first_temperature_nothing_is_taken() -> None:
    memory, setpoint = LOOP.steer(see([], 60.0, dict(LOOP.watches)), at(40.0))
    assert setpoint is None
    assert memory == at(40.0)
    unread = [read("n0/sensor/nic", "host.temperature", None, 59.0)]
    assert LOOP.steer(see(unread, 60.0, dict(LOOP.watches)), at(40.0))[1] is None


def test_from_an_unknown_position_it_begins_at_full_speed() -> None:
    assert LOOP.start(None).put == 100.0
    _, setpoint = steer(all_at(50.0), LOOP.start(None))
    assert 95.0 <= setpoint.value <= 100.0


@given(duty=st.floats(LEAST, 100.0), celsius=st.floats(54.1, 57.9))
def test_within_the_band_it_leaves_them_where_they_are(duty: float, celsius: float) -> None:
    assert steer(all_at(celsius), at(duty))[1].value == pytest.approx(duty)


@given(
    celsius=st.dictionaries(st.sampled_from([*CARDS, *(f"n0/sensor/{part}" for part in PARTS)]), numbers, min_size=1),
    duty=st.floats(-10.0, 120.0),
)
def test_whatever_is_read_the_duty_is_one_and_moves_within_its_slew(celsius: dict[str, Value], duty: float) -> None:
    before, _ = steer(all_at(56.0), at(duty), 20.0)
    after, setpoint = steer(celsius, before)
    assert (setpoint.target, setpoint.quantity, setpoint.unit) == ("n0/fans", "fan.duty", "%")
    assert 0.0 <= setpoint.value <= 100.0
    assert before.duty - 6.0 - 1e-9 <= after.duty <= before.duty + 48.0 + 1e-9  # after a pause of 40 s it moves for three periods


@given(
    cool=st.fixed_dictionaries({name: st.floats(20.0, 120.0) for name in (*CARDS, *(f"n0/sensor/{part}" for part in PARTS))}),
    more=st.floats(0.1, 60.0),
    which=st.sampled_from(PARTS),
    duty=st.floats(LEAST, 100.0),
)
def test_a_hotter_part_never_slows_the_fans(cool: dict[str, Value], more: float, which: str, duty: float) -> None:
    name = f"n0/sensor/{which}"
    value = cool[name]
    assert isinstance(value, float)
    low, high = steer(cool, at(duty))[0], steer({**cool, name: value + more}, at(duty))[0]
    assert high.duty >= low.duty - 1e-9


@settings(max_examples=15)
@given(lost=st.sets(st.sampled_from([*CARDS, *(f"n0/sensor/{part}" for part in PARTS)]), min_size=1), duty=st.floats(LEAST, 100.0))
def test_what_is_lost_never_slows_the_fans_and_is_said(lost: set[str], duty: float) -> None:
    whole, blind = all_at(50.0), {**all_at(50.0), **dict.fromkeys(lost, None)}
    memory = calm = steer(whole, at(duty), 58.0)[0]
    for turn in range(60):
        now = 60.0 + 2.0 * turn
        memory, setpoint = steer(blind, memory, now)
        calm, usual = steer(whole, calm, now)
        assert setpoint.value >= usual.value - 2.0
    assert setpoint.value >= 60.0
    assert setpoint.note
    assert usual.note == ""


def test_the_least_grows_to_full_speed_two_kelvin_below_a_limit() -> None:
    for celsius, least in ((58.0, 30.0), (63.0, 65.0), (68.0, 100.0), (75.0, 100.0)):
        memory = at(30.0)
        for turn in range(20):
            memory, setpoint = steer({"n0/sensor/optics": celsius}, memory, 60.0 + 2.0 * turn)
        assert setpoint.value >= least
        assert setpoint.value == pytest.approx(least, abs=10.0)


@given(value=st.floats(-50.0, 200.0), celsius=st.floats(10.0, 90.0))
def test_a_hand_holds_it_but_not_below_what_is_needed(value: float, celsius: float) -> None:
    view = see(sights({"n0/sensor/optics": celsius}), 60.0, dict(LOOP.watches))
    memory, setpoint = LOOP.hold(view, at(50.0), value)
    assert setpoint is not None
    urgent = min(max((celsius - 58.0) / 10.0, 0.0), 1.0)
    least = 30.0 + 70.0 * urgent
    assert setpoint.value == pytest.approx(min(max(value, least), 100.0))
    assert ("not held" in setpoint.note) == (value < least)
    _, after = LOOP.steer(see(sights({"n0/sensor/optics": celsius}, 62.0), 62.0, dict(LOOP.watches)), memory)
    assert after is not None
    assert after.value == pytest.approx(setpoint.value, abs=2.5)  # no bump when the hand is taken off


def test_a_hand_on_a_node_that_nothing_is_known_of_holds_nothing() -> None:
    assert LOOP.hold(see([], 60.0, dict(LOOP.watches)), at(50.0), 30.0)[1] is None


def test_the_memory_is_json() -> None:
    memory, _ = steer(all_at(60.0), at(40.0))
    assert msgspec.json.decode(msgspec.json.encode(memory), type=FanMemory) == memory


def test_a_card_in_a_loop_is_not_the_fans_business() -> None:
    wet = FanLoop("n0", (), NodeSettings())
    readings: list[Any] = [*sights({"n0/sensor/nic": 50.0}), *series("n0/card0", "card.temperature", [94.0] * 20)]
    _, setpoint = wet.steer(see(readings, 60.0, dict(wet.watches)), wet.start(None))
    _, alone = wet.steer(see(readings[:2], 60.0, dict(wet.watches)), wet.start(None))
    assert setpoint == alone
