from __future__ import annotations

import socket
from pathlib import Path

import pytest

from benchmarks.holder import HOLDERS, Told, doors, write_settings
from supernoded.cluster import topics
from supernoded.cluster.topics import EventTold
from supernoded.model import Event, Severity
from supernoded.settings import read_settings
from tests.benchmarks.waiting import PATIENCE


def test_one_machine_refuses_and_one_never_answers() -> None:
    with doors() as (closed, deaf):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", closed), PATIENCE)
        with pytest.raises(TimeoutError):
            socket.create_connection(("127.0.0.1", deaf), 0.2)


def test_a_daemon_takes_the_settings(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(12)]
    settings = read_settings(write_settings(tmp_path / "site", "n1", 1883, names, ["n7"], (10, 11)), {})
    assert settings.node == "n1"
    assert {role: settings.list_seats()[role] for role in HOLDERS} == HOLDERS
    addresses = {node.name: node.address for node in settings.topology.nodes}
    assert addresses == {name: f"127.0.0.1:{11 if name == 'n7' else 10}" for name in names}


def tell(subject: str, *, raised: bool, kind: str = "node.late") -> bytes:
    event = Event(id=subject, kind=kind, subject=subject, scope="fleet", raised=raised, text="late", at=1.0, severity=Severity.WARNING)
    return topics.encode(EventTold(node="n0", life="1", at=1.0, event=event))


async def test_the_first_word_on_each_subject_counts() -> None:
    told = Told()
    for subject, raised in (("n1", True), ("n2", True), ("n1", True), ("n2", False)):
        told.hear("event", tell(subject, raised=raised))
    told.hear("event", b"{}")
    first = told.events["node.late", True][0][0]
    found = await told.wait("node.late", ["n1", "n2"], PATIENCE, raised=True, since=0.0)
    assert found["n1"] == first
    assert list(await told.wait("node.late", ["n1", "n2"], 0.0, raised=False, since=first)) == ["n2"]
    assert told.find("node.gone", raised=True) == {}


async def test_who_is_told_in_another_way_is_not_well_for_that() -> None:
    told = Told()
    for kind, raised in (("node.late", True), ("daemon.gone", True), ("node.late", False)):
        told.hear("event", tell("n1", raised=raised, kind=kind))
    told.hear("event", tell("n2", raised=True))
    assert await told.wait_well(["n1", "n2"], 0.0) == {}
    told.hear("event", tell("n1", raised=False, kind="daemon.gone"))
    assert list(await told.wait_well(["n1", "n2"], 0.0)) == ["n1"]
    told.hear("event", tell("n1", raised=True))
    assert await told.wait_well(["n1"], 0.0) == {}
