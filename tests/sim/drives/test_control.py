"""The control desk: what can be asked of a served rack, and what comes of nonsense."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.drives.control import Desk, serve_control
from sim_hardware.drives.control.showing import show_value
from sim_hardware.drives.control.words import REQUESTS, ControlError, read_request
from sim_hardware.drives.pacing import PlantClock
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.rack import Rack, generate_rack, load_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World

T = TypeVar("T")

RACK = generate_rack(1, 4)
SAG = {"do": "inject", "fault": "power.input_sag", "on": "utility/A", "name": "sag"}


def make_desk(rack: Rack = RACK) -> Desk:
    loop = asyncio.get_running_loop()
    clock = PlantClock(loop.time)
    rig = Rig(World(rack, 0, clock), Path("/nowhere"))
    rig.world.run()
    return Desk(rig, CATALOGUE, 7, clock)


async def ask(desk: Desk, **request: object) -> dict[str, Any]:
    """The first answer, as it would go over the wire."""
    return await ask_line(desk, json.dumps(request).encode())


async def ask_line(desk: Desk, line: bytes) -> dict[str, Any]:
    answers = desk.answer(line)
    answer = await anext(answers)
    await answers.aclose()  # type: ignore[attr-defined]
    assert isinstance(answer["ok"], bool)
    assert answer["ok"] or answer["error"]
    return answer


def run(work: Coroutine[Any, Any, T]) -> T:
    """In virtual time; what nobody heard fails the test."""
    loop = SimLoop(1)
    result = play(loop, work)
    assert loop.failures == []
    return result


def test_a_fault_for_a_while_shows_and_ends_by_itself() -> None:
    async def main() -> None:
        desk = make_desk()
        await asyncio.sleep(1.0)
        placed = await ask(desk, **SAG, **{"for": 5, "with": {"depth": 0.5}})
        assert (placed["name"], placed["until"] - placed["since"], placed["with"]["depth"]) == ("sag", 5.0, 0.5)
        assert await _see(desk, "utility/A", "utility.voltage") == pytest.approx(115.0, rel=0.01)
        assert [one["name"] for one in (await ask(desk, do="active"))["active"]] == ["sag"]
        await asyncio.sleep(4.9)
        assert await ask(desk, do="manifest", name="sag") == {"ok": True, "manifest": None}  # no device listens here
        await asyncio.sleep(0.2)
        assert (await ask(desk, do="active"))["active"] == []
        assert await _see(desk, "utility/A", "utility.voltage") == pytest.approx(230.0, rel=0.01)

    run(main())


def test_the_same_name_again_changes_parameters_and_the_time_that_is_left() -> None:
    async def main() -> None:
        desk = make_desk()
        await ask(desk, **SAG, **{"for": 2, "with": {"depth": 0.5}})
        await ask(desk, **SAG, **{"with": {"depth": 0.9}})
        await asyncio.sleep(10.0)
        assert await _see(desk, "utility/A", "utility.voltage") == pytest.approx(23.0, rel=0.01)
        assert len((await ask(desk, do="lift", all=True))["lifted"]) == 1
        assert await _see(desk, "utility/A", "utility.voltage") == pytest.approx(230.0, rel=0.01)

    run(main())


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"do": "injct"}, "did you mean inject?"),
        ({"do": "inject"}, "fault: is missing"),
        ({**SAG, "fault": "power.input_sga"}, "did you mean power.input_sag?"),
        ({**SAG, "on": "utility/Z"}, "there is no such utility"),
        ({**SAG, "with": {"depth": 7}}, "power.input_sag: depth = 7: must be a number from"),
        ({**SAG, "with": {"depht": 1}}, "did you mean depth?"),
        ({**SAG, "for": 0}, "for = 0: must be a number above 0 s"),
        ({**SAG, "for": "long"}, 'for = "long": must be a number'),
        ({**SAG, "name": "other"}, "is in place as 'taken'; change it by that name, or lift it first"),
        ({**SAG, "on": "utility/B", "name": "taken"}, "lift that one first, or take another name"),
        ({"do": "lift"}, "give either the name of a fault in place, or all = true"),
        ({"do": "lift", "name": "tkaen"}, "did you mean taken?"),
        ({"do": "manifest", "name": "nothing-like-it"}, "faults in place here: taken"),
        ({"do": "truth", "subject": "ups/Q"}, "did you mean ups/"),
        ({"do": "truth", "subject": "ups/A", "quantity": "ups.laod"}, "did you mean ups.load?"),
        ({"do": "sense", "subject": "nobody", "quantity": "ups.load"}, "nobody has no sensor of 'ups.load'"),
        ({"do": "faults", "kind": "powerr"}, "no such kind"),
        ({"do": "happened", "since": -1}, "since = -1: must be a whole number"),
        ([], "a request is an object"),
    ],
)
def test_what_cannot_be_done_is_refused_with_field_value_and_remedy(request_: Any, sentence: str) -> None:
    async def main() -> None:
        desk = make_desk()
        assert (await ask(desk, **{**SAG, "name": "taken"}))["ok"]
        answer = await ask_line(desk, json.dumps(request_).encode())
        assert not answer["ok"]
        assert sentence in answer["error"]
        assert list(desk.faults.faults) == ["taken"]

    run(main())


def test_truth_and_sensors_differ_when_a_sensor_is_sick() -> None:
    async def main() -> None:
        desk = make_desk()
        kinds = [name for name, kind in CATALOGUE.items() if "sensor" in kind.targets and name.endswith("nan")]
        assert (await ask(desk, do="inject", fault=kinds[0], on="ups/A:ups.load", name="sick"))["ok"]
        sensed = await ask(desk, do="sense", subject="ups/A", quantity="ups.load")
        assert sensed["values"] == [{"quantity": "ups.load", "value": "nan", "unit": "%"}]
        assert await _see(desk, "ups/A", "ups.load") > 0

    run(main())


def test_all_of_a_subject_is_what_its_sensors_are() -> None:
    async def main() -> None:
        desk = make_desk()
        listed = (await ask(desk, do="sensors", pattern="ups/A"))["sensors"]
        seen = (await ask(desk, do="truth", subject="ups/A"))["values"]
        assert [one["quantity"] for one in seen] == [one["quantity"] for one in listed]
        temperatures = (await ask(desk, do="sensors", pattern="n0/card*:card.temperature"))["sensors"]
        assert [one["subject"] for one in temperatures] == [f"n0/card{card}" for card in range(4)]
        assert next(one["value"] for one in seen if one["quantity"] == "ups.status") == ["OL"]

    run(main())


def test_who_follows_hears_each_happening_once_and_in_order() -> None:
    async def main() -> None:
        desk = make_desk()
        await ask(desk, **SAG, **{"with": {"depth": 1}})
        answers = desk.answer(b'{"do": "happened", "follow": true}')
        first = await anext(answers)
        await ask(desk, do="lift", name="sag")
        heard = [*first["happened"], *(await anext(answers))["happened"]]
        assert [news["number"] for news in heard] == list(range(len(heard)))
        kinds = [news["kind"] for news in heard]
        assert kinds.index("utility.sag") < kinds.index("utility.restored")
        again = await ask(desk, do="happened", since=first["next"])
        assert again["happened"] == heard[first["next"] :]

    run(main())


def test_the_catalogue_tells_parameters_with_range_and_unit() -> None:
    async def main() -> None:
        (kind,) = (await ask(make_desk(), do="faults", kind="power.input_sag"))["faults"]
        assert kind["targets"] == ["utility"]
        depth = next(one for one in kind["parameters"] if one["name"] == "depth")
        assert depth["allowed"].startswith("a number from ")
        assert depth["meaning"]

    run(main())


def test_the_rack_that_is_told_is_one_that_can_be_read(tmp_path: Path) -> None:
    async def main() -> None:
        told = await ask(make_desk(), do="rack")
        (tmp_path / "again.toml").write_text(told["rack"])
        assert load_rack(str(tmp_path / "again.toml")) == RACK
        assert (told["seed"], told["nodes"], told["lost"]) == (7, ["n0"], 0.0)

    run(main())


def test_values_without_a_json_number_are_text() -> None:
    shown = [show_value(value) for value in (float("nan"), float("-inf"), frozenset({"b", "a"}), None, "on", 1.5)]
    assert shown == ["nan", "-inf", ["a", "b"], None, "on", 1.5]


@given(st.binary(max_size=200))
def test_any_line_is_a_request_or_a_sentence(line: bytes) -> None:
    try:
        read_request(line)
    except ControlError as error:
        assert str(error)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KNOWN = st.sampled_from(["utility/A", "n0", "n0/card0", "ups/A", "ups.load", "sag", "*", "power.input_sag", "link.optics_unplug", ""])
FIELDS = st.sampled_from(["fault", "on", "with", "for", "name", "all", "kind", "subject", "quantity", "pattern", "since", "follow", "x"])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(sorted(REQUESTS)), st.dictionaries(FIELDS, KNOWN | JSON, max_size=5)), min_size=1, max_size=8))
def test_any_request_is_answered_and_the_next_one_too(asked: list[tuple[str, dict[str, Any]]]) -> None:
    async def main() -> None:
        desk = make_desk()
        for do, fields in asked:
            await ask_line(desk, json.dumps({"do": do, **fields}).encode())
        assert (await ask(desk, do="rack"))["ok"]

    run(main())


async def test_the_socket_survives_garbage_long_lines_and_callers_that_leave(tmp_path: Path) -> None:
    path = tmp_path / "c.sock"
    async with serve_control(make_desk(), path):
        for sent in (b"\x00\xff\n", b"{" * 100_000 + b"\n", b"x" * 3_000_000, b'{"do": "happened", "follow": true}\n'):
            reader, writer = await asyncio.open_unix_connection(str(path))
            writer.write(sent)
            answer = json.loads(await reader.readline())
            assert answer["ok"] is (b"follow" in sent)
            writer.close()
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(b'{"do": "rack"}\n{"do": "active"}\n')
        assert [json.loads(await reader.readline())["ok"] for _ in range(2)] == [True, True]
        writer.close()
    assert not path.exists()


async def _see(desk: Desk, subject: str, quantity: str) -> Any:
    return (await ask(desk, do="truth", subject=subject, quantity=quantity))["values"][0]["value"]
