"""The simulated plant over Redfish in virtual time: a CDU's setpoint against its watchdog and other hands, a node's heat and fans."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

import supernoded_redfish
from sim_hardware.devices.redfish import USER, RedfishDevice, make_bmc, make_cdu
from sim_hardware.drives.bmcs import write_bmcs
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.cooling import orders
from sim_hardware.rack import generate_rack
from sim_hardware.world import World
from supernoded.limits import Limits
from supernoded.model import Action, Effect, Reading, Setpoint, State, Step
from supernoded.plugin import Actuator, Handle, Node, Sensor, WireError
from supernoded.quantities import find_fault
from supernoded.testing import MemoryHost
from supernoded.topology import Topology
from supernoded.topology.site import CoolantLoop, Supernode
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_redfish.settings import RedfishSettings

RACK = generate_rack(1, 8)
CDU = "cdu/0"


class Scene:
    """A rack's BMC and CDU on a network in memory, its plant in step with the loop, and the plugin's parts."""

    def __init__(self, world: World, cdu: RedfishDevice, bmc: RedfishDevice, node: Node, settings: RedfishSettings) -> None:
        self.world, self.cdu, self.bmc = world, cdu, bmc
        sensors = {sensor.name: sensor for sensor in supernoded_redfish.supernoded_sensors(settings, node)}
        self.unit: Sensor = sensors["redfish.cdu/0"]
        self.heat: Sensor = sensors["redfish.own.heat"]
        self.handle: Handle
        (self.handle,) = supernoded_redfish.supernoded_handles(settings, node)
        self.fans: Actuator = next(one for one in supernoded_redfish.supernoded_actuators(settings, node) if "fan.full" in one.kinds)

    async def read(self, sensor: Sensor) -> dict[tuple[str, str], Reading]:
        readings = {(reading.subject, reading.quantity): reading for reading in await sensor.read()}
        assert [find_fault(reading) for reading in readings.values() if reading.state is State.GOOD and find_fault(reading)] == []
        return readings

    async def put(self, celsius: float) -> None:
        await self.handle.put(Setpoint(target=self.handle.target, quantity=self.handle.quantity, value=celsius, unit="C"), CDU)

    async def steer(self, celsius: float, seconds: int) -> list[str]:
        """Once a second; who controls it after each."""
        seen = []
        for _ in range(seconds):
            await self.put(celsius)
            seen.append(str(self.world.sense(CDU, "coolant.control")))
            await asyncio.sleep(1.0)
        return seen


@asynccontextmanager
async def stage(loop: SimLoop, folder: Path) -> AsyncIterator[Scene]:
    world = World(RACK, 1, loop.time)
    cdu, bmc = make_cdu(world, CDU), make_bmc(world, "n0")
    async with cdu.serve("10.0.0.8", 80) as unit, bmc.serve("10.0.0.9", 80) as door:
        world.run()
        try:
            table = write_bmcs(RACK, "n0", folder, {"n0/bmc": door})
            table["cdus"] = {"cdu0": {"user": USER, "password_file": table["bmcs"]["own"]["password_file"], "insecure": True}}
            site = Topology(nodes=(Supernode(name="n0", cards=8, loop="cdu0"),), loops=(CoolantLoop(name="cdu0", wire=f"redfish+{unit}"),))
            wires, clock = SystemWires(Pen(lambda _: None)), SimClock(loop, "n0")
            node = Node("n0", site, Limits(), wires, clock, MemoryHost(), folder)
            yield Scene(world, cdu, bmc, node, msgspec.convert(table, RedfishSettings))
        finally:
            world.close()


def tell(story: Callable[[Scene], Awaitable[None]], folder: Path) -> None:
    loop = SimLoop(1)
    Net(loop)

    async def scene() -> None:
        async with stage(loop, folder) as made:
            await asyncio.sleep(30)
            await story(made)

    play(loop, scene())
    assert loop.failures == []


def order(kind: str) -> Action:
    step = Step(name="s", kind=kind, target="n0", reason="a test")
    return Action(id="i/s", step=step, incident="i", scope=CDU, epoch=1, issued=0.0, deadline=10.0)


def test_what_the_unit_tells_is_what_the_plant_is(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        told = await scene.read(scene.unit)
        assert {reading.state for reading in told.values()} == {State.GOOD}
        for quantity in (
            "coolant.supply_temperature",
            "coolant.supply_temperature.2",
            "coolant.return_temperature",
            "coolant.primary_temperature",
            "coolant.primary_pressure",
            "coolant.flow",
            "coolant.heat",
            "coolant.valve",
            "coolant.valve_command",
            "coolant.pressure_difference",
            "coolant.pressure_asked",
            "coolant.setpoint",
            "coolant.setpoint_asked",
            "coolant.level",
            "coolant.leak",
            "coolant.leak_sticky",
            "air.dew_point",
        ):
            assert told[CDU, quantity].value == pytest.approx(
                scene.world.sense(CDU, quantity), abs=1.0 if quantity == "coolant.heat" else 2e-3
            )
        assert (told[CDU, "coolant.control"].value, told[f"{CDU}/pump1", "pump.state"].value) == ("auto", "off")
        scene.world.order(orders.FailPump(CDU, 0, failed=True))
        scene.world.order(orders.Leak(CDU, 0.5))
        await asyncio.sleep(1)
        told = await scene.read(scene.unit)
        assert (told[f"{CDU}/pump0", "pump.state"].value, told[CDU, "coolant.leak"].value) == ("tripped", 1.0)

    tell(story, tmp_path)


def test_what_the_bmc_tells_is_what_the_plant_is(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        told = await scene.read(scene.heat)
        assert {reading.state for reading in told.values()} == {State.GOOD}
        sensed = {key: scene.world.sense(*key) for key in told if not key[0].startswith("n0/sensor/")}
        assert {key: told[key].value for key in sensed} == pytest.approx(sensed, abs=2e-3)
        cards = [f"n0/card{slot}" for slot in range(8)]
        assert {(card, f"card.temperature{kind}") for card in cards for kind in ("", ".mean", ".median")} <= sensed.keys()
        parts = {
            subject.removeprefix("n0/sensor/bmc-"): reading.value
            for (subject, quantity), reading in told.items()
            if quantity == "host.temperature"
        }
        assert parts == {
            part: pytest.approx(scene.world.sense("n0", f"air.temperature.{part}"), abs=2e-3) for part in ("optics", "nic", "vrm", "dimm")
        }
        assert told["n0", "fan.control"].value == "auto"

    tell(story, tmp_path)


def test_the_units_watchdog_bites_and_it_is_engaged_again(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        now = await scene.handle.now_at()
        assert now is not None
        assert now.value == pytest.approx(22.0)
        seen = await scene.steer(23.0, 50)
        assert set(seen) == {"setpoint"}  # right after each put
        assert [one.text for one in scene.world.happened if one.kind == "cdu.fallback"] == [
            "cdu/0 falls back to its own control: no heartbeat for 15 s"
        ] * 3
        assert scene.world.sense(CDU, "coolant.setpoint") == 23.0
        sight = await scene.handle.hand_back(CDU)
        assert (sight.effect, scene.world.sense(CDU, "coolant.control")) == (Effect.PRESENT, "auto")

    tell(story, tmp_path)


def test_a_silent_daemon_leaves_the_unit_to_itself(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        await scene.handle.now_at()
        await scene.steer(23.0, 3)
        await asyncio.sleep(16)
        assert scene.world.sense(CDU, "coolant.control") == "auto"

    tell(story, tmp_path)


@pytest.mark.parametrize("control", ["setpoint", "direct"])
def test_another_master_is_not_fought(tmp_path: Path, control: orders.Control) -> None:
    async def story(scene: Scene) -> None:
        await scene.handle.now_at()
        await scene.steer(23.0, 3)
        scene.world.order(orders.SetTemperature(CDU, 25.0))
        scene.world.order(orders.SetControl(CDU, control))
        for _ in range(5):
            with pytest.raises(WireError):
                await scene.put(23.0)
            await asyncio.sleep(1)
        assert (scene.world.sense(CDU, "coolant.setpoint_asked"), scene.world.sense(CDU, "coolant.control")) == (25.0, control)
        assert (await scene.handle.hand_back(CDU)).effect is Effect.UNKNOWN
        assert scene.world.sense(CDU, "coolant.control") == control
        with pytest.raises(WireError, match="cdu/0 is not taken"):
            await scene.handle.now_at()

    tell(story, tmp_path)


def test_a_unit_that_acknowledges_and_does_nothing_is_found_out(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        await scene.handle.now_at()
        scene.cdu.impairment.idle_orders = True
        await scene.put(23.0)
        with pytest.raises(WireError, match=r"it stands at 22 C in mode Automatic, and 23\.0 C was written by this daemon"):
            await scene.put(23.0)

    tell(story, tmp_path)


@pytest.mark.parametrize(("how", "told"), [("silent", "no whole answer"), ("refusing", "GET failed"), ("garbled", "no JSON object")])
def test_a_unit_that_fails_is_bounded_and_comes_back(tmp_path: Path, how: str, told: str) -> None:
    async def story(scene: Scene) -> None:
        await scene.read(scene.unit)
        setattr(scene.cdu.impairment, how, 1.0 if how == "garbled" else True)
        begun = asyncio.get_running_loop().time()
        with pytest.raises(WireError, match=told):
            await scene.unit.read()
        assert asyncio.get_running_loop().time() - begun < scene.unit.timeout
        setattr(scene.cdu.impairment, how, 0.0 if how == "garbled" else False)
        await asyncio.sleep(11)
        assert (await scene.read(scene.unit))[CDU, "coolant.flow"].state is State.GOOD

    tell(story, tmp_path)


def test_a_unit_whose_values_stand_still_is_stale(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        await scene.read(scene.unit)
        scene.cdu.impairment.stale = True
        for _ in range(20):
            told = await scene.read(scene.unit)
            await asyncio.sleep(1)
        assert (told[CDU, "coolant.supply_temperature"].state, told[CDU, "coolant.flow"].state) == (State.STALE, State.STALE)

    tell(story, tmp_path)


def test_full_fans_and_back(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        full, auto = order("fan.full"), order("fan.auto")
        await scene.fans.apply(full)
        assert (await scene.fans.observe(full)).effect is Effect.ABSENT  # they take a moment to run up
        await asyncio.sleep(10)
        assert (await scene.fans.observe(full)).text == "8 of 8 fans are near full speed"
        assert (await scene.read(scene.heat))["n0", "fan.control"].value == "full"
        await scene.fans.apply(auto)
        assert (await scene.fans.observe(auto)).effect is Effect.PRESENT
        assert scene.world.sense("n0", "fan.control") == "auto"

    tell(story, tmp_path)
