"""DMTF's own client library works the simulated controllers, over real sockets on the real loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
import redfish  # type: ignore[import-untyped]  # the library has no types

from sim_hardware.devices.redfish import PASSWORD, USER, make_bmc, make_cdu, make_pdu
from sim_hardware.devices.redfish.bmc_power import FORCE_S, STOCKTAKING_S
from sim_hardware.devices.redfish.outlets import SHOWS_AFTER_S
from sim_hardware.plant.cards.orders import PowerNode
from sim_hardware.plant.cooling.orders import SetTemperature
from sim_hardware.plant.power.orders import SwitchOutlet
from sim_hardware.plant.words import Order
from tests.sim.devices.redfish.clients import LivePanel

T = TypeVar("T")
PATIENCE = 20.0  # seconds


@dataclass
class SteppedPanel(LivePanel):
    """Its time stands still until the test steps it forward; orders wait in a queue."""

    given: asyncio.Queue[Order] = field(default_factory=asyncio.Queue)

    def now(self) -> float:
        return self.time

    def order(self, order: Order) -> None:
        super().order(order)
        self.given.put_nowait(order)


class Client:
    """The library behind a few words. All of it blocks, so it lives in a thread."""

    def __init__(self, url: str, password: str = PASSWORD, auth: str = "session") -> None:
        self._client = redfish.redfish_client(url, USER, password, timeout=PATIENCE, max_retry=0)
        self._client.login(auth=auth)

    def close(self) -> None:
        self._client.logout()

    def get(self, path: str) -> Any:
        answer = self._client.get(path)
        assert answer.status == 200, answer.text
        return answer.dict

    def ask(self, path: str) -> tuple[int, int | None]:
        """Status and Retry-After."""
        answer = self._client.get(path)
        return answer.status, answer.retry_after

    def walk(self, *names: str) -> Any:
        """Follow properties from the root; a collection has one member then."""
        body = self.get("/redfish/v1/")
        for name in names:
            body = self.get(body[name]["@odata.id"])
            if "Members" in body and name != names[-1]:
                body = self.get(body["Members"][0]["@odata.id"])
        return body

    def list(self, *names: str) -> list[Any]:
        return [self.get(member["@odata.id"]) for member in self.walk(*names)["Members"]]

    def act(self, resource: Any, action: str, **parameters: str) -> int:
        """By the target that the resource names, with a value that it allows."""
        offered = resource["Actions"][action]
        for name, value in parameters.items():
            assert value in offered[f"{name}@Redfish.AllowableValues"]
        return int(self._client.post(offered["target"], body=parameters).status)

    def patch(self, path: str, body: Any) -> int:
        return int(self._client.patch(path, body=body).status)


def open_client(url: str) -> AbstractContextManager[Client]:
    return closing(Client(url))


async def do(url: str, work: Callable[[Client], T]) -> T:
    """Log in, do something, log out."""

    def run() -> T:
        with open_client(url) as client:
            return work(client)

    return await asyncio.to_thread(run)


@pytest.mark.parametrize("style", ["dmtf", "cray"])
async def test_it_switches_an_outlet_whatever_the_style(style: Any) -> None:
    panel = SteppedPanel(values={("pdu/A1/outlet1", "outlet.state"): "on", ("pdu/A1/outlet1", "outlet.power"): 4300.0})
    names = ("PowerEquipment", "RackPDUs", "Outlets")

    def switch(client: Client) -> str:
        (outlet,) = [outlet for outlet in client.list(*names) if outlet["UserLabel"] == "n0"]
        assert (outlet["PowerState"], outlet["PowerWatts"]["Reading"]) == ("On", 4300.0)
        assert client.act(outlet, "#Outlet.PowerControl", PowerState="Off") == 204
        return str(outlet["@odata.id"])

    async with make_pdu(panel, "A1", style).serve("127.0.0.1") as url:
        path = await do(url, switch)
        assert panel.orders == [SwitchOutlet("A1", 1, on=False)]
        panel.time += SHOWS_AFTER_S
        assert (await do(url, lambda client: client.get(path)))["PowerState"] == "Off"


async def test_it_powers_a_node_off_and_on_and_sees_it_busy() -> None:
    panel = SteppedPanel(values={("n0", "node.power"): "on"})

    def reset(kind: str) -> Callable[[Client], str]:
        def work(client: Client) -> str:
            (system,) = client.list("Systems")
            assert client.act(system, "#ComputerSystem.Reset", ResetType=kind) == 204
            return str(system["@odata.id"])

        return work

    async with asyncio.timeout(PATIENCE), make_bmc(panel, "n0").serve("127.0.0.1") as url:
        system = await do(url, reset("ForceOff"))
        assert (await do(url, lambda client: client.get(system)))["PowerState"] == "Off"
        assert await panel.given.get() == PowerNode("n0", on=False)
        panel.time += FORCE_S
        await do(url, reset("On"))
        assert await panel.given.get() == PowerNode("n0", on=True)
        status, wait = await do(url, lambda client: client.ask(system))
        assert (status, wait) == (503, STOCKTAKING_S)
        panel.time += STOCKTAKING_S
        assert (await do(url, lambda client: client.get(system)))["PowerState"] == "On"


async def test_it_switches_the_link_monitor_on_and_reads_rates() -> None:
    panel = SteppedPanel(values={("n0/card0/port0", "link.ber.post_fec"): 4e-12})

    def work(client: Client) -> Any:
        (manager,) = client.list("Managers")
        monitor = client.get(manager["Oem"]["Sim"]["LinkHealthMonitor"]["@odata.id"])
        assert client.patch(monitor["@odata.id"], {"Enabled": True}) == 204
        return client.get(monitor["Readings"]["@odata.id"])["Ports"][0]

    async with make_bmc(panel, "n0").serve("127.0.0.1") as url:
        port = await do(url, work)
    assert (port["BitErrorRate"], port["Alarm"]) == (4e-12, True)


async def test_it_reads_a_cdu_and_moves_its_setpoint() -> None:
    panel = SteppedPanel(values={("cdu/0", "coolant.supply_temperature"): 22.5})

    def work(client: Client) -> Any:
        (connector,) = client.list("ThermalEquipment", "CDUs", "SecondaryCoolantConnectors")
        controls = {control["Id"]: control["@odata.id"] for control in client.list("ThermalEquipment", "CDUs", "Controls")}
        assert client.patch(controls["SupplyTemperature"], {"SetPoint": 25}) == 204
        assert client.patch(controls["SupplyTemperature"], {"SetPoint": 95}) == 400
        return connector["SupplyTemperatureCelsius"]["Reading"]

    async with make_cdu(panel, "cdu/0").serve("127.0.0.1") as url:
        assert await do(url, work) == 22.5
    assert panel.orders == [SetTemperature("cdu/0", 25.0)]


async def test_a_wrong_password_is_told_as_such() -> None:
    async with make_bmc(SteppedPanel(), "n0").serve("127.0.0.1") as url:
        for auth in ("session", "basic"):
            with pytest.raises(redfish.rest.v1.InvalidCredentialsError):
                await asyncio.to_thread(Client, url, "wrong", auth)
