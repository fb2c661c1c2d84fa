"""What a UPS does, and what it says."""

from __future__ import annotations

import pytest

from sim_hardware.plant.power import sense
from sim_hardware.plant.power.orders import (
    AddLoad,
    AgeBattery,
    FailUps,
    LieRuntime,
    Sag,
    SetUpsMode,
    StartTest,
    StickFlag,
    StopTest,
)
from sim_hardware.plant.words import OrderError
from sim_hardware.rack.shape import SimUps
from tests.sim.plant.power.sites import LINE_INTERACTIVE, Site, build_rack


def test_the_battery_lasts_as_long_as_it_was_built_for_at_rated_load() -> None:
    site = Site(build_rack(SimUps(minutes=1.0)), loads={})
    for phase in ("L1", "L2", "L3"):
        site.order(AddLoad("A", phase, site.number("ups/A", "ups.rated_va") * 0.9 / 3.0))
    assert site.number("ups/A", "ups.load") == pytest.approx(100.0)
    assert site.number("ups/A", "ups.runtime") == pytest.approx(60.0)
    site.order(Sag("A", 1.0))
    site.run(70.0)
    assert site.when("ups.low_battery", "ups/A") == pytest.approx(48.0)
    assert site.when("ups.exhausted", "ups/A") == pytest.approx(60.0)
    assert site.number("ups/A", "ups.charge") == 0.0
    assert site.flags("ups/A", "ups.status") == {"OFF", "LB"}
    assert (site.number("ups/A", "ups.runtime"), site.number("ups/A", "ups.live")) == (0.0, 0.0)
    site.order(Sag("A", 0.0))
    assert (site.number("ups/A", "ups.runtime"), site.number("ups/A", "ups.live")) == (0.0, 1.0)


def test_a_bypass_out_of_tolerance_is_not_taken() -> None:
    site = Site(build_rack())
    site.order(Sag("A", 1.0))
    site.run(1.0)
    with pytest.raises(OrderError, match="bypass input that is out of tolerance"):
        site.order(SetUpsMode("A", "bypass"))
    assert site.flags("ups/A", "ups.status") == {"OB", "DISCHRG"}


def test_the_mode_that_it_has_already_ends_no_test() -> None:
    site = Site(build_rack())
    site.order(StartTest("A", "calibration"), SetUpsMode("A", "normal"))
    assert sense(site.state, "ups/A", "ups.test_result") == "running"
    site.order(SetUpsMode("A", "eco"))
    assert sense(site.state, "ups/A", "ups.test_result") == "aborted"


def test_half_the_load_lasts_more_than_twice_as_long() -> None:
    site = Site(build_rack())
    one = site.number("ups/A", "ups.runtime")
    site.run(1.0)
    with_load = site.number("ups/A", "ups.runtime")
    site.order(Sag("B", 1.0), SetUpsMode("B", "off"))
    assert site.number("ups/A", "ups.runtime") < with_load / 2.0 < one


def test_a_battery_is_charged_again_more_slowly_at_the_end() -> None:
    site = Site(build_rack(SimUps(minutes=2.0)))
    site.lose_mains(60.0)
    site.run(75.0)
    before = site.number("ups/A", "ups.battery_energy")
    assert "CHRG" in site.flags("ups/A", "ups.status")
    site.run(85.0)
    early = site.number("ups/A", "ups.battery_energy") - before
    while site.number("ups/A", "ups.charge") < 95.0:
        site.run(site.state.at + 20.0)
    before = site.number("ups/A", "ups.battery_energy")
    site.run(site.state.at + 10.0)
    assert site.number("ups/A", "ups.battery_energy") - before == pytest.approx(early / 4.0)
    site.run(site.state.at + 2000.0)
    assert site.number("ups/A", "ups.charge") == 100.0
    assert site.flags("ups/A", "ups.status") == {"OL"}


