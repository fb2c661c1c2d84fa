"""The plugin against the simulated UPS and PDU, over the network in memory and in virtual time: slow, silent, garbled, stale and idle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import supernoded_snmp
from sim_hardware.devices.snmp import SnmpServer, make_pdu_agent, make_ups_agent
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.power.orders import SwitchOutlet
from sim_hardware.plant.words import Order, Value
from supernoded.limits import Limits
from supernoded.model import Action, Effect, Reading, State, Step
from supernoded.plugin import Actuator, Node, WireError
from supernoded.testing import ManualClock, MemoryHost
from supernoded.topology import Topology
from supernoded.topology.site import Outlet, Pdu, Ups
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_snmp.settings import SnmpSettings
from tests.sim.devices.redfish.clients import LivePanel


class Strip(LivePanel):
    """Its outlets draw while they are on."""

    def order(self, order: Order) -> None:
        super().order(order)
        if isinstance(order, SwitchOutlet):
            self.values[f"pdu/{order.pdu}/outlet{order.outlet}", "outlet.power"] = 430.0 if order.on else 0.0


class Scene:
    """A UPS and a PDU that listen, and the daemon's parts for them."""

    def __init__(self, panel: Strip, ups: SnmpServer, pdu: SnmpServer, urls: tuple[str, str], folder: Path) -> None:
        self.panel, self.ups, self.pdu = panel, ups, pdu
        outlets = tuple(Outlet(number=number, load="n0/fan*", sheddable=number < 3) for number in (1, 2, 3))
        site = Topology(
            ups=(Ups(name="A", wire=urls[0]),), pdus=(Pdu(name="A1", feed="A", wire=f"{urls[1]}?profile=apc-rpdu2", outlets=outlets),)
        )
        self.wires = SystemWires(Pen(lambda _: None))
        node = Node("n0", site, Limits(), self.wires, ManualClock(), MemoryHost(), folder)
        (folder / "write").write_text("private")
        settings = SnmpSettings(write_community_file=str(folder / "write"))
        self.sensors = {sensor.name: sensor for sensor in supernoded_snmp.supernoded_sensors(settings, node)}
        self.actuators = supernoded_snmp.supernoded_actuators(settings, node)

    async def read(self, name: str) -> dict[str, Reading]:
        return {f"{reading.subject} {reading.quantity}": reading for reading in await self.sensors[name].read()}

    def find(self, kind: str) -> Actuator:
        (actuator,) = (actuator for actuator in self.actuators if kind in actuator.kinds)
        return actuator


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Scene]:
    values: dict[tuple[str, str], Value] = {
        ("ups/A", "ups.status"): frozenset({"OL"}),
        ("ups/A", "ups.charge"): 87.0,
        ("pdu/A1", "pdu.power"): 5320.0,
    }
    panel = Strip(values=values)
    for outlet in panel.rack.pdus[0].outlets:
        subject = f"pdu/A1/outlet{outlet.number}"
        panel.values |= {(subject, "outlet.state"): "on", (subject, "outlet.power"): 430.0}
    ups, pdu = make_ups_agent(panel, "A"), make_pdu_agent(panel, "A1")
    async with ups.serve("10.0.0.8", 161) as first, pdu.serve("10.0.0.9", 161) as second:
        scene = Scene(panel, ups, pdu, (first, second), folder)
        yield scene
        await scene.wires.close()
        await asyncio.sleep(0)


def tell(story: Callable[[Scene], Coroutine[Any, Any, None]], folder: Path) -> None:
    loop = SimLoop(1)
    Net(loop)

    async def scene() -> None:
        async with stage(folder) as there:
            await story(there)

    play(loop, scene())
    assert loop.failures == []


def order(kind: str, target: str = "pdu/A1/outlet1", issued: float = 0.0) -> Action:
    step = Step(name="s", kind=kind, target=target, reason="a test")
    return Action(id="i/s", step=step, incident="i", scope="feed/A", epoch=1, issued=issued, deadline=issued + 10.0)


async def see(actuator: Actuator, action: Action, seconds: float) -> float:
    """How long it took until the effect was there; looked at twice a second, as the daemon does."""
    begun = asyncio.get_running_loop().time()
    async with asyncio.timeout(seconds):
        while (await actuator.observe(action)).effect is not Effect.PRESENT:
            await asyncio.sleep(0.5)
    return asyncio.get_running_loop().time() - begun


def test_an_outlet_shows_two_seconds_later_that_it_is_off(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        switch = scene.find("power.off")
        await switch.apply(order("power.off"))
        assert 1.0 < await see(switch, order("power.off"), 4.0) < 3.1

    tell(story, tmp_path)


def test_orders_that_go_nowhere_are_never_done(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        scene.pdu.impairment.idle_orders = True
        switch = scene.find("power.off")
        await switch.apply(order("power.off"))
        await asyncio.sleep(10)
        assert (await switch.observe(order("power.off"))).effect is Effect.ABSENT
        assert scene.panel.orders == []

    tell(story, tmp_path)


def test_a_slow_agent_is_waited_for_and_a_silent_one_is_not(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        loop = asyncio.get_running_loop()
        scene.pdu.impairment.delay_s = 0.4
        begun = loop.time()
        assert (await scene.read("snmp.pdu/A1"))["pdu/A1 pdu.power"].value == 5320.0
        assert loop.time() - begun < scene.sensors["snmp.pdu/A1"].timeout
        scene.pdu.impairment.delay_s = 2.5  # later than it is waited for: each answer belongs to a request that is given up
        with pytest.raises(WireError):
            await scene.read("snmp.pdu/A1")
        scene.pdu.impairment.delay_s = 0.0
        scene.pdu.impairment.silent = True
        begun = loop.time()
        with pytest.raises(WireError, match="no answer"):
            await scene.read("snmp.pdu/A1")
        assert loop.time() - begun == pytest.approx(2.0, abs=0.1)
        scene.pdu.impairment.silent = False
        assert (await scene.read("snmp.pdu/A1"))["pdu/A1 pdu.power"].state is State.GOOD

    tell(story, tmp_path)


def test_garbled_answers_cost_their_own_read_alone(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        scene.ups.impairment.garbled = 0.3
        links = [(await scene.read("snmp.ups/A"))["ups/A ups.link"].value for _ in range(16)]
        assert {"ok", "silent"} >= set(links)
        assert links.count("ok") > 3
        scene.ups.impairment.garbled = 0.0
        assert (await scene.read("snmp.ups/A"))["ups/A ups.charge"].value == 87.0

    tell(story, tmp_path)
