"""The armed shed group: trigger, timer, lease."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from sim_hardware.plant.power import sense
from sim_hardware.plant.power.orders import ArmShed, DisarmShed, FireShed, ResetBreaker, Sag, SwitchOutlet, TripBreaker
from sim_hardware.plant.words import OrderError
from tests.sim.plant.power.sites import Site, build_rack


def test_a_second_trigger_does_not_extend_the_timer() -> None:
    site = Site(build_rack())
    site.order(ArmShed("A1", (3,), 5.0), FireShed("A1"))
    site.run(4.0)
    site.order(FireShed("A1"))
    site.order(ArmShed("A1", (3,), 5.0))
    site.run(6.0)
    assert site.when("shed.fired", "pdu/A1") == pytest.approx(0.002)
    assert site.when("shed.restored", "pdu/A1") == pytest.approx(5.002)
    assert site.count("shed.fired") == 1


def test_an_expired_lease_turns_on_what_was_shed() -> None:
    site = Site(build_rack())
    site.order(ArmShed("A1", (3,), 60.0, lease_s=10.0), FireShed("A1"))
    site.run(9.0)
    assert sense(site.state, "pdu/A1", "pdu.lease_left") == pytest.approx(1.0)
    site.run(11.0)
    assert site.when("shed.expired", "pdu/A1") == 10.0
    assert sense(site.state, "pdu/A1/outlet3", "outlet.state") == "on"
    assert sense(site.state, "pdu/A1", "pdu.armed") == 0.0
    with pytest.raises(OrderError, match="not armed"):
        site.order(FireShed("A1"))


def test_disarming_turns_on_what_was_shed_but_not_what_was_off() -> None:
    site = Site(build_rack())
    site.order(SwitchOutlet("A1", 4, on=False), ArmShed("A1", (3, 4), 60.0), FireShed("A1"))
    site.run(1.0)
    assert site.flags("pdu/A1", "pdu.opened") == {"3"}
    site.order(DisarmShed("A1"))
    assert sense(site.state, "pdu/A1/outlet3", "outlet.state") == "on"
    assert sense(site.state, "pdu/A1/outlet4", "outlet.state") == "off"
    assert sense(site.state, "pdu/A1", "pdu.event") == "disarmed"


def test_who_switches_a_shed_outlet_off_keeps_it_off() -> None:
    site = Site(build_rack())
    site.order(ArmShed("A1", (3, 4), 2.0), FireShed("A1"))
    site.run(1.0)
    site.order(SwitchOutlet("A1", 3, on=False))
    site.run(5.0)
    assert sense(site.state, "pdu/A1/outlet3", "outlet.state") == "off"
    assert sense(site.state, "pdu/A1/outlet4", "outlet.state") == "on"


def test_who_switches_off_later_keeps_it_off_when_the_shed_came_first() -> None:
    site = Site(build_rack())
    site.order(ArmShed("A1", (3, 4), 2.0), SwitchOutlet("A1", 3, on=False, delay_s=1.0), FireShed("A1"))
    site.run(5.0)
    assert sense(site.state, "pdu/A1/outlet3", "outlet.state") == "off"
    assert sense(site.state, "pdu/A1/outlet4", "outlet.state") == "on"


def test_who_wants_it_on_later_does_not_hold_up_the_restore() -> None:
    site = Site(build_rack())
    site.order(ArmShed("A1", (3,), 2.0), FireShed("A1"))
    site.run(1.0)
    site.order(SwitchOutlet("A1", 3, on=True, delay_s=600.0))
    site.run(5.0)
    assert site.when("outlet.closed", "pdu/A1/outlet3") == pytest.approx(2.002)


def test_the_restore_tells_how_long_it_really_took() -> None:
    site = Site(build_rack())
    site.order(ArmShed("A1", (3,), 2.0), FireShed("A1"))
    site.run(1.0)
    site.order(ArmShed("A1", (3,), 9.0))
    site.run(5.0)
    assert next(one.text for one in site.told if one.kind == "shed.restored").endswith("after 2 s.")


def test_arming_while_both_contacts_are_up_waits_for_the_next_edge() -> None:
    site = Site(build_rack())
    site.order(Sag("A", 1.0), Sag("B", 1.0))
    site.run(1.0)
    site.order(ArmShed("A1", (3,), 5.0))
    site.run(5.0)
    assert site.count("shed.fired") == 0


def test_a_second_sag_does_not_extend_the_timer_of_the_first() -> None:
    site = Site(build_rack())
    site.order(ArmShed("A1", (3,), 5.0))
    for at in (1.0, 3.0):
        site.run(at)
        site.lose_mains(1.2)
    site.run(20.0)
    assert site.count("shed.fired", "pdu/A1") == 1
    assert site.when("shed.restored", "pdu/A1") == pytest.approx(6.013)
    assert sense(site.state, "pdu/A1/outlet3", "outlet.state") == "on"


def test_contacts_that_meet_for_less_than_the_debounce_do_not_fire() -> None:
    site = Site(build_rack())
    site.order(ArmShed("A1", (3,), 5.0), Sag("A", 1.0))
    site.run(0.4995)
    site.order(Sag("B", 1.0))
    site.run(0.5)
    site.order(Sag("A", 0.0))
    site.run(5.0)
    assert site.when("ups.unflagged", "ups/A") - site.when("ups.flagged", "ups/B") == pytest.approx(0.0005)
    assert site.count("shed.fired") == 0


@pytest.mark.parametrize(("direct_lines", "fired"), [(True, 1), (False, 0)])
def test_without_direct_lines_a_pdu_waits_to_be_told(direct_lines: bool, fired: int) -> None:
    rack = build_rack()
    power = replace(rack.sim.power, direct_lines=direct_lines)
    site = Site(replace(rack, sim=replace(rack.sim, power=power)))
    site.order(ArmShed("A1", (3,), 5.0))
    site.lose_mains(1.0)
    assert site.count("shed.fired", "pdu/A1") == fired
    site.run(20.0)
    site.order(FireShed("A1"))
    site.run(21.0)
    assert site.count("shed.fired", "pdu/A1") == fired + 1


def test_a_shed_that_fires_while_the_pdu_starts_keeps_its_group_open_until_the_restore() -> None:
    site = Site(build_rack())
    site.order(TripBreaker("A1"))
    site.run(30.0)
    site.order(ResetBreaker("A1"))
    site.run(30.1)  # the first outlet is closed, the others follow 0.25 s apart
    site.order(ArmShed("A1", (3, 4), 2.0), FireShed("A1"))
    site.run(31.5)
    assert {number: sense(site.state, f"pdu/A1/outlet{number}", "outlet.state") for number in (2, 3, 4, 5)} == {
        2: "on",
        3: "off",
        4: "off",
        5: "on",
    }
    site.run(33.0)
    assert sense(site.state, "pdu/A1/outlet3", "outlet.state") == sense(site.state, "pdu/A1/outlet4", "outlet.state") == "on"
    assert site.when("shed.restored", "pdu/A1") == pytest.approx(32.102)
