"""Rack PDUs: outlets by their numbers, switched by the target and with the words that they name themselves."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import supernoded_redfish
from supernoded.limits import Limits
from supernoded.model import Action, Effect, Reading, State, Step
from supernoded.outlets import SWITCH_KINDS
from supernoded.plugin import Actuator, Node, PluginError, Sensor, WireError
from supernoded.quantities import find_fault
from supernoded.testing import MemoryHttp, MemoryWires
from supernoded.topology import Topology
from supernoded.topology.site import Outlet, Pdu
from supernoded_redfish.outlet_words import look_at, read_command, tell_outlet, tell_pdu
from supernoded_redfish.settings import RedfishSettings

URL = "https://pdu"
PDU = "redfish/v1/PowerEquipment/RackPDUs/1"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["Reading", "target", "@odata.id", "#Outlet.PowerControl"]), inner)
    ),
    max_leaves=8,
)
STYLES: dict[str, tuple[str, str, list[str]]] = {  # how the Id begins, where the target is below it, what it takes
    "dmtf": ("A", "Outlet.PowerControl", ["On", "Off", "PowerCycle"]),
    "cray": ("AA", "Actions/Outlet.PowerControl", ["On", "Off"]),
}


def link(path: str) -> dict[str, str]:
    return {"@odata.id": f"/{path}"}


def show_outlet(style: str, number: int, state: object = "On", watts: object = 430.0) -> dict[str, Any]:
    prefix, target, states = STYLES[style]
    action = {"target": f"/{PDU}/Outlets/{prefix}{number}/{target}", "PowerState@Redfish.AllowableValues": states}
    return {
        "PowerState": state,
        "PowerWatts": {"Reading": watts},
        "CurrentAmps": {"Reading": 1.9 if watts else 0.0},
        "PowerControlLocked": False,
        "Actions": {"#Outlet.PowerControl": action},
    }


class Scene:
    def __init__(self, wires: MemoryWires, node: Node, style: str, wire: str = "", raw: object = None) -> None:
        self.http: MemoryHttp = wires.http(URL)
        self.prefix = STYLES[style][0]
        self.http.answers["redfish/v1/PowerEquipment/RackPDUs"] = {"Members": [link(PDU)]}
        self.http.answers[PDU] = {
            "Model": "R",
            "SerialNumber": "S",
            **{name: link(f"{PDU}/{name}") for name in ("Outlets", "Metrics", "Mains")},
        }
        self.http.answers[f"{PDU}/Metrics"] = {"PowerWatts": {"Reading": 5320.5}}
        self.http.answers[f"{PDU}/Mains"] = {"Members": [link(f"{PDU}/Mains/AC1")]}
        amperes = {f"Line{line}": {"Reading": float(line)} for line in (1, 2, 3)}
        self.http.answers[f"{PDU}/Mains/AC1"] = {
            "Voltage": {"Reading": 230.0},
            "CurrentAmps": {"Reading": None},
            "PolyPhaseCurrentAmps": amperes,
        }
        self.http.answers[f"{PDU}/Outlets"] = {"Members": [link(self.place(number)) for number in (1, 7, 26)]}
        for number in (1, 7, 26):
            self.http.answers[self.place(number)] = show_outlet(style, number)
        outlets = (Outlet(number=7, load="n0/fan*", sheddable=True), Outlet(number=26, load="n0"))
        site = Topology(pdus=(Pdu(name="A1", feed="A", wire=wire or "redfish+https://pdu", outlets=outlets),))
        self.node = Node(node.name, site, Limits(), node.wires, node.clock, node.host, node.state)
        self.settings = msgspec.convert(raw or {}, RedfishSettings)

    def place(self, number: int) -> str:
        return f"{PDU}/Outlets/{self.prefix}{number}"

    def find(self, kind: str) -> Actuator:
        (actuator,) = (one for one in supernoded_redfish.supernoded_actuators(self.settings, self.node) if kind in one.kinds)
        return actuator

    def make_sensor(self) -> Sensor:
        (sensor,) = supernoded_redfish.supernoded_sensors(self.settings, self.node)
        return sensor

    async def read(self) -> dict[tuple[str, str], object]:
        readings = await self.make_sensor().read()
        assert all(reading.state is State.UNKNOWN or find_fault(reading) is None for reading in readings)
        return {(reading.subject, reading.quantity): reading.value for reading in readings}


def order(kind: str, target: str = "pdu/A1/outlet26") -> Action:
    step = Step(name="s", kind=kind, target=target, reason="a test")
    return Action(id="i/s", step=step, incident="i", scope="feed/A", epoch=1, issued=0.0, deadline=10.0)


async def test_what_is_read(supernoded_wires: MemoryWires, supernoded_node: Node) -> None:
    scene = Scene(supernoded_wires, supernoded_node, "dmtf")
    sensor = scene.make_sensor()
    assert (sensor.name, sensor.scope, sensor.period) == ("redfish.pdu/A1", "feed/A", 10.0)
    outlets = {(f"pdu/A1/outlet{number}", name): value for number in (7, 26) for name, value in OUTLET.items()}
    assert await scene.read() == {
        ("pdu/A1", "pdu.power"): 5320.5,
        ("pdu/A1", "pdu.voltage"): 230.0,
        ("pdu/A1", "pdu.current"): None,
        **{("pdu/A1", f"pdu.current.L{line}"): float(line) for line in (1, 2, 3)},
        ("pdu/A1", "pdu.model"): "R",
        ("pdu/A1", "pdu.serial"): "S",
        **outlets,
    }


OUTLET: dict[str, object] = {"outlet.state": "on", "outlet.power": 430.0, "outlet.current": 1.9, "outlet.locked": 0.0}


@pytest.mark.parametrize("style", STYLES)
async def test_an_outlet_is_told_where_and_as_it_says(style: str, supernoded_wires: MemoryWires, supernoded_node: Node) -> None:
    scene = Scene(supernoded_wires, supernoded_node, style)
    switch, off, on = scene.find("outlet.off"), order("power.off"), order("outlet.on")
    assert ((await switch.observe(off)).effect, (await switch.observe(on)).effect) == (Effect.ABSENT, Effect.PRESENT)
    await switch.apply(off)
    prefix, target, _ = STYLES[style]
    assert scene.http.orders == [("feed/A", "POST", f"{PDU}/Outlets/{prefix}26/{target}", {"PowerState": "Off"})]
    assert (await switch.observe(off)).effect is Effect.ABSENT
    scene.http.answers[scene.place(26)] = show_outlet(style, 26, "Off", 430.0)
    assert (await switch.observe(off)).effect is Effect.UNKNOWN
    scene.http.answers[scene.place(26)] = show_outlet(style, 26, "Off", 0.0)
    assert (await switch.observe(off)).effect is Effect.PRESENT
    scene.http.answers[scene.place(26)] = show_outlet(style, 26, "PoweringOn", 0.0)
    sight = await switch.observe(on)
    assert (sight.effect, "PoweringOn" in sight.text) == (Effect.UNKNOWN, True)


async def test_the_words_may_stand_elsewhere(supernoded_wires: MemoryWires, supernoded_node: Node) -> None:
    scene = Scene(supernoded_wires, supernoded_node, "dmtf")
    body = show_outlet("dmtf", 26)
    action = {"target": f"/{PDU}/x", "@Redfish.ActionInfo": f"/{PDU}/info"}
    scene.http.answers[scene.place(26)] = body | {"Actions": {"#Outlet.PowerControl": action}}
    scene.http.answers[f"{PDU}/info"] = {"Parameters": [{"Name": "PowerState", "AllowableValues": ["On"]}]}
    switch = scene.find("outlet.off")
    with pytest.raises(WireError, match="takes On, and not Off; nothing was sent"):
        await switch.apply(order("power.off"))
    await switch.apply(order("power.on"))
    assert scene.http.orders == [("feed/A", "POST", f"{PDU}/x", {"PowerState": "On"})]


async def test_an_outlet_that_cannot_be_switched_says_so(supernoded_wires: MemoryWires, supernoded_node: Node) -> None:
    scene = Scene(supernoded_wires, supernoded_node, "dmtf")
    scene.http.answers[scene.place(26)] = show_outlet("dmtf", 26) | {"Actions": {"#Outlet.ResetMetrics": {"target": "/x"}}}
    with pytest.raises(WireError, match="names no target"):
        await scene.find("power.off").apply(order("power.off"))
    with pytest.raises(WireError, match="no outlet 9; its outlets are 1, 7, 26"):
        await scene.find("power.off").apply(order("power.off", "pdu/A1/outlet9"))
    assert scene.http.orders == []


async def test_an_outlet_that_is_locked_is_left_alone(supernoded_wires: MemoryWires, supernoded_node: Node) -> None:
    scene = Scene(supernoded_wires, supernoded_node, "dmtf")
    scene.http.answers[scene.place(26)] = show_outlet("dmtf", 26) | {"PowerControlLocked": True}
    with pytest.raises(WireError, match="outlet 26 is locked and stays as it is; nothing was sent"):
        await scene.find("power.off").apply(order("power.off"))
    assert scene.http.orders == []


async def test_a_meter_below_nothing_proves_nothing(supernoded_wires: MemoryWires, supernoded_node: Node) -> None:
    scene = Scene(supernoded_wires, supernoded_node, "dmtf")
    body = show_outlet("dmtf", 26, "Off", -1.0)
    body.pop("CurrentAmps", None)
    scene.http.answers[scene.place(26)] = body
    assert (await scene.find("power.off").observe(order("power.off"))).effect is Effect.UNKNOWN


async def test_two_outlets_of_one_number_have_to_be_named(supernoded_wires: MemoryWires, supernoded_node: Node) -> None:
    scene = Scene(supernoded_wires, supernoded_node, "dmtf")
    scene.http.answers[f"{PDU}/Outlets"] = {"Members": [link(scene.place(7)), link(f"{PDU}/Outlets/B7")]}
    with pytest.raises(WireError, match="A7 and B7 are both outlet 7; name them under `outlets`"):
        await scene.read()
    scene.settings = msgspec.convert({"pdus": {"A1": {"outlets": {"B7": 26}}}}, RedfishSettings)
    scene.http.answers[f"{PDU}/Outlets/B7"] = show_outlet("dmtf", 7, "Off", 0.0)
    assert (await scene.read())["pdu/A1/outlet26", "outlet.state"] == "off"


async def test_one_pdu_of_several_by_its_path(supernoded_wires: MemoryWires, supernoded_node: Node) -> None:
    scene = Scene(supernoded_wires, supernoded_node, "dmtf")
    scene.http.answers["redfish/v1/PowerEquipment/RackPDUs"] = {"Members": [link(PDU), link(f"{PDU[:-1]}2")]}
    with pytest.raises(WireError, match="write the path of the one that is meant"):
        await scene.read()
    scene = Scene(supernoded_wires, supernoded_node, "dmtf", f"redfish+https://pdu/{PDU}")
    assert (await scene.read())["pdu/A1", "pdu.power"] == 5320.5


def test_nothing_sheds_over_redfish_as_no_pdu_would_close_its_outlets_again_by_itself(
    supernoded_wires: MemoryWires, supernoded_node: Node
) -> None:
    scene = Scene(supernoded_wires, supernoded_node, "cray")
    assert [one.kinds for one in supernoded_redfish.supernoded_actuators(scene.settings, scene.node)] == [SWITCH_KINDS]


def test_a_second_view_takes_orders_only_when_it_is_told_to(supernoded_wires: MemoryWires, supernoded_node: Node) -> None:
    for orders in (False, True):
        scene = Scene(supernoded_wires, supernoded_node, "dmtf", "snmp://pdu", {"pdus": {"A1": {"url": URL, "orders": orders}}})
        assert len(supernoded_redfish.supernoded_sensors(scene.settings, scene.node)) == 1
        assert len(supernoded_redfish.supernoded_actuators(scene.settings, scene.node)) == (1 if orders else 0)
    scene = Scene(supernoded_wires, supernoded_node, "dmtf", "snmp://pdu", {"pdus": {"B9": {"url": URL}}})
    with pytest.raises(PluginError, match="B9: the topology has no such PDU"):
        supernoded_redfish.supernoded_sensors(scene.settings, scene.node)
    scene = Scene(supernoded_wires, supernoded_node, "dmtf", "redfish+https://admin:secret@pdu")
    with pytest.raises(PluginError, match="stand in"):
        supernoded_redfish.supernoded_sensors(scene.settings, scene.node)


@given(JSON, JSON, JSON, JSON)
def test_no_answer_makes_it_raise(state: Any, meter: Any, locked: Any, actions: Any) -> None:
    body = {
        "PowerState": state,
        "PowerWatts": meter,
        "CurrentAmps": meter,
        "PowerControlLocked": locked,
        "Actions": actions,
        "Voltage": meter,
    }
    readings: list[Reading] = [*tell_outlet(body, "pdu/A1/outlet1", 0.0)]
    readings += tell_pdu(body, body, {**body, "PolyPhaseCurrentAmps": actions, "PolyPhaseVoltage": meter}, "pdu/A1", 0.0)
    assert all((reading.value is None) is (reading.state is State.UNKNOWN) for reading in readings)
    assert look_at(body).state in {"on", "off", None}
    command = read_command(body)
    assert command is None or command.target
