"""Who beats, by what is heard."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster import topics
from supernoded.cluster.fleet.muster import GRACE, LATE, WIDEST, Muster
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import Beat, PayloadError, Vitals
from supernoded.model import State

NODES = ("n0", "n1", "n2", "n3", "n4")
START = 1000.0


def beat(node: str, at: float, life: str = "a", since: float = 1.0, **other: Any) -> Message:
    told = Beat(node=node, life=life, at=at, since=since, vitals=Vitals(power=1.0), **other)
    return Message(topic=topics.beat("c0", node), payload=topics.encode(told))


def hear(muster: Muster, begin: float, end: float, nodes: tuple[str, ...] = NODES, *, skew: float = 0.0, life: str = "a") -> float:
    """Each of these once a second."""
    at = begin
    while at < end:
        for node in nodes:
            muster.hear(beat(node, at + skew, life), at)
        at += 1.0
    return at


@pytest.fixture
def muster() -> Muster:
    made = Muster("c0", "n0", NODES)
    made.start(START)
    return made


def find_values(muster: Muster, quantity: str, now: float) -> dict[str, Any]:
    """All that is told within a round."""
    return {r.subject: r.value for _ in range(60) for r in muster.read(now) if r.quantity == quantity}


def test_who_falls_silent_is_late_after_two_beats_and_the_others_are_not(muster: Muster) -> None:
    now = hear(muster, START, START + 10.0)
    hear(muster, now, now + 2.0, NODES[:4])
    assert muster.list_late(now + 1.1) == []
    hear(muster, now + 2.0, now + 3.0, NODES[:4])
    assert muster.list_late(now + 2.1) == ["n4"]
    assert muster.measure_age("n4") == pytest.approx(3.0)
    assert (muster.count_heard(), muster.has_beaten_since("n4", now), muster.has_beaten_since("n1", now)) == (4, False, True)


def test_nobody_is_late_who_has_not_had_his_time_since_the_seat_was_gained(muster: Muster) -> None:
    hear(muster, START, START + 4.0, ("n0",))
    assert muster.list_late(START + 4.0) == []
    assert find_values(muster, "node.beat_age", START + 4.0)["n1"] is None
    hear(muster, START + 4.0, START + GRACE + 2.0, ("n0",))
    assert muster.list_late(START + GRACE + 2.0) == ["n1", "n2", "n3", "n4"]


def test_when_our_own_beat_does_not_come_back_nobody_is_judged(muster: Muster) -> None:
    now = hear(muster, START, START + 10.0)
    now = hear(muster, now, now + 5.0, NODES[1:4])
    assert muster.list_late(now) == []
    assert "our own link is in doubt: our own beat was not heard back for" in muster.find_doubt(now)
    assert set(find_values(muster, "node.beat_age", now).values()) == {None}
    assert find_values(muster, "fleet.heard", now) == {"fleet": None}
    assert "cannot judge" in muster.find_split(now)


def test_after_a_silence_of_everybody_who_was_on_time_gets_his_time_anew_and_who_was_late_stays_late(muster: Muster) -> None:
    now = hear(muster, START, START + 10.0)
    now = hear(muster, now, now + 20.0, NODES[:4])
    back = now + 30.0
    muster.hear(beat("n0", back), back)
    assert muster.list_late(back) == ["n4"]
    assert muster.measure_age("n4") == pytest.approx(back - (START + 9.0))
    hear(muster, back + 1.0, back + 4.0, ("n0", "n1"))
    assert muster.list_late(back + 3.1) == ["n4", "n2", "n3"]


def test_a_backlog_makes_nobody_late_whose_beat_is_in_it(muster: Muster) -> None:
    now = hear(muster, START, START + 10.0)
    stalled = now + 1.9
    muster.hear(beat("n0", now + 1.0), stalled)
    assert muster.list_late(stalled) == []


@pytest.mark.parametrize(
    ("payload", "topic"),
    [
        (b"garbage", "n1"),
        (b"", "n1"),
        (b"[" * 5000, "n1"),
        (b'{"node":"n1","life":"a","at":1e400,"since":0,"schema":1}', "n1"),
        (b'{"node":"n1","life":"a","at":1,"since":0,"schema":2}', "n1"),
        (beat("n2", START).payload, "n1"),
        (beat("n1", START + 2 * WIDEST).payload, "n1"),
    ],
)
def test_what_is_no_beat_is_refused_and_proves_nothing(muster: Muster, payload: bytes, topic: str) -> None:
    with pytest.raises(PayloadError):
        muster.hear(Message(topic=topics.beat("c0", topic), payload=payload), START)
    assert muster.seen["n1"].beat is None


def test_what_proves_no_life_is_counted(muster: Muster) -> None:
    message = beat("n1", START)
    muster.hear(Message(topic=message.topic, payload=message.payload, retain=True), START)
    muster.hear(beat("stranger", START), START)
    for at in (START, START - 1.0):
        muster.hear(message, at)
        muster.hear(beat("n1", at), START + 1.0)
    assert (muster.counts["retained"], muster.counts["unknown"], list(muster.strangers)) == (1, 1, ["stranger"])
    assert muster.counts["repeated"] == 3
    assert muster.seen["n1"].heard == START


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_whatever_comes_is_a_beat_or_refused(payload: bytes) -> None:
    muster = Muster("c0", "n0", NODES)
    muster.start(START)
    for topic in (topics.beat("c0", "n1"), "supernode/v1/c0/node/elsewhere/beat"):
        try:
            muster.hear(Message(topic=topic, payload=payload), START)
        except PayloadError:
            continue
    assert muster.seen["n1"].beat is None


def test_a_backlog_of_old_beats_proves_no_life_and_a_clock_set_back_does(muster: Muster) -> None:
    now = hear(muster, START, START + 6.0)
    hear(muster, now, now + 10.0, NODES[:4])
    for late in range(8):  # what n4 said in seconds 0 to 8 comes all at once
        muster.hear(beat("n4", now + late), now + 10.0)
    assert (muster.counts["expired"], muster.list_late(now + 10.0)) == (7, [])
    muster = Muster("c0", "n0", NODES)
    muster.start(START)
    now = hear(muster, START, START + 6.0)
    now = hear(muster, now, now + 6.0, NODES[:4])
    for second in range(3):  # silent for six seconds, and set back by four: newer than the last, and old
        muster.hear(beat("n4", now + second - 4.0), now + second)
    assert muster.counts["expired"] == 1
    assert muster.seen["n4"].heard == now + 2.0


def test_a_clock_that_is_ahead_is_told_and_the_node_lives(muster: Muster) -> None:
    now = hear(muster, START, START + 6.0, NODES[:4])
    hear(muster, START, START + 6.0, ("n4",), skew=3600.0)
    assert muster.list_late(now) == []
    assert find_values(muster, "node.clock_offset", now)["n4"] == pytest.approx(3600.0)
    hear(muster, now, now + 6.0)  # set right: an hour back
    assert find_values(muster, "node.clock_offset", now + 6.0)["n4"] == pytest.approx(0.0)
    assert muster.list_late(now + 6.0) == []


@pytest.mark.parametrize("lags", [(0.0, 0.4, 0.8, 1.2, 1.6, 1.8), (0.0, 2.5, 0.1, 2.4, 0.2, 2.6)])
def test_how_late_we_hear_is_no_fault_of_a_clock(muster: Muster, lags: tuple[float, ...]) -> None:
    """All beats wait for us, our own too; the node that fell silent meanwhile is not held against what comes later."""
    for second, lag in enumerate(lags):
        for node in NODES[:4] if second > 2 else NODES:
            at = START + second
            muster.hear(beat(node, at + (1.0 if node == "n1" else 0.0)), at + lag)
        offsets = find_values(muster, "node.clock_offset", START + second + lag)
        assert offsets == pytest.approx({"n0": 0.0, "n1": 1.0, "n2": 0.0, "n3": 0.0, "n4": 0.0})
    assert min(muster.seen["n2"].offsets) < -1.0  # as heard: what expires is judged by that


def test_one_quick_beat_tells_more_of_a_clock_than_four_that_were_under_way_for_long(muster: Muster) -> None:
    for second, delay in enumerate((1.9, 1.8, 0.1, 1.9, 1.8)):
        muster.hear(beat("n0", START + second), START + second)
        muster.hear(beat("n1", START + second), START + second + delay)
    assert muster.seen["n1"].offset == pytest.approx(-0.1)


def test_two_lives_in_turns_are_rivals_and_a_restart_is_none(muster: Muster) -> None:
    now = hear(muster, START, START + 5.0)
    for at in (now, now + 1.0):
        muster.hear(beat("n1", at, "b", 2.0), at)
    assert find_values(muster, "node.rival", now + 1.0)["n1"] == ""
    muster.hear(beat("n1", now - 1.0), now + 1.1)  # the old life's last one, delivered again
    assert find_values(muster, "node.rival", now + 1.2)["n1"] == ""
    muster.hear(beat("n1", now + 1.3), now + 1.3)
    assert find_values(muster, "node.rival", now + 1.4)["n1"] == "b"
    end = hear(muster, now + 2.0, now + 20.0)
    assert find_values(muster, "node.rival", end)["n1"] == ""


@pytest.mark.parametrize("heard", range(1, 6))
def test_only_the_greater_side_may_take_anything_out(muster: Muster, heard: int) -> None:
    now = hear(muster, START, START + 8.0, NODES[:heard])
    refusal = muster.find_split(now)
    assert (refusal == "") is (heard >= 3)
    if heard < 3:
        assert f"n0, which has the role fleet, hears {heard} of 5 nodes, and more than half are needed" in refusal


def test_a_lone_node_is_its_whole_site() -> None:
    muster = Muster("c0", "n0", ["n0"])
    muster.start(START)
    assert muster.find_split(START) == ""


def test_news_is_told_at_once_and_everything_once_in_a_round() -> None:
    names = [f"n{number}" for number in range(200)]
    muster = Muster("c0", "n0", names)
    muster.start(START)
    now = hear(muster, START, START + 5.0, tuple(names))
    first = muster.read(now)
    assert {r.subject for r in first if r.quantity == "node.life"} == set(names)
    assert len(muster.read(now)) < 60
    hear(muster, now, now + 4.0, tuple(names[:-1]))
    news = {r.subject: r for r in muster.read(now + 3.5) if r.quantity == "node.beat_age"}
    age = news["n199"].value
    assert isinstance(age, float)
    assert age > LATE
    assert all(r.state is State.GOOD for r in news.values())
