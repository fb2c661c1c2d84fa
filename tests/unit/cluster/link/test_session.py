from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.session import Timing
from supernoded.cluster.topics import Beat, PayloadError, Presence
from supernoded.errors import CertificateRefusedError, SessionError
from tests.unit.cluster.fakes import Bench, HandClock, MemoryFabric, settle, until

BEAT, PRESENCE, EVENT = (topics.of_node("c0", "n0", leaf) for leaf in ("beat", "presence", "event"))


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    bench = Bench()
    yield bench
    if bench.task is not None:
        await bench.stop()


def up(bench: Bench) -> bool:
    return bench.session.state.connected


def present(bench: Bench) -> Presence:
    return topics.decode(bench.fabric.retained[PRESENCE].payload, Presence)


async def test_comes_up_with_presence_will_and_a_beat_a_second(bench: Bench) -> None:
    await bench.start(2.5)
    assert up(bench)
    assert (present(bench).online, present(bench).life) == (True, "life1")
    will = bench.fabric.links[0].will
    assert will.retain
    assert not topics.decode(will.payload, Presence).online
    before = len(bench.fabric.on(BEAT))
    await bench.clock.advance(5.0)
    assert len(bench.fabric.on(BEAT)) == before + 5
    assert topics.decode(bench.fabric.on(BEAT)[-1], Beat).at == bench.clock.now()


async def test_a_clean_stop_says_offline(bench: Bench) -> None:
    await bench.start()
    await bench.stop()
    assert not present(bench).online
    assert not up(bench)


async def test_letters_go_in_order_and_are_deleted(bench: Bench) -> None:
    await bench.send(100)
    await bench.start()
    assert bench.fabric.on(EVENT) == [b"%d" % number for number in range(100)]
    assert bench.store.letters == {}
    await bench.send(1, first=100)
    await settle()
    assert bench.fabric.on(EVENT)[-1] == b"100"


async def test_a_link_that_breaks_in_mid_batch_sends_the_unacknowledged_again(bench: Bench) -> None:
    await bench.start()
    bench.fabric.breaks_after = 5
    await bench.send(20)
    await bench.clock.advance(3.0)
    got = bench.fabric.on(EVENT)
    assert list(dict.fromkeys(got)) == [b"%d" % number for number in range(20)]
    assert len(got) <= 22  # at least once, and not all again
    assert bench.session.counts.links == 2


async def test_progress_on_a_link_that_never_holds_for_a_batch(bench: Bench) -> None:
    await bench.start()
    await bench.send(30)
    for _ in range(20):
        bench.fabric.breaks_after = 5
        await bench.clock.advance(40.0)
    assert list(dict.fromkeys(bench.fabric.on(EVENT))) == [b"%d" % number for number in range(30)]


async def test_pauses_grow_and_differ_and_start_again_after_a_good_link(bench: Bench) -> None:
    bench.fabric.refusal = SessionError("nobody listens there")
    await bench.start(0.0)
    await bench.clock.advance(200.0)
    pauses = bench.clock.slept[:-1]
    assert pauses[0] <= 1.0
    assert all(15.0 <= pause <= 30.0 for pause in pauses[6:])
    assert len(set(pauses)) == len(pauses)
    bench.fabric.refusal = None
    await bench.clock.advance(60.0)
    assert up(bench)
    bench.clock.slept.clear()
    bench.fabric.cut()
    await settle()
    assert bench.clock.slept[-1] <= 0.5


async def test_a_link_that_takes_long_to_fail_is_no_good_link(bench: Bench) -> None:
    bench.fabric.refusal = SessionError("no answer within 20 s")
    bench.fabric.slow = bench.clock.sleep
    await bench.start(600.0)
    assert [pause for pause in bench.clock.slept if pause != 20.0][-1] > 10.0


