"""Power over Redfish on real sockets: DMTF's client and our plugin against the simulated BMC, whose plant draws what it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
import redfish  # type: ignore[import-untyped]  # the library has no types

import supernoded_redfish
from sim_hardware.devices.redfish import PASSWORD, USER, make_bmc, make_pdu
from sim_hardware.drives.bmcs import write_bmcs
from sim_hardware.plant.cards.orders import CapCard
from sim_hardware.plant.power.orders import SwitchOutlet
from sim_hardware.plant.words import Order, Value
from sim_hardware.rack import generate_rack
from sim_hardware.world import World
from supernoded.clock import SystemClock
from supernoded.limits import Limits
from supernoded.model import Action, Effect, Step
from supernoded.plugin import Actuator, Node, WireError
from supernoded.testing import MemoryHost
from supernoded.topology import Topology
from supernoded.topology.site import Outlet, Pdu
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_redfish.settings import RedfishSettings
from tests.sim.devices.redfish.clients import LivePanel

RACK = generate_rack(2, 8)
PATIENCE = 20.0  # seconds; nothing is judged by it
METRICS = "/redfish/v1/Systems/1/Processors/Card3/EnvironmentMetrics"


class Plant:
    """The plant as a panel, 90 s after its start and as fast as the clock."""

    def __init__(self) -> None:
        self.rack, self._begun = RACK, asyncio.get_running_loop().time() - 90.0
        self.world = World(RACK, 1, self.now)
        self.orders: list[Order] = []

    def now(self) -> float:
        return asyncio.get_running_loop().time() - self._begun

    def sense(self, subject: str, quantity: str) -> Value:
        return self.world.sense(subject, quantity)

    def order(self, order: Order) -> None:
        self.orders.append(order)
        self.world.order(order)


class Parts:
    """The plugin's own for the first node."""

    def __init__(self, folder: Path, settings: RedfishSettings, site: Topology) -> None:
        self.wires = SystemWires(Pen(lambda _: None))
        self.node = Node("n0", site, Limits(), self.wires, SystemClock(), MemoryHost(), folder)
        self.sensors = {sensor.name: sensor for sensor in supernoded_redfish.supernoded_sensors(settings, self.node)}
        self.actuators = supernoded_redfish.supernoded_actuators(settings, self.node)

    def find(self, kind: str, target: str) -> Actuator:
        (actuator,) = (one for one in self.actuators if kind in one.kinds and target in one.targets)
        return actuator

    async def read(self, name: str) -> dict[tuple[str, str], object]:
        return {(reading.subject, reading.quantity): reading.value for reading in await self.sensors[name].read()}


def order(kind: str, target: str, amount: float | None = None) -> Action:
    step = Step(name="s", kind=kind, target=target, reason="a test", amount=amount)
    return Action(id="i/s", step=step, incident="i", scope="power/site", epoch=1, issued=0.0, deadline=10.0)


async def see(actuator: Actuator, action: Action, wanted: Effect = Effect.PRESENT) -> str:
    async with asyncio.timeout(PATIENCE):
        while (sight := await actuator.observe(action)).effect is not wanted:
            await asyncio.sleep(0.05)
    return str(sight.text)


@asynccontextmanager
async def serve_bmcs(plant: Plant, folder: Path) -> AsyncIterator[Parts]:
    async with make_bmc(plant, "n0").serve("127.0.0.1") as first, make_bmc(plant, "n1").serve("127.0.0.1") as second:
        table = write_bmcs(RACK, "n0", folder, {"n0/bmc": first, "n1/bmc": second})
        yield Parts(folder, msgspec.convert(table, RedfishSettings), Topology.empty("n0", cards=8))


async def test_one_daemon_caps_the_cards_of_every_node_and_lifts_it_again(tmp_path: Path) -> None:
    plant = Plant()
    async with serve_bmcs(plant, tmp_path) as parts:
        assert list(parts.sensors) == ["redfish.own", "redfish.own.caps", "redfish.own.heat", "redfish.n1.caps"]
        before = await parts.read("redfish.n1.caps")
        assert before["n1/card3", "card.power_cap"] == 600.0
        for node in ("n0", "n1"):
            cap, action = parts.find("power.cap", node), order("power.cap", node, 200.0)
            assert (await cap.observe(action)).effect is Effect.ABSENT
            await cap.apply(action)
            assert await see(cap, action) == "8 cards hold at most 200 W"
        assert plant.orders == [CapCard(f"{node}/card{slot}", 200.0) for node in ("n0", "n1") for slot in range(8)]
        capped = await parts.read("redfish.n1.caps")
        for slot in range(8):
            assert capped[f"n1/card{slot}", "card.power_cap"] == 200.0
            drawn = capped[f"n1/card{slot}", "card.power"]
            assert isinstance(drawn, float)
            assert drawn <= 210.0
        lift = order("power.cap", "n1")
        await parts.find("power.cap", "n1").apply(lift)
        await see(parts.find("power.cap", "n1"), lift)
        assert plant.orders[16:] == [CapCard(f"n1/card{slot}", None) for slot in range(8)]


