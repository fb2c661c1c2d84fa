"""Short losses of the mains, and who sees them."""

from __future__ import annotations

import pytest

from sim_hardware.plant.power import Inputs, live, sense
from sim_hardware.plant.power.orders import ArmShed, FailUps, Sag, SetUpsMode, ShiftFrequency
from tests.sim.plant.power.sites import LINE_INTERACTIVE, Site, build_rack


def fail_batteries(site: Site) -> None:
    site.order(FailUps("A", "battery", failed=True), FailUps("B", "battery", failed=True))


def arm(site: Site) -> None:
    site.order(ArmShed("A1", (3, 4), 5.0), ArmShed("B1", (3, 4), 5.0))


@pytest.mark.parametrize(
    ("armed", "seconds", "survives"), [(False, 0.5, False), (True, 0.5, True), (False, 1.2, False), (True, 1.2, False)]
)
def test_a_shelf_outlasts_half_a_second_only_without_its_fans(armed: bool, seconds: float, survives: bool) -> None:
    site = Site(build_rack(LINE_INTERACTIVE))
    fail_batteries(site)
    if armed:
        arm(site)
    site.run(1.0)
    site.lose_mains(seconds)
    site.run(10.0)
    assert site.count("node.power_lost") == (0 if survives else 2)
    assert site.count("shed.fired") == (2 if armed else 0)


def test_the_shelf_holds_450_ms_and_550_ms_without_fans() -> None:
    site = Site(build_rack(LINE_INTERACTIVE))
    fail_batteries(site)
    site.order(Sag("A", 1.0), Sag("B", 1.0))
    site.run(2.0)
    assert site.when("node.power_lost", "n0") == pytest.approx(0.450)

    site = Site(build_rack(LINE_INTERACTIVE))
    fail_batteries(site)
    site.inputs = Inputs({**site.inputs.loads, "n0/fan*": 0.0})
    site.order(Sag("A", 1.0), Sag("B", 1.0))
    site.run(2.0)
    assert site.when("node.power_lost", "n0") == pytest.approx(0.550)


def test_the_shed_is_3_ms_after_the_contacts_and_13_ms_after_the_sag() -> None:
    site = Site(build_rack(LINE_INTERACTIVE))
    arm(site)
    site.run(1.0)
    site.lose_mains(1.2)
    assert site.when("ups.flagged", "ups/A") == pytest.approx(1.010)
    assert site.when("shed.fired", "pdu/A1") == pytest.approx(1.013)
    assert sense(site.state, "pdu/A1", "pdu.shed_delay_ms") == pytest.approx(3.0)
    assert site.flags("pdu/A1", "pdu.opened") == {"3", "4"}
    assert not live(site.state, "n0/fan*")
    site.run(10.0)
    assert site.when("shed.restored", "pdu/A1") == pytest.approx(6.013)
    assert live(site.state, "n0/fan*")
    assert site.count("node.power_lost") == 0


def test_an_on_line_ups_carries_a_sag_unseen() -> None:
    site = Site(build_rack())
    site.run(1.0)
    site.lose_mains(0.5)
    assert sense(site.state, "n0", "shelf.charge") == 100.0
    site.run(20.0)
    assert list(site.list_kinds("ups/A")) == ["ups.on_battery", "ups.flagged", "ups.unflagged", "ups.on_line"]
    assert site.when("ups.on_line", "ups/A") == pytest.approx(11.5)


@pytest.mark.parametrize("eco", [False, True])
def test_a_transfer_is_a_gap_that_the_shelf_carries(eco: bool) -> None:
    site = Site(build_rack() if eco else build_rack(LINE_INTERACTIVE))
    if eco:
        site.order(SetUpsMode("A", "eco"), SetUpsMode("B", "eco"))
    site.run(1.0)
    site.order(Sag("A", 1.0), Sag("B", 1.0))
    assert sense(site.state, "pdu/A1", "pdu.voltage") == 0.0
    site.run(1.008)
    assert sense(site.state, "n0", "shelf.charge") == pytest.approx(100.0 - 100.0 * 0.008 / 0.450)
    assert site.when("ups.on_battery", "ups/A") == pytest.approx(1.008)
    assert site.flags("ups/A", "ups.status") == {"OB", "DISCHRG"}
    assert site.count("load.lost") == 0


def test_bypass_does_not_ride_through() -> None:
    site = Site(build_rack(bypass_sites=("A", "B")))
    assert site.flags("ups/A", "ups.status") == {"OL", "BYPASS"}
    site.lose_mains(0.5)
    assert site.count("node.power_lost") == 2
    assert site.count("ups.on_battery") == 0


def test_eight_percent_are_no_loss() -> None:
    site = Site(build_rack())
    arm(site)
    site.lose_mains(1.2, depth=0.08)
    assert {one.kind for one in site.told} == {"shed.armed", "utility.sag", "utility.restored"}
    assert site.state.next_time == 120.0


def test_one_phase_is_enough() -> None:
    site = Site(build_rack())
    site.order(Sag("A", 0.3, frozenset({"L2"})))
    assert sense(site.state, "ups/A", "ups.input_voltage.L1") == 230.0
    assert sense(site.state, "ups/A", "ups.input_voltage") == pytest.approx(161.0)
    assert site.count("ups.on_battery", "ups/A") == 1


def test_a_sag_of_less_than_a_cycle_does_not_move_the_contact() -> None:
    site = Site(build_rack())
    site.lose_mains(0.008)
    site.run(30.0)
    assert site.count("ups.flagged") == 0
    assert site.count("ups.on_battery") == 2


def test_one_feed_never_sheds() -> None:
    site = Site(build_rack(LINE_INTERACTIVE))
    arm(site)
    site.order(Sag("A", 1.0))
    site.run(5.0)
    assert site.count("shed.fired") == 0
    site.order(Sag("B", 1.0))
    site.run(6.0)
    assert site.when("shed.fired", "pdu/A1") == pytest.approx(5.013)


def test_three_sags_in_half_a_minute_fire_three_times() -> None:
    site = Site(build_rack(LINE_INTERACTIVE))
    arm(site)
    for at in (1.0, 10.0, 20.0):
        site.run(at)
        site.lose_mains(1.2)
    site.run(30.0)
    assert site.count("shed.fired", "pdu/A1") == 3
    assert site.count("shed.restored", "pdu/A1") == 3
    assert site.count("node.power_lost") == 0


def test_a_wrong_frequency_is_a_lost_input() -> None:
    site = Site(build_rack())
    site.order(ShiftFrequency("A", 47.0))
    site.run(1.0)
    assert sense(site.state, "ups/A", "ups.mains_flag") == 1.0
    assert sense(site.state, "ups/A", "ups.input_frequency") == 47.0
    site.order(ShiftFrequency("A", None))
    site.run(20.0)
    assert site.flags("ups/A", "ups.status") == {"OL", "CHRG"}
