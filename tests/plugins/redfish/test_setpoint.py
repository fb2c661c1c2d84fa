"""The setpoint of a unit over Redfish: taken only when nobody else has it, never fought for, and given back."""

from __future__ import annotations

import pytest

from supernoded.errors import LapsedError, NotHeldError, WireError, YieldedError
from supernoded.model import Effect, Sight
from supernoded.plugin import Node
from supernoded.testing import ManualClock, MemoryWires
from supernoded_redfish.setpoint import SetpointHandle
from tests.plugins.redfish.services import sensor
from tests.plugins.redfish.steering import ENGAGE, POINT, RELEASE, SENSORS, SET, STATE, TEMPERATURE, WHO, Scene, put


@pytest.fixture
def scene(supernoded_wires: MemoryWires, supernoded_clock: ManualClock, supernoded_node: Node) -> Scene:
    return Scene(supernoded_wires, supernoded_clock, supernoded_node)


async def test_the_value_goes_first_then_the_word_and_then_only_what_changes(scene: Scene) -> None:
    handle = await scene.take()
    assert (handle.target, handle.quantity) == ("cdu/0/setpoint", "coolant.setpoint")
    assert scene.list_orders() == []
    await put(handle, 22.0)
    assert scene.list_orders() == [(SET, {"SetPoint": 22.0}), ENGAGE]
    await put(handle, 22.02)  # less than units show
    assert scene.list_orders() == []
    await put(handle, 22.5)
    assert scene.list_orders() == [(SET, {"SetPoint": 22.5})]


async def test_where_it_stands(scene: Scene) -> None:
    assert await scene.make().now_at() is None  # under its own control, what was asked for last is not what it holds
    scene.service.collect(SENSORS, {"SupplyTemperature": sensor("Temperature", 22.0), "EffectiveSetpoint": sensor("Temperature", 21.4)})
    now = await scene.make().now_at()
    assert now is not None
    assert (now.value, now.unit) == (21.4, "C")


async def test_handing_back_is_seen_and_the_record_goes(scene: Scene) -> None:
    handle = await scene.take()
    await put(handle, 22.0)
    scene.list_orders()
    assert await handle.hand_back("cdu/0") == Sight(effect=Effect.PRESENT, text="it holds its own setpoint")
    assert scene.list_orders() == [RELEASE]
    assert await handle.hand_back("cdu/0") == Sight(effect=Effect.PRESENT, text="it holds its own setpoint")
    assert scene.list_orders() == []


async def test_nothing_is_written_without_leave(scene: Scene) -> None:
    handle = await scene.take()
    scene.wires.refusals["cdu/0"] = "the role was lost"
    with pytest.raises(NotHeldError):
        await put(handle, 22.0)
    assert scene.list_orders() == []


@pytest.mark.parametrize(
    ("controls", "told"),
    [
        ({"ControlMode": "Override"}, "it stands at 24 C in mode Override, written by another; wait until it is Automatic again"),
        ({"ControlMode": "Manual"}, "its mode is Manual: another hand is on it"),
        ({"ControlMode": "Disabled"}, "its mode is Disabled: another hand is on it"),
        (
            {"ControlMode": "Automatic", "ControlMode@Redfish.AllowableValues": ["Automatic", "Manual"]},
            "takes Automatic, Manual, and not Override",
        ),
    ],
)
async def test_a_unit_in_another_hand_is_not_taken(scene: Scene, controls: dict[str, object], told: str) -> None:
    scene.turn(WHO, **controls)
    with pytest.raises(WireError, match=f"cdu/0 is not taken: .*{told}"):
        await scene.make().now_at()


async def test_the_next_life_of_this_daemon_goes_on_from_its_own_setpoint(scene: Scene) -> None:
    await put(await scene.take(), 22.0)
    later = await scene.take()
    scene.list_orders()
    await put(later, 22.0)
    assert scene.list_orders() == []
    assert (await later.hand_back("cdu/0")).effect is Effect.PRESENT


@pytest.mark.parametrize(
    ("sensed", "raw", "told"),
    [
        ({}, {"serial": "SN8"}, "its serial number is SN7, and the settings say SN8"),
        ({"SupplyTemperature": sensor("Temperature", None)}, None, "its supply temperature is not known: Reading is missing"),
        ({"SupplyTemperature": sensor("Temperature", 3.0)}, None, "its supply reads 3 C, which is not 5 to 60"),
        ({"ReturnTemperature": sensor("Temperature", 18.0)}, None, "its return reads 18 C and its supply 22 C; are they swapped"),
    ],
)
async def test_an_implausible_unit_is_not_taken(scene: Scene, sensed: dict[str, dict[str, object]], raw: object, told: str) -> None:
    for name, page in sensed.items():
        scene.service.put(f"{SENSORS}/{name}", **page)
    with pytest.raises(WireError, match=told):
        await scene.make(raw).now_at()
    assert scene.list_orders() == []


