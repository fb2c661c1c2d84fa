"""A unit in memory whose setpoint can be steered, and what was written to it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

import supernoded_redfish
from supernoded.limits import Limits
from supernoded.model import Setpoint
from supernoded.plugin import Handle, Node
from supernoded.testing import ManualClock, MemoryWires
from supernoded.topology import Topology
from supernoded.topology.site import CoolantLoop
from supernoded_redfish.settings import RedfishSettings
from tests.plugins.redfish.services import Service, link, sensor

CDUS = "redfish/v1/ThermalEquipment/CDUs"
CDU = f"{CDUS}/1"
SENSORS, CONTROLS, CONNECTORS = f"{CDU}/Sensors", f"{CDU}/Controls", f"{CDU}/SecondaryCoolantConnectors"
POINT, WHO = f"{CONTROLS}/SupplyTemperature", f"{CONTROLS}/Authority"
MODES = {"ControlMode@Redfish.AllowableValues": ["Automatic", "Override", "Manual"]}
TEMPERATURE = {"ControlType": "Temperature", "AllowableMin": 10, "AllowableMax": 40}
NOISE: dict[str, Mapping[str, object]] = {
    "Return": {**TEMPERATURE, "SetPoint": 35},
    "SupplyHighAlarm": {**TEMPERATURE, "SetPoint": 28},
    "Fan": {"ControlType": "DutyCycle", "ControlMode": "Automatic"},
}
STATE = "cdus/cdu-0.json"


class Scene:
    """A unit with a control of its own for who controls it."""

    def __init__(self, wires: MemoryWires, clock: ManualClock, node: Node) -> None:
        self.service, self.clock, self.wires = Service(wires, clock), clock, wires
        self.service.put(CDUS, Members=[link(CDU)])
        self.service.put(CDU, SerialNumber="SN7", Sensors=link(SENSORS), Controls=link(CONTROLS))
        sensed = {"SupplyTemperature": sensor("Temperature", 22.0), "ReturnTemperature": sensor("Temperature", 30.0)}
        self.service.collect(SENSORS, sensed)
        self.collect_controls(
            SupplyTemperature={**TEMPERATURE, "SetPoint": 24.0},
            Authority={"ControlType": "Temperature", "ControlMode": "Automatic", **MODES},
        )
        self.node, self.settings = node, RedfishSettings()
        self.site = Topology(loops=(CoolantLoop(name="cdu0", wire="redfish+https://bmc"),))

    def collect_controls(self, **controls: Mapping[str, object]) -> None:
        self.service.collect(CONTROLS, NOISE | controls)

    def make(self, raw: object = None) -> Handle:
        settings = msgspec.convert({} if raw is None else {"cdus": {"cdu0": raw}}, RedfishSettings)
        node = Node(self.node.name, self.site, Limits(), self.node.wires, self.node.clock, self.node.host, self.node.state)
        return supernoded_redfish.supernoded_handles(settings, node)[0]

    async def take(self, raw: object = None) -> Handle:
        handle = self.make(raw)
        await handle.now_at()
        return handle

    def turn(self, path: str, **properties: object) -> None:
        """As somebody does at the unit."""
        page = self.service.answers[path]
        assert isinstance(page, dict)
        page.update(properties)

    def list_orders(self) -> list[tuple[str, object]]:
        found: list[tuple[str, object]] = [(path.removeprefix(f"{CDU}/"), body) for _, _, path, body in self.service.orders]
        self.service.orders.clear()
        return found


SET = "Controls/SupplyTemperature"
ENGAGE, RELEASE = ("Controls/Authority", {"ControlMode": "Override"}), ("Controls/Authority", {"ControlMode": "Automatic"})


async def put(handle: Handle, value: float) -> None:
    await handle.put(Setpoint(target=handle.target, quantity=handle.quantity, value=value, unit="C"), "cdu/0")
