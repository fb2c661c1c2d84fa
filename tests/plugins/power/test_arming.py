"""Arming by lease, and the alarm about it (safety rules 5 to 7 and 14)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import supernoded_power
from supernoded.model import Level, Reading, Value
from supernoded.plugin import Loop
from supernoded.topology import Topology
from supernoded_power.settings import PowerSettings
from tests.plugins.power.site import SITE, Bench, find_rule, level, make_node, make_site, read, ups, view

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE
AIR = make_site(nodes=[{**node, "loop": ""} for node in SITE["nodes"]])


def find_loop(site: Topology | None = None, settings: PowerSettings | None = None) -> Loop[Any]:
    loops = supernoded_power.supernoded_loops(settings or PowerSettings(), make_node(Path(), site))
    return loops[0]


def cool(at: float = 0.0, **other: Any) -> list[Reading]:
    """All is well; `other` sets one of optic, limit, host, host1, flow, card."""
    now: dict[str, Value] = {"optic": 50.0, "limit": 75.0, "host": 60.0, "host1": 60.0, "flow": 40.0, **other}
    return [
        read("n0/card0/port0", "link.temperature", now["optic"], at),
        read("n0/card0/port0", "link.temperature.high", now["limit"], at),
        read("n0/board", "host.temperature", now["host"], at),
        read("n1/board", "host.temperature", now["host1"], at),
        read("cdu/0", "coolant.flow", now["flow"], at),
    ]


def events(count: float, event: str = "armed", at: float = 0.0, age: float | None = None) -> list[Reading]:
    """The PDU's own record, as one look tells it."""
    told: dict[str, Value | None] = {"event": event, "event_count": count, "event_age": age}
    return [read("pdu/A1", f"pdu.{name}", value, at) for name, value in told.items()]


def lease_for(
    readings: list[Reading],
    site: Topology | None = None,
    at: float = 0.0,
    fresh_for: float = 5.0,
    settings: PowerSettings | None = None,
) -> float | None:
    loop = find_loop(site, settings)
    known = any(one.quantity == "pdu.event_count" for one in readings)
    seen = readings if known else [*readings, *events(1.0, at=at)]
    _, setpoint = loop.steer(view(loop.watches, seen, at, fresh_for), loop.start(None))
    if setpoint is None:
        return None
    assert (setpoint.target, setpoint.quantity, setpoint.unit) == ("pdu/A1/shed", "pdu.lease_left", "s")
    return setpoint.value


def is_armed(readings: list[Reading], site: Topology | None = None, at: float = 0.0, fresh_for: float = 5.0) -> bool:
    return lease_for(readings, site, at, fresh_for) is not None


def test_there_is_a_loop_for_each_pdu_that_may_shed() -> None:
    pdus = [*SITE["pdus"], {"name": "A2", "feed": "A", "outlets": [{"number": 1, "load": "n0"}]}]
    loops = supernoded_power.supernoded_loops(PowerSettings(), make_node(Path(), make_site(pdus=pdus)))
    assert [(loop.scope, loop.target, loop.period) for loop in loops] == [("feed/A", "pdu/A1/shed", 30.0), ("feed/B", "pdu/B1/shed", 30.0)]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({}, True),
        ({"optic": 60.0}, True),
        ({"optic": 61.0}, False),  # of 70 C, 9 K are left
        ({"limit": 59.0}, False),  # its own limit is lower
        ({"limit": None}, True),  # ours stands in
        ({"host": 76.0}, False),
        ({"host1": 76.0}, False),  # the worst node counts
        ({"flow": 0.0}, False),
        ({"flow": None}, False),
        ({"host1": None}, False),  # nothing of n1 is measured
        ({"optic": None}, True),  # n0 is still seen by its board
        ({"optic": None, "host": None}, False),
    ],
)
def test_the_thermal_budget(other: dict[str, Any], expected: bool) -> None:
    assert is_armed([*ups("A", "ol"), *cool(**other)]) is expected


def test_regulators_may_be_hotter() -> None:
    assert is_armed([*ups("A", "ol"), *cool(), read("n0/sensor/VRM0", "host.temperature", 99.0)])
    assert not is_armed([*ups("A", "ol"), *cool(), read("n0/sensor/VRM0", "host.temperature", 101.0)])


@pytest.mark.parametrize(("celsius", "armed"), [(59.0, True), (61.0, False)])
def test_modules_that_the_board_measures_have_their_own_limit(celsius: float, armed: bool) -> None:
    assert is_armed([*ups("A", "ol"), *cool(), read("n0/sensor/fan0/Optics", "host.temperature", celsius)]) == armed


def test_a_limit_that_is_none_is_not_believed_and_a_broken_sensor_is_not_cold() -> None:
    assert is_armed([*ups("A", "ol"), *cool(), read("n0/board", "host.temperature.high", 0.0)])
    assert not is_armed([*ups("A", "ol"), *cool(host=0.0, optic=0.0)])