@pytest.mark.parametrize(("share", "seconds"), [(1.1, 60.0), (1.3, 10.0), (1.6, 0.2)])
def test_the_inverter_stands_an_overload_by_its_curve_and_goes_to_bypass(share: float, seconds: float) -> None:
    site = Site(build_rack(), loads={})
    site.order(AddLoad("A", "L3", share * site.number("ups/A", "ups.rated_va") * 0.9 / 3.0))
    assert "OVER" in site.flags("ups/A", "ups.status")
    site.run(seconds + 1.0)
    assert site.when("ups.overload", "ups/A") == 0.0
    assert site.when("ups.bypass", "ups/A") == pytest.approx(seconds)
    assert site.count("ups.output_lost") == 0
    site.order(AddLoad("A", "L3", 0.0))
    site.run(200.0)
    assert site.flags("ups/A", "ups.status") == {"OL"}


def test_five_percent_over_last_for_ever() -> None:
    site = Site(build_rack(), loads={})
    site.order(AddLoad("A", "L3", 1.05 * site.number("ups/A", "ups.rated_va") * 0.9 / 3.0))
    site.run(600.0)
    assert site.count("ups.bypass") == 0


def test_an_overload_on_battery_loses_the_output() -> None:
    site = Site(build_rack(), loads={})
    site.order(AddLoad("A", "L1", 1.6 * site.number("ups/A", "ups.rated_va") * 0.9 / 3.0), Sag("A", 1.0))
    site.run(1.0)
    assert site.when("ups.output_lost", "ups/A") == pytest.approx(0.2)


def test_one_dead_ups_takes_the_other_over_its_rating() -> None:
    site = Site(build_rack(nodes=8))
    site.run(1.0)
    share = 0.5 * site.number("ups/A", "ups.rated_va") * 0.9 / 3.0
    for phase in ("L1", "L2", "L3"):
        site.order(AddLoad("A", phase, share))
    site.order(SetUpsMode("B", "off"))
    assert site.number("ups/A", "ups.load") == pytest.approx(130.0, rel=0.02)
    site.run(12.0)
    assert site.when("ups.bypass", "ups/A") == pytest.approx(11.0)


def test_an_open_string_shows_at_the_transfer() -> None:
    site = Site(build_rack())
    site.order(FailUps("A", "battery", failed=True))
    assert {"RB", "OL"} <= site.flags("ups/A", "ups.status")
    site.run(1.0)
    site.order(Sag("A", 1.0))
    site.run(3.0)
    assert site.when("ups.output_lost", "ups/A") == pytest.approx(1.0)
    assert site.count("node.power_lost") == 0
    assert site.number("pdu/B1", "pdu.power") == pytest.approx(2 * 6600.0 + 4600.0)


def test_a_static_switch_that_stays_where_it_is_passes_the_sag_on() -> None:
    site = Site(build_rack(LINE_INTERACTIVE))
    site.order(FailUps("A", "transfer", failed=True), Sag("A", 0.5))
    assert site.number("ups/A", "ups.output_voltage") == pytest.approx(115.0)
    site.run(30.0)
    assert site.count("ups.on_battery") == 0
    assert site.count("ups.output_lost", "ups/A") == 1
    site.order(Sag("A", 0.0))
    assert site.count("ups.output_back", "ups/A") == 1


def test_a_stuck_switch_and_a_stopped_inverter_lose_the_output() -> None:
    site = Site(build_rack())
    site.order(FailUps("A", "transfer", failed=True), FailUps("A", "inverter", failed=True))
    assert site.count("ups.output_lost", "ups/A") == 1
    site.order(FailUps("A", "transfer", failed=False))
    assert site.flags("ups/A", "ups.status") == {"OL", "BYPASS", "ALARM"}


def test_an_earth_fault_is_an_alarm_and_no_more() -> None:
    site = Site(build_rack())
    site.order(FailUps("A", "earth", failed=True))
    assert site.flags("ups/A", "ups.status") == {"OL", "ALARM"}
    site.order(FailUps("A", "earth", failed=False))
    assert site.flags("ups/A", "ups.status") == {"OL"}


