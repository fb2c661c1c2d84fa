"""What anybody may have left on the broker, at every handler of it: it costs that message, and never the link."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster import topics
from supernoded.cluster.commands.directory import Directory
from supernoded.cluster.commands.words import MOST_NUMBER, Command, read_command
from supernoded.cluster.digests import Digests, Speaker
from supernoded.cluster.fleet.muster import Muster
from supernoded.cluster.holds_told import HoldPost
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.presence import Claim, DuplicateNameError
from supernoded.cluster.roles.views import MOST_EPOCH, Views
from supernoded.cluster.topics import HoldTold, PayloadError, RoleView
from supernoded.errors import SealError
from supernoded.holds import Holds
from supernoded.journal.writer import open_journal
from supernoded.model import Hold
from supernoded.testing import ManualClock
from tests.unit.worlds import health

NODES = ("n0", "n1", "n2")
WHO = {"node": "n1", "life": "l", "at": 1e9, "schema": 1}
HOLD = {"type": "Hold", "id": "h1", "subject": "n1/card0", "serial": "", "reason": "r", "owner": "p", "placed": 1e9}
READING = {"type": "Reading", "subject": "n1", "quantity": "host.load", "value": 1.0, "unit": "1", "at": 1e9, "state": "good"}
COLUMN = {"quantity": "host.load", "unit": "1", "source": "host", "at": 1e9, "values": {"n1": 1.0, "n1/card0": "text"}}
SHAPES: Mapping[str, dict[str, Any]] = {
    "node/n1/beat": WHO | {"since": 1.0, "vitals": {"power": 1.0, "hottest": 2.0, "step": 3}},
    "node/n1/presence": WHO | {"since": 1.0, "online": True},
    "node/n1/digest": WHO | {"number": 1, "columns": [COLUMN], "rest": [READING]},
    "node/n1/jobs": WHO | {"jobs": [{"name": "j", "lowest": 0, "launcher": True}]},
    "node/n1/hold/h1": WHO | {"hold": HOLD},
    "role/fleet/view": WHO | {"role": "fleet", "epoch": 3, "until": 1e9},
}
WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=8),
    st.integers(),
    st.floats(),
    st.sampled_from(["a/b", "#", "+", "", "n0", 2**63, 10**30, []]),
)
Hear = Callable[[Message], object]


def make_handlers() -> dict[str, Hear]:
    clock, who = ManualClock(), Speaker("n0", "c0", "l0")
    post = HoldPost(who, clock, lambda *_, **__: True)
    holds = Holds("n0", open_journal("sqlite://", clock), clock, post.tell)
    muster = Muster("c0", "n0", NODES)
    claim = Claim("n1", "c0", "l1", 0.0)
    digests = Digests(who, clock, ["host.load"], NODES, list, lambda *_: True, lambda *_: None)

    def hear_beat(message: Message) -> None:
        muster.hear(message, clock.now())
        claim.hear_beat(message)

    return {
        "node/n1/beat": hear_beat,
        "node/n1/presence": claim.hear_presence,
        "node/n1/digest": digests.hear,
        "node/n1/jobs": Directory(who, clock, NODES, lambda *_: None).hear,
        "node/n1/hold/h1": lambda message: post.hear(holds, message),
        "role/fleet/view": Views("c0", NODES, clock, health()).hear,
    }


def spoil(shape: object, path: int, wrong: object) -> object:
    """The same with another value at one place."""
    places: list[tuple[Any, Any]] = []

    def walk(found: Any) -> None:
        for key in found if isinstance(found, dict) else range(len(found)) if isinstance(found, list) else ():
            places.append((found, key))
            walk(found[key])

    copy = json.loads(json.dumps(shape))
    walk(copy)
    place, key = places[path % len(places)]
    place[key] = wrong
    return copy


def hear(leaf: str, payload: bytes) -> None:
    with suppress(PayloadError, DuplicateNameError):  # the two ways to say that it is none of ours
        make_handlers()[leaf](Message(topic=f"{topics.ROOT}/c0/{leaf}", payload=payload))


@pytest.mark.parametrize("leaf", SHAPES)
@given(path=st.integers(0, 40), wrong=WRONG)
def test_the_right_shape_with_a_wrong_value(leaf: str, path: int, wrong: object) -> None:
    hear(leaf, json.dumps(spoil(SHAPES[leaf], path, wrong)).encode())


@pytest.mark.parametrize("leaf", SHAPES)
@given(payload=st.binary(max_size=60))
def test_bytes(leaf: str, payload: bytes) -> None:
    hear(leaf, payload)


@pytest.mark.parametrize("leaf", SHAPES)
def test_the_shapes_themselves_are_taken(leaf: str) -> None:
    try:
        make_handlers()[leaf](Message(topic=f"{topics.ROOT}/c0/{leaf}", payload=json.dumps(SHAPES[leaf]).encode()))
    except DuplicateNameError:
        assert leaf == "node/n1/beat"


@pytest.mark.parametrize("name", ["+", "a/b", "", "#"])
def test_a_hold_whose_name_is_no_level_of_a_topic_is_no_hold(name: str) -> None:
    """One such message, retained, ended each new link of every daemon."""
    hold = Hold(id=name, subject="n1", serial="", reason="r", owner="p", placed=1.0)
    payload = topics.encode(HoldTold(node="n1", life="l", at=1.0, hold=hold))
    for topic in (f"{topics.ROOT}/c0/node/n1/hold/{name}", topics.hold("c0", "n1", "h1")):
        with pytest.raises(PayloadError):
            make_handlers()["node/n1/hold/h1"](Message(topic=topic, payload=payload))


@pytest.mark.parametrize("epoch", [-1, MOST_EPOCH + 1, 2**63, 10**30])
def test_an_epoch_that_no_database_could_hold_is_not_believed(epoch: int) -> None:
    """It would make every bid for the role fail, and on every node."""
    views = Views("c0", NODES, ManualClock(), health())
    view = RoleView(node="n1", life="l", at=1.0, role="fleet", epoch=epoch, until=9.0)
    with pytest.raises(PayloadError, match="of epoch"):
        views.hear(Message(topic=topics.role_view("c0", "fleet"), payload=topics.encode(view)))
    assert views.heard("fleet") == 0


@pytest.mark.parametrize("field", ["number", "epoch"])
@pytest.mark.parametrize("value", [-1, MOST_NUMBER + 1, 10**30])
def test_a_number_that_no_database_could_hold_is_not_taken(field: str, value: int) -> None:
    fields = {"id": "n1/1", "cluster": "c0", "sender": "n1", "life": "l", "number": 1, "to": "n0", "issued": 1.0, "expires": 2.0}
    command = json.dumps({"type": "command", "scope": "node", "epoch": 0, "verb": "apply"} | fields | {field: value})
    with pytest.raises(SealError, match="a number or an epoch that is none"):
        read_command(command, "n1")


def test_a_command_as_it_should_be_is_read() -> None:
    command = Command(
        id="n1/1",
        cluster="c0",
        sender="n1",
        life="l",
        number=MOST_NUMBER,
        to="n0",
        issued=1.0,
        expires=2.0,
        scope="node",
        epoch=0,
        verb="apply",
    )
    assert read_command(msgspec.json.encode(command).decode(), "n1") == command


@pytest.mark.parametrize("at", [-1.7e308, 1.7e308, -1e300, 0.0])
@pytest.mark.parametrize("read_at", [-1.7e308, 1.7e308, 1e300, 0.0])
def test_a_digest_of_no_time(at: float, read_at: float) -> None:
    for told in ({"rest": [READING | {"at": read_at}]}, {"columns": [COLUMN | {"at": read_at}]}):
        hear("node/n1/digest", json.dumps(SHAPES["node/n1/digest"] | {"at": at} | told).encode())
