"""Taking fans, turning them, and yielding them to others."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.model import Effect
from supernoded_hwmon.site import find_site
from tests.plugins.hwmon.trees import EIO, RECORD, Scene, board, read_record, shown, steered


@pytest.mark.parametrize("found", ["2", "5"])
async def test_taken_turned_and_given_back(found: str, tmp_path: Path) -> None:
    scene, chip = steered(tmp_path, found)
    now_at = await scene.fans.now_at()
    assert now_at is not None
    assert (now_at.target, now_at.quantity, now_at.value, now_at.unit) == ("n0/fans", "fan.duty", 39.22, "%")
    assert chip.written == []
    await scene.put(60.0)
    assert shown(chip) == ("1", "153", "1", "153")
    assert read_record(scene) == {"nct6798/pwm1": int(found), "nct6798/pwm2": int(found)}
    reading = await scene.see_control()
    assert (reading.value, reading.note) == ("manual", "")
    sight = await scene.fans.hand_back("node")
    assert (sight.effect, shown(chip)[::2], read_record(scene)) == (Effect.PRESENT, (found, found), {})


async def test_what_stands_already_is_not_written_again(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.fans.now_at()
    await scene.put(60.0)
    chip.written.clear()
    await scene.put(60.0)
    assert chip.written == []
    await scene.put(250.0)
    assert chip.written == [("pwm1", "255"), ("pwm2", "255")]


@pytest.mark.parametrize(
    ("enable", "name", "why"),
    [
        ("0", "nct6798", "full speed by somebody"),
        ("", "nct6798", "says nothing known"),
        ("2", "pwmfan", "could not be given back"),
        ("2", "max31785", "says nothing known"),
    ],
)
async def test_what_must_not_be_taken(enable: str, name: str, why: str, tmp_path: Path) -> None:
    scene = Scene(tmp_path, steer=["*"])
    chip = scene.wires.plug("hwmon0", board(enable) | {"name": name})
    with pytest.raises(WireError, match=why):
        await scene.fans.now_at()
    with pytest.raises(WireError, match=why):
        await scene.put(60.0)
    assert chip.written == []


async def test_nobodys_fans_are_turned_unless_the_settings_name_the_chip(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    chip = scene.wires.plug("hwmon0", board())
    for ask in (scene.fans.now_at, lambda: scene.put(60.0)):
        with pytest.raises(WireError, match="name the chips whose fans may be turned"):
            await ask()
    assert chip.written == []


async def test_an_output_without_a_switch_or_excluded_is_left_alone(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path, exclude=["nct6798/fan2"])
    chip.files["pwm3"] = "80"
    await scene.fans.now_at()
    await scene.put(100.0)
    assert (shown(chip), chip.files["pwm3"]) == (("1", "255", "2", "100"), "80")
    scene.wires.unplug("hwmon0")
    with pytest.raises(WireError, match="no output with a pwm"):
        await scene.put(60.0)


async def test_after_a_sleep_it_is_taken_again_but_not_twice_in_ten_minutes(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.fans.now_at()
    await scene.put(60.0)
    chip.files |= {"pwm1_enable": "5", "pwm2_enable": "5", "pwm1": "90"}
    await scene.put(60.0)
    assert shown(chip) == ("1", "153", "1", "153")
    chip.files["pwm1_enable"] = "5"
    await scene.clock.advance(500.0)
    with pytest.raises(WireError, match="1 of 2 outputs were not put: nct6798/pwm1: it went back to automatic once more"):
        await scene.put(80.0)
    assert shown(chip) == ("5", "153", "1", "204")
    await scene.clock.advance(101.0)
    await scene.put(80.0)
    assert shown(chip) == ("1", "204", "1", "204")
    assert (await scene.fans.hand_back("node")).effect is Effect.PRESENT
    assert shown(chip)[::2] == ("2", "2")


@pytest.mark.parametrize("word", ["0", "-7"])
async def test_what_another_has_set_is_yielded_and_left_to_him(word: str, tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.fans.now_at()
    await scene.put(60.0)
    chip.files |= {"pwm1_enable": word, "pwm2_enable": word}
    chip.written.clear()
    for _ in range(2):
        with pytest.raises(WireError, match="somebody has set it to"):
            await scene.put(80.0)
    assert read_record(scene) == {}
    await scene.clock.advance(700.0)
    await scene.control.read()
    sight = await scene.fans.hand_back("node")
    assert (sight.effect, "full speed" in sight.text) == (Effect.PRESENT, word == "0")
    assert (chip.written, shown(chip)[::2]) == ([], (word, word))
    chip.files |= {"pwm1_enable": "2", "pwm2_enable": "2"}
    await scene.put(80.0)
    assert shown(chip) == ("1", "204", "1", "204")


async def test_a_switch_that_cannot_be_read_now_is_not_taken_for_another_hand(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.fans.now_at()
    await scene.put(60.0)
    chip.files["pwm1_enable"] = EIO
    with pytest.raises(WireError, match="still manual cannot be told: Input/output error"):
        await scene.put(80.0)
    chip.files["pwm1_enable"] = "1"
    await scene.put(80.0)
    assert shown(chip) == ("1", "204", "1", "204")


async def test_a_driver_that_rounds_is_near_enough(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    chip.steps = (0, 128, 255)
    await scene.fans.now_at()
    for percent in (70.0, 70.0, 71.0, 71.0, 30.0, 30.0, 26.0, 26.0):
        await scene.put(percent)
    assert shown(chip)[1::2] == ("128", "128")


async def test_a_driver_that_refuses_half_of_the_writes_is_asked_again(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.fans.now_at()
    chip.refuse = 2
    await scene.put(60.0)
    assert shown(chip) == ("1", "153", "1", "153")
    chip.refuse = 3
    with pytest.raises(WireError, match="1 of 2 outputs were not put: pwm1: Input/output error"):
        await scene.put(80.0)
    assert shown(chip)[1::2] == ("153", "204")


async def test_an_output_that_does_not_follow_is_told(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.fans.now_at()
    await scene.put(10.0)
    chip.deaf = True
    for _ in range(3):
        await scene.put(90.0)
    with pytest.raises(WireError, match="nct6798/pwm1: shows 26 of 255 where 230 was written 3 times"):
        await scene.put(90.0)


async def test_a_switch_that_does_not_turn_is_told(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.fans.now_at()
    chip.deaf = True
    with pytest.raises(WireError, match="pwm1_enable was set to 1 for manual, and shows 2"):
        await scene.put(10.0)


async def test_without_the_pen_nothing_is_written(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.fans.now_at()
    scene.wires.refusals["node"] = "observing"
    with pytest.raises(NotHeldError):
        await scene.put(60.0)
    assert chip.written == []
    assert RECORD not in scene.wires.tree(str(tmp_path)).files


async def test_a_record_that_is_none_stops_the_taking(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    scene.wires.tree(str(tmp_path)).files[RECORD] = "{"
    with pytest.raises(WireError, match="is no record of fans"):
        await scene.fans.now_at()
    assert chip.written == []


def test_the_settings_are_strict() -> None:
    with pytest.raises(msgspec.ValidationError):
        Scene(Path(), drivers={"x": {"auto": -2}})


async def test_a_duty_that_the_switch_has_changed_is_written_at_once(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    chip.resets = "20"
    now_at = await scene.fans.now_at()
    assert now_at is not None
    await scene.put(now_at.value)
    assert shown(chip) == ("1", "100", "1", "100")


async def test_a_write_that_hangs_is_not_tried_again(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path, exclude=["nct6798/fan2"])
    await scene.fans.now_at()
    (output,) = await find_site(scene.settings, scene.node).grip.look()
    chip.hangs = True
    with pytest.raises(WireError, match="no answer within 3 s"):
        await output.set_control("node", 1)
    assert chip.written == [("pwm1_enable", "1")]
