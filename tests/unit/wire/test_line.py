"""The discipline of a shared line: one request outstanding, and nothing late is ever an answer."""

from __future__ import annotations

import asyncio

import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.wire.line import BABBLE_S, MOST, TURN_S
from tests.unit.wire.units import Units, find, frame, make_line, run

T35 = 3.5 * 11 / 19200  # s at 19200 baud
ASK = bytes(8)  # a request of eight bytes, whose answer is frame(0)
WIRE = 8 * 11 / 19200  # s that it takes


def now() -> float:
    return asyncio.get_running_loop().time()


def test_one_request_at_a_time_with_silence_between() -> None:
    async def story() -> None:
        units = Units()
        line = make_line(units)
        answers = await asyncio.gather(*(line.exchange(bytes((number,)), find) for number in range(3)))
        assert answers == [frame(0), frame(1), frame(2)]
        gaps = [later - earlier for (earlier, _), (later, _) in zip(units.sent, units.sent[1:], strict=False)]
        assert all(gap >= 0.01 + T35 for gap in gaps)
        assert units.dials == 1
        assert line.counts.get("strays", 0) == 0

    run(story())


def test_a_late_answer_is_dropped_and_never_the_next_one() -> None:
    async def story() -> None:
        units = Units(lambda request: [(1.9 if request == b"\x01" else 0.01, frame(request[0]))])
        line = make_line(units, "baud=19200&adapter_ms=16")
        with pytest.raises(WireError, match=r"/dev/none: no answer to 01 within 0\.1 s, only silence"):
            await line.exchange(b"\x01", find, within=0.1, latest=2.0)
        assert await line.exchange(b"\x02", find) == frame(2)
        assert units.sent[1][0] - units.sent[0][0] == pytest.approx(2.0 + 11 / 19200 + T35 + 0.016)
        assert dict(line.counts) == {"timeouts": 1, "late": 4, "strays": 0}

    run(story())


def test_an_answer_that_has_begun_is_heard_out_before_the_line_is_used() -> None:
    async def story() -> None:
        slow = [(0.099 + 0.001 * step, b"x") for step in range(12)]
        units = Units(lambda request: slow if request == b"\x01" else [(0.01, frame(2))])
        line = make_line(units)
        with pytest.raises(WireError, match="only silence"):
            await line.exchange(b"\x01", find, within=0.05, latest=0.1)
        assert await line.exchange(b"\x02", find) == frame(2)
        assert units.sent[1][0] - units.sent[0][0] == pytest.approx(0.11 + T35)

    run(story())


def test_garbage_ends_the_exchange_and_its_rest_is_dropped() -> None:
    async def story() -> None:
        units = Units(lambda request: [(0.01, b"rubbish"), (0.2, frame(7))] if request == b"\x01" else [(0.01, frame(2))])
        line = make_line(units)
        with pytest.raises(WireError, match="no frame: 72 75"):
            await line.exchange(b"\x01", find)
        assert await line.exchange(b"\x02", find) == frame(2)
        assert (line.counts["garbled"], line.counts["late"]) == (1, 4)
        assert units.sent[1][0] >= 0.5  # `latest` is `within` where nothing is said

    run(story())


def test_bytes_without_end_are_no_answer() -> None:
    async def story() -> None:
        units = Units(lambda _: [(0.001, bytes(MOST)), (0.002, bytes(1))])
        line = make_line(units)
        with pytest.raises(WireError, match=f"{MOST + 1} bytes and no answer among them"):
            await line.exchange(ASK, lambda _: None)
        assert line.counts["garbled"] == 1

    run(story())


def test_what_nobody_asked_for_is_a_stray() -> None:
    async def story() -> None:
        units = Units(lambda request: [(0.01, frame(request[0]) + b"more")])
        line = make_line(units)
        assert await line.exchange(b"\x01", find) == frame(1)
        units.say([(0.5, b"hello")])
        await asyncio.sleep(1.0)
        assert line.counts["strays"] == 9
        assert await line.exchange(b"\x02", find) == frame(2)

    run(story())


def test_an_answer_said_twice_is_not_the_next_one() -> None:
    async def story() -> None:
        units = Units(lambda request: [(0.01, frame(request[0])), (0.01 + 2 * T35, frame(request[0]))])
        line = make_line(units)
        assert [await line.exchange(bytes((number,)), find) for number in range(4)] == [frame(number) for number in range(4)]
        assert line.counts["strays"] == 12

    run(story())


