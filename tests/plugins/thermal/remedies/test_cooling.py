"""The steps of cooling: in their order, each with its time, as fast as dies demand and no faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from supernoded.model import Result, Severity, Step
from supernoded_thermal.node import NodeSettings
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, NAMES, START, Change, read
from tests.plugins.thermal.remedies.trouble import JOB, Trouble, dies, job, make_incident, orders

Changes = Mapping[tuple[str, str], Change]
LIFTED: Changes = {(CDU, "coolant.pressure_difference"): 100.0}
WARNING, CRITICAL = Severity.WARNING, Severity.CRITICAL
COOL = {**dies(55.0), **job(), **LIFTED}
NEAR = {**dies(87.0), **job(), **LIFTED}
PAST = {**dies(96.0), **job(), **LIFTED}
BURNING = {**dies(101.0), **job(), **LIFTED}
SILENT = {**dies(96.0), **job("silent"), **LIFTED}
BLIND: Changes = {**{(f"{name}/card{n}", "card.temperature"): None for name in NAMES for n in (0, 1)}, **job(), **LIFTED}

LADDER = ["coolant.flow", "fan.full", "cap 350", "job.checkpoint", "cap 200", "job.stop"]


@pytest.mark.parametrize(
    ("kind", "subject", "severity", "readings", "expected"),
    [
        # a loop that cannot give more: flow and fans at once, no cap while dies have room
        ("coolant.capacity", CDU, CRITICAL, COOL, LADDER[:2]),
        ("coolant.capacity", CDU, CRITICAL, NEAR, LADDER[:5]),
        ("coolant.capacity", CDU, CRITICAL, PAST, LADDER),
        ("coolant.capacity", CDU, CRITICAL, BLIND, LADDER[:5]),  # nobody sees them: capped and saved, and never stopped blindly
        ("coolant.capacity", CDU, CRITICAL, SILENT, [*LADDER[:3], "cap 200", "job.stop"]),  # no checkpoint can be had of it
        # less flow than there should be; more pressure may bring it
        ("coolant.flow", CDU, WARNING, COOL, LADDER[:1]),
        # no flow: caps and checkpoint at once, in parallel; pumps are not asked for more
        ("coolant.flow", CDU, CRITICAL, COOL, ["cap 350", "job.checkpoint", "fan.full"]),
        ("coolant.pump", CDU, CRITICAL, PAST, ["cap 350", "job.checkpoint", "fan.full", "cap 200", "job.stop"]),
        # a pump that was taken over, and lost primary water: more pressure is no help
        ("coolant.pump", CDU, WARNING, COOL, []),
        ("coolant.pump", CDU, WARNING, NEAR, LADDER[1:5]),
        ("coolant.primary", CDU, CRITICAL, NEAR, LADDER[1:5]),
        # heat of the loop, a node, a card
        ("heat", CDU, WARNING, NEAR, LADDER[:5]),
        ("heat", "n1", WARNING, NEAR, LADDER[1:5]),
        ("heat", "n1/card1", CRITICAL, PAST, LADDER[1:]),
        ("heat", "n1/card1", WARNING, COOL, ["fan.full"]),  # hotter than its peers, and far from any limit
    ],
)
def test_the_order(kind: str, subject: str, severity: Severity, readings: Changes, expected: list[str]) -> None:
    trouble = Trouble(kind, subject, severity=severity)
    assert orders(trouble.play(400, readings)) == expected


def times(steps: Iterator[tuple[float, Step]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for at, step in steps:
        if step.kind != "notify":
            found.setdefault(step.name.split("-")[1], at)
    return found


def test_each_step_is_given_its_time_and_none_is_when_there_is_none_left() -> None:
    calm = times(Trouble("coolant.capacity", severity=CRITICAL).play(400, NEAR))
    assert calm == {"flow": 0.0, "fans": 30.0, "cap": 60.0, "save": 90.0, "low": 120.0}
    pressed = times(Trouble("coolant.capacity", severity=CRITICAL).play(400, PAST))
    assert pressed == {"flow": 0.0, "fans": 5.0, "cap": 10.0, "save": 15.0, "low": 15.0, "stop": 20.0}


def test_a_rise_that_will_be_too_much_is_answered_before_it_is() -> None:
    """60 C and rising by half a kelvin a second: 70 s to where they slow down."""
    trouble, seen = Trouble("coolant.primary", severity=CRITICAL), dict[str, float]()
    for second in range(25):
        for at, step in trouble.play(1, {**dies(60.0 + second / 2.0), **job()}, every=1.0):
            seen.setdefault(step.name.split("-")[1], at)
    assert seen.pop("tell") == 0.0
    assert list(seen) == ["fans", "cap", "save", "low"]  # before 73 C, where it would be 50 s from the beginning till 85
    assert seen["cap"] >= seen["fans"] + 5.0


def test_a_step_that_is_under_way_is_waited_for() -> None:
    trouble = Trouble("coolant.capacity", severity=CRITICAL)
    trouble.see(PAST)
    (flow,) = trouble.ask()
    trouble.running.add(flow.name)
    trouble.now = 100.0
    trouble.see(PAST)
    assert trouble.ask() == ()


def test_a_save_that_takes_its_time_delays_no_lower_cap_and_no_stop_at_the_limit() -> None:
    trouble = Trouble("coolant.pump", severity=CRITICAL)
    trouble.see(PAST)
    first = trouble.ask()
    trouble.running |= {step.name for step in first if step.kind == "job.checkpoint"}
    trouble.end([step for step in first if step.kind == "power.cap"])
    assert orders(trouble.play(100, PAST)) == ["fan.full", "cap 200", "job.stop"]


@pytest.mark.parametrize("result", [Result.UNCONFIRMED, Result.REFUSED, Result.EXPIRED])
def test_what_comes_to_nothing_does_not_stop_the_way(result: Result) -> None:
    results = dict.fromkeys(("coolant.flow", "fan.full", "power.cap", "job.checkpoint"), result)
    assert orders(Trouble("coolant.capacity", severity=CRITICAL).play(400, PAST, results)) == LADDER


def test_flow_is_what_pumps_hold_and_a_little_more() -> None:
    steps = [step for _, step in Trouble("coolant.capacity").play(1, COOL)]
    assert next((step.kind, step.target, step.amount) for step in steps) == ("coolant.flow", CDU, 120.0)


@pytest.mark.parametrize(("held", "asked"), [(140.0, 150.0), (160.0, 160.0)])
def test_no_more_pressure_is_asked_than_is_set_as_the_most(held: float, asked: float) -> None:
    steps = [step for _, step in Trouble("coolant.capacity").play(1, {**COOL, (CDU, "coolant.pressure_asked"): held})]
    assert next(step.amount for step in steps if step.kind == "coolant.flow") == asked


def test_without_a_pressure_to_go_by_fans_are_first() -> None:
    assert orders(Trouble("coolant.capacity", severity=CRITICAL).play(10, {**dies(55.0)})) == ["fan.full"]


def test_our_own_fan_loop_is_not_overridden() -> None:
    settings = ThermalSettings(node=NodeSettings(fans="loop"))
    assert orders(Trouble("heat", "n1", settings=settings).play(100, NEAR)) == ["cap 350", "job.checkpoint", "cap 200"]


def test_heat_is_answered_at_its_node_alone() -> None:
    steps = list(Trouble("heat", "n1/card1", severity=CRITICAL).play(400, BURNING))
    assert {step.target for _, step in steps if step.kind in {"fan.full", "power.cap"}} == {"n1"}
    merged = list(Trouble("heat", CDU, severity=CRITICAL, members=("n1/card0", "n2/card1")).play(400, NEAR))
    assert {step.target for _, step in merged if step.kind in {"fan.full", "power.cap"}} == {"n1", "n2"}
    assert "coolant.flow" not in orders(merged)


def test_heat_of_a_loop_is_answered_as_what_explains_it() -> None:
    other = make_incident("coolant.pump", CDU, CRITICAL)
    trouble = Trouble("heat", CDU, severity=CRITICAL, others=(other,))
    assert list(trouble.play(30, PAST)) == []
    assert orders(trouble.play(100, PAST)) == LADDER  # it may be over, and open for a cap that still stands
    elsewhere = make_incident("coolant.pump", "cdu/1", CRITICAL)
    assert orders(Trouble("heat", CDU, severity=CRITICAL, others=(elsewhere,)).play(100, PAST)) == LADDER


def test_no_setpoint_is_ever_lowered() -> None:
    """A hot card in a humid hall is not cooled below the dew floor: no order of a remedy touches the temperature that is held."""
    for kind in ("heat", "coolant.capacity", "coolant.primary", "coolant.flow", "coolant.pump"):
        kinds = {step.kind for _, step in Trouble(kind, severity=CRITICAL).play(400, BURNING)}
        assert kinds <= {"coolant.flow", "fan.full", "power.cap", "job.checkpoint", "job.stop", "power.off", "notify"}


def test_over_temperature_that_goes_on_after_the_stop_takes_the_nodes_own_cords() -> None:
    trouble = Trouble("heat", "n1", severity=CRITICAL)
    first = list(trouble.play(25, {**dies(55.0, n1=101.0), **job(), **LIFTED}))
    assert orders(first)[-1] == "job.stop"
    then = list(trouble.play(100, {**dies(55.0, n1=101.0), **job("stopped"), **LIFTED}))
    assert [step.target for _, step in then if step.kind == "power.off"] == ["pdu/A1/outlet2", "pdu/B1/outlet2"]


@pytest.mark.parametrize("celsius", [96.0, 88.0])
def test_a_stopped_node_that_cools_keeps_its_power(celsius: float) -> None:
    trouble = Trouble("heat", "n1", severity=CRITICAL)
    list(trouble.play(25, {**dies(55.0, n1=101.0), **job(), **LIFTED}))
    assert "power.off" not in orders(trouble.play(200, {**dies(55.0, n1=celsius), **job("stopped"), **LIFTED}))


def test_the_own_node_is_the_last() -> None:
    trouble = Trouble("coolant.flow", severity=CRITICAL)
    list(trouble.play(25, {**BURNING}))
    steps = [step for _, step in trouble.play(200, {**dies(101.0), **job("stopped")}) if step.kind == "power.off"]
    assert [step.details["node"] for step in steps] == ["n1", "n1", "n2", "n2", "n3", "n3", "n0", "n0"]


def test_what_still_rises_is_not_waited_for_till_it_breaks() -> None:
    """The save takes its minutes, and so does the stop: at 95 C the stop is ordered all the same, above 100 the cords are opened."""
    trouble, seen = Trouble("coolant.flow", severity=CRITICAL), dict[str, float]()
    for second in range(40):
        celsius = 70.0 + 0.9 * second
        trouble.see({**dies(celsius), **job()})
        for step in trouble.ask():
            seen.setdefault(step.kind, celsius + 1.0)
            if step.kind.startswith("job."):
                trouble.running.add(step.name)
            else:
                trouble.end([step])
        trouble.now += 1.0
    assert list(seen)[:2] == ["power.cap", "job.checkpoint"]
    assert 95.0 <= seen["job.stop"] < 97.0
    assert 100.0 <= seen["power.off"] < 102.0


def test_no_cord_is_cut_before_a_job_would_have_been_heard_of() -> None:
    """The role has just been taken over: what runs has not been heard yet."""
    trouble = Trouble("heat", "n1", severity=CRITICAL)
    assert "power.off" not in orders(trouble.play(5, dies(55.0, n1=101.0)))


def test_people_hear_one_sentence_for_each_step_that_waits() -> None:
    notices = [step.reason for _, step in Trouble("coolant.capacity", severity=CRITICAL).play(400, NEAR) if step.kind == "notify"]
    assert len(notices) == 5
    assert "More flow asked for: 1 of 1 seen" in notices[0]
    assert "nodes capped: 4 of 4 seen" in notices[2]
    assert all("the hottest die is at 88 C, 95 C is where it slows down" in one for one in notices)


def test_a_cap_that_another_lifts_is_set_again_a_few_times() -> None:
    trouble = Trouble("heat", "n1", severity=WARNING)
    list(trouble.play(50, NEAR))
    lifted: Changes = {**NEAR, ("n1/card0", "card.power_cap"): 600.0}
    again = [step for _, step in trouble.play(200, lifted) if step.name.startswith("1-recap")]
    assert [step.target for step in again] == ["n1"] * 3
    assert {step.amount for step in again} == {350.0}


DRAINS = ThermalSettings(drain=True)


def test_a_hot_node_is_drained_between_checkpoint_and_lower_cap_where_that_is_wanted() -> None:
    steps = list(Trouble("heat", "n1", settings=DRAINS).play(200, NEAR))
    kinds = [step.kind for _, step in steps if step.kind in {"job.checkpoint", "node.drain"} or step.amount == 200.0]
    assert kinds[:3] == ["job.checkpoint", "node.drain", "power.cap"]
    assert [step.target for _, step in steps if step.kind == "node.drain"] == ["n1"]
    assert "node.drain" not in orders(Trouble("heat", "n1").play(200, NEAR))
    assert "node.drain" not in orders(Trouble("heat", "n1", settings=DRAINS).play(200, COOL))
    assert "node.drain" not in orders(Trouble("coolant.capacity", severity=CRITICAL, settings=DRAINS).play(200, NEAR))  # four nodes


@pytest.mark.parametrize("result", [Result.REFUSED, Result.EXPIRED, Result.UNCONFIRMED])
def test_a_drain_that_nobody_can_make_stops_nothing(result: Result) -> None:
    trouble = Trouble("heat", "n1", severity=CRITICAL, settings=DRAINS)
    assert orders(trouble.play(400, PAST, {"node.drain": result}))[-1] in {"job.stop", "power.off"}
    releases = [step for step in clear(trouble, COOL) if step.kind == "node.release"]
    assert len(releases) == (1 if result is Result.UNCONFIRMED else 0)


def test_a_drained_node_is_given_back_and_asked_for_twice_when_it_is_not_seen() -> None:
    trouble = Trouble("heat", "n1", settings=DRAINS)
    list(trouble.play(200, NEAR))
    trouble.raised = False
    steps = [step for _, step in trouble.play(3, COOL, {"node.release": Result.UNCONFIRMED})]
    assert [step.target for step in steps if step.kind == "node.release"] == ["n1", "n1"]


def clear(trouble: Trouble, readings: Changes) -> list[Step]:
    trouble.raised = False
    return [step for _, step in trouble.play(3, readings)]


def test_all_is_undone_when_it_is_over() -> None:
    trouble = Trouble("coolant.capacity", severity=CRITICAL)
    list(trouble.play(110, NEAR))
    asked: Changes = {**COOL, (JOB, "job.request"): "asked"}
    steps = clear(trouble, asked)
    assert {(step.kind, step.target, step.amount) for step in steps if step.kind != "notify"} == {
        ("job.withdraw", JOB, None),
        *(("power.cap", name, None) for name in NAMES),
        *(("fan.auto", name, None) for name in NAMES),
        ("coolant.flow", CDU, None),
    }
    assert steps[-1].kind == "notify"
    assert "caps lifted: 4 of 4 seen" in steps[-1].reason
    assert clear(trouble, asked) == []


def test_a_save_that_ranks_have_agreed_on_is_not_withdrawn() -> None:
    trouble = Trouble("coolant.capacity", severity=CRITICAL)
    list(trouble.play(110, NEAR))
    assert "job.withdraw" not in {step.kind for step in clear(trouble, {**COOL, (JOB, "job.request"): "agreed"})}


def keeps_open(trouble: Trouble) -> bool:
    return bool(trouble.remedy.keeps_open(trouble.make_case(), trouble.world))


def test_a_node_that_is_still_hot_stays_capped_till_it_is_cool_and_so_long_it_stays_open() -> None:
    trouble = Trouble("coolant.capacity", severity=CRITICAL)
    list(trouble.play(110, NEAR))
    steps = clear(trouble, {**dies(55.0, n2=88.0), **job()})
    assert {step.target for step in steps if step.kind == "power.cap"} == {"n0", "n1", "n3"}
    assert "Still capped: n2" in steps[-1].reason
    assert keeps_open(trouble)
    trouble.now += 600.0
    late = clear(trouble, COOL)
    assert [(step.kind, step.target) for step in late] == [("power.cap", "n2"), ("notify", CDU)]
    assert "the last caps are off (n2)" in late[-1].reason
    assert not keeps_open(trouble)


def test_on_battery_caps_stay_and_are_lifted_after_it() -> None:
    trouble = Trouble("coolant.capacity", severity=CRITICAL, others=(make_incident("power.outage", "power/site"),))
    list(trouble.play(110, NEAR))
    assert "power.cap" not in {step.kind for step in clear(trouble, COOL)}
    assert keeps_open(trouble)
    trouble.world = Trouble("heat").world
    assert {step.target for step in clear(trouble, COOL) if step.kind == "power.cap"} == set(NAMES)
    assert not keeps_open(trouble)


def test_a_node_that_never_answers_is_told_by_name_and_keeps_nothing_open() -> None:
    trouble = Trouble("heat", "n1")
    list(trouble.play(50, NEAR))
    trouble.raised = False
    steps = [step for _, step in trouble.play(5, COOL, {"power.cap": Result.UNCONFIRMED})]
    assert "Not seen lifted in 3 tries: n1; lift the cap by hand" in steps[-1].reason
    assert not keeps_open(trouble)


def test_what_was_done_for_incidents_that_were_taken_over_is_undone_as_well() -> None:
    """Their records stay with them; what shows the very cap that we set, and fans at full speed, are ours."""
    trouble = Trouble("heat", CDU, members=("n1/card0", "n2/card1"))
    trouble.raised = False
    ours: Changes = {("n1", "fan.control"): "full", **{(f"n1/card{n}", "card.power_cap"): 350.0 for n in (0, 1)}}
    theirs: Changes = {(f"n2/card{n}", "card.power_cap"): 400.0 for n in (0, 1)}
    steps = [(step.kind, step.target) for _, step in trouble.play(5, {**COOL, **ours, **theirs})]
    assert steps == [("power.cap", "n1"), ("fan.auto", "n1"), ("notify", CDU)]


def test_a_cap_that_is_not_seen_lifted_is_lifted_again() -> None:
    trouble = Trouble("heat", "n1")
    list(trouble.play(50, NEAR))
    trouble.raised = False
    lifts = [step.name for _, step in trouble.play(5, COOL, {"power.cap": Result.UNCONFIRMED}) if step.kind == "power.cap"]
    assert lifts == ["1-lift-n1", "1-lift2-n1", "1-lift3-n1"]


def test_trouble_that_comes_back_begins_another_round() -> None:
    trouble = Trouble("coolant.capacity", severity=CRITICAL)
    list(trouble.play(40, COOL))
    clear(trouble, COOL)
    trouble.raised = True
    assert {step.name for _, step in trouble.play(1, COOL)} >= {"2-flow-cdu/0"}


def test_a_rehearsal_shows_the_way_as_far_as_dies_demand() -> None:
    trouble = Trouble("coolant.capacity", severity=CRITICAL)
    trouble.see(NEAR)
    kinds: list[str] = []
    while steps := trouble.ask():
        kinds += [step.kind for step in steps if step.kind != "notify"]
        trouble.end(steps, text="assumed")
    assert list(dict.fromkeys(kinds)) == ["coolant.flow", "fan.full", "power.cap", "job.checkpoint"]


GAP: Changes = {(CDU, "coolant.flow"): 2.0}


@pytest.mark.parametrize(
    ("celsius", "expected"),
    [(55.0, []), (80.0, ["cap 350", "job.checkpoint"])],  # 40 K are enough for 12 s and a cap, 15 K are not
)
def test_a_takeover_is_waited_for_while_dies_have_the_time(celsius: float, expected: list[str]) -> None:
    trouble = Trouble("coolant.pump")
    trouble.see({(CDU, "coolant.flow"): 30.0})
    trouble.now = 1.0
    readings = {**dies(celsius), **job(), **GAP}
    assert orders(trouble.play(3, readings, every=1.0)) == expected
    if not expected:
        trouble.incident = make_incident("coolant.pump", CDU, CRITICAL)
        assert orders(trouble.play(3, readings, every=1.0)) == ["cap 350", "job.checkpoint"]


def test_a_cap_is_not_set_again_by_what_was_read_before_it_was() -> None:
    """A BMC that is asked every two minutes shows the old cap till then."""
    trouble = Trouble("heat", "n1")
    list(trouble.play(50, NEAR))
    capped = trouble.done["1-cap-n1"].at - START
    trouble.history.add([read("n1/card0", "card.power_cap", 600.0, capped - 1.0)], 120.0)
    assert [step.name for _, step in trouble.play(60, NEAR) if "recap" in step.name] == []
    trouble.see({("n1/card0", "card.power_cap"): 600.0})
    assert [step.name for step in trouble.ask()] == ["1-recap1-n1"]


def test_a_life_that_has_just_begun_takes_nothing_unheard_for_hot() -> None:
    trouble = Trouble("coolant.flow", severity=WARNING)
    trouble.now = 500.0
    assert orders(trouble.play(8, LIFTED)) == ["coolant.flow"]  # dies are told within two digests
    assert "cap 350" in orders(trouble.play(100, LIFTED))  # nobody tells them: they may be hot


@pytest.mark.parametrize(
    ("celsius", "age", "cut"),
    [(101.0, 0.0, True), (101.0, 8.0, False), (150.0, 0.0, False)],  # read now; 8 s ago, and fresh for 5; further than a die can come
)
def test_no_cord_is_cut_for_what_is_no_longer_read_or_leaps(celsius: float, age: float, cut: bool) -> None:
    trouble = Trouble("heat", "n1", severity=CRITICAL)
    list(trouble.play(60, {**dies(55.0, n1=97.0), **job(), **LIFTED}))
    assert "power.off" not in orders(trouble.play(40, {**dies(55.0, n1=97.0), **job("stopped"), **LIFTED}))
    trouble.see({**dies(55.0, n1=celsius), **job("stopped")})
    trouble.now += age
    assert ("power.off" in {step.kind for step in trouble.ask()}) is cut


def test_people_are_told_what_is_waited_for() -> None:
    (unit,) = [step.reason for _, step in Trouble("coolant.pump").play(1, {**COOL, **GAP}) if step.kind == "notify"]
    assert "Its standby has 12 s to take over before cards are capped; the hottest die is at 56 C" in unit
    (pump,) = [step.reason for _, step in Trouble("coolant.pump", f"{CDU}/pump0").play(1, COOL)]
    assert pump.endswith("look. Nothing was ordered.")
