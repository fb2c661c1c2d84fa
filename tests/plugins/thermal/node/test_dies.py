"""How hot a die is: one sensor of 128 decides nothing, and what does not follow its power is not read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.model import Reading, Value
from supernoded_thermal.node.dies import WATCHES, Die, read_dies
from supernoded_thermal.node.settings import NodeSettings
from tests.plugins.thermal.node.room import read, see, series

SETTINGS = NodeSettings()
CARDS = tuple(f"n0/card{slot}" for slot in range(4))
CARD = CARDS[0]


def look(readings: Sequence[Reading], now: float = 60.0) -> dict[str, Die]:
    return {die.card: die for die in read_dies(see(readings, now, dict(WATCHES)), CARDS, SETTINGS)}


def peers(watts: float = 550.0, celsius: float = 58.0) -> list[Reading]:
    return [
        one
        for card in CARDS[1:]
        for quantity, value in (("card.temperature", celsius), ("card.power", watts))
        for one in series(card, quantity, [value, value + 1.0] * 6 + [value])
    ]


def card(celsius: Value, watts: Value = 550.0, **more: Value) -> list[Reading]:
    found = [*series(CARD, "card.temperature", [58.0] * 12), *series(CARD, "card.power", [540.0] * 12)]
    found += [read(CARD, "card.temperature", celsius, 60.0), read(CARD, "card.power", watts, 60.0)]
    return [
        *found,
        *(read(CARD, f"card.{name}" if name == "throttled" else f"card.temperature.{name}", value, 60.0) for name, value in more.items()),
    ]


@pytest.mark.parametrize(
    ("shown", "more", "believed", "says"),
    [
        (61.0, {"median": 55.0}, 61.0, ""),
        (150.0, {"median": 55.0}, 70.0, "a sensor of n0/card0 shows too much beside a median of 55 C: it is voted out"),
        (150.0, {"mean": 56.0}, 71.0, "beside a median of 56 C"),
        (94.0, {"median": 88.0}, 94.0, ""),
        (None, {"median": 60.0}, 58.0, ""),  # held
        (0.0, {"median": 60.0}, 75.0, "is lost"),
        (61.0, {"median": 0.0}, 61.0, ""),
        (-40.0, {}, None, "n0/card0 shows -40 C, which is no die's"),
        (None, {}, 58.0, ""),  # held
        (99.0, {}, 99.0, ""),
        (120.0, {"throttled": 1.0}, 120.0, ""),
    ],
)
def test_what_is_believed(shown: Value, more: dict[str, Value], believed: float | None, says: str) -> None:
    die = look([*card(shown, **more), *peers()])[CARD]
    assert die.celsius == believed
    assert says in die.note
    assert bool(says) == bool(die.note)


@pytest.mark.parametrize(
    ("shown", "watts", "is_mad"),
    [(150.0, 550.0, True), (101.0, 545.0, True), (99.0, 550.0, False), (150.0, 220.0, False), (150.0, None, True), (88.0, 550.0, False)],
)
def test_a_card_past_its_throttle_point_that_draws_what_the_others_draw_has_a_bad_sensor(shown: float, watts: Value, is_mad: bool) -> None:
    """A power that is not read at this look is the one of the look before."""
    die = look([*card(shown, watts), *peers()])[CARD]
    assert (die.is_mad, die.celsius) == (is_mad, None if is_mad else shown)


def test_without_neighbours_or_power_a_hot_card_is_believed() -> None:
    assert look(card(150.0))[CARD].celsius == 150.0
    assert look([one for one in (*card(150.0), *peers()) if one.quantity != "card.power"])[CARD].celsius == 150.0


def test_a_median_alone_is_taken_with_what_the_hottest_may_stand_above_it() -> None:
    die = look([read(CARD, "card.temperature.median", 60.0, 60.0)])[CARD]
    assert (die.celsius, die.note) == (75.0, "the highest sensor of n0/card0 is lost, its median of 60 C and 15 K are taken")


def test_what_was_never_read_is_told_from_what_is_lost() -> None:
    found = look([read(CARD, "card.temperature", None, 60.0, "time-out")])
    assert (found[CARD].is_ever_read, found[CARD].note) == (True, "card.temperature of n0/card0: time-out")
    assert (found[CARDS[1]].is_ever_read, found[CARDS[1]].note) == (False, "card.temperature of n0/card1: never read")


POWER = [200.0] * 6 + [600.0] * 7


@pytest.mark.parametrize(
    ("celsius", "power", "is_frozen"),
    [
        ([45.0] * 13, POWER, True),
        ([45.0] * 13, [300.0] * 6 + [400.0] * 7, False),  # too small a move
        ([45.0] * 12 + [45.1], POWER, False),
        ([45.0] * 6 + [60.0] * 7, POWER, False),
        ([45.0] * 13, [200.0] * 12 + [600.0], False),  # it cannot have followed yet
        ([45.0] * 13, [200.0] * 6 + [600.0] + [200.0] * 6, False),  # one odd reading
        ([50.0] * 5 + [45.0] * 8, [600.0] * 5 + [200.0] * 8, False),  # it came to rest after the move
        ([45.0] * 13, [200.0, None] * 3 + [600.0, None] * 3 + [600.0], True),
    ],
)
def test_frozen_is_what_stands_still_while_its_power_moves(celsius: Sequence[Value], power: Sequence[Value], is_frozen: bool) -> None:
    die = look([*series(CARD, "card.temperature", celsius), *series(CARD, "card.power", power)])[CARD]
    assert ("frozen" in die.note) == is_frozen
    assert (die.celsius is None) == is_frozen


def test_a_second_view_that_moves_thaws_one_that_does_not() -> None:
    frozen = [*series(CARD, "card.temperature", [45.0] * 13, source="bmc"), *series(CARD, "card.power", POWER)]
    assert look(frozen)[CARD].celsius is None
    assert look([*frozen, *series(CARD, "card.temperature", [45.0] * 6 + [63.0] * 7, source="tool")])[CARD].celsius == 63.0


def test_who_looks_seldom_is_no_second_view_of_now() -> None:
    old = [read(CARD, "card.temperature", 90.0, 40.0, source="slow"), read(CARD, "card.power", 580.0, 40.0, source="slow")]
    new = [read(CARD, "card.temperature", 55.0, 60.0, source="quick"), read(CARD, "card.power", 200.0, 60.0, source="quick")]
    die = look([*old, *new])[CARD]
    assert (die.celsius, die.watts) == (55.0, 200.0)


def test_a_median_that_moves_thaws_a_highest_that_does_not() -> None:
    readings = [*series(CARD, "card.temperature", [70.0] * 13), *series(CARD, "card.power", POWER)]
    readings += series(CARD, "card.temperature.median", [40.0] * 6 + [57.0] * 7)
    assert look(readings)[CARD].celsius == 70.0


@given(rise=st.floats(0.1, 3.0), start=st.floats(30.0, 60.0))
def test_a_hot_spot_that_follows_power_is_no_frozen_sensor(rise: float, start: float) -> None:
    celsius = [start + rise * step for step in range(13)]
    die = look([*series(CARD, "card.temperature", celsius), *series(CARD, "card.power", POWER)])[CARD]
    assert die.celsius == pytest.approx(celsius[-1])
    assert die.rise == pytest.approx(rise / 5.0 if celsius[-1] >= 65.0 else 0.0)


numbers = st.lists(st.floats(-300.0, 300.0) | st.none(), max_size=14)


@given(highest=numbers, median=numbers, mean=numbers, power=numbers, throttled=st.sampled_from([None, 0.0, 1.0]))
def test_it_is_never_hotter_than_a_source_and_never_colder_than_a_working_node(
    highest: list[float | None], median: list[float | None], mean: list[float | None], power: list[float | None], throttled: float | None
) -> None:
    readings = [*series(CARD, "card.temperature", highest), *series(CARD, "card.temperature.median", median), *peers()]
    readings += [
        *series(CARD, "card.temperature.mean", mean),
        *series(CARD, "card.power", power),
        read(CARD, "card.throttled", throttled, 60.0),
    ]
    die = look(readings)[CARD]
    assert die.celsius is None or 5.0 <= die.celsius <= 315.0
    assert die.celsius is not None or die.note


@given(mad=st.floats(60.0, 150.0), median=st.floats(30.0, 90.0))
def test_the_vote_is_continuous_and_never_below_the_median(mad: float, median: float) -> None:
    die = look([*card(max(mad, median), median=median), *peers()])[CARD]
    assert die.celsius == pytest.approx(min(max(mad, median), median + SETTINGS.spread_c))
