from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from supernoded.admin.diagnosing import choose_incidents, choose_readings, diagnose, find_related, order_verdicts, say_unknown
from supernoded.admin.linking import list_links, natural
from supernoded.errors import NotFoundError
from supernoded.model import Incident, Level, Reading, Severity, State, Value, Verdict
from supernoded.topology import Cable, Ring, RingLevel, Supernode, Topology

PORT, PEER = "n0/card3/port0", "n0/card10/port1"
SITE = Topology(
    nodes=(Supernode(name="n0", cards=11),),
    cables=(Cable(a=PORT, b=PEER),),
    rings=(Ring(name="r", level=RingLevel.BACKPLANE, order=("n0/card3", "n0/card10")),),
)


def read(quantity: str, value: Value, subject: str = PORT, source: str = "") -> Reading:
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=subject, quantity=quantity, value=value, unit="1", at=1.0, state=state, source=source)


def say(kind: str, level: Level, subject: str = PORT, severity: Severity = Severity.WARNING) -> Verdict:
    return Verdict(kind=kind, subject=subject, level=level, text=f"{kind} of {subject}", at=1.0, severity=severity)


def test_a_row_has_what_is_known_and_the_worst_word() -> None:
    readings = [
        read("link.state", 1.0),
        read("link.speed", 200.0),
        read("link.fec", "rs-fec"),
        read("link.rx_power", None),
        read("link.neighbour", PEER),
        read("link.rx_power", 0.3, f"{PORT}/lane0"),
        read("link.state", 0.0, PEER),
    ]
    verdicts = [
        say("link.down", Level.CLEAR),
        say("link.optic", Level.RAISED),
        say("link.ber", Level.RAISED, severity=Severity.CRITICAL),
        say("link.ber", Level.UNSURE, PEER),
        say("card.fault", Level.RAISED, PEER),
    ]
    first, second = list_links(readings, verdicts, SITE)
    assert (first.subject, first.state, first.speed, first.fec, first.rx_power) == (PORT, "up", 200.0, "rs-fec", None)
    assert (first.peer, first.neighbour, first.kinds) == (PEER, PEER, ("link.ber", "link.optic"))
    assert (first.level, first.severity, first.text) == (Level.RAISED, Severity.CRITICAL, f"link.ber of {PORT}")
    assert (second.subject, second.state, second.level, second.kinds) == (PEER, "down", Level.UNSURE, ())


def test_sources_that_contradict_each_other_are_a_conflict_and_silence_is_unknown() -> None:
    (torn,) = list_links([read("link.state", 1.0, source="a"), read("link.state", 0.0, source="b")], [], SITE)
    (dark,) = list_links([read("link.state", None)], [], SITE)
    assert (torn.state, dark.state, dark.text) == ("conflict", "unknown", "no rule has judged it")


def test_numbers_in_names_are_sorted_as_numbers() -> None:
    names = ["n10/card2", "n2/card10/port0", "n2/card9/port1", "n2/card9/port0"]
    assert sorted(names, key=natural) == ["n2/card9/port0", "n2/card9/port1", "n2/card10/port0", "n10/card2"]


def test_what_is_related_to_a_port_to_a_cable_and_to_a_stranger() -> None:
    cable = SITE.cables[0].subject
    assert find_related(PORT, SITE) == (PORT, PEER, cable, "n0/card3", "n0", "ring/r")
    assert find_related(cable, SITE) == (cable, PORT, PEER, "cable")
    assert find_related(f"{PORT}/lane2", SITE) == (f"{PORT}/lane2", PORT, PEER, cable, "n0/card3", "n0", "ring/r")
    assert find_related("n0/nic/mlx5_0", SITE) == ("n0/nic/mlx5_0", "n0")


def test_verdicts_come_from_the_hardware_up_the_subject_first() -> None:
    related = find_related(PORT, SITE)
    said = [
        say("comm.buffer", Level.CLEAR, "n0"),
        say("ring.broken", Level.RAISED, "ring/r"),
        say("link.ber", Level.CLEAR, PEER),
        say("link.ber", Level.RAISED),
        say("link.lanes", Level.RAISED, f"{PORT}/lane1"),
        say("acme.odd", Level.CLEAR),
        say("link.ber", Level.RAISED, "n0/card5/port0"),
    ]
    assert [(v.kind, v.subject) for v in order_verdicts(said, PORT, related)] == [
        ("link.ber", PORT),
        ("link.ber", PEER),
        ("link.lanes", f"{PORT}/lane1"),
        ("ring.broken", "ring/r"),
        ("comm.buffer", "n0"),
        ("acme.odd", PORT),
    ]


def test_readings_of_parts_and_incidents_of_the_shared_cable_belong_to_it() -> None:
    readings = [read("link.state", 1.0), read("link.bias", 7.0, f"{PORT}/lane0"), read("link.state", 1.0, "n0/card3/port01")]
    assert [reading.subject for reading in choose_readings(readings, PORT)] == [PORT, f"{PORT}/lane0"]
    mine = Incident(id="i1", kind="link.ber", subject=SITE.cables[0].subject, scope="node", opened=1.0, severity=Severity.INFO, text="")
    other = Incident(id="i2", kind="link.ber", subject="n0/card5/port0", scope="node", opened=1.0, severity=Severity.INFO, text="")
    assert choose_incidents([mine, other], PORT, find_related(PORT, SITE)) == (mine,)


def make_house() -> Any:
    return SimpleNamespace(
        settings=SimpleNamespace(topology=SITE),
        last_words=lambda: [say("host.memory_low", Level.CLEAR, "n0"), say("nic.down", Level.CLEAR, "n0/nic/mlx5_0")],
        readings=lambda: [read("rank.state", "running", "job/llm/rank0")],
        incidents=(),
        clock=SimpleNamespace(now=lambda: 1.0),
        explain=lambda _: (),
        holds=SimpleNamespace(of=lambda _: ()),
    )


@pytest.mark.parametrize(
    ("subject", "near"),
    [
        ("n0/crad3", "n0/card3"),
        ("nO/card3", "n0/card3"),
        ("n0/nic/mlx5_O", "n0/nic/mlx5_0"),
        ("job/lm", "job/llm/rank0"),
        ("n0/card77", ""),
    ],
)
def test_a_misspelt_name_is_not_called_well_for_what_is_said_of_its_node(subject: str, near: str) -> None:
    with pytest.raises(NotFoundError, match=f"nothing is known of '{subject}'; {f'did you mean {near}' if near else ''}"):
        diagnose(make_house(), subject)


@pytest.mark.parametrize("subject", ["n0", PORT, f"{PORT}/lane2", SITE.cables[0].subject, "ring/r", "n0/nic", "job/llm"])
def test_what_is_described_read_or_judged_is_known(subject: str) -> None:
    assert diagnose(make_house(), subject).subject == subject


def test_what_is_like_nothing_gets_the_lists() -> None:
    assert say_unknown("zzz", ["n0", "cdu/0"]) == "nothing is known of 'zzz'; `supernodectl links` and `supernodectl readings` list what is"