async def test_one_that_fell_back_by_itself_is_engaged_again(scene: Scene) -> None:
    handle = await scene.take()
    await put(handle, 22.0)
    for _ in range(3):
        await scene.clock.advance(15)
        scene.turn(WHO, ControlMode="Automatic")  # its watchdog hears nobody over Redfish
        scene.list_orders()
        await put(handle, 22.0)
        assert scene.list_orders() == [ENGAGE]


async def test_one_that_is_taken_back_sooner_than_it_falls_back_is_yielded(scene: Scene) -> None:
    handle = await scene.take()
    await put(handle, 22.0)
    await scene.clock.advance(15)
    scene.turn(WHO, ControlMode="Automatic")
    await put(handle, 22.0)
    await scene.clock.advance(4)
    scene.turn(WHO, ControlMode="Automatic")  # a person, at its panel
    scene.list_orders()
    for told in ("is not told", "is left to whoever took it"):
        with pytest.raises(WireError, match=f"cdu/0 {told}: it was taken back after 4 s, where by itself it falls back after 15 s"):
            await put(handle, 22.0)
    assert (await handle.hand_back("cdu/0")).effect is Effect.PRESENT
    assert scene.list_orders() == []


@pytest.mark.parametrize("mode", ["Override", "Automatic"])
async def test_a_setpoint_that_another_has_written_is_yielded_and_left(scene: Scene, mode: str) -> None:
    handle = await scene.take()
    await put(handle, 22.0)
    scene.list_orders()
    scene.turn(POINT, SetPoint=25.0)
    scene.turn(WHO, ControlMode=mode)
    for _ in range(2):
        with pytest.raises(WireError, match=f"it stands at 25 C in mode {mode}"):
            await put(handle, 22.0)
    sight = await handle.hand_back("cdu/0")
    assert sight.effect is (Effect.UNKNOWN if mode == "Override" else Effect.PRESENT)
    assert scene.list_orders() == []


@pytest.mark.parametrize(("path", "properties"), [(WHO, {"ControlMode": None}), (POINT, {"SetPoint": None})])
async def test_a_unit_that_does_not_tell_for_a_moment_is_not_yielded(scene: Scene, path: str, properties: dict[str, object]) -> None:
    handle = await scene.take()
    await put(handle, 22.0)
    page = scene.service.answers[path]
    assert isinstance(page, dict)
    before = dict(page)
    scene.turn(path, **properties)
    scene.list_orders()
    with pytest.raises(WireError, match=r"shows no setpoint now|does not say now who controls it"):
        await put(handle, 22.5)
    scene.turn(path, **before)
    await put(handle, 22.5)
    assert scene.list_orders() == [(SET, {"SetPoint": 22.5})]


async def test_after_an_answer_that_was_lost_either_setpoint_is_ours(scene: Scene) -> None:
    handle = await scene.take()
    await put(handle, 22.0)
    await put(handle, 23.0)
    scene.turn(POINT, SetPoint=22.0)  # it never took the second one
    scene.list_orders()
    with pytest.raises(WireError, match="it is told again"):
        await put(handle, 23.0)
    assert scene.list_orders() == [(SET, {"SetPoint": 23.0})]


async def test_a_value_that_it_does_not_take_is_not_sent(scene: Scene) -> None:
    handle = await scene.take()
    with pytest.raises(WireError, match=r"cdu/0: its setpoint takes 10.0 to 40.0 C, not 9; nothing was sent"):
        await put(handle, 9.0)
    assert scene.list_orders() == []


async def test_a_record_that_cannot_be_read_stops_it(scene: Scene) -> None:
    scene.wires.tree(str(scene.node.state.absolute())).files[STATE] = "{"
    with pytest.raises(WireError, match=f"{STATE} in the state folder is no record of a setpoint"):
        await scene.make().now_at()


