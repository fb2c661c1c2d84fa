"""PDUs: outlets, cords, breakers, and what they do without power."""

from __future__ import annotations

import math

import pytest

from sim_hardware.plant.power import Inputs, live, sense
from sim_hardware.plant.power.orders import (
    ArmShed,
    CycleOutlet,
    FireShed,
    LockOutlet,
    PressEmergencyOff,
    ResetBreaker,
    SetUpsMode,
    SwapCords,
    SwitchOutlet,
    TripBreaker,
)
from sim_hardware.plant.words import Order, OrderError
from tests.sim.plant.power.sites import LINE_INTERACTIVE, Site, build_rack

RACK = range(1, 17)  # outlets of eight nodes and their fans


def switch_all(site: Site, *, on: bool, gap_s: float = 0.0) -> None:
    for number in RACK:
        site.order(SwitchOutlet("A1", number, on=on), SwitchOutlet("B1", number, on=on))
        if gap_s:
            site.run(site.state.at + gap_s)


def test_cords_share_a_load_and_one_takes_all_when_the_other_dies() -> None:
    site = Site(build_rack())
    site.run(1.0)
    assert sense(site.state, "pdu/A1/outlet1", "outlet.power") == pytest.approx(2700.0)
    site.order(TripBreaker("B1"))
    assert sense(site.state, "pdu/A1/outlet1", "outlet.power") == pytest.approx(5400.0)
    assert sense(site.state, "pdu/B1/outlet1", "outlet.power") == 0.0
    assert site.count("load.lost") == 0


def test_restoring_everything_at_once_trips_the_breakers_and_in_turn_does_not() -> None:
    site = Site(build_rack(nodes=8))
    switch_all(site, on=False)
    site.run(5.0)
    assert site.count("node.power_lost") == 8
    switch_all(site, on=True)
    site.run(10.0)
    assert site.count("breaker.tripped") == 2
    assert site.count("node.power_back") == 0

    site = Site(build_rack(nodes=8))
    switch_all(site, on=False)
    site.run(5.0)
    switch_all(site, on=True, gap_s=0.25)
    site.run(15.0)
    assert site.count("breaker.tripped") == 0
    assert site.count("node.power_back") == 8


def test_a_breaker_opens_by_its_heat_and_stays_hot_for_a_while() -> None:
    site = Site(build_rack(), loads={})
    site.order(TripBreaker("B1"))
    rated = sense(site.state, "pdu/A1", "pdu.rated_power")
    assert isinstance(rated, float)
    site.inputs = Inputs({"n0": 1.5 * rated})
    site.run(70.0)
    at = site.when("breaker.tripped", "breaker/A1")
    assert at == pytest.approx(60.0 * math.log(1.5625 / 0.5625))
    assert sense(site.state, "breaker/A1", "breaker.closed") == 0.0
    site.run(at + 5.0)
    site.order(ResetBreaker("A1"))
    assert site.count("breaker.tripped", "breaker/A1") == 2
    site.inputs = Inputs({"n0": 1000.0})
    site.run(at + 60.0)
    site.order(ResetBreaker("A1"))
    site.run(at + 70.0)
    assert site.count("breaker.tripped", "breaker/A1") == 2
    assert sense(site.state, "breaker/A1", "breaker.closed") == 1.0
    assert live(site.state, "n0")


def test_swapped_cords_make_one_feed_of_two() -> None:
    site = Site(build_rack())
    site.run(1.0)
    site.order(SwapCords("n0", swapped=True))
    assert sense(site.state, "pdu/A1/outlet1", "outlet.power") == pytest.approx(5400.0)
    site.order(SetUpsMode("A", "off"))
    site.run(3.0)
    assert site.count("node.power_lost", "n0") == 1
    assert live(site.state, "n1")
    site.order(SwapCords("n0", swapped=False))
    site.run(6.0)
    assert live(site.state, "n0")


def test_a_delayed_switch_and_a_cycle() -> None:
    site = Site(build_rack())
    site.order(SwitchOutlet("A1", 1, on=False, delay_s=2.0), CycleOutlet("B1", 1, off_s=1.0))
    site.run(1.5)
    assert site.when("outlet.closed", "pdu/B1/outlet1") == 1.0
    assert sense(site.state, "pdu/A1/outlet1", "outlet.state") == "on"
    site.run(2.0)
    assert sense(site.state, "pdu/A1/outlet1", "outlet.state") == "off"


def test_a_locked_outlet_stays_as_it_is() -> None:
    site = Site(build_rack(LINE_INTERACTIVE))
    site.order(SwitchOutlet("A1", 3, on=False), LockOutlet("A1", 3, locked=True), LockOutlet("A1", 4, locked=True))
    for on in (True, False):
        with pytest.raises(OrderError, match="locked out"):
            site.order(SwitchOutlet("A1", 3, on=on))
    site.order(ArmShed("A1", (3, 4), 1.0), FireShed("A1"))
    site.run(5.0)
    assert sense(site.state, "pdu/A1/outlet3", "outlet.state") == "off"
    assert sense(site.state, "pdu/A1/outlet4", "outlet.state") == "on"
    assert site.flags("pdu/A1", "pdu.opened") == frozenset()