async def test_our_order_with_an_old_tag_writes_nothing(tmp_path: Path) -> None:
    plant = Plant()
    (tmp_path / "password").write_text(PASSWORD)
    async with make_bmc(plant, "n0").serve("127.0.0.1") as url:
        http = SystemWires(Pen(lambda _: None)).http(url, user=USER, password_file=str(tmp_path / "password"), insecure=True)
        body = {"PowerLimitWatts": {"SetPoint": 250}}
        with pytest.raises(WireError, match=": 412 "):
            await http.order("power/site", "PATCH", METRICS, body, match='W/"old"')
        assert plant.orders == []
        await http.order("power/site", "PATCH", METRICS, body, match="*")
    assert plant.orders == [CapCard("n0/card3", 250.0)]


async def test_dmtfs_client_sets_a_limit(tmp_path: Path) -> None:
    plant = Plant()

    def work(url: str) -> tuple[Any, int, int, Any]:
        client = redfish.redfish_client(url, USER, PASSWORD, timeout=PATIENCE, max_retry=0)
        client.login(auth="session")
        with closing(LoggedIn(client)):
            shown = client.get(METRICS)
            told = client.patch(METRICS, body={"PowerLimitWatts": {"SetPoint": 250}}).status
            old = client.patch(METRICS, body={"PowerLimitWatts": {"SetPoint": 260}}, headers={"If-Match": shown.getheader("ETag")}).status
            return shown.dict, told, old, client.get(METRICS).dict["PowerLimitWatts"]

    async with make_bmc(plant, "n0").serve("127.0.0.1") as url:
        shown, told, old, limit = await asyncio.to_thread(work, url)
    assert shown["@odata.type"].startswith("#EnvironmentMetrics.v1_3")
    assert shown["PowerLimitWatts"]["ControlMode"] == "Disabled"
    assert (told, old) == (204, 412)
    assert (limit["SetPoint"], limit["ControlMode"]) == (250.0, "Automatic")
    assert plant.orders == [CapCard("n0/card3", 250.0)]


class LoggedIn:
    """A session that ends."""

    def __init__(self, client: Any) -> None:
        self.close = client.logout


class Strip(LivePanel):
    """Outlets draw while they are on, unless the contact is welded."""

    welded = False

    def order(self, order: Order) -> None:
        super().order(order)
        if isinstance(order, SwitchOutlet) and not self.welded:
            self.values[f"pdu/{order.pdu}/outlet{order.outlet}", "outlet.power"] = 430.0 if order.on else 0.0


@asynccontextmanager
async def serve_strip(panel: Strip, folder: Path, style: Literal["dmtf", "cray"]) -> AsyncIterator[Parts]:
    (folder / "password").write_text(PASSWORD)
    for outlet in panel.rack.pdus[0].outlets:
        subject = f"pdu/A1/outlet{outlet.number}"
        panel.values |= {(subject, "outlet.state"): "on", (subject, "outlet.power"): 430.0}
    door = {"user": USER, "password_file": str(folder / "password"), "insecure": True}
    settings = msgspec.convert({"pdus": {"A1": door}}, RedfishSettings)
    async with make_pdu(panel, "A1", style).serve("127.0.0.1") as url:
        outlets = (Outlet(number=1, load="n0"), Outlet(number=2, load="n0/fan*", sheddable=True))
        yield Parts(folder, settings, Topology(pdus=(Pdu(name="A1", feed="A", wire=f"redfish+{url}", outlets=outlets),)))


@pytest.mark.parametrize("style", ["dmtf", "cray"])
async def test_an_outlet_of_the_simulated_pdu_whatever_its_style(tmp_path: Path, style: Literal["dmtf", "cray"]) -> None:
    panel = Strip()
    async with serve_strip(panel, tmp_path, style) as parts:
        assert (await parts.read("redfish.pdu/A1"))["pdu/A1/outlet1", "outlet.state"] == "on"
        switch = parts.find("power.off", "pdu/A1/outlet*")
        off, on = order("power.off", "pdu/A1/outlet1"), order("power.on", "pdu/A1/outlet1")
        await switch.apply(off)
        assert panel.orders == [SwitchOutlet("A1", 1, on=False)]
        assert (await switch.observe(off)).effect is Effect.ABSENT  # it shows a second later what it did
        await see(switch, off)
        await switch.apply(on)
        await see(switch, on)


async def test_a_contact_that_is_welded_is_never_done(tmp_path: Path) -> None:
    panel = Strip()
    panel.welded = True
    async with serve_strip(panel, tmp_path, "dmtf") as parts:
        switch, off = parts.find("power.off", "pdu/A1/outlet*"), order("power.off", "pdu/A1/outlet1")
        await switch.apply(off)
        assert "current still flows" in await see(switch, off, Effect.UNKNOWN)


async def test_a_locked_outlet_is_said_to_be_locked(tmp_path: Path) -> None:
    panel = Strip()
    panel.values["pdu/A1/outlet2", "outlet.locked"] = 1.0
    async with serve_strip(panel, tmp_path, "dmtf") as parts:
        with pytest.raises(WireError, match="outlet 2 is locked and stays as it is"):
            await parts.find("power.off", "pdu/A1/outlet*").apply(order("power.off", "pdu/A1/outlet2"))
        assert (await parts.read("redfish.pdu/A1"))["pdu/A1/outlet2", "outlet.locked"] == 1.0
    assert panel.orders == []
