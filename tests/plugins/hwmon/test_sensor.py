"""What is read of chips that behave, and of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.model import State
from supernoded.sampling import Scale
from tests.plugins.hwmon.trees import EIO, Scene, board

CORE = {"name": "coretemp", "temp1_input": "55000", "temp1_label": "Package id 0", "temp1_max": "90000", "temp1_crit": "100000"}
PACKAGE = "n0/sensor/coretemp/Package-id-0"


async def test_a_node(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.wires.plug("hwmon0", CORE)
    scene.wires.plug("hwmon1", board() | {"temp1_input": "24500", "temp1_label": "Inlet Temp", "temp2_input": "41000"})
    found = await scene.read()
    assert {key: (reading.value, reading.unit) for key, reading in found.items()} == {
        (PACKAGE, "host.temperature"): (55.0, "C"),
        (PACKAGE, "host.temperature.high"): (90.0, "C"),
        ("n0/fan0", "fan.speed"): (1001.0, "rpm"),
        ("n0/fan0", "fan.duty"): (39.22, "%"),
        ("n0/fan1", "fan.speed"): (1002.0, "rpm"),
        ("n0/fan1", "fan.duty"): (39.22, "%"),
        ("n0", "air.temperature"): (24.5, "C"),
        ("n0/sensor/nct6798/temp2", "host.temperature"): (41.0, "C"),
    }
    assert (await scene.see_control()).value == "auto"
    assert scene.wires.drivers["hwmon1"].written == []


async def test_a_machine_without_any_is_nothing_that_is_missed(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    assert await scene.read() == {}
    assert await scene.control.read() == []


async def test_declared_fans_have_their_subjects_and_others_are_told_as_unmapped(tmp_path: Path) -> None:
    scene = Scene(tmp_path, fans={"nct6798/fan2": "n0/fan7"})
    chip = scene.wires.plug("hwmon0", board(fans=2))
    found = await scene.read()
    assert (found["n0/fan7", "fan.speed"].value, found["n0/fan7", "fan.speed"].note) == (1002.0, "")
    other = found["n0/fan/nct6798/fan1", "fan.speed"]
    assert (other.value, other.note) == (1001.0, "unmapped: name it in `fans` of [plugins.hwmon]")
    chip.files["fan2_input"] = "0"
    assert await scene.value("n0/fan7", "fan.speed") == 0.0


async def test_a_header_that_was_never_seen_to_turn_is_no_stopped_fan(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    chip = scene.wires.plug("hwmon0", board(fans=1) | {"fan1_input": "0"})
    still = (await scene.read())["n0/fan0", "fan.speed"]
    assert (still.state, "never seen to turn" in still.note) == (State.UNKNOWN, True)
    chip.files["fan1_input"] = "900"
    assert await scene.value("n0/fan0", "fan.speed") == 900.0
    chip.files["fan1_input"] = "0"
    assert await scene.value("n0/fan0", "fan.speed") == 0.0


@pytest.mark.parametrize("text", ["0", "112000", "-5000"])
async def test_an_unlikely_input_that_never_moves_is_not_believed(text: str, tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    chip = scene.wires.plug("hwmon0", CORE | {"temp1_input": text})
    for _ in range(3):
        assert await scene.value(PACKAGE, "host.temperature") is None
    chip.files["temp1_input"] = "101000"
    assert await scene.value(PACKAGE, "host.temperature") == 101.0
    chip.files["temp1_input"] = "112000"
    assert await scene.value(PACKAGE, "host.temperature") == 112.0


async def test_a_driver_that_says_that_a_sensor_is_faulty_is_believed(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.wires.plug("hwmon0", CORE | {"temp1_fault": "1"})
    scene.wires.plug("hwmon1", board(fans=2) | {"fan1_fault": "1", "fan2_fault": "0"})
    found = await scene.read()
    assert found[PACKAGE, "host.temperature"].note == "coretemp/temp1_fault is 1: the driver says that it is faulty"
    assert [found[f"n0/fan{number}", "fan.speed"].value for number in (0, 1)] == [None, 1002.0]


async def test_a_file_that_fails_now_and_then_keeps_its_value_which_ages(tmp_path: Path) -> None:
    scene = Scene(tmp_path, tolerate=2)
    chip = scene.wires.plug("hwmon0", CORE)
    begun = scene.clock.now()
    await scene.read()
    chip.files["temp1_input"] = EIO
    for _ in range(2):
        await scene.clock.advance(2.0)
        kept = (await scene.read())[PACKAGE, "host.temperature"]
        assert (kept.value, kept.at, kept.state) == (55.0, begun, State.GOOD)
    await scene.clock.advance(2.0)
    lost = (await scene.read())[PACKAGE, "host.temperature"]
    assert (lost.value, lost.at) == (None, scene.clock.now())
    assert lost.note == "failsafe: 3 reads in a row failed: Input/output error"
    chip.files["temp1_input"] = "56000"
    assert await scene.value(PACKAGE, "host.temperature") == 56.0


async def test_a_kept_value_is_weighed_as_good(tmp_path: Path) -> None:
    scene, scale = Scene(tmp_path), Scale()
    chip = scene.wires.plug("hwmon0", CORE)
    scale.weigh((await scene.read()).values())
    chip.files["temp1_input"] = EIO
    await scene.clock.advance(2.0)
    assert all(reading.state is State.GOOD for reading in scale.weigh((await scene.read()).values()))


async def test_what_never_answered_is_unknown_at_once(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.wires.plug("hwmon0", CORE | {"temp1_input": EIO})
    assert (await scene.read())[PACKAGE, "host.temperature"].note.startswith("failsafe: 1 reads")


async def test_chips_are_known_by_name_whatever_their_number(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.wires.plug("hwmon0", CORE)
    scene.wires.plug("hwmon1", board())
    before = {key: reading.value for key, reading in (await scene.read()).items()}
    for folder in ("hwmon0", "hwmon1"):
        scene.wires.unplug(folder)
    scene.wires.plug("hwmon0", board())
    scene.wires.plug("hwmon3", CORE)
    assert {key: reading.value for key, reading in (await scene.read()).items()} == before


async def test_two_chips_that_swap_their_numbers_between_two_looks_are_found_out(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    one, other = scene.wires.plug("hwmon0", CORE), scene.wires.plug("hwmon1", board())
    before = {key: reading.value for key, reading in (await scene.read()).items()}
    one.files, other.files = other.files, one.files
    assert {key: reading.value for key, reading in (await scene.read()).items()} == before


async def test_several_of_one_name_are_told_apart_by_their_device(tmp_path: Path) -> None:
    tctl = {"name": "k10temp", "temp1_label": "Tctl"}
    for order in (("hwmon0", "hwmon1"), ("hwmon9", "hwmon2")):
        scene = Scene(tmp_path)
        scene.wires.plug(order[0], tctl | {"temp1_input": "51000"}, "../../../0000:00:18.3")
        scene.wires.plug(order[1], tctl | {"temp1_input": "52000"}, "../../../0000:00:19.3")
        found = await scene.read()
        assert {subject: reading.value for (subject, _), reading in found.items()} == {
            "n0/sensor/0000:00:18.3/Tctl": 51.0,
            "n0/sensor/0000:00:19.3/Tctl": 52.0,
        }
        scene.wires.unplug(order[1])
        assert [subject for subject, _ in await scene.read()] == ["n0/sensor/0000:00:18.3/Tctl"]


async def test_labels_that_are_not_unique_or_no_name_are_told_apart(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    files = {"name": "x", "temp1_input": "30000", "temp2_input": "31000", "temp3_input": "32000", "temp10_input": "33000"}
    scene.wires.plug("hwmon0", files | {"temp1_label": "A/B", "temp2_label": "A B", "temp3_label": " "})
    found = {subject.removeprefix("n0/sensor/x/"): reading.value for (subject, _), reading in (await scene.read()).items()}
    assert found == {"A-B-temp1": 30.0, "A-B-temp2": 31.0, "temp3": 32.0, "temp10": 33.0}


async def test_excluded_things_are_not_read(tmp_path: Path) -> None:
    scene = Scene(tmp_path, exclude=["core*", "nct6798/fan1", "nct6798/pwm3"])
    scene.wires.plug("hwmon0", CORE)
    scene.wires.plug("hwmon1", board(fans=3))
    assert {key[1] for key in await scene.read()} == {"fan.speed", "fan.duty"}
    assert [reading.value for (_, what), reading in (await scene.read()).items() if what == "fan.speed"] == [1002.0]


async def test_a_fan_keeps_its_number_when_another_goes(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.wires.plug("hwmon0", board(fans=1))
    scene.wires.plug("hwmon1", board(fans=1) | {"name": "zz", "fan1_input": "5000"})
    assert await scene.value("n0/fan1", "fan.speed") == 5000.0
    scene.wires.unplug("hwmon0")
    assert {subject for subject, _ in await scene.read()} == {"n0/fan1"}


async def test_a_chip_that_hangs_costs_only_itself_and_is_left_alone_for_a_while(tmp_path: Path) -> None:
    scene = Scene(tmp_path, tolerate=0)
    chip = scene.wires.plug("hwmon0", CORE)
    scene.wires.plug("hwmon1", board())
    await scene.read()
    chip.hangs = True
    for _ in range(4):
        await scene.clock.advance(2.0)
        found = await scene.read()
        assert "no answer within 3 s" in found[PACKAGE, "host.temperature"].note
        assert found["n0/fan0", "fan.speed"].value == 1001.0
    assert chip.asked == 1
    await scene.clock.advance(10.0)
    await scene.read()
    assert chip.asked == 2


async def test_a_limit_that_is_none_is_told(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.wires.plug("hwmon0", CORE | {"temp1_max": "0", "temp1_crit": "65261850"})
    found = (await scene.read())[PACKAGE, "host.temperature.high"]
    assert (found.value, found.note) == (None, "'0', '65261850': no limit of a part")


@pytest.mark.parametrize(
    ("first", "second", "control"),
    [
        ("2", "2", "auto"),
        ("0", "0", "full"),
        ("0", "2", "auto"),
        ("1", "2", "manual"),
        ("", "2", None),
        ("77", "5", "auto"),
        ("-3", "0", None),
    ],
)
async def test_who_turns_the_fans(first: str, second: str, control: str | None, tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.wires.plug("hwmon0", board() | {"pwm1_enable": first, "pwm2_enable": second})
    reading = await scene.see_control()
    assert reading.value == control
    assert bool(reading.note) == (control in {None, "manual"})


async def test_a_switch_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.wires.plug("hwmon0", board() | {"pwm2_enable": EIO})
    assert (await scene.see_control()).note == "nct6798/pwm2: Input/output error"