def test_the_emergency_button_opens_all_and_nothing_closes_until_it_is_out() -> None:
    site = Site(build_rack())
    site.order(ArmShed("A1", (3, 4), 1.0), FireShed("A1"))
    site.run(0.5)
    site.order(PressEmergencyOff("A", pressed=True))
    with pytest.raises(OrderError, match="emergency"):
        site.order(SwitchOutlet("A1", 1, on=True))
    site.run(5.0)
    site.order(PressEmergencyOff("A", pressed=False))
    site.run(200.0)
    assert all(sense(site.state, f"pdu/A1/outlet{number}", "outlet.state") == "off" for number in range(1, 7))
    site.order(SwitchOutlet("A1", 1, on=True))
    assert sense(site.state, "pdu/A1/outlet1", "outlet.state") == "on"


def test_a_pdu_that_was_without_power_comes_up_on_one_by_one_and_unarmed() -> None:
    site = Site(build_rack())
    site.order(SwitchOutlet("A1", 2, on=False), ArmShed("A1", (3,), 60.0), FireShed("A1"))
    site.run(1.0)
    site.order(SetUpsMode("A", "off"))
    site.run(3.0)
    with pytest.raises(OrderError, match="no power"):
        site.order(SwitchOutlet("A1", 1, on=True))
    site.told.clear()
    site.order(SetUpsMode("A", "normal"))
    site.run(10.0)
    closed = [(one.at, one.subject.removeprefix("pdu/A1/outlet")) for one in site.told if one.kind == "outlet.closed"]
    assert closed == [(3.0, "1"), (3.25, "3"), (3.5, "4"), (3.75, "5"), (4.0, "6")]
    assert sense(site.state, "pdu/A1", "pdu.armed") == 0.0
    assert sense(site.state, "pdu/A1/outlet2", "outlet.state") == "off"


def test_a_pdu_outlives_a_short_break() -> None:
    site = Site(build_rack())
    site.order(ArmShed("A1", (3,), 60.0), SetUpsMode("A", "off"))
    site.run(0.5)
    site.order(SetUpsMode("A", "normal"))
    site.run(5.0)
    assert site.count("pdu.off") == 0
    assert sense(site.state, "pdu/A1", "pdu.armed") == 1.0


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (ArmShed("A1", (3, 99), 5.0), "no outlet 99"),
        (ArmShed("A1", (), 5.0), "no outlets"),
        (ArmShed("A1", (3,), 0.0), "restore timer"),
        (ArmShed("A1", (3,), 5.0, float("nan")), "lease"),
        (ArmShed("A9", (3,), 5.0), "did you mean"),
        (SwitchOutlet("A1", 1, on=True, delay_s=-1.0), "delay"),
        (SwitchOutlet("A1", 0, on=True), "it has 1 to 6"),
        (PressEmergencyOff("Z", pressed=True), "no feed"),
        (SwapCords("n7", swapped=True), "no node"),
        (Order(), "no order for the power plant"),
    ],
)
def test_what_cannot_be_is_refused(order: Order, words: str) -> None:
    site = Site(build_rack())
    with pytest.raises(OrderError, match=words):
        site.order(order)


def test_a_load_without_a_shelf_has_its_own_hold_up() -> None:
    site = Site(build_rack())
    site.order(SwitchOutlet("A1", 5, on=False), SwitchOutlet("B1", 5, on=False))
    site.run(2.0)
    site.order(SwitchOutlet("A1", 5, on=True))
    assert site.when("load.lost", "cdu/0") == pytest.approx(0.6)
    assert site.when("load.back", "cdu/0") == 2.0
    assert site.number("pdu/A1/outlet5", "outlet.power") == pytest.approx(10.0 * 4000.0, rel=0.1)
    site.run(2.5)
    assert site.number("pdu/A1/outlet5", "outlet.power") == pytest.approx(4000.0)


def test_fans_hang_on_the_shelf_while_an_outlet_of_theirs_is_closed() -> None:
    site = Site(build_rack())
    site.run(1.0)
    site.order(SwitchOutlet("A1", 3, on=False))
    assert live(site.state, "n0/fan*")
    assert site.number("pdu/B1/outlet3", "outlet.power") == pytest.approx(1200.0)
    site.order(SwitchOutlet("B1", 3, on=False))
    assert not live(site.state, "n0/fan*")
    assert site.number("n0", "shelf.load") == pytest.approx(5400.0)


def test_a_lock_holds_against_what_was_planned_before() -> None:
    site = Site(build_rack())
    site.order(CycleOutlet("A1", 1, off_s=1.0), ArmShed("A1", (3,), 1.0), FireShed("A1"))
    site.run(0.5)
    site.order(LockOutlet("A1", 1, locked=True), LockOutlet("A1", 3, locked=True))
    site.run(5.0)
    assert sense(site.state, "pdu/A1/outlet1", "outlet.state") == "off"
    assert sense(site.state, "pdu/A1/outlet3", "outlet.state") == "off"