def test_a_part_that_tells_its_limit_has_that() -> None:
    hot = [read("n0/board", "host.temperature.high", 100.0)]
    assert is_armed([*ups("A", "ol"), *cool(host=88.0), *hot])
    assert not is_armed([*ups("A", "ol"), *cool(host=91.0), *hot])
    assert not is_armed([*ups("A", "ol"), *cool(host=60.0), read("n0/board", "host.temperature.high", 65.0)])


def test_what_was_never_measured_is_not_armed() -> None:
    assert not is_armed(ups("A", "ol"))
    assert not is_armed([*ups("A", "ol"), *(one for one in cool() if one.subject != "n1/board")])


def test_only_fresh_readings_count() -> None:
    assert not is_armed([*ups("A", "ol", at=9.0), *cool()], at=9.0)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("ol", True),
        ("ol chrg", True),
        ("ob", True),  # a lease in an outage is renewed: the next sag may come
        ("ob lb", True),
        ("ol lb", True),
        ("ol bypass", False),
        ("ol eco", False),
        ("off", False),
        ("ol ob", False),
        ("ob cal", False),
        ("ol fsd", False),
        ("", False),
        ("ol strange", False),
        (None, False),
    ],
)
def test_a_ups_may_forbid_it(flags: str | None, expected: bool) -> None:
    assert is_armed([*ups("A", flags), *cool()]) is expected


def test_cards_in_the_air_are_counted_apart() -> None:
    def cards(hot: float | None) -> list[Reading]:
        return [read(f"n{node}/card{card}", "card.temperature", hot) for node in (0, 1) for card in (0, 1)]

    well = [*ups("A", "ol"), *cool(flow=None)]  # no loop, so no flow is asked for
    assert is_armed([*well, *cards(70.0)], AIR)
    assert not is_armed([*well, *cards(76.0)], AIR)
    assert not is_armed([*well, *cards(70.0)[:3]], AIR)
    assert not is_armed([*well, *cards(None)], AIR)
    assert is_armed([*ups("A", "ol"), *cool(), *cards(95.0)])  # in liquid it is none of the air's


def fire(times: int, begin: float = 0.0) -> list[Reading]:
    """A look at every event of so many sheds, the last of them restored at `begin` and 10 s for each event."""
    words = ["armed", *(word for _ in range(times) for word in ("fired", "restored"))]
    return [one for number, word in enumerate(words) for one in events(number + 1.0, word, begin + 10.0 * number)]


def lease_at(at: float, *record: list[Reading]) -> float | None:
    return lease_for([*(one for some in record for one in some), *ups("A", "ol", at=at), *cool(at)], at=at)


def test_a_lease_is_of_two_minutes_however_long_fans_may_stand_still() -> None:
    assert lease_for([*ups("A", "ol"), *cool()], settings=PowerSettings(shed_most_s=600.0)) == 120.0


def test_the_time_of_standing_fans_is_bounded() -> None:
    assert lease_at(200.0, fire(0), events(1.0, at=200.0)) == 120.0
    assert lease_at(200.0, fire(8), events(17.0, "restored", 200.0)) == 40.0  # 80 of 120 s: no longer than what is left
    assert lease_at(200.0, fire(9), events(19.0, "restored", 200.0)) is None
    assert lease_at(4000.0, fire(9), events(19.0, "restored", 4000.0, age=3830.0)) == 120.0  # more than an hour ago
    assert lease_at(200.0, fire(9)) is None  # and not known how often since


@pytest.mark.parametrize(
    ("count", "event", "age", "lease"),
    [
        (1.0, "armed", 40.0, 120.0),  # it has never fired: where nothing has been, the moment of it may read anything
        (3.0, "restored", 40.0, 110.0),
        (17.0, "restored", 40.0, 40.0),  # every event since it started may be of this hour
        (19.0, "restored", 40.0, None),
        (19.0, "restored", None, None),  # when it fired last it does not tell
        (18.0, "fired", 4.0, None),
        (70_000.0, "restored", 3_500.0, None),
        (70_000.0, "restored", 3_601.0, 120.0),
        (0.0, "none", None, 120.0),
    ],
)
def test_who_has_just_begun_to_look_goes_by_the_record_of_the_pdu(count: float, event: str, age: float | None, lease: float | None) -> None:
    """After a restart, or where another node has armed it till now: the fans have stood still all the same."""
    assert lease_at(0.0, events(count, event, age=age)) == lease


def test_sheds_between_two_looks_count_and_so_do_those_before_it_started_anew() -> None:
    assert lease_at(60.0, events(1.0), events(9.0, "restored", 60.0, age=5.0)) == 80.0
    assert lease_at(60.0, events(1.0), events(8.0, "fired", 60.0, age=5.0)) == 80.0
    assert lease_at(60.0, fire(2), events(2.0, "armed", 60.0)) == 90.0  # two before, and one may be since


