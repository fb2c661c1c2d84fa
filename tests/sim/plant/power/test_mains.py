"""Utility inputs, the generator and the transfer switches."""

from __future__ import annotations

import pytest

from sim_hardware.plant.power import sense
from sim_hardware.plant.power.orders import FailGenerator, Sag
from sim_hardware.plant.words import OrderError
from tests.sim.plant.power.sites import Site, build_rack


def test_a_flicker_does_not_start_the_generator() -> None:
    site = Site(build_rack(generator=True))
    site.lose_mains(1.2)
    site.run(60.0)
    assert site.count("generator.starting") == 0


def test_the_generator_takes_the_load_after_its_time() -> None:
    site = Site(build_rack(generator=True))
    site.order(Sag("A", 1.0), Sag("B", 1.0))
    site.run(60.0)
    assert site.when("generator.running", "generator") == pytest.approx(12.0)
    assert sense(site.state, "feed/A", "feed.source") == "generator"
    assert site.when("ups.on_line", "ups/A") == pytest.approx(22.0)
    assert sense(site.state, "ups/A", "ups.input_voltage") == 230.0


def test_one_lost_utility_moves_its_feed_only() -> None:
    site = Site(build_rack(generator=True))
    site.order(Sag("A", 1.0))
    site.run(60.0)
    assert sense(site.state, "feed/A", "feed.source") == "generator"
    assert sense(site.state, "feed/B", "feed.source") == "utility"
    assert site.count("ups.on_battery", "ups/B") == 0


def test_going_back_to_the_mains_is_a_second_break_for_each_feed_in_turn() -> None:
    site = Site(build_rack(generator=True))
    site.lose_mains(60.0)
    site.told.clear()
    site.run(300.0)
    assert site.when("ups.on_battery", "ups/A") == pytest.approx(90.0)
    assert site.when("ups.flagged", "ups/A") == pytest.approx(90.01)
    assert site.when("ups.unflagged", "ups/A") == pytest.approx(90.11)
    assert site.when("ups.on_battery", "ups/B") == pytest.approx(95.0)
    assert site.when("generator.off", "generator") == pytest.approx(155.0)


def test_a_generator_that_does_not_start() -> None:
    site = Site(build_rack(generator=True))
    site.order(FailGenerator(failed=True), Sag("A", 1.0), Sag("B", 1.0))
    site.run(20.0)
    assert site.when("generator.failed", "generator") == pytest.approx(12.0)
    site.order(FailGenerator(failed=False))
    assert sense(site.state, "generator", "generator.state") == "starting"
    site.run(40.0)
    assert site.when("generator.running", "generator") == pytest.approx(32.0)


def test_a_generator_that_stops_under_load() -> None:
    site = Site(build_rack(generator=True))
    site.order(Sag("A", 1.0), Sag("B", 1.0))
    site.run(60.0)
    site.order(FailGenerator(failed=True))
    site.run(61.0)
    assert site.flags("ups/A", "ups.status") == {"OB", "DISCHRG"}
    assert sense(site.state, "ups/A", "ups.on_battery_s") == pytest.approx(1.0)
    assert sense(site.state, "ups/A", "ups.mains_flag") == 1.0


def test_a_sag_has_phases_and_a_depth() -> None:
    site = Site(build_rack())
    site.order(Sag("utility/A", 0.4, frozenset({"L1", "L3"})))
    assert sense(site.state, "utility/A", "utility.voltage.L1") == pytest.approx(138.0)
    assert sense(site.state, "utility/A", "utility.voltage.L2") == 230.0
    site.order(Sag("A", 0.0), Sag("A", 0.0))
    assert [one.kind for one in site.told if one.kind.startswith("utility")] == ["utility.sag", "utility.restored"]


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (Sag("C", 1.0), "no utility 'C'"),
        (Sag("A", 1.5), "from 0 to 1"),
        (Sag("A", float("nan")), "from 0 to 1"),
        (Sag("A", 1.0, frozenset({"L4"})), "L1, L2, L3"),
        (FailGenerator(failed=True), "no generator"),
    ],
)
def test_what_cannot_be_is_refused(order: Sag | FailGenerator, words: str) -> None:
    site = Site(build_rack())
    with pytest.raises(OrderError, match=words):
        site.order(order)
