"""Cooling over Redfish on real sockets: DMTF's client and our plugin against the simulated CDU and BMC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import redfish  # type: ignore[import-untyped]  # the library has no types

import supernoded_redfish
from sim_hardware.devices.redfish import PASSWORD, USER, make_bmc, make_cdu
from sim_hardware.drives.bmcs import write_bmcs
from sim_hardware.plant.cooling.orders import SetControl, SetFanControl, SetTemperature
from supernoded.clock import SystemClock
from supernoded.limits import Limits
from supernoded.model import Effect, Setpoint
from supernoded.plugin import Node
from supernoded.testing import MemoryHost
from supernoded.topology import Topology
from supernoded.topology.site import CoolantLoop, Supernode
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_redfish.settings import RedfishSettings
from tests.protocol.test_redfish_power import PATIENCE, RACK, Plant, order, see

CDU = "/redfish/v1/ThermalEquipment/CDUs/1"
CHASSIS = "/redfish/v1/Chassis/1"


@asynccontextmanager
async def serve(plant: Plant, folder: Path) -> AsyncIterator[tuple[str, str, Node, RedfishSettings]]:
    async with make_cdu(plant, "cdu/0").serve("127.0.0.1") as unit, make_bmc(plant, "n0").serve("127.0.0.1") as bmc:
        table = write_bmcs(RACK, "n0", folder, {"n0/bmc": bmc})
        table["cdus"] = {"cdu0": {"user": USER, "password_file": table["bmcs"]["own"]["password_file"], "insecure": True}}
        site = Topology(nodes=(Supernode(name="n0", cards=8, loop="cdu0"),), loops=(CoolantLoop(name="cdu0", wire=f"redfish+{unit}"),))
        node = Node("n0", site, Limits(), SystemWires(Pen(lambda _: None)), SystemClock(), MemoryHost(), folder)
        yield unit, bmc, node, msgspec.convert(table, RedfishSettings)


async def test_a_setpoint_is_taken_held_and_handed_back(tmp_path: Path) -> None:
    plant = Plant()
    async with serve(plant, tmp_path) as (_, _, node, settings):
        (handle,) = supernoded_redfish.supernoded_handles(settings, node)
        now = await handle.now_at()
        assert now is not None
        assert now.value == pytest.approx(22.0)
        for value in (22.5, 22.5, 23.0):
            await handle.put(Setpoint(target=handle.target, quantity=handle.quantity, value=value, unit="C"), "cdu/0")
        assert (await handle.hand_back("cdu/0")).effect is Effect.PRESENT
    taken, back = SetControl("cdu/0", "setpoint"), SetControl("cdu/0", "auto")
    assert plant.orders == [SetTemperature("cdu/0", 22.5), taken, SetTemperature("cdu/0", 23.0), back]


async def test_sensors_read_what_dmtfs_client_reads(tmp_path: Path) -> None:
    plant = Plant()
    async with serve(plant, tmp_path) as (unit, bmc, node, settings):
        sensors = {sensor.name: sensor for sensor in supernoded_redfish.supernoded_sensors(settings, node)}
        told = {
            (one.subject, one.quantity): one.value for name in ("redfish.cdu/0", "redfish.own.heat") for one in await sensors[name].read()
        }
        cooling = await asyncio.to_thread(read_readings, unit, f"{CDU}/Sensors")
        heat = await asyncio.to_thread(read_readings, bmc, f"{CHASSIS}/Sensors")
    assert told["cdu/0", "coolant.flow"] == pytest.approx(cooling["Flow"], abs=1.0)
    assert told["cdu/0", "coolant.heat"] == pytest.approx(cooling["Heat"] * 1000.0, rel=0.05)
    assert told["n0/card3", "card.temperature.mean"] == pytest.approx(heat["Card3TemperatureMean"], abs=1.0)
    assert told["n0/air5", "air.flow"] == pytest.approx(heat["Airflow5"] * 60.0, rel=0.05)


def read_readings(url: str, path: str) -> dict[str, float]:
    """By DMTF's client, expanded and one by one, which must be the same members."""
    client = redfish.redfish_client(url, USER, PASSWORD, timeout=PATIENCE, max_retry=0)
    client.login(auth="session")
    try:
        whole: dict[str, Any] = client.get(f"{path}?$expand=.").dict
        plain: dict[str, Any] = client.get(path).dict
        assert [member["@odata.id"] for member in whole["Members"]] == [member["@odata.id"] for member in plain["Members"]]
        return {member["Id"]: member["Reading"] for member in whole["Members"]}
    finally:
        client.logout()


async def test_fans_go_to_full_speed_and_back(tmp_path: Path) -> None:
    plant = Plant()
    async with serve(plant, tmp_path) as (_, _, node, settings):
        (fans,) = (one for one in supernoded_redfish.supernoded_actuators(settings, node) if "fan.full" in one.kinds)
        full, auto = order("fan.full", "n0"), order("fan.auto", "n0")
        await fans.apply(full)
        assert await see(fans, full) == "8 of 8 fans are near full speed"
        await fans.apply(auto)
        assert await see(fans, auto) == "the BMC controls its fans"
    assert plant.orders == [SetFanControl("n0", "full"), SetFanControl("n0", "auto")]
