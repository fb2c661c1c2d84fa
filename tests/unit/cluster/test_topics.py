from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster import topics
from supernoded.cluster.topics import Beat, EventTold, OutcomeTold, PayloadError, Presence, Vitals
from supernoded.errors import SettingsError
from supernoded.model import Event, Outcome, Result, Severity

EVENT = Event(id="e1", kind="link.ber", subject="n0/card3/port0", scope="node", raised=True, text="ü", at=1.5, severity=Severity.WARNING)
OUTCOME = Outcome(action="i1/isolate", result=Result.DONE, text="seen", at=2.0)
PAYLOADS = [
    Presence(node="n0", life="ab12", at=1.0, since=0.5, online=True, version="0.1.0"),
    Beat(node="n0", life="ab12", at=1.0, since=0.5, vitals=Vitals(power=4200.0, hottest=71.5, step=12)),
    EventTold(node="n0", life="ab12", at=1.0, event=EVENT),
    OutcomeTold(node="n0", life="ab12", at=1.0, outcome=OUTCOME),
]


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: type(payload).__name__)
def test_a_payload_comes_back_as_it_went(payload: Presence | Beat | EventTold | OutcomeTold) -> None:
    data = topics.encode(payload)
    assert msgspec.json.decode(data)["schema"] == 1
    assert topics.decode(data, type(payload)) == payload


def test_the_tree() -> None:
    assert topics.presence("c0", "n0") == "supernode/v1/c0/node/n0/presence"
    assert topics.beat("c0", "n0") == "supernode/v1/c0/node/n0/beat"
    assert topics.event("c0", "n0") == "supernode/v1/c0/node/n0/event"
    assert topics.outcome("c0", "n0") == "supernode/v1/c0/node/n0/outcome"
    assert topics.of_nodes("c0", "beat") == "supernode/v1/c0/node/+/beat"


@pytest.mark.parametrize("name", ["", "a/b", "+", "#", "$x", "a b", "n0\0", "é", "x" * 65])
def test_a_name_that_would_leave_the_tree_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="cannot be part of a topic"):
        topics.beat("c0", name)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a Beat"),
        (b"\xff\x00garbage", "not a Beat"),
        (b"[1]", "not a Beat"),
        (b'{"node": "n0"}', "schema"),
        (b'{"schema": 2, "node": 7}', "of schema 2, this daemon reads schema 1"),
        (b'{"schema": 1, "node": "n0", "life": "x", "at": "yesterday", "since": 1}', "at"),
        (b'{"schema":' + b"[" * 20_000, "not a Beat"),
        (b'{"schema": 1, "x": "' + b"y" * 65_536 + b'"}', "at most 65536"),
    ],
)
def test_a_bad_payload_is_refused_with_the_reason(data: bytes, words: str) -> None:
    with pytest.raises(PayloadError, match=words):
        topics.decode(data, Beat)


@given(st.binary(max_size=300))
def test_no_bytes_do_more_than_be_refused(data: bytes) -> None:
    with pytest.raises(PayloadError):
        topics.decode(data, Presence)


def test_a_newer_sender_may_add_fields() -> None:
    data = b'{"schema":1,"node":"n0","life":"a","at":1,"since":1,"vitals":{"state":"up","mood":"good"},"more":[1]}'
    assert topics.decode(data, Beat).node == "n0"


def test_too_much_is_not_sent() -> None:
    with pytest.raises(PayloadError, match="shorten its texts"):
        topics.encode(OutcomeTold(node="n0", life="a", at=1.0, outcome=msgspec.structs.replace(OUTCOME, text="x" * 70_000)))


@pytest.mark.parametrize(
    ("filter_", "topic", "taken"),
    [
        ("a/b", "a/b", True),
        ("a/b", "a/b/c", False),
        ("a/b/c", "a/b", False),
        ("a/+/c", "a/x/c", True),
        ("a/+", "a/b/c", False),
        ("a/#", "a", True),
        ("a/#", "a/b/c", True),
        ("#", "a/b", True),
        ("+/b", "/b", True),
        ("+", "/b", False),
    ],
)
def test_filters(filter_: str, topic: str, taken: bool) -> None:
    assert topics.matches(filter_, topic) is taken


LEVELS = st.lists(st.sampled_from(["a", "b", "node"]), min_size=1, max_size=5)


@given(LEVELS, st.data())
def test_a_filter_made_from_a_topic_takes_it(levels: list[str], data: st.DataObject) -> None:
    filter_ = [data.draw(st.sampled_from([level, "+"])) for level in levels]
    cut = data.draw(st.integers(0, len(levels)))
    assert topics.matches("/".join(filter_), "/".join(levels))
    assert topics.matches("/".join([*filter_[:cut], "#"]), "/".join(levels))


def test_what_is_said_anew_within_seconds_is_of_the_moment() -> None:
    of_moment = topics.of_nodes("c0", "beat"), topics.beat("c0", "n0"), topics.of_nodes("c0", "digest")
    lasting = topics.event("c0", "n0"), topics.of_holds("c0"), topics.command("c0", "n0"), topics.presence("c0", "n0")
    assert [topics.is_of_moment(filter_) for filter_ in (*of_moment, *lasting)] == [True] * 3 + [False] * 4


@given(lengths=st.lists(st.integers(0, 60_000), max_size=12), most=st.integers(1, 8))
def test_many_words_fill_as_many_payloads_as_it_takes(lengths: list[int], most: int) -> None:
    rows = [topics.NodeTold(name=f"n{number}", state="up", text="x" * length) for number, length in enumerate(lengths)]

    def make(nodes: tuple[topics.NodeTold, ...], part: int, parts: int) -> topics.FleetTold:
        return topics.FleetTold(node="n0", life="l", at=1.0, part=part, parts=parts, nodes=nodes)

    told = [topics.decode(data, topics.FleetTold) for data in topics.pack(rows, most, make)]
    assert [row for one in told for row in one.nodes] == rows
    assert [(one.part, one.parts) for one in told] == [(number, len(told)) for number in range(len(told))]
    assert all(len(one.nodes) <= most for one in told)


def test_a_word_that_is_too_long_alone_is_an_error() -> None:
    row = topics.NodeTold(name="n0", state="up", text="x" * topics.MAX_PAYLOAD)
    make = lambda nodes, part, parts: topics.FleetTold(node="n0", life="l", at=1.0, part=part, parts=parts, nodes=nodes)  # noqa: E731
    with pytest.raises(topics.PayloadError, match="may be sent"):
        topics.pack([row], 150, make)
