"""The parts together: what holds whatever is done to the plant, and how one part feels another."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sim_hardware.drives.known import view_rack
from sim_hardware.plant import power
from sim_hardware.plant.cooling.bookkeeping import heat_book
from sim_hardware.plant.cooling.orders import BlockFlow
from sim_hardware.plant.job.orders import RequestCheckpoint, StopJob
from sim_hardware.plant.kinds import ANYTHING, KINDS
from sim_hardware.plant.power.orders import PressEmergencyOff, Sag
from sim_hardware.plant.site import PARTS, Site, advance, apply, sense, sensors, start
from sim_hardware.plant.words import Happening, Order, OrderError, UnknownSensorError
from sim_hardware.rack import Rack, generate_rack, load_rack
from sim_hardware.rack.shape import Node, Sim, SimLoop
from tests.sim.plant.histories import HISTORIES, RACK, SITE, WRONG, Step, build, digest, draw_history, has_subject, list_orders, play

EXAMPLES = settings(max_examples=30)
PLANTS = ("brisk", "long-pipes", "rear-door", "slow-valve", "swaying-primary", "three-pumps", "uneven-rows", "worn-valve")
QUIET = {"checkpoint.begun", "checkpoint.committed"}


def sum_batteries(site: Site) -> float:
    values = [power.sense(site.power, f"ups/{ups.name}", "ups.battery_energy") for ups in site.rack.ups]
    return sum(value for value in values if isinstance(value, float))


def number(site: Site, subject: str, quantity: str) -> float:
    value = sense(site, subject, quantity)
    assert isinstance(value, float), f"{subject} {quantity} is {value!r}"
    return value


@EXAMPLES
@given(HISTORIES)
def test_energy_in_is_energy_out_lost_and_stored(history: list[Step]) -> None:
    was = [SITE]

    def see(site: Site) -> None:
        book, before = power.energy(site.power), power.energy(was[0].power)
        assert book.drawn == pytest.approx(book.delivered + book.lost + book.batteries + book.shelves, abs=1e-2, rel=1e-9)
        assert sum_batteries(site) - sum_batteries(was[0]) <= book.drawn - before.drawn + 1e-2, "a battery gained without input"
        was[0] = site

    play(history, see=see)


@EXAMPLES
@given(HISTORIES)
def test_heat_into_the_coolant_goes_to_the_primary_or_is_stored(history: list[Step]) -> None:
    site, _ = play([*history, (None, 30.0)])
    for book in heat_book(site.cooling):
        moved = max(abs(book.into_coolant), abs(book.to_primary), abs(book.stored_in_coolant), 1e3)
        assert abs(book.coolant_gap) <= 0.01 * moved


@EXAMPLES
@given(HISTORIES)
def test_every_sensor_answers_with_a_number_that_is_one(history: list[Step]) -> None:
    site, _ = play(history)
    for sensor in sensors(site):
        value = sense(site, sensor.subject, sensor.quantity)
        assert not isinstance(value, float | int) or math.isfinite(value), f"{sensor.subject} {sensor.quantity} is {value}"
        assert value is None or isinstance(value, float | int | str | frozenset)


@EXAMPLES
@given(HISTORIES, st.lists(st.floats(0.0, 1.0), max_size=4))
def test_who_looks_more_often_sees_the_same(history: list[Step], looks: list[float]) -> None:
    site, told = play(history)
    again, told_again = play(history, looks)
    assert told == told_again
    assert replace(site, happened=()) == replace(again, happened=())


@pytest.mark.parametrize("hashes", ["1", "2"])
def test_the_same_history_is_the_same_in_another_process(checkout: Path, hashes: str) -> None:
    code = "from tests.sim.plant.histories import digest; print(digest(range(8)))"
    environment = os.environ | {"PYTHONHASHSEED": hashes, "PYTHONPATH": str(checkout)}
    told = subprocess.run([sys.executable, "-c", code], cwd=checkout, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == digest(range(8))


@EXAMPLES
@given(HISTORIES)
def test_happenings_come_in_the_order_of_time(history: list[Step]) -> None:
    _, told = play(history)
    times = [happening.at for happening in told]
    assert times == sorted(times)
    assert all(happening.text for happening in told)


@EXAMPLES
@given(HISTORIES)
def test_what_happens_befalls_a_family_that_it_can_befall(history: list[Step]) -> None:
    families = view_rack("rack-2x4").subjects
    for happening in play(history)[1]:
        members = [member for family in KINDS[happening.kind] for member in families.get(family, ())]
        below = (happening.subject == member or happening.subject.startswith(f"{member}/") for member in members)
        assert KINDS[happening.kind] == (ANYTHING,) or any(below), happening


@pytest.mark.parametrize("kind", [kind for kind in list_orders() if has_subject(kind)])
def test_an_order_to_nowhere_is_refused(kind: type[Order]) -> None:
    for seed in range(5):
        with pytest.raises(OrderError) as refused:
            apply(SITE, 0.0, build(kind, Random(seed), WRONG))
        assert len(str(refused.value)) > 15


def test_sensors_have_one_place_each_and_are_found_there() -> None:
    site = advance(SITE, 5.0)
    seen: set[tuple[str, str]] = set()
    for name, module in PARTS.items():
        part = getattr(site, name)
        for sensor in module.sensors(part):
            place = (sensor.subject, sensor.quantity)
            assert place not in seen, f"{place} of {name} is also another part's"
            seen.add(place)
            assert sense(site, *place) == module.sense(part, *place)
    assert seen == {(sensor.subject, sensor.quantity) for sensor in sensors(site)}


@pytest.mark.parametrize(("subject", "quantity"), [("n0", "card.power"), ("n9/card0", "card.power"), ("n0/card0", "smell"), ("", "")])
def test_what_is_not_there_has_no_sensor(subject: str, quantity: str) -> None:
    with pytest.raises(UnknownSensorError, match="sensor"):
        sense(SITE, subject, quantity)


@pytest.mark.parametrize("name", ["rack-1x8", "rack-4x8"])
def test_a_well_rack_does_nothing_but_save(name: str) -> None:
    site = advance(start(load_rack(name), 3), 1800.0)
    assert {happening.kind for happening in site.happened} == QUIET
    assert sense(site, "job/train", "job.state") == "running"
    assert number(site, "job/train", "job.step") >= 1780.0 / 2.0 - 2.0 * 3.0


@pytest.mark.parametrize("plant", PLANTS)
def test_every_cooling_plant_holds_a_well_rack(plant: str) -> None:
    rack = replace(generate_rack(2, 8), sim=Sim(loops={"cdu0": SimLoop(plant=plant)}))
    site = advance(start(rack, 3), 750.0)
    assert {happening.kind for happening in site.happened} == QUIET


def lose_all(rack: Rack, at: float, until: float) -> tuple[Site, list[Happening]]:
    """Both feeds are cut at the button."""
    site = advance(start(rack, 3), at)
    site = apply(site, at, PressEmergencyOff("A", True))
    site = apply(site, at, PressEmergencyOff("B", True))
    told = list(site.happened)
    site = advance(site, until)
    return site, [*told, *site.happened]


def test_cards_and_job_end_at_the_moment_the_power_does() -> None:
    site, told = lose_all(RACK, 10.3337, 12.0)
    lost = {happening.subject: happening.at for happening in told if happening.kind == "node.power_lost"}
    assert set(lost) == {"n0", "n1"}
    assert all(10.3337 < at < 12.0 and at % 0.5 for at in lost.values())
    assert {happening.subject: happening.at for happening in told if happening.kind == "node.off"} == lost
    assert [happening.at for happening in told if happening.kind == "job.lost"] == [min(lost.values())]
    assert {number(site, card, "card.power") for card in RACK.list_cards()} == {0.0}
    before = advance(lose_all(RACK, 10.3337, 10.3337)[0], math.nextafter(min(lost.values()), 0.0))
    assert number(before, "n0/card0", "card.power") > 300.0


def test_a_sag_that_is_ridden_through_is_not_felt_by_the_job() -> None:
    told, site = list[Happening](), advance(SITE, 20.0)
    for name in ("A", "B"):
        site = apply(site, 20.0, Sag(name, 1.0))
        told += site.happened
    site = advance(site, 40.0)
    told += site.happened
    assert {"ups.on_battery", "generator.running"} <= {happening.kind for happening in told}
    assert not [happening for happening in told if happening.kind.startswith(("job", "rank", "node", "load"))]
    assert sense(site, "job/train", "job.state") == "running"


def test_a_job_does_not_end_by_what_does_not_touch_it() -> None:
    names = {"ClearCounters", "SyncPool", "Snapshot", "RequestCheckpoint", "WithdrawCheckpoint", "DisarmShed", "SetThresholds", "StopTest"}
    kinds = [kind for kind in list_orders() if kind.__name__ in names]
    assert len(kinds) == len(names)
    for seed in range(30):
        site, told = play(draw_history(seed, 10, kinds))
        assert sense(site, "job/train", "job.state") in {"running", "saving"}
        assert not [each for each in told if each.kind.startswith(("job.", "rank.", "card.", "node."))]


def test_cards_without_coolant_throttle_are_damaged_and_then_shut_themselves_down() -> None:
    site = apply(advance(SITE, 10.0), 10.0, BlockFlow("n0", 1.0))
    told, hottest = list[Happening](), 0.0
    for minute in range(1, 61):
        site = advance(site, 10.0 + 60.0 * minute)
        told += site.happened
        hottest = max(hottest, *(number(site, f"n0/card{slot}", "card.temperature") for slot in range(4)))
    for slot in range(4):
        kinds = [each.kind for each in told if each.subject == f"n0/card{slot}"]
        assert list(dict.fromkeys(kinds)) == ["card.throttled", "card.unthrottled", "card.overheated", "card.shut_down"]
        assert kinds.count("card.shut_down") == 1
        assert number(site, f"n0/card{slot}", "card.power") == 0.0
    assert hottest < 125.0
    assert not [each for each in told if each.subject.startswith("n1/card")]
    assert [each.kind for each in told if each.kind == "job.lost"] == ["job.lost"]


@pytest.mark.parametrize("name", ["train", "job/train"])
def test_a_job_answers_to_its_name_and_to_its_subject(name: str) -> None:
    site = advance(apply(SITE, 0.0, RequestCheckpoint(name)), 30.0)
    assert number(site, "job/train", "job.committed_step") > 0.0


def test_a_node_alone_is_a_plant() -> None:
    rack = Rack(nodes=(Node(name="n0", cards=8),), sim=Sim(job=None))
    site = advance(start(rack, 1), 60.0)
    assert site.happened == ()
    for sensor in sensors(site):
        assert sense(site, sensor.subject, sensor.quantity) != math.inf
    assert number(site, "n0/card0", "card.power") == rack.sim.node.card_idle_watts
    with pytest.raises(OrderError, match="no job"):
        apply(site, 60.0, StopJob("train"))
