"""Which controls of a unit hold its supply temperature: standard ones, those of makers, and those that the settings name."""

from __future__ import annotations

import pytest

import supernoded_redfish
from supernoded.errors import WireError
from supernoded.limits import Limits
from supernoded.model import Effect, Sight
from supernoded.plugin import Node
from supernoded.testing import ManualClock, MemoryWires
from supernoded.topology import Topology
from supernoded.topology.site import Authority, CoolantLoop
from supernoded_redfish.settings import RedfishSettings
from tests.plugins.redfish.services import link
from tests.plugins.redfish.steering import CDU, CONNECTORS, CONTROLS, POINT, TEMPERATURE, WHO, Scene, put


@pytest.fixture
def scene(supernoded_wires: MemoryWires, supernoded_clock: ManualClock, supernoded_node: Node) -> Scene:
    return Scene(supernoded_wires, supernoded_clock, supernoded_node)


async def test_the_standard_quotation_is_written_where_it_stands_and_put_back(scene: Scene) -> None:
    scene.collect_controls()
    shown = {"SupplyTemperatureControlCelsius": {"SetPoint": 24.0, "ControlMode": "Automatic", "AllowableMin": 10, "AllowableMax": 40}}
    scene.turn(CDU, SecondaryCoolantConnectors=scene.service.collect(CONNECTORS, {"1": shown}))
    handle = await scene.take()
    await put(handle, 22.0)
    await put(handle, 22.5)
    key = "SupplyTemperatureControlCelsius"
    written = [("SecondaryCoolantConnectors/1", {key: {"SetPoint": value}}) for value in (22.0, 22.5)]
    assert scene.list_orders() == written
    assert await handle.hand_back("cdu/0") == Sight(effect=Effect.PRESENT, text="it holds 24 C, as before")
    assert scene.list_orders() == [("SecondaryCoolantConnectors/1", {key: {"SetPoint": 24.0}})]


async def test_the_control_that_a_connector_leads_to_is_the_one(scene: Scene) -> None:
    scene.collect_controls(A={**TEMPERATURE, "SetPoint": 24.0, "ControlMode": "Automatic"}, B={**TEMPERATURE, "SetPoint": 24.0})
    shown = {"SupplyTemperatureControlCelsius": {"DataSourceUri": f"/{CONTROLS}/A", "SetPoint": 24.0}}
    scene.turn(CDU, SecondaryCoolantConnectors=scene.service.collect(CONNECTORS, {"1": shown}))
    await put(await scene.take(), 22.0)
    assert scene.list_orders() == [("Controls/A", {"SetPoint": 22.0})]


async def test_which_control_is_meant_is_said_by_the_settings(scene: Scene) -> None:
    scene.collect_controls(A={**TEMPERATURE, "SetPoint": 24.0}, B={**TEMPERATURE, "SetPoint": 24.0})
    with pytest.raises(WireError, match=r"cdu/0: .*Controls/A, .*Controls/B may all be meant; name one as setpoint_control"):
        await scene.make().now_at()
    await put(await scene.take({"setpoint_control": f"/{CONTROLS}/B"}), 22.0)
    assert scene.list_orders() == [("Controls/B", {"SetPoint": 22.0})]
    scene.collect_controls()
    with pytest.raises(WireError, match="no control of its supply temperature is found; set setpoint_control"):
        await scene.make().now_at()


async def test_direct_is_refused_with_the_reason(scene: Scene) -> None:
    scene.site = Topology(loops=(CoolantLoop(name="cdu0", wire="redfish+https://bmc", authority=Authority.DIRECT),))
    node = Node(scene.node.name, scene.site, Limits(), scene.node.wires, scene.node.clock, scene.node.host, scene.node.state)
    handles = {handle.target: handle for handle in supernoded_redfish.supernoded_handles(RedfishSettings(), node)}
    assert list(handles) == ["cdu/0/setpoint", "cdu/0/valve", "cdu/0/pump"]
    for target in ("cdu/0/valve", "cdu/0/pump"):
        with pytest.raises(WireError, match=f"{target}: there is no watchdog in Redfish, so direct authority is refused"):
            await handles[target].now_at()
        with pytest.raises(WireError, match="no watchdog in Redfish"):
            await put(handles[target], 40.0)


async def test_controls_that_have_moved_are_found_again(scene: Scene) -> None:
    handle = await scene.take()
    await put(handle, 22.0)
    scene.service.answers[f"{CDU}/Setpoints/Supply"] = scene.service.answers.pop(POINT)
    scene.service.answers[f"{CDU}/Setpoints/Who"] = scene.service.answers.pop(WHO)
    scene.service.put(f"{CDU}/Setpoints", Members=[link(f"{CDU}/Setpoints/Supply"), link(f"{CDU}/Setpoints/Who")])
    scene.turn(CDU, Controls=link(f"{CDU}/Setpoints"))
    with pytest.raises(WireError, match="404 Not Found"):
        await put(handle, 22.5)
    scene.list_orders()
    await put(handle, 22.5)
    assert scene.list_orders() == [("Setpoints/Supply", {"SetPoint": 22.5})]
