"""What can be sensed, and what cannot be said."""

from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from sim_hardware.plant.power import Inputs, live, sense, sensors, start, update
from sim_hardware.plant.power.orders import AddLoad, Sag
from sim_hardware.plant.words import OrderError, PlantError, UnknownSensorError
from sim_hardware.rack import generate_rack
from sim_hardware.rack.shape import Feed, Node, Outlet, Pdu, Rack, SimUps
from tests.sim.plant.power.sites import LINE_INTERACTIVE, Site, build_rack, draw_full

PROMISED = {
    "ups/A": "status input_voltage input_voltage.L1 input_frequency output_voltage output_current output_power output_va load load.L2 "
    "charge runtime battery_voltage battery_temperature battery_energy on_battery_s test_result mode rated_va rated_power mains_flag live "
    "transfer_ms firmware model serial",
    "pdu/A1": "voltage power current current.L3 armed group lease_left restore_s event event_count event_at opened shed_delay_ms "
    "model serial",
    "pdu/A1/outlet1": "state power current locked load sheddable",
    "breaker/A1": "closed heat",
    "utility/B": "voltage voltage.L3 frequency",
    "generator": "state",
}


@pytest.mark.parametrize("subject", PROMISED)
def test_what_is_promised_is_there(subject: str) -> None:
    state = start(generate_rack(2, 8), 0)
    there = {(one.subject, one.quantity) for one in sensors(state)}
    kind = "outlet" if "outlet" in subject else subject.partition("/")[0]
    assert {(subject, f"{kind}.{name}") for name in PROMISED[subject].split()} <= there


def test_every_sensor_answers_whatever_the_state() -> None:
    site = Site(build_rack(generator=True))
    site.order(Sag("A", 1.0), Sag("B", 0.4))
    site.run(1.2)
    all_of_them = list(sensors(site.state))
    assert len({(one.subject, one.quantity) for one in all_of_them}) == len(all_of_them) > 100
    for one in all_of_them:
        value = sense(site.state, one.subject, one.quantity)
        assert not isinstance(value, float) or math.isfinite(value)


def test_units_are_those_of_the_values() -> None:
    site = Site(build_rack())
    site.run(1.0)
    watts = site.number("pdu/A1", "pdu.power")
    assert site.number("pdu/A1", "pdu.current") * 230.0 * 0.9 == pytest.approx(watts)
    assert site.number("pdu/A1", "pdu.current.L1") * 3.0 == pytest.approx(site.number("pdu/A1", "pdu.current"))
    assert site.number("ups/A", "ups.output_va") * 0.9 == pytest.approx(watts)
    assert site.number("ups/A", "ups.load") == pytest.approx(100.0 * watts / 0.9 / site.number("ups/A", "ups.rated_va"))
    assert site.number("pdu/A1/outlet1", "outlet.current") * 230.0 * 0.9 == pytest.approx(2700.0)
    assert sense(site.state, "pdu/A1/outlet3", "outlet.load") == "n0/fan*"
    assert sense(site.state, "pdu/A1/outlet3", "outlet.sheddable") == 1.0


@pytest.mark.parametrize(("subject", "quantity"), [("ups/A", "ups.stauts"), ("ups/Z", "ups.status"), ("load/n0", "power"), ("", "")])
def test_what_is_not_there_is_said_to_be_so(subject: str, quantity: str) -> None:
    with pytest.raises(UnknownSensorError, match="has no sensor"):
        sense(start(generate_rack(1, 8), 0), subject, quantity)


def test_a_line_interactive_ups_lifts_a_low_input() -> None:
    site = Site(build_rack(LINE_INTERACTIVE))
    site.order(Sag("A", 0.08))
    assert site.flags("ups/A", "ups.status") == {"OL", "BOOST"}
    assert site.number("ups/A", "ups.output_voltage") == pytest.approx(230.0 * 0.92 * 1.08)


def test_one_phase_has_no_other() -> None:
    site = Site(build_rack(SimUps(phases=1)))
    site.run(1.0)
    assert sense(site.state, "ups/A", "ups.load.L2") is None
    assert site.number("ups/A", "ups.load") == site.number("ups/A", "ups.load.L1")
    with pytest.raises(OrderError, match="give one of L1"):
        site.order(AddLoad("A", "L2", 100.0))


def test_what_has_no_outlet_is_always_live() -> None:
    site = Site(Rack(nodes=(Node(name="n0", cards=8),)), loads={"n0": 5400.0})
    site.lose_mains(5.0)
    assert live(site.state, "n0")
    assert live(site.state, "cdu/7")
    assert sense(site.state, "n0", "power.available") == 1.0
    assert sense(site.state, "n0", "shelf.load") is None


def test_a_feed_without_a_ups_passes_the_mains_on() -> None:
    pdu = Pdu(name="P", feed="M", outlets=(Outlet(number=1, load="n0"),))
    site = Site(Rack(nodes=(Node(name="n0", cards=8),), feeds=(Feed(name="M"),), pdus=(pdu,)), loads={"n0": 5400.0, "n0/fan*": 1200.0})
    site.order(Sag("A", 1.0))
    site.run(2.0)
    assert site.when("node.power_lost", "n0") == pytest.approx(0.450)
    assert site.when("load.lost", "n0/fan*") == pytest.approx(0.450)


def test_inputs_that_cannot_be_are_refused() -> None:
    rack = generate_rack(1, 8)
    state = start(rack, 0)
    for watts in (math.nan, -1.0, math.inf):
        with pytest.raises(PlantError, match="load n0 draws"):
            update(state, 1.0, Inputs({"n0": watts}))
    with pytest.raises(PlantError, match="before the plant's own"):
        update(update(state, 1.0, Inputs({})), 0.5, Inputs({}))


def test_a_tick_in_which_nothing_changes_touches_nothing() -> None:
    rack = generate_rack(8, 8)
    inputs = Inputs(draw_full(rack))
    before = update(start(rack, 0), 0.5, inputs)
    after = update(before, 1.0, Inputs(dict(inputs.loads)))
    assert after == replace(before, at=1.0, happened=())
    assert after.flow is before.flow
    assert after.pdus is before.pdus


def test_the_rated_current_of_a_pdu_is_its_breakers() -> None:
    site = Site(build_rack())
    watts, amperes = site.number("pdu/A1", "pdu.rated_power"), site.number("pdu/A1", "pdu.rated_current")
    assert amperes * 3.0 * site.number("pdu/A1", "pdu.voltage") * 0.9 == pytest.approx(watts)