def test_a_failed_charger_charges_nothing() -> None:
    site = Site(build_rack())
    site.order(FailUps("A", "charger", failed=True))
    site.lose_mains(10.0)
    site.run(25.0)
    left = site.number("ups/A", "ups.battery_energy")
    site.run(100.0)
    assert site.number("ups/A", "ups.battery_energy") == left
    assert site.number("ups/B", "ups.charge") > site.number("ups/A", "ups.charge")


def test_a_self_test_hangs_the_load_on_the_battery_for_a_while() -> None:
    site = Site(build_rack())
    site.run(1.0)
    site.order(StartTest("A", "selftest"))
    assert site.flags("ups/A", "ups.status") == {"OL", "DISCHRG", "TEST"}
    assert sense(site.state, "ups/A", "ups.test_result") == "running"
    site.run(12.0)
    assert site.when("ups.test_ended", "ups/A") == pytest.approx(11.0)
    assert sense(site.state, "ups/A", "ups.test_result") == "passed"
    assert list(site.list_kinds("ups/A")) == ["ups.test_started", "ups.test_ended"]


def test_a_tired_battery_fails_its_test() -> None:
    site = Site(build_rack())
    site.order(AgeBattery("A", 0.4), StartTest("A", "selftest"))
    site.run(12.0)
    assert sense(site.state, "ups/A", "ups.test_result") == "failed"
    assert "RB" in site.flags("ups/A", "ups.status")


def test_a_calibration_runs_to_the_low_mark_and_charges_again() -> None:
    site = Site(build_rack(SimUps(minutes=1.0)))
    site.run(1.0)
    site.order(StartTest("A", "calibration"))
    assert site.flags("ups/A", "ups.status") == {"OL", "DISCHRG", "CAL"}
    site.run(400.0)
    assert site.count("ups.low_battery", "ups/A") == 1
    assert site.count("ups.on_battery") == 0
    assert sense(site.state, "ups/A", "ups.test_result") == "passed"
    assert 20.0 < site.number("ups/A", "ups.charge") < 100.0


def test_a_sag_during_a_calibration_is_a_real_outage() -> None:
    site = Site(build_rack())
    site.order(StartTest("A", "calibration"))
    site.run(60.0)
    site.order(Sag("A", 1.0))
    assert sense(site.state, "ups/A", "ups.test_result") == "aborted"
    assert site.flags("ups/A", "ups.status") == {"OB", "DISCHRG"}
    assert site.when("ups.on_battery", "ups/A") == 60.0
    assert site.number("ups/A", "ups.charge") < 100.0


def test_a_test_can_be_stopped_and_refused() -> None:
    site = Site(build_rack())
    with pytest.raises(OrderError, match="runs no test"):
        site.order(StopTest("A"))
    site.order(StartTest("A", "calibration"))
    with pytest.raises(OrderError, match="calibration already"):
        site.order(StartTest("A", "selftest"))
    site.order(StopTest("A"))
    assert site.flags("ups/A", "ups.status") == {"OL"}
    site.order(Sag("A", 1.0))
    with pytest.raises(OrderError, match="needs good input"):
        site.order(StartTest("A", "selftest"))


def test_an_aged_battery_holds_less_and_a_lie_hides_it() -> None:
    site = Site(build_rack())
    site.run(1.0)
    honest = site.number("ups/A", "ups.runtime")
    site.order(AgeBattery("A", 0.25))
    assert site.number("ups/A", "ups.charge") == 100.0
    assert site.number("ups/A", "ups.runtime") == pytest.approx(honest / 4.0)
    site.order(LieRuntime("A", 600.0))
    assert site.number("ups/A", "ups.runtime") == 600.0
    site.order(LieRuntime("A", None), AgeBattery("A", 1.0))
    assert site.number("ups/A", "ups.charge") == pytest.approx(25.0)


def test_a_stuck_flag_is_told_whether_or_not_it_is_so() -> None:
    site = Site(build_rack())
    site.order(StickFlag("A", "CAL", stuck=True), Sag("A", 1.0))
    assert site.flags("ups/A", "ups.status") == {"OB", "DISCHRG", "CAL"}
    site.order(StickFlag("A", "CAL", stuck=False))
    assert site.flags("ups/A", "ups.status") == {"OB", "DISCHRG"}
