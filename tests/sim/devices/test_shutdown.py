"""The timers of a UPS: one set, whoever is told."""

from __future__ import annotations

from pathlib import Path

from sim_hardware.devices.nut import NutServer
from sim_hardware.devices.shutdown import Shutdown
from sim_hardware.devices.snmp import SnmpServer
from sim_hardware.plant.power.orders import SetUpsMode
from sim_hardware.rack import generate_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.snmp.requests import UPS, decode, encode


def test_what_nut_counts_down_snmp_shows_and_stops() -> None:
    world = World(generate_rack(1, 8), 1, lambda: 0.0)
    rig = Rig(world, Path("lines"))
    nut, snmp = rig.devices["ups/A"], rig.devices["ups/A/snmp"]
    assert isinstance(nut, NutServer)
    assert isinstance(snmp, SnmpServer)
    nut.unit.shutdown.start(60.0, None)
    assert decode(snmp.agent.answer(encode("get", (f"{UPS}.8.2.0", None)))).value == 60
    assert decode(snmp.agent.answer(encode("set", (f"{UPS}.8.2.0", -1)))).status == 0
    assert nut.unit.list_variables()["ups.timer.shutdown"] == "-1"


def test_it_comes_back_in_the_mode_it_had_though_told_off_twice() -> None:
    panel = FakePanel(values={("ups/A", "ups.mode"): "eco"})
    shutdown = Shutdown(panel, "A")
    shutdown.start(0.0, None)
    panel.values["ups/A", "ups.mode"] = "off"
    shutdown.start(0.0, None)
    shutdown.start_on(0.0)
    assert panel.orders[-1] == SetUpsMode("A", "eco")


def test_to_switch_on_what_is_on_leaves_its_mode() -> None:
    panel = FakePanel(values={("ups/A", "ups.mode"): "eco"})
    Shutdown(panel, "A").start_on(0.0)
    assert panel.orders == [SetUpsMode("A", "eco")]