def test_the_longer_silence_is_kept_only_where_an_answer_could_be_mistaken() -> None:
    async def story() -> None:
        units = Units()
        line = make_line(units)
        await line.exchange(b"\x01", find)
        await line.exchange(b"\x02", lambda came: find(came) if came[1:2] == b"\x02" else None)
        await line.exchange(b"\x03", find)
        (first, _), (second, _), (third, _) = units.sent
        assert second - first == pytest.approx(0.01 + T35)
        assert third - second == pytest.approx(0.01 + 2 * T35 + 16 * 11 / 19200)

    run(story())


def test_a_cancelled_exchange_makes_the_line_rest_too() -> None:
    async def story() -> None:
        units = Units(lambda request: [(0.3, frame(request[0]))])
        line = make_line(units)
        task = asyncio.create_task(line.exchange(b"\x01", find))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await line.exchange(b"\x02", find) == frame(2)
        assert line.counts["late"] == 4

    run(story())


def test_a_turn_is_not_waited_for_without_end() -> None:
    async def story() -> None:
        units = Units(lambda _: [])
        line = make_line(units)
        first = asyncio.create_task(line.exchange(b"\x01", find, within=TURN_S + 5.0))
        await asyncio.sleep(0.1)
        with pytest.raises(WireError, match=r"no turn within 10 s, others talk"):
            await line.exchange(b"\x02", find)
        with pytest.raises(WireError, match="no answer to 01"):
            await first
        assert len(units.sent) == 1

    run(story())


def test_a_driver_that_does_not_let_go_is_said() -> None:
    async def story() -> None:
        units = Units()
        line = make_line(units)
        await line.exchange(b"\x01", find)
        units.say([(0.001 * step, b"\xff") for step in range(3000)])
        await asyncio.sleep(0.5)
        begun = now()
        with pytest.raises(WireError, match="not silent for 1 s; a driver does not let go"):
            await line.exchange(b"\x02", find)
        assert now() - begun == pytest.approx(BABBLE_S, abs=0.01)
        await asyncio.sleep(3.0)
        assert await line.exchange(b"\x03", find) == frame(3)

    run(story())


def test_a_short_noise_only_delays() -> None:
    async def story() -> None:
        units = Units()
        line = make_line(units)
        await line.exchange(b"\x01", find)
        units.say([(0.001 * step, b"\xff") for step in range(300)])
        await asyncio.sleep(0.1)
        assert await line.exchange(b"\x02", find) == frame(2)
        assert line.counts["strays"] == 300

    run(story())


# orders


def test_an_order_without_the_pen_sends_nothing() -> None:
    async def story() -> None:
        units, refusals = Units(), {"feed/A": "n2 holds it"}
        line = make_line(units, refusals=refusals)
        with pytest.raises(NotHeldError, match="n2 holds it"):
            await line.order("feed/A", ASK, find)
        with pytest.raises(NotHeldError, match="n2 holds it"):
            await line.broadcast("feed/A", ASK)
        assert units.sent == []
        refusals.clear()
        assert await line.order("feed/A", ASK, find) == frame(0)

    run(story())


def test_the_pen_is_asked_when_the_turn_has_come() -> None:
    async def story() -> None:
        units, refusals = Units(lambda _: [(0.4, frame(0))]), dict[str, str]()
        line = make_line(units, refusals=refusals)
        first = asyncio.create_task(line.exchange(ASK, find))
        await asyncio.sleep(0.1)
        second = asyncio.create_task(line.order("feed/A", ASK, find))
        await asyncio.sleep(0.1)
        refusals["feed/A"] = "the lease is gone"
        assert await first == frame(0)
        with pytest.raises(NotHeldError, match="the lease is gone"):
            await second
        assert len(units.sent) == 1

    run(story())


def test_an_order_goes_before_the_polls_that_wait() -> None:
    async def story() -> None:
        units = Units()
        line = make_line(units)
        polls = [asyncio.create_task(line.exchange(bytes((number,)), find)) for number in range(6)]
        await asyncio.sleep(0.005)
        assert await line.order("feed/A", b"\x42", find) == frame(0x42)
        await asyncio.gather(*polls)
        assert [request for _, request in units.sent].index(b"\x42") == 1
        assert len(units.sent) == 7

    run(story())


def test_after_a_broadcast_the_line_rests() -> None:
    async def story() -> None:
        units = Units(lambda request: [] if request == ASK else [(0.01, frame(request[0]))])
        line = make_line(units)
        await line.broadcast("feed/A", ASK, turnaround=0.2)
        assert now() < 0.1
        units.say([(0.1, frame(9))])  # a unit that answers even this
        assert await line.exchange(b"\x02", find) == frame(2)
        assert units.sent[1][0] - units.sent[0][0] == pytest.approx(WIRE + 0.2)
        assert line.counts["late"] == 4

    run(story())