async def test_a_loss_and_a_recovery_are_each_said_once(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    bench.fabric.refusal = CertificateRefusedError("this node refuses the broker's certificate: it has expired")
    await bench.start(100.0)
    assert [record.getMessage() for record in caplog.records] == [f"no link to the broker: {bench.fabric.refusal}"]
    assert "expired" in bench.session.state.text
    bench.fabric.refusal = None
    await bench.clock.advance(60.0)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert bench.session.state.text == "connected"


async def test_what_is_of_the_moment_is_dropped_without_a_link(bench: Bench) -> None:
    assert not bench.session.publish("supernode/v1/c0/node/n0/digest", b"x")
    await bench.start()
    assert bench.session.publish("supernode/v1/c0/node/n0/digest", b"y")
    await settle()
    assert bench.fabric.on("supernode/v1/c0/node/n0/digest") == [b"y"]
    assert bench.session.counts.unsent == 1


async def test_what_is_of_the_moment_is_bounded_before_a_broker_that_hangs(bench: Bench) -> None:
    await bench.start()
    bench.fabric.hangs = True
    taken = [bench.session.publish("t", b"x") for _ in range(1500)]
    assert taken.count(True) == 1000
    assert bench.session.counts.unsent == 500


async def test_a_denied_topic_is_said_once_and_blocks_nothing(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.fabric.denied = {EVENT, BEAT}
    await bench.send(3)
    await bench.session.send(Message(topic="supernode/v1/c0/node/n0/outcome", payload=b"done"), "o1")
    await bench.start(10.0)
    assert bench.fabric.on("supernode/v1/c0/node/n0/outcome") == [b"done"]
    assert bench.store.letters == {}
    assert up(bench)
    assert bench.session.counts.denied > 3
    assert [record.getMessage().count(EVENT) for record in caplog.records if record.levelname == "ERROR"] == [0, 1]


async def test_a_refused_filter_is_said_once_and_harms_no_other(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[bytes] = []
    bench.fabric.denied = {"command/n0"}
    bench.session.on("command/n0", lambda message: heard.append(message.payload))
    bench.session.on("supernode/v1/c0/node/+/event", lambda message: heard.append(message.payload))
    await bench.start()
    await bench.send(1)
    await settle()
    assert heard == [b"0"]
    assert sum("command/n0" in record.getMessage() for record in caplog.records) == 1


async def test_filters_added_later_and_after_a_new_link(bench: Bench) -> None:
    heard: list[bytes] = []
    await bench.start()
    bench.session.on(EVENT, lambda message: heard.append(message.payload))
    await settle()
    await bench.send(1)
    await settle()
    bench.fabric.cut()
    await bench.clock.advance(3.0)
    await bench.send(1, first=1)
    await settle()
    assert heard == [b"0", b"1"]


async def test_garbage_is_counted_and_said_once_per_topic(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    def hear(message: Message) -> None:
        topics.decode(message.payload, Beat)

    bench.session.on("supernode/v1/c0/node/+/beat", hear)
    await bench.start()
    for payload in (b"\xff\xfe", b"{", b'{"schema": 9}', b"x" * 70_000):
        bench.fabric.accept(Message(topic=topics.beat("c0", "n7"), payload=payload))
    await settle()
    assert bench.session.counts.refused == 4
    assert sum("n7/beat" in record.getMessage() for record in caplog.records) == 1
    assert up(bench)


async def test_a_journal_that_fails_stops_no_beat_and_nothing_is_lost(bench: Bench) -> None:
    await bench.start()
    await bench.send(0)
    bench.store.broken = True
    bench.outbox.wake()
    before = len(bench.fabric.on(BEAT))
    await bench.clock.advance(5.0)
    assert len(bench.fabric.on(BEAT)) == before + 5
    bench.store.broken = False
    await bench.send(2)
    await bench.clock.advance(2.0)
    assert list(dict.fromkeys(bench.fabric.on(EVENT))) == [b"0", b"1"]


async def test_too_much_to_send_is_an_error_for_the_sender(bench: Bench) -> None:
    with pytest.raises(PayloadError, match="65537 bytes"):
        await bench.session.send(Message(topic=EVENT, payload=b"x" * 65_537), "e1")


async def test_a_fault_in_a_handler_is_not_hidden_and_costs_no_link(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """What it failed over may be retained: then it would end each new link."""

    def broken(message: Message) -> None:
        raise ZeroDivisionError

    bench.session.on(EVENT, broken)
    await bench.start()
    await bench.send(1)
    await settle()
    assert up(bench)
    assert bench.session.counts.refused == 1
    assert "ZeroDivisionError; such messages are ignored and counted" in caplog.text


# One name, one daemon


def speak(bench: Bench, life: str, since: float) -> None:
    now = bench.clock.now()
    bench.fabric.accept(Message(topic=BEAT, payload=topics.encode(Beat(node="n0", life=life, at=now, since=since))))


async def test_a_second_daemon_of_the_name_stays_off_until_the_first_stops() -> None:
    clock, fabric = HandClock(), MemoryFabric()
    first, second = Bench(fabric, clock, "life1"), Bench(fabric, clock, "life2")
    await first.start(10.0)
    await second.start(60.0)
    assert up(first)
    assert first.session.counts.links == 1
    assert not up(second)
    assert "another daemon calls itself n0 (life life1)" in second.session.state.text
    assert present(first).life == "life1"
    await first.stop()
    await clock.advance(60.0)
    assert up(second)
    assert present(second).life == "life2"
    await second.stop()


async def test_of_two_that_start_at_once_one_stays() -> None:
    clock, fabric = HandClock(), MemoryFabric()
    benches = [Bench(fabric, clock, life) for life in ("life2", "life1")]
    for bench in benches:
        await bench.start(0.0)
    await clock.advance(30.0)
    assert sorted(up(bench) for bench in benches) == [False, True]
    winner = "life2" if up(benches[0]) else "life1"
    assert present(benches[0]).life == winner
    for bench in benches:
        await bench.stop()


async def test_a_younger_rival_is_said_and_does_not_move_us(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    await bench.start()
    speak(bench, "life9", bench.clock.now())
    speak(bench, "life9", bench.clock.now())
    await settle()
    assert up(bench)
    assert sum("this one is older and stays" in record.getMessage() for record in caplog.records) == 1


async def test_a_dead_life_does_not_hold_the_name(bench: Bench) -> None:
    dead = Presence(node="n0", life="old", at=1.0, since=1.0, online=True)
    bench.fabric.accept(Message(topic=PRESENCE, payload=topics.encode(dead), retain=True))
    beat = Beat(node="n0", life="old", at=1.0, since=1.0)
    bench.fabric.retained[BEAT] = Message(topic=BEAT, payload=topics.encode(beat), retain=True)  # somebody's mistake
    await bench.start()
    assert present(bench).life == "life1"


@pytest.mark.parametrize("late", [b"garbage", topics.encode(Presence(node="n0", life="old", at=1.0, since=1.0, online=False))])
async def test_a_presence_that_is_not_ours_is_said_again(bench: Bench, late: bytes) -> None:
    await bench.start()
    bench.fabric.accept(Message(topic=PRESENCE, payload=late, retain=True))
    await bench.clock.advance(1.0)
    assert present(bench).life == "life1"


async def test_two_that_both_stand_leave_the_elder(bench: Bench) -> None:
    await bench.start()
    speak(bench, "life0", since=1.0)
    await settle()
    assert not up(bench)
    assert "life life0" in bench.session.state.text
    await bench.clock.advance(40.0)
    assert up(bench)


async def test_an_order_to_stop_is_not_lost_in_a_lost_link(bench: Bench) -> None:
    await bench.start()
    assert bench.task is not None
    bench.fabric.cut()
    bench.task.cancel()
    await settle()
    assert bench.task.done()
    bench.task = None


async def test_a_broker_that_hangs_is_left() -> None:
    bench = Bench(timing=Timing(answer=0.01))
    await bench.start()
    bench.fabric.hangs = True
    await bench.clock.advance(1.0)
    await until(lambda: not up(bench))
    assert "did not answer within 0.01 s" in bench.session.state.text
    await bench.stop()


async def test_what_is_said_of_the_moment_may_ask_for_an_answer(bench: Bench) -> None:
    assert not bench.session.publish("a", b"too soon", response_topic="r")
    await bench.start()
    assert bench.session.publish("a", b"x", qos=1, expiry=3, response_topic="r", correlation=b"7")
    await settle()
    assert bench.fabric.taken[-1] == Message(topic="a", payload=b"x", qos=1, expiry=3, response_topic="r", correlation=b"7")