def test_without_a_record_that_can_be_read_it_is_not_armed_and_says_so() -> None:
    silent = [read("pdu/A1", "pdu.event_count", None, note="no answer"), read("pdu/A1", "pdu.event", None)]
    assert lease_at(0.0, silent) is None
    bench = Bench(find_rule("power.arming"))
    for at in (0.0, 95.0):
        bench.tell([*stand(at, armed=0.0), read("pdu/A1", "pdu.event_count", None, at, note="no answer")])
    assert (
        "how long fans stood still in the last hour cannot be told: pdu.event_count of pdu/A1: no answer" in bench.ask(95.0)["pdu/A1"].text
    )


def stand(at: float = 0.0, *, armed: float | None = 1.0, group: set[str] | None = None, **more: Value | set[str]) -> list[Reading]:
    named: dict[str, Value | set[str]] = {"group": group or {"3", "4"}, "restore_s": 10.0, "event": "armed", "event_count": 1.0, **more}
    return [
        *ups("A", "ol", at=at),
        *cool(at),
        read("pdu/A1", "pdu.armed", armed, at),
        *(read("pdu/A1", f"pdu.{name}", value, at) for name, value in named.items()),
    ]


@pytest.mark.parametrize(
    ("readings", "expected", "said"),
    [
        (stand(), CLEAR, "pdu/A1 is armed"),
        (stand(armed=None), UNSURE, "cannot be seen"),
        (stand(armed=0.0), UNSURE, "is not armed for 0 s"),
        (stand(armed=0.0, event="expired"), RAISED, "its lease ran out"),
        (stand(group={"3"}), RAISED, "its group is outlets 3, described is outlets 3, 4"),
        (stand(group={"3", "4", "5"}), RAISED, "its group is outlets 3, 4, 5, described is outlets 3, 4"),
        (stand(restore_s=60.0), RAISED, "its restore timer is at 60 s, described are 10 s"),
        (stand(sheddable={"3"}), RAISED, "it lets outlets 3 be shed"),
        (stand(sheddable={"3", "4", "9"}), CLEAR, "is armed"),
    ],
)
def test_the_alarm_says_which(readings: list[Reading], expected: Level, said: str) -> None:
    verdict = Bench(find_rule("power.arming")).tell(readings)["pdu/A1"]
    assert (verdict.level, said in verdict.text) == (expected, True), verdict.text


def test_an_expired_lease_says_why_it_was_not_renewed() -> None:
    hot = [one for one in stand(armed=0.0, event="expired") if one.quantity != "coolant.flow"]
    text = Bench(find_rule("power.arming")).tell(hot)["pdu/A1"].text
    assert text == (
        "pdu/A1 is not armed: its lease ran out, and it was not renewed: "
        "whether cdu/0 flows is not known (coolant.flow of cdu/0: never read)"
    )


def test_what_is_not_armed_for_want_of_headroom_is_told_after_a_while() -> None:
    bench = Bench(find_rule("power.arming"))
    hot = [[*stand(at, armed=0.0, event="none"), *cool(at, host=80.0)] for at in (0.0, 89.0, 90.0)]
    assert [level(bench, "pdu/A1", readings) for readings in hot] == [UNSURE, UNSURE, RAISED]
    assert "n0/board is 5 K below its limit, where 10 K are needed" in bench.ask(90.0)["pdu/A1"].text


def test_what_was_armed_and_is_disarmed_is_told_what_never_was_is_not() -> None:
    bench = Bench(find_rule("power.arming"))
    assert [level(bench, "pdu/A1", stand(at, armed=0.0, event="none")) for at in (0.0, 100.0)] == [UNSURE, UNSURE]
    level(bench, "pdu/A1", stand(110.0))
    assert level(bench, "pdu/A1", stand(120.0, armed=0.0, event="disarmed")) is UNSURE
    verdict = bench.tell(stand(220.0, armed=0.0, event="disarmed"))["pdu/A1"]
    assert (verdict.level, verdict.text) == (RAISED, "pdu/A1 was disarmed")


def test_a_shed_does_not_raise_the_alarm() -> None:
    bench = Bench(find_rule("power.arming"))
    level(bench, "pdu/A1", stand())
    levels = [level(bench, "pdu/A1", stand(at, armed=0.0, event=word)) for at, word in ((5.0, "fired"), (15.0, "restored"))]
    assert [*levels, level(bench, "pdu/A1", stand(40.0))] == [UNSURE, UNSURE, CLEAR]


def test_a_pdu_that_has_no_group_to_arm_is_told_as_nothing_of_it_is_ever_shed() -> None:
    bench = Bench(find_rule("power.arming"))
    assert bench.tell(ups("A", "ol")) == {}  # nothing is read of any PDU
    verdicts = [bench.tell([*ups("A", "ol", at=at), read("pdu/A1/outlet3", "outlet.state", "on", at)])["pdu/A1"] for at in (1.0, 95.0)]
    assert [verdict.level for verdict in verdicts] == [UNSURE, RAISED]
    assert "no group that it would shed and close again by itself" in verdicts[1].text
