"""Devices without power say nothing, whatever they speak; and one with power does."""

from __future__ import annotations

import pytest

from sim_hardware.devices.modbus import build_site
from sim_hardware.devices.modbus.mbap import TcpAdu
from sim_hardware.devices.modbus.tcp import TcpDevice
from sim_hardware.devices.nut import NutServer
from sim_hardware.devices.nut.session import Session
from sim_hardware.devices.redfish import make_cdu, make_pdu
from sim_hardware.devices.snmp import make_pdu_agent, make_ups_agent
from sim_hardware.plant.power.orders import AgeBattery, Sag, SwitchOutlet, TripBreaker
from sim_hardware.plant.words import Order
from sim_hardware.rack import generate_rack
from sim_hardware.world import World
from tests.sim.devices.snmp.requests import encode

RACK = generate_rack(1, 8)
READ = bytes((43, 14, 1, 0))  # device identification
GET = encode("get", ("1.3.6.1.2.1.1.1.0", None))
TRIPPED = (TripBreaker("A1"),)
UNPLUGGED = tuple(SwitchOutlet(pdu.name, one.number, on=False) for pdu in RACK.pdus for one in pdu.outlets if one.load == "cdu/0")
EMPTY = (AgeBattery("A", 0.0), Sag("A", 1.0))


def answers(world: World, name: str) -> bool:
    """Whether anything comes from a device."""
    match name:
        case "ups/A":
            return Session(NutServer(world, "A").unit).answer(b"GET VAR ups-a ups.status") != b"ERR DATA-STALE\n"
        case "ups/A/snmp":
            return make_ups_agent(world, "A").answer(GET) is not None
        case "pdu/A1/snmp":
            return make_pdu_agent(world, "A1").answer(GET) is not None
        case "cdu/0/redfish":
            return not make_cdu(world, "cdu/0").board.is_away()
        case "pdu/A1/redfish":
            return not make_pdu(world, "A1").board.is_away()
    device = next(one for one in build_site(world, "lines", 1).devices if one.name == name)
    if isinstance(device, TcpDevice):
        return device.answer(TcpAdu(1, 1, READ)) is not None
    return device.unit.answer(device.number, READ) is not None


@pytest.mark.parametrize(
    ("name", "orders"),
    [
        ("pdu/A1", TRIPPED),
        ("pdu/A1/snmp", TRIPPED),
        ("pdu/A1/redfish", TRIPPED),
        ("cdu/0", UNPLUGGED),
        ("cdu/0/rtu", UNPLUGGED),
        ("cdu/0/redfish", UNPLUGGED),
        ("ups/A", EMPTY),
        ("ups/A/snmp", EMPTY),
        ("ups/A/modbus", EMPTY),
    ],
)
def test_a_device_answers_while_it_has_power_and_no_longer(name: str, orders: tuple[Order, ...]) -> None:
    time = 0.0
    world = World(RACK, 1, lambda: time)
    assert answers(world, name)
    for order in orders:
        world.order(order)
    time = 5.0
    assert not answers(world, name)