async def test_a_unit_of_whole_degrees_is_not_taken_for_another_hand(scene: Scene) -> None:
    handle = await scene.take()
    await put(handle, 22.4)
    scene.turn(POINT, SetPoint=22.0)  # what it makes of it
    scene.list_orders()
    for _ in range(3):
        await put(handle, 22.4)
    assert scene.list_orders() == []
    await put(handle, 22.9)
    scene.turn(POINT, SetPoint=23.0)
    await put(handle, 22.9)
    assert scene.list_orders() == [(SET, {"SetPoint": 22.9})]
    later = await scene.take()  # and not by the next life either
    await put(later, 22.9)
    assert scene.list_orders() == []
    assert await later.hand_back("cdu/0") == Sight(effect=Effect.PRESENT, text="it holds its own setpoint")
    scene.list_orders()


async def test_one_that_is_handed_back_before_its_rounding_was_seen_is_ours(scene: Scene) -> None:
    handle = await scene.take()
    await put(handle, 22.4)
    scene.turn(POINT, SetPoint=22.0)
    scene.list_orders()
    assert (await handle.hand_back("cdu/0")).effect is Effect.PRESENT
    assert scene.list_orders() == [RELEASE]


async def test_once_it_was_seen_a_change_within_a_half_kelvin_is_another_hand(scene: Scene) -> None:
    handle = await scene.take()
    await put(handle, 22.4)
    await put(handle, 22.4)
    scene.turn(POINT, SetPoint=22.0)
    with pytest.raises(YieldedError, match="it stands at 22 C in mode Override"):
        await put(handle, 22.4)


async def test_a_setpoint_that_it_says_it_has_taken_and_does_not_show_is_told(scene: Scene) -> None:
    handle = await scene.take()
    await put(handle, 22.0)
    await put(handle, 23.0)
    for _ in range(3):
        scene.turn(POINT, SetPoint=22.0)
        with pytest.raises(WireError, match=r"23.0 C was written, and it stands at 22 C in mode Override; it is told again"):
            await put(handle, 23.0)
    scene.turn(POINT, SetPoint=23.0)
    await put(handle, 23.0)


async def test_one_that_was_away_and_starts_anew_is_taken_anew_and_not_yielded(scene: Scene) -> None:
    handle = await scene.take()
    await put(handle, 22.0)
    page = scene.service.answers[POINT]
    scene.service.answers[POINT] = WireError("no answer")
    for _ in range(2):
        with pytest.raises(WireError, match=r"no answer|no control of its supply"):
            await put(handle, 22.0)
    scene.service.answers[POINT] = page
    scene.turn(POINT, SetPoint=24.0)
    scene.turn(WHO, ControlMode="Automatic")
    scene.list_orders()
    with pytest.raises(LapsedError, match="cdu/0 was away, and it stands at 24 C in mode Automatic"):
        await put(handle, 22.0)
    assert scene.list_orders() == []
    await handle.now_at()
    await put(handle, 22.0)
    assert scene.list_orders() == [(SET, {"SetPoint": 22.0}), ENGAGE]


async def test_what_goes_back_is_what_stood_before_this_engagement_not_before_one_of_an_earlier_life(scene: Scene) -> None:
    scene.collect_controls(SupplyTemperature={**TEMPERATURE, "SetPoint": 24.0})
    await put(await scene.take(), 22.0)  # and the daemon dies
    scene.turn(POINT, SetPoint=25.0)  # by a person, meanwhile
    later = await scene.take()
    await put(later, 22.5)
    scene.list_orders()
    sight = await later.hand_back("cdu/0")
    assert (sight.effect, sight.text) == (Effect.PRESENT, "it holds 25 C, as before")


async def test_whether_an_earlier_life_has_left_it(scene: Scene) -> None:
    handle = await scene.take()
    assert isinstance(handle, SetpointHandle)
    assert not await handle.is_left()
    await put(handle, 22.0)
    later = await scene.take()
    assert isinstance(later, SetpointHandle)
    assert await later.is_left()
    await later.hand_back("cdu/0")
    assert not await later.is_left()


async def test_a_disk_that_cannot_be_written_does_not_keep_it_from_being_handed_back(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = await scene.take()
    await put(handle, 22.0)
    scene.list_orders()

    async def refuse(*_: object) -> None:
        raise WireError("Read-only file system")

    monkeypatch.setattr(type(scene.wires.tree("/x")), "order", refuse)
    sight = await handle.hand_back("cdu/0")
    assert (sight.effect, scene.list_orders()) == (Effect.PRESENT, [RELEASE])
    assert "could not be struck out: Read-only file system" in sight.text
