"""Echo, and a line that is opened, lost and closed."""

from __future__ import annotations

import asyncio

import pytest

from supernoded.errors import WireError
from supernoded.wire.line import OPEN_S, REOPEN_S
from tests.unit.wire.units import Units, find, frame, make_line, run

ASK = bytes(8)  # a request of eight bytes, whose answer is frame(0)


def now() -> float:
    return asyncio.get_running_loop().time()


# echo


def test_the_echo_is_stripped_once_even_in_pieces() -> None:
    async def story() -> None:
        echoing = Units(lambda request: [(0.001, request[:1]), (0.002, request[1:] + frame(5)[:2]), (0.02, frame(5)[2:])])
        line = make_line(echoing, "baud=19200&echo=yes")
        assert await line.exchange(b"\x05\x06", find) == frame(5)

        same = make_line(Units(lambda request: [(0.001, request), (0.02, request)]), "baud=19200&echo=yes")
        assert await same.exchange(frame(3), find) == frame(3)  # an answer that equals its request
        alone = make_line(Units(lambda request: [(0.001, request)]), "baud=19200&echo=yes")
        with pytest.raises(WireError, match="no answer to"):
            await alone.exchange(frame(3), find)

    run(story())


def test_an_echo_that_differs_is_a_collision() -> None:
    async def story() -> None:
        units = Units(lambda request: [(0.001, b"\x05\x07"), (0.01, frame(5))] if request == b"\x05\x06" else [(0.001, request + frame(2))])
        line = make_line(units, "baud=19200&echo=yes")
        with pytest.raises(WireError, match=r"/dev/none: sent 05 06 and heard 05 07: somebody else talked"):
            await line.exchange(b"\x05\x06", find)
        assert line.counts["echo_errors"] == 1
        assert await line.exchange(b"\x02", find) == frame(2)

    run(story())


def test_a_broadcast_waits_for_its_echo() -> None:
    async def story() -> None:
        line = make_line(Units(lambda request: [(0.005, request)]), "baud=19200&echo=yes")
        await line.broadcast("feed/A", ASK)
        assert now() >= 0.005
        collided = make_line(Units(lambda _: [(0.005, b"\xff")]), "baud=19200&echo=yes")
        with pytest.raises(WireError, match="somebody else talked"):
            await collided.broadcast("feed/A", ASK)
        broken = make_line(Units(lambda _: []), "baud=19200&echo=yes")
        with pytest.raises(WireError, match="only silence"):
            await broken.broadcast("feed/A", ASK)

    run(story())


# opening and losing


def test_a_line_that_is_lost_is_told_and_opened_anew() -> None:
    async def story() -> None:
        units = Units()
        line = make_line(units)
        await line.exchange(b"\x01", find)
        await asyncio.sleep(REOPEN_S)
        units.answer = lambda _: []
        asking = asyncio.create_task(line.exchange(b"\x02", find))
        await asyncio.sleep(0.1)
        units.fall_off()
        with pytest.raises(WireError, match=r"/dev/none: the line was lost: Input/output error"):
            await asking
        units.answer = lambda request: [(0.01, frame(request[0]))]
        units.say([(0.2, frame(2))])  # what a gateway may still deliver
        assert await line.exchange(b"\x03", find) == frame(3)
        assert (units.dials, line.counts["losses"], line.counts["late"]) == (2, 1, 4)

    run(story())


def test_what_cannot_be_opened_is_not_tried_without_end() -> None:
    async def story() -> None:
        units = Units()
        units.refusals = [OSError(2, "No such file or directory")] * 2
        line = make_line(units)
        for _ in range(5):
            with pytest.raises(WireError, match=r"/dev/none: No such file or directory; is the device there"):
                await line.exchange(ASK, find)
        assert units.dials == 1
        await asyncio.sleep(REOPEN_S)
        with pytest.raises(WireError, match="No such file"):
            await line.exchange(ASK, find)
        await asyncio.sleep(REOPEN_S)
        assert await line.exchange(ASK, find) == frame(0)
        assert (units.dials, line.counts.get("losses", 0)) == (3, 0)

    run(story())


def test_opening_that_hangs_is_given_up() -> None:
    class Hung(Units):
        async def dial(self, protocol: asyncio.Protocol) -> None:
            await asyncio.sleep(100.0)
            protocol.connection_made(self)

    async def story() -> None:
        line = make_line(Hung())
        with pytest.raises(WireError, match=r"cannot be opened within 3 s"):
            await line.exchange(ASK, find)
        assert now() == pytest.approx(OPEN_S)

    run(story())


def test_closing_ends_what_is_under_way_and_the_next_use_opens() -> None:
    async def story() -> None:
        units = Units(lambda request: [(0.3, frame(request[0]))])
        line = make_line(units)
        asking = asyncio.create_task(line.exchange(b"\x01", find))
        await asyncio.sleep(0.1)
        await line.close()
        with pytest.raises(WireError, match="closed"):
            await asking
        assert await line.exchange(b"\x02", find) == frame(2)
        assert (units.dials, line.counts.get("losses", 0)) == (2, 0)

    run(story())
