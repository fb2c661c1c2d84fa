from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.model import Reading, State, Value
from supernoded.quantities import VOCABULARY, Quantity, as_unknown, find_fault, find_jump

UNITS = {
    "1",
    "%",
    "A",
    "B",
    "C",
    "Gb/s",
    "Hz",
    "J",
    "L/min",
    "V",
    "VA",
    "W",
    "bit",
    "dB",
    "flags",
    "kPa",
    "m3/h",
    "mA",
    "mW",
    "ms",
    "rpm",
    "s",
    "text",
    "us",
}
MEETING_POINTS = """
link.state link.bits link.symbol_errors link.fec.corrected link.fec.uncorrected link.ber.post_fec link.ber.pre_fec link.downed
link.rx_power link.tx_power link.bias link.neighbour card.health card.temperature card.power card.utilisation card.memory_used
coolant.supply_temperature coolant.return_temperature coolant.flow coolant.valve coolant.pump_speed coolant.leak fan.speed fan.duty
air.flow ups.status ups.input_voltage ups.charge ups.runtime ups.load outlet.state outlet.power rank.step rank.step_time
hop.latency hop.jitter ring.mode switch.pfc_threshold switch.ecn_threshold switch.drops switch.marks switch.pauses
coolant.pressure_difference air.dew_point
"""


def _reading(quantity: str, value: Value, unit: str | None = None, at: float = 100.0) -> Reading:
    known = VOCABULARY.get(quantity)
    return Reading(subject="n0", quantity=quantity, value=value, unit=unit or (known.unit if known else ""), at=at)


def test_every_quantity_has_a_known_unit_and_a_range_that_is_one() -> None:
    for name, quantity in VOCABULARY.items():
        assert name == quantity.name
        assert quantity.unit in UNITS, name
        assert quantity.low < quantity.high, name
        assert quantity.fastest > 0, name
        assert quantity.unit in ("text", "flags") or math.isfinite(quantity.high), name


def test_counters_start_at_zero_and_have_at_most_64_bits_of_octet_words() -> None:
    counters = [quantity for quantity in VOCABULARY.values() if quantity.counter]

    assert {(counter.low, counter.high) for counter in counters} == {(0.0, 2.0**64), (0.0, 2.0**69)}


@pytest.mark.parametrize("name", MEETING_POINTS.split())
def test_the_names_in_which_plugins_meet_are_there(name: str) -> None:
    assert name in VOCABULARY


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        ("link.state", 1.0),
        ("link.bits", 2.0**63),
        ("card.temperature", -5),
        ("card.health", frozenset()),
        ("ups.status", frozenset({"OL", "CHRG"})),
        ("ring.mode", "star"),
        ("link.neighbour", "anything"),
        ("x.acme.glow", "carried as it comes"),
        ("x.acme.glow", math.pi),
    ],
)
def test_what_can_be(quantity: str, value: Value) -> None:
    assert find_fault(_reading(quantity, value)) is None


@pytest.mark.parametrize(
    ("quantity", "value", "unit", "says"),
    [
        ("link.sate", 1.0, "1", "link.sate is not in the vocabulary"),
        ("card.temperature", 310.0, "K", "unit 'K' where card.temperature is in 'C'"),
        ("card.temperature", None, None, "no value"),
        ("card.temperature", "hot", None, "'hot' where a number is due"),
        ("card.temperature", math.nan, None, "nan where a number is due"),
        ("card.temperature", math.inf, None, "inf where a number is due"),
        ("card.temperature", 10**400, None, "an endless integer where a number is due"),
        ("x.acme.glow", None, None, "no value"),
        ("x.acme.glow", math.nan, None, "nan where a number is due"),
        ("x.acme.glow", "a" * 5_000, None, "a text of 5000 characters or flags, at most 4000 are taken"),
        ("link.neighbour", "a" * 5_000, None, "a text of 5000 characters"),
        ("card.temperature", 255.0, None, "255 C is outside -40 to 150"),
        ("ups.charge", -1.0, None, "-1 % is outside 0 to 100"),
        ("link.bits", 2.0**70, None, "is outside 0 to"),
        ("ring.mode", "mesh", None, "'mesh' is none of allreduce, sar_ring, star"),
        ("ring.mode", 3.0, None, "3.0 where a text is due"),
        ("ups.status", "OL", None, "'OL' where a set of flags is due"),
    ],
)
def test_what_cannot_be_says_why(quantity: str, value: Value, unit: str | None, says: str) -> None:
    assert says in (find_fault(_reading(quantity, value, unit)) or "")


@pytest.mark.parametrize(
    ("old", "new", "seconds", "jumps"),
    [(20.0, 24.0, 1.0, False), (20.0, 26.0, 1.0, True), (26.0, 20.0, 1.0, True), (20.0, 26.0, 2.0, False), (20.0, 90.0, 0.0, False)],
)
def test_a_change_faster_than_the_thing_can_change(old: float, new: float, seconds: float, jumps: bool) -> None:
    before = _reading("coolant.supply_temperature", old)
    after = _reading("coolant.supply_temperature", new, at=100.0 + seconds)

    assert (find_jump(before, after) is not None) == jumps


def test_a_jump_says_how_far_and_how_fast() -> None:
    said = find_jump(_reading("card.temperature", 40.0), _reading("card.temperature", 140.0, at=101.0))

    assert said == "40 to 140 C in 1 s is faster than 50 per second"


@given(st.sampled_from([q for q in VOCABULARY.values() if q.unit not in ("text", "flags")]), st.floats(allow_nan=True))
def test_a_number_is_taken_exactly_within_its_range(quantity: Quantity, value: float) -> None:
    assert (find_fault(_reading(quantity.name, value)) is None) == (quantity.low <= value <= quantity.high)


@given(st.sampled_from(sorted(VOCABULARY)), st.floats(), st.floats(), st.floats(-10, 10))
def test_judging_never_fails(name: str, old: float, new: float, seconds: float) -> None:
    before, after = _reading(name, old), _reading(name, new, at=100.0 + seconds)

    assert isinstance(find_fault(after), str | None)
    assert isinstance(find_jump(before, after), str | None)


def test_an_unknown_reading_keeps_its_place_and_says_why() -> None:
    reading = as_unknown(_reading("card.temperature", 255.0), "sentinel")

    assert (reading.value, reading.state, reading.note) == (None, State.UNKNOWN, "sentinel")
    assert (reading.subject, reading.quantity, reading.at) == ("n0", "card.temperature", 100.0)
    assert find_fault(reading) == "no value"
