"""Fans are given back, whatever happens to whoever turned them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.errors import WireError
from supernoded.model import Effect
from supernoded_hwmon.settings import HwmonSettings
from tests.plugins.hwmon.trees import EIO, Scene, read_record, shown, steered


async def test_found_in_manual_it_is_given_back_to_automatic(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path, "1")
    assert "not by this daemon" in (await scene.see_control()).note
    await scene.fans.now_at()
    await scene.put(60.0)
    assert (await scene.fans.hand_back("node")).effect is Effect.PRESENT
    assert shown(chip)[::2] == ("2", "2")


async def test_a_driver_without_automatic_is_given_back_to_full_speed(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path, "1")
    chip.words = frozenset({"0", "1"})
    await scene.fans.now_at()
    await scene.put(60.0)
    assert (await scene.fans.hand_back("node")).effect is Effect.PRESENT
    assert shown(chip)[::2] == ("0", "0")


async def test_one_that_says_so_is_taken_from_full_speed_again(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path, "0", drivers={"nct6798": {"auto": -1, "others": False}})
    await scene.fans.now_at()
    await scene.put(60.0)
    assert (await scene.fans.hand_back("node")).effect is Effect.PRESENT
    assert shown(chip)[::2] == ("0", "0")


async def test_one_that_cannot_be_given_back_says_so_and_keeps_its_record(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.control.read()
    await scene.fans.now_at()
    await scene.put(60.0)
    chip.words = frozenset({"1"})
    sight = await scene.fans.hand_back("node")
    assert sight.effect is Effect.ABSENT
    assert "nct6798/pwm1: still manual; 2 was refused: pwm1_enable: Invalid argument, 0 was refused" in sight.text
    assert read_record(scene) == {"nct6798/pwm1": 2, "nct6798/pwm2": 2}
    chip.words = None
    await scene.clock.advance(13.0)
    reading = await scene.see_control()  # which tries again
    assert (reading.value, "not renewed, and given back" in reading.note, shown(chip)[::2]) == ("auto", True, ("2", "2"))


async def test_a_driver_that_does_not_tell_and_has_one_switch_for_all(tmp_path: Path) -> None:
    scene = Scene(tmp_path, steer=["dell_smm"])
    chip = scene.wires.plug("hwmon0", {"name": "dell_smm", "pwm1": "128", "pwm2": "128", "pwm1_enable": EIO, "fan1_input": "900"})
    assert await scene.control.read() == []
    await scene.fans.now_at()
    await scene.put(100.0)
    assert chip.written == [("pwm1_enable", "1"), ("pwm1", "255"), ("pwm1_enable", "1"), ("pwm2", "255")]
    assert (await scene.see_control()).value == "manual"
    chip.written.clear()
    sight = await scene.fans.hand_back("node")
    assert (sight.effect, "does not show it" in sight.text, set(chip.written)) == (Effect.PRESENT, True, {("pwm1_enable", "2")})
    assert await scene.control.read() == []


async def test_a_loop_that_falls_silent_loses_the_fans(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.control.read()
    await scene.fans.now_at()
    for _ in range(10):
        await scene.put(20.0, lives=6.0)
        await scene.clock.advance(2.0)
        assert (await scene.see_control()).note == ""
    await scene.clock.advance(5.0)
    assert (await scene.see_control()).value == "manual"
    await scene.clock.advance(2.0)
    reading = await scene.see_control()
    assert (reading.value, shown(chip)[::2], read_record(scene)) == ("auto", ("2", "2"), {})
    assert reading.note == "held by this daemon, not renewed, and given back: its own control has it"
    await scene.put(30.0)  # it has found its voice again
    assert shown(chip)[::2] == ("1", "1")


async def test_what_a_killed_life_left_is_given_back_by_the_next(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path, "5")
    await scene.fans.now_at()
    await scene.put(20.0)
    scene.start()
    for _ in range(2):
        assert (await scene.see_control()).value == "manual"
        await scene.clock.advance(5.5)
    assert (await scene.see_control()).value == "auto"
    assert (shown(chip)[::2], read_record(scene)) == (("5", "5"), {})


@pytest.mark.parametrize("table", [{"steer": []}, {"steer": ["it87"]}, {"steer": ["nct6798"], "exclude": ["nct6798/pwm2"]}])
async def test_what_a_killed_life_left_is_given_back_also_when_the_settings_no_longer_name_it(
    tmp_path: Path, table: Mapping[str, object]
) -> None:
    scene, chip = steered(tmp_path, "5")
    await scene.fans.now_at()
    await scene.put(20.0)
    scene.settings = msgspec.convert(table, HwmonSettings)
    scene.start()
    await scene.control.read()
    await scene.clock.advance(11.0)
    await scene.control.read()
    assert (shown(chip)[::2], read_record(scene)) == (("5", "5"), {})
    chip.written.clear()
    await scene.clock.advance(60.0)
    await scene.control.read()
    assert chip.written == []


async def test_a_next_life_that_steers_goes_on_and_gives_back_what_the_first_found(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path, "5")
    await scene.fans.now_at()
    await scene.put(20.0)
    scene.start()
    await scene.control.read()
    now_at = await scene.fans.now_at()
    assert now_at is not None
    assert now_at.value == 20.0
    for _ in range(10):
        await scene.put(20.0)
        await scene.clock.advance(2.0)
        assert (await scene.see_control()).value == "manual"
    await scene.fans.hand_back("node")
    assert shown(chip)[::2] == ("5", "5")


async def test_a_chip_that_is_gone_is_given_back_when_it_is_there_again(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.control.read()
    await scene.fans.now_at()
    await scene.put(20.0)
    files = dict(chip.files)
    scene.wires.unplug("hwmon0")
    sight = await scene.fans.hand_back("node")
    assert (sight.effect, "it is not there" in sight.text) == (Effect.UNKNOWN, True)
    back = scene.wires.plug("hwmon4", files)
    await scene.clock.advance(13.0)
    assert (await scene.see_control()).value == "auto"
    assert shown(back)[::2] == ("2", "2")


async def test_nothing_held_and_nothing_wrong_is_given_back_already(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    assert (await scene.fans.hand_back("node")).effect is Effect.PRESENT
    chip.files["pwm1_enable"] = "1"
    sight = await scene.fans.hand_back("node")
    assert (sight.effect, "left to whoever set it" in sight.text, chip.written) == (Effect.UNKNOWN, True, [])


async def test_a_loop_that_finds_its_voice_again_may_take_from_the_full_speed_that_we_gave_back_to(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path, "1", drivers={"nct6798": {"auto": -1, "others": False}})
    await scene.control.read()
    await scene.fans.now_at()
    await scene.put(60.0)
    await scene.clock.advance(12.0)
    assert (await scene.see_control()).value == "full"
    await scene.put(60.0)
    assert shown(chip) == ("1", "153", "1", "153")


async def test_a_chip_that_hangs_is_not_written_to_and_waited_for(tmp_path: Path) -> None:
    scene, chip = steered(tmp_path)
    await scene.fans.now_at()
    await scene.put(60.0)
    chip.hangs = True
    chip.written.clear()
    sight = await scene.fans.hand_back("node")
    assert (sight.effect, "no answer within 3 s" in sight.text, chip.written) == (Effect.ABSENT, True, [])
    chip.hangs = False
    await scene.clock.advance(12.0)
    assert (await scene.fans.hand_back("node")).effect is Effect.PRESENT


class Story:
    """What may happen to a board and to who turns its fans, but for another program that sets them to manual."""

    def __init__(self) -> None:
        self.scene, self.chip = steered(Path("/state"))

    async def engage(self) -> None:
        with suppress(WireError):
            await self.scene.fans.now_at()

    async def put(self) -> None:
        with suppress(WireError):
            await self.scene.put(60.0)

    async def look(self) -> None:
        with suppress(WireError):
            await self.scene.control.read()

    async def hand_back(self) -> None:
        with suppress(WireError):
            await self.scene.fans.hand_back("node")

    async def wait(self) -> None:
        await self.scene.clock.advance(5.0)

    async def die(self) -> None:
        self.scene.start()

    async def refuse_writes(self) -> None:
        self.chip.refuse += 4

    async def wake_from_sleep(self) -> None:
        self.chip.files |= {"pwm1_enable": "5", "pwm2_enable": "5"}

    async def go_full(self) -> None:
        self.chip.files["pwm2_enable"] = "0"

    async def go_dumb(self) -> None:
        self.chip.files["pwm1_enable"] = EIO

    async def end(self) -> None:
        """The board is well again, and a daemon that only observes looks on."""
        if self.chip.files["pwm1_enable"] is EIO:
            self.chip.files["pwm1_enable"] = "1" if "nct6798/pwm1" in str(self.scene.wires.tree("/state").files) else "2"
        self.chip.refuse = 0
        self.scene.start()
        await self.scene.control.read()
        await self.scene.clock.advance(11.0)
        await self.scene.control.read()


DEEDS = tuple(name for name in vars(Story) if not name.startswith("_") and name != "end")


@settings(deadline=None)
@given(st.lists(st.sampled_from(DEEDS), max_size=30))
def test_nothing_is_ever_left_in_manual(deeds: list[str]) -> None:
    async def play() -> None:
        story = Story()
        for deed in deeds:
            await getattr(story, deed)()
        await story.end()
        assert "1" not in shown(story.chip)[::2]

    asyncio.run(play())
