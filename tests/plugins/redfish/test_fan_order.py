"""Fans at full speed by the BMC: seen by how fast they turn, and only what is ours is undone."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

import supernoded_redfish
from supernoded.errors import NotHeldError, WireError
from supernoded.model import Action, Effect, Sight, Step
from supernoded.plugin import Actuator, Node
from supernoded.testing import ManualClock, MemoryWires
from supernoded_redfish.fan_order import judge_speeds
from supernoded_redfish.fans import Fan
from supernoded_redfish.settings import RedfishSettings
from tests.plugins.redfish.services import URL, Service, link

CHASSIS = "redfish/v1/Chassis/1"
CONTROLS, FANS = f"{CHASSIS}/Controls", f"{CHASSIS}/ThermalSubsystem/Fans"
MODE = f"{CONTROLS}/Fans"
SETTINGS = msgspec.convert({"bmcs": {"peer": {"url": URL, "node": "n1", "monitor": False, "fans": True}}}, RedfishSettings)
ALLOWED = {"ControlMode@Redfish.AllowableValues": ["Automatic", "Manual", "Override"]}


class Scene:
    """A BMC whose four fans turn as they are told, at 12000 rpm when full."""

    def __init__(self, wires: MemoryWires, clock: ManualClock, node: Node) -> None:
        self.wires, self.node = wires, node
        self.service = Service(wires, clock)
        self.service.put("redfish/v1/Chassis", Members=[link(CHASSIS)])
        self.service.put(CHASSIS, Controls=link(CONTROLS), ThermalSubsystem=link(f"{CHASSIS}/ThermalSubsystem"))
        self.service.put(f"{CHASSIS}/ThermalSubsystem", Fans=link(FANS))
        self.control(Fans={"ControlType": "DutyCycle", "ControlMode": "Automatic", **ALLOWED})
        self.turn(40.0)

    def control(self, **controls: Mapping[str, object]) -> None:
        single = {f"Fan{number}": {"ControlType": "DutyCycle", "SetPoint": 40.0} for number in range(4)}
        self.service.collect(CONTROLS, {**single, **controls})

    def turn(self, duty: float, standing: tuple[int, ...] = (), speed: float | None = None) -> None:
        rpm = [0.0 if fan in standing else 120.0 * (duty if speed is None else speed) for fan in range(4)]
        self.service.collect(FANS, {str(fan): {"SpeedPercent": {"Reading": duty, "SpeedRPM": rpm[fan]}} for fan in range(4)})

    def make(self) -> Actuator:
        (actuator,) = supernoded_redfish.supernoded_actuators(SETTINGS, self.node)
        return actuator

    def set_mode(self, mode: str) -> None:
        page = self.service.answers[MODE]
        assert isinstance(page, dict)
        page["ControlMode"] = mode

    def list_orders(self) -> list[Mapping[str, object]]:
        found = [body for _, _, path, body in self.service.orders if path == MODE]
        assert len(found) == len(self.service.orders)
        self.service.orders.clear()
        return found


@pytest.fixture
def scene(supernoded_wires: MemoryWires, supernoded_clock: ManualClock, supernoded_node: Node) -> Scene:
    return Scene(supernoded_wires, supernoded_clock, supernoded_node)


def order(kind: str) -> Action:
    step = Step(name="s", kind=kind, target="n1", reason="a test")
    return Action(id="i/s", step=step, incident="i", scope="cdu/0", epoch=1, issued=0.0, deadline=10.0)


FULL, AUTO = order("fan.full"), order("fan.auto")


async def test_full_is_done_when_they_turn_as_fast_as_they_can(scene: Scene) -> None:
    fans = scene.make()
    assert (fans.kinds, fans.targets) == (frozenset({"fan.full", "fan.auto"}), ("n1",))
    assert await fans.observe(FULL) == Sight(effect=Effect.ABSENT, text="the mode of its fans is Automatic")
    await fans.apply(FULL)
    assert scene.list_orders() == [{"ControlMode": "Override"}]
    scene.turn(100.0, speed=70.0)  # the duty is there, and the fans are still running up
    sight = await fans.observe(FULL)
    assert (sight.effect, "4 of 4 fans are not at full speed: fan 0 at 100 %, 8400 rpm" in sight.text) == (Effect.ABSENT, True)
    scene.turn(100.0)
    assert await fans.observe(FULL) == Sight(effect=Effect.PRESENT, text="4 of 4 fans are near full speed")
    await fans.apply(FULL)
    assert scene.list_orders() == []  # nothing is written that stands


async def test_a_fan_that_stands_is_named_and_does_not_keep_the_others_from_being_done(scene: Scene) -> None:
    fans = scene.make()
    scene.turn(40.0, standing=(2,))
    await fans.apply(FULL)
    scene.turn(100.0, standing=(2,))
    assert await fans.observe(FULL) == Sight(effect=Effect.PRESENT, text="3 of 4 fans are near full speed; fan 2 stand still")
    scene.turn(100.0, standing=(0, 1, 2))
    assert (await fans.observe(FULL)).effect is Effect.UNKNOWN


async def test_speeds_that_cannot_be_read_do_not_keep_them_from_being_set(scene: Scene) -> None:
    fans, shown = scene.make(), scene.service.answers.pop(FANS)
    await fans.apply(FULL)
    assert scene.list_orders() == [{"ControlMode": "Override"}]
    with pytest.raises(WireError, match="404 Not Found"):
        await fans.observe(FULL)
    scene.service.answers[FANS] = shown
    scene.turn(100.0)
    assert (await fans.observe(FULL)).effect is Effect.PRESENT


async def test_auto_undoes_ours_over_a_restart_and_is_seen(scene: Scene) -> None:
    await scene.make().apply(FULL)
    later = scene.make()
    scene.list_orders()
    assert (await later.observe(AUTO)).effect is Effect.ABSENT
    await later.apply(AUTO)
    assert scene.list_orders() == [{"ControlMode": "Automatic"}]
    assert await later.observe(AUTO) == Sight(effect=Effect.PRESENT, text="the BMC controls its fans")
    scene.set_mode("Override")  # by somebody else, afterwards
    await later.apply(AUTO)
    assert scene.list_orders() == []
    assert (await later.observe(AUTO)).effect is Effect.UNKNOWN


@pytest.mark.parametrize("mode", ["Override", "Manual"])
async def test_what_another_has_set_is_left(scene: Scene, mode: str) -> None:
    scene.set_mode(mode)
    fans = scene.make()
    await fans.apply(AUTO)
    assert scene.list_orders() == []
    sight = await fans.observe(AUTO)
    assert (sight.effect, f"is {mode}, which this daemon has not set" in sight.text) == (Effect.UNKNOWN, True)


async def test_fans_that_were_at_full_speed_already_are_not_ours(scene: Scene) -> None:
    scene.set_mode("Override")
    scene.turn(100.0)
    fans = scene.make()
    await fans.apply(FULL)
    assert (await fans.observe(FULL)).effect is Effect.PRESENT
    await fans.apply(AUTO)
    assert scene.list_orders() == []


async def test_a_bmc_without_an_override_is_told_the_duty(scene: Scene) -> None:
    control = {"ControlType": "DutyCycle", "ControlMode": "Automatic", "SetPoint": 40, "AllowableMax": 100}
    scene.service.collect(CONTROLS, {"Fans": {**control, "ControlMode@Redfish.AllowableValues": ["Automatic", "Manual"]}})
    fans = scene.make()
    await fans.apply(FULL)
    assert scene.list_orders() == [{"ControlMode": "Manual", "SetPoint": 100.0}]
    scene.turn(100.0)
    assert (await fans.observe(FULL)).effect is Effect.PRESENT
    await fans.apply(AUTO)
    assert scene.list_orders() == [{"ControlMode": "Automatic"}]


@pytest.mark.parametrize(
    ("controls", "told"),
    [
        (
            {"Fans": {"ControlType": "DutyCycle", "ControlMode": "Automatic", "ControlMode@Redfish.AllowableValues": ["Automatic"]}},
            "no full speed",
        ),
        ({}, "no chassis of its BMC has one Control of its fans' mode"),
        ({one: {"ControlType": "DutyCycle", "ControlMode": "Automatic"} for one in ("A", "B")}, "has one Control of its fans' mode"),
    ],
)
async def test_a_bmc_that_cannot_says_so(scene: Scene, controls: dict[str, Mapping[str, object]], told: str) -> None:
    scene.service.collect(CONTROLS, controls)
    with pytest.raises(WireError, match=told):
        await scene.make().apply(FULL)
    assert scene.service.orders == []


async def test_nothing_is_written_without_leave(scene: Scene) -> None:
    scene.wires.refusals["cdu/0"] = "observe"
    with pytest.raises(NotHeldError):
        await scene.make().apply(FULL)
    assert scene.service.orders == []


async def test_a_record_that_cannot_be_read_is_told(scene: Scene) -> None:
    scene.wires.tree(str(scene.node.state.absolute())).files["fans/n1.json"] = "[]"
    with pytest.raises(WireError, match=r"fans/n1\.json in the state folder is no record of fans"):
        await scene.make().apply(AUTO)


@pytest.mark.parametrize("broken", ["read", "write"])
async def test_neither_a_damaged_record_nor_a_full_disk_keeps_fans_from_full_speed(
    scene: Scene, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fans, state = scene.make(), scene.wires.tree(str(scene.node.state.absolute()))
    state.files["fans/n1.json"] = "["
    if broken == "write":

        async def refuse(*_: object) -> None:
            raise WireError("No space left on device")

        monkeypatch.setattr(type(state), "order", refuse)
    assert (await fans.observe(FULL)).effect is Effect.ABSENT
    if broken == "read":
        await fans.apply(FULL)
    else:
        with pytest.raises(WireError, match="No space left"):
            await fans.apply(FULL)
    assert scene.list_orders() == [{"ControlMode": "Override"}]
    scene.turn(100.0)
    assert (await fans.observe(FULL)).effect is Effect.PRESENT
    await fans.apply(AUTO)
    assert scene.list_orders() == [{"ControlMode": "Automatic"}]
    assert (await fans.observe(AUTO)).effect is Effect.PRESENT


@pytest.mark.parametrize(
    ("fan", "at_full", "effect"),
    [
        (Fan(100.0, 11000.0), 12000.0, Effect.PRESENT),
        (Fan(100.0, 10000.0), 12000.0, Effect.ABSENT),
        (Fan(100.0, 3000.0), None, Effect.PRESENT),  # what is full is not known, and the BMC says it is
        (Fan(60.0, 3000.0), None, Effect.ABSENT),
        (Fan(None, 3000.0), None, Effect.ABSENT),
        (Fan(None, None), 12000.0, Effect.UNKNOWN),
        (Fan(100.0, 0.0), 12000.0, Effect.UNKNOWN),
    ],
)
def test_near_full_speed(fan: Fan, at_full: float | None, effect: Effect) -> None:
    known = {} if at_full is None else {"0": at_full}
    assert judge_speeds({"0": fan}, known).effect is effect
