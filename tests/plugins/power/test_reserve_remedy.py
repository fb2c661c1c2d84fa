"""Stopping in order, and coming back in stages (safety rules 6, 8, 10)."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import supernoded_power
from supernoded.model import Incident, Reading, Result, Severity
from supernoded.parts import World
from supernoded.topology import Topology
from supernoded_power.settings import PowerSettings
from tests.plugins.power.site import (
    FANS,
    JOB,
    OTHERS,
    POWER,
    SITE,
    START,
    Trouble,
    find_remedy,
    job,
    kinds,
    make_node,
    make_site,
    read,
    ups,
)

NAMES = ("n0", "n1", "n2")
CORDS = [{"number": number, "load": name} for number, name in enumerate(NAMES, start=10)]
WIDE = make_site(
    nodes=[{**SITE["nodes"][0], "name": name} for name in NAMES],
    pdus=[{"name": f"{feed}1", "feed": feed, "outlets": [*CORDS, *FANS, *OTHERS]} for feed in "AB"],
)
OFF = [("power.off", f"pdu/{feed}1/outlet{number}") for number in (11, 12) for feed in "AB"]
TIMES: dict[str, Any] = {"step_time": 10.0, "save_time": 30.0}


def out(at: float = 0.0, a: str = "ob", b: str = "ob") -> list[Reading]:
    volts = {"ob": 0.0, "ol": 230.0}
    return [*ups("A", a, volts[a], at), *ups("B", b, volts[b], at)]


def supply(at: float, amps: float = 5.0, flow: float | None = 40.0) -> list[Reading]:
    pdus = [read(f"pdu/{feed}1", f"pdu.{name}", value, at) for feed in "AB" for name, value in (("current", amps), ("rated_current", 32.0))]
    return [*pdus, read("cdu/0", "coolant.flow", flow, at)]


def begin(site: Topology = WIDE, settings: PowerSettings | None = None, **world: Any) -> Trouble:
    trouble = Trouble(find_remedy("power.reserve", settings, site), world=World(topology=site, **world))
    trouble.see(out(-20.0), out(), job(durable_age=500.0, **TIMES), supply(0.0))  # on battery for a while
    return trouble


def stop(trouble: Trouble) -> list[list[tuple[str, str]]]:
    done = []
    for steps in trouble.play():
        done.append(kinds(steps))
        if steps[0].kind == "job.stop":
            trouble.see(out(trouble.now + 1), job(trouble.now + 1, "stopped", durable_age=1.0))
    return done


def test_save_stop_and_switch_off_in_that_order() -> None:
    trouble = begin()
    assert [sorted(batch) for batch in stop(trouble)] == [
        [("job.checkpoint", JOB)],
        [("job.stop", JOB)],
        sorted(OFF),
        [("notify", POWER)],
    ]
    assert not trouble.ask()


def test_what_has_just_been_saved_is_stopped_at_once() -> None:
    trouble = begin()
    trouble.see(out(1.0), job(1.0, durable_age=20.0, **TIMES))
    assert kinds(trouble.ask()) == [("job.stop", JOB)]


def test_a_rank_in_mid_write_is_waited_for_and_not_for_ever() -> None:
    trouble = begin()
    trouble.see(out(1.0), job(1.0, durable_age=20.0, **TIMES))
    (stopping,) = trouble.ask()
    assert (stopping.amount, stopping.patience, stopping.details) == (1.75 * 40, 1.75 * 40 + 15, {"hard_s": "85.0"})
    trouble.running.add(stopping.name)
    trouble.see(out(60.0), job(60.0, "saving", durable_age=80.0))
    assert trouble.ask() == ()
    trouble.end([stopping], Result.UNCONFIRMED)  # the hard limit
    assert sorted(kinds(trouble.ask())) == sorted(OFF)


def test_never_what_rule_6_names_nor_this_node_nor_who_holds_a_role() -> None:
    odd = [
        {"number": 20, "load": "n*"},
        {"number": 21, "load": "*"},
        {"number": 22, "load": "n2/psu1"},
        {"number": 23, "load": "cdu/0/pump1"},
    ]
    pdus = [{"name": "A1", "feed": "A", "outlets": [*CORDS, *FANS, *OTHERS, *odd]}, {"name": "B1", "feed": "B", "outlets": CORDS}]
    site = make_site(nodes=[{**SITE["nodes"][0], "name": name} for name in NAMES], pdus=pdus)
    trouble = begin(site, roles={"cdu/0": "n1", "ring/r": "n2"})
    offs = [target for batch in stop(trouble) for kind, target in batch if kind == "power.off"]
    assert sorted(offs) == ["pdu/A1/outlet12", "pdu/A1/outlet22", "pdu/B1/outlet12"]


def test_nodes_that_carry_broker_database_or_storage_are_kept_as_the_settings_tell_them() -> None:
    node = dataclasses.replace(make_node(Path(), WIDE), relied_on=("n2",))
    (remedy,) = [one for one in supernoded_power.supernoded_remedies(PowerSettings(), node) if one.answers == "power.reserve"]
    trouble = Trouble(remedy, world=World(topology=WIDE))
    trouble.see(out(-20.0), out(), job(durable_age=500.0, **TIMES), supply(0.0))
    offs = [target for batch in stop(trouble) for kind, target in batch if kind == "power.off"]
    assert sorted(offs) == ["pdu/A1/outlet11", "pdu/B1/outlet11"]


def test_an_outlet_that_feeds_everything_is_kept_on_a_site_without_loops_and_switches() -> None:
    pdus = [{"name": f"{feed}1", "feed": feed, "outlets": [*CORDS[1:2], {"number": 21, "load": "*"}]} for feed in "AB"]
    site = make_site(nodes=[{**SITE["nodes"][0], "name": name, "loop": ""} for name in NAMES], pdus=pdus, loops=[], switches=[])
    offs = [target for batch in stop(begin(site)) for kind, target in batch if kind == "power.off"]
    assert sorted(offs) == ["pdu/A1/outlet11", "pdu/B1/outlet11"]


def test_a_site_may_name_more_that_is_kept() -> None:
    trouble = begin(settings=PowerSettings(never_off=("n1",)))
    offs = [target for batch in stop(trouble) for kind, target in batch if kind == "power.off"]
    assert sorted(offs) == ["pdu/A1/outlet12", "pdu/B1/outlet12"]


def test_what_is_off_already_is_left_and_stays_off() -> None:
    trouble = begin()
    trouble.see([read("pdu/A1/outlet11", "outlet.state", "off", at) for at in (0.0, 1.0)])
    offs = [target for batch in stop(trouble) for kind, target in batch if kind == "power.off"]
    assert "pdu/A1/outlet11" not in offs
    assert len(offs) == 3


@pytest.mark.parametrize("flags", ["ol ob", "ol"])
def test_nothing_is_stopped_on_a_contradiction_nor_while_a_feed_is_there(flags: str) -> None:
    trouble = begin()
    trouble.see([*ups("A", flags, 230.0, 1.0), *ups("B", "ob", 0.0, 1.0)])
    assert trouble.ask() == ()


def test_mains_that_come_back_in_the_middle_leave_no_half_state() -> None:
    """The power race: the save is finished, nothing more is cut, and the job goes on (facility 7.26)."""
    trouble = begin()
    trouble.end(trouble.ask())
    trouble.see(out(1.0), job(1.0, durable_age=1.0, **TIMES))
    (stopping,) = trouble.ask()
    trouble.running.add(stopping.name)
    trouble.see(out(2.0, "ol", "ol"), supply(2.0))
    assert trouble.ask() == ()
    trouble.end([stopping])
    for at in range(3, 40):
        trouble.see(out(float(at), "ol", "ol"), job(float(at), "stopped"), supply(float(at)))
        steps = trouble.ask()
        assert bool(steps) == (at >= 32)
        if steps:
            break
    assert kinds(steps) == [("job.resume", JOB)]


def off(trouble: Trouble) -> None:
    assert len(stop(trouble)) == 4


def wait(trouble: Trouble, seconds: int, a: str = "ol", b: str = "ol", **how: Any) -> list[list[tuple[str, str]]]:
    """Second by second: every batch, each seen to work at once."""
    asked = []
    for _ in range(seconds):
        at = trouble.now + 1.0
        trouble.see(out(at, a, b), job(at, "stopped"), supply(at, **how))
        steps = trouble.ask()
        trouble.end(steps)
        asked += [kinds(steps)] if steps else []
    return asked


def test_back_one_by_one_only_what_it_switched_off_then_the_job() -> None:
    trouble = begin()
    off(trouble)
    trouble.raised = True  # the rule holds it so till all is on
    assert wait(trouble, 30) == []
    assert wait(trouble, 20) == [
        [("power.on", "pdu/A1/outlet11"), ("power.on", "pdu/B1/outlet11")],
        [("power.on", "pdu/A1/outlet12"), ("power.on", "pdu/B1/outlet12")],
        [("job.resume", JOB)],
        [("notify", POWER)],
    ]


def test_five_seconds_lie_between_two_outlets_of_a_pdu() -> None:
    trouble = begin()
    off(trouble)
    wait(trouble, 31)
    assert wait(trouble, 4) == []
    assert wait(trouble, 1) == [[("power.on", "pdu/A1/outlet12"), ("power.on", "pdu/B1/outlet12")]]


@pytest.mark.parametrize("how", [{"amps": 26.0}, {"flow": 0.0}, {"flow": None}])
def test_no_room_or_no_flow_and_nothing_comes_back(how: dict[str, Any]) -> None:
    trouble = begin()
    off(trouble)
    assert wait(trouble, 60, **how) == []
    assert wait(trouble, 1) != []


def test_a_node_waits_for_its_fans() -> None:
    trouble = begin()
    off(trouble)
    asked = []
    for _ in range(60):
        trouble.see([read("pdu/A1", "pdu.event", "fired", trouble.now + 1.0)])
        asked += wait(trouble, 1)
    assert asked == [[("power.on", "pdu/A1/outlet12"), ("power.on", "pdu/B1/outlet12")]]  # of n2, whose fans no shed opens
    trouble.see([read("pdu/A1", "pdu.event", "restored", trouble.now + 1.0)])
    assert wait(trouble, 1) == [[("power.on", "pdu/A1/outlet11"), ("power.on", "pdu/B1/outlet11")]]


def test_an_overloaded_ups_takes_no_more() -> None:
    trouble = begin()
    off(trouble)
    for _ in range(40):
        trouble.see([read("ups/A", "ups.load", 104.0, trouble.now + 1.0)])
        assert wait(trouble, 1) == []


def test_one_feed_back_first_takes_its_own_cords_and_the_job_goes_on() -> None:
    trouble = begin()
    off(trouble)
    asked = wait(trouble, 60, "ol", "ob")
    assert asked == [
        [("power.on", "pdu/A1/outlet11")],
        [("power.on", "pdu/A1/outlet12")],
        [("job.resume", JOB)],
        [("notify", POWER)],
    ]
    assert wait(trouble, 60) == [[("power.on", "pdu/B1/outlet11")], [("power.on", "pdu/B1/outlet12")]]


def test_a_generator_brings_nothing_back() -> None:
    outage = Incident(id="i0", kind="power.outage", subject=POWER, scope=POWER, opened=START, severity=Severity.CRITICAL, text="")
    trouble = begin(settings=PowerSettings(generator=True), incidents=(outage,))
    off(trouble)
    assert wait(trouble, 60) == []
    trouble.world = World(topology=WIDE)
    assert wait(trouble, 1) != []


def test_what_has_the_frequency_of_a_generator_brings_nothing_back_either() -> None:
    trouble = begin()
    off(trouble)
    for hertz, asked in ((50.6, 0), (50.0, 1)):
        seen = []
        for _ in range(60):
            at = trouble.now + 1.0
            trouble.see([read(f"ups/{name}", "ups.input_frequency", hertz, at) for name in "AB"])
            seen += wait(trouble, 1)
        assert bool(seen) == bool(asked)


def test_a_cord_that_does_not_come_is_tried_three_times_and_then_a_persons() -> None:
    trouble = begin()
    off(trouble)
    wait(trouble, 30)
    tried, told = list[str](), list[str]()
    for _ in range(60):
        at = trouble.now + 1.0
        trouble.see(out(at, "ol", "ol"), job(at, "stopped"), supply(at))
        steps = trouble.ask()
        tried += [step.target for step in steps]
        dead = [step for step in steps if step.target == "pdu/A1/outlet11"]
        trouble.end(dead, Result.UNCONFIRMED)
        trouble.end([step for step in steps if step not in dead])
        told += [step.reason for step in steps if step.kind == "notify"]
    assert tried.count("pdu/A1/outlet11") == 3
    assert (tried.count(JOB), tried.count("pdu/B1/outlet12")) == (1, 1)  # the others do not wait for it
    assert told[0].endswith("Still off: pdu/A1/outlet11.")


def test_gone_again_in_the_middle_it_stops_again_and_forgets_no_cord() -> None:
    trouble = begin()
    off(trouble)
    wait(trouble, 31)  # n1 is on again
    trouble.see(out(trouble.now + 1.0), job(trouble.now + 1.0, "stopped", durable_age=100.0))
    on = [
        read(f"pdu/{feed}1/outlet{number}", "outlet.state", state, trouble.now)
        for feed in "AB"
        for number, state in ((11, "on"), (12, "off"))
    ]
    trouble.see(on)
    assert [sorted(batch) for batch in stop(trouble)] == [sorted(OFF[:2]), [("notify", POWER)]]
    wait(trouble, 30)
    back = wait(trouble, 30)
    assert sorted(target for batch in back for kind, target in batch if kind == "power.on") == sorted(target for _, target in OFF)


def test_just_started_a_job_that_is_not_heard_yet_is_not_taken_for_none() -> None:
    trouble = Trouble(find_remedy("power.reserve", site=WIDE), world=World(topology=WIDE))
    trouble.see(out(), supply(0.0))
    assert trouble.ask() == ()
    trouble.see(out(9.0), supply(9.0))
    assert trouble.ask() == ()  # nobody's power is cut
    trouble.see(out(10.0), supply(10.0))
    assert sorted(kinds(trouble.ask())) == sorted(OFF)  # there is none


def test_after_a_restart_a_stop_under_way_is_waited_for_though_its_job_is_not_heard() -> None:
    trouble = begin()
    trouble.see(out(1.0), job(1.0, durable_age=20.0, **TIMES))
    (stopping,) = trouble.ask()
    later = Trouble(find_remedy("power.reserve", site=WIDE), world=World(topology=WIDE))
    later.running.add(stopping.name)
    later.see(out(2.0), out(30.0), supply(30.0))
    assert later.ask() == ()
    later.end([stopping], Result.UNCONFIRMED)
    assert sorted(kinds(later.ask())) == sorted(OFF)


def test_a_restart_in_the_middle_goes_on_where_it_was() -> None:
    trouble = begin()
    off(trouble)
    later = begin()
    later.done, later.now = dict(trouble.done), 100.0
    assert wait(later, 30) == []  # its history is empty: 30 s begin anew
    assert wait(later, 1) == [[("power.on", "pdu/A1/outlet11"), ("power.on", "pdu/B1/outlet11")]]


def test_a_pdu_without_a_meter_is_given_a_stable_time_between() -> None:
    trouble = begin()
    trouble.history = type(trouble.history)(trouble.remedy.watches)
    trouble.see(out(-20.0), out(), job(durable_age=500.0, **TIMES))
    off(trouble)
    times = []
    for _ in range(100):
        at = trouble.now + 1.0
        trouble.see(out(at, "ol", "ol"), job(at, "stopped"), [read("cdu/0", "coolant.flow", 40.0, at)])
        steps = trouble.ask()
        trouble.end(steps)
        times += [at for step in steps if step.kind == "power.on"]
    assert [later - first for first, later in zip(times[::2], times[2::2], strict=False)] == [30.0]


def test_a_save_that_another_incident_asked_for_is_waited_for_as_long_as_one_takes() -> None:
    trouble = begin()
    trouble.see(out(1.0), job(1.0, "saving", request="saving", durable_age=500.0, **TIMES))
    assert trouble.ask() == ()
    trouble.see(out(60.0), job(60.0, request="durable", durable_age=5.0, **TIMES))
    assert kinds(trouble.ask()) == [("job.stop", JOB)]
    stuck = begin()
    stuck.see(out(71.0), job(71.0, request="asked", durable_age=500.0, **TIMES))
    assert kinds(stuck.ask()) == [("job.stop", JOB)]
