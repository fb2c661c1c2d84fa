"""What one node tells of itself, and what it believes of others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from supernoded.cluster import topics
from supernoded.cluster.columns import pack_columns, spread
from supernoded.cluster.digests import EVERY, FRESH, LEAST, MOST, MOST_NOTE, Digests, Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.losses import WINDOW
from supernoded.cluster.topics import Digest, PayloadError
from supernoded.history import History
from supernoded.model import Reading, State, Value
from tests.unit.worlds import LoopClock, reading, run

WATCHED = ("link.neighbour", "hop.latency")


class Post:
    """Two ends of one way."""

    def __init__(self, node: str = "n0") -> None:
        self.known: list[Reading] = []
        self.said: list[tuple[float, Digest]] = []
        self.heard: list[tuple[Sequence[Reading], float]] = []
        take = lambda readings, fresh_for: self.heard.append((readings, fresh_for))  # noqa: E731 - a witness
        self.wanted: Sequence[str] = WATCHED
        self.linked, self.troubles = True, list[tuple[str, str]]()
        who, nodes = Speaker(node, "c0", "1"), ("n0", "n1", "n2")
        self.digests = Digests(who, LoopClock(), WATCHED, nodes, lambda: self.known, self._say, take, lambda: self.wanted, self._report)

    def _say(self, topic: str, payload: bytes) -> bool:
        assert topic == topics.digest("c0", "n0")
        if self.linked:
            self.said.append((asyncio.get_running_loop().time(), topics.decode(payload, Digest)))
        return self.linked

    def _report(self, name: str, text: str) -> None:
        self.troubles = [(name, text)]


def list_told(told: Digest) -> list[Reading]:
    return [*(reading for column in told.columns for reading in spread(column, 0.0)), *told.rest]


def neighbour(value: Value, at: float = 0.0, subject: str = "n0/card0/port0") -> Reading:
    return reading(value, at=at, quantity="link.neighbour", subject=subject, unit="text")


def test_it_tells_what_is_watched_every_few_seconds_and_a_change_at_once() -> None:
    async def main() -> None:
        post = Post()
        post.known = [neighbour("n0/card1/port1"), reading(3.0)]
        telling = asyncio.ensure_future(post.digests.run())
        await asyncio.sleep(2 * EVERY + 0.1)
        assert [at for at, _ in post.said] == pytest.approx([0.0, EVERY, 2 * EVERY])
        assert [r.quantity for r in list_told(post.said[0][1])] == ["link.neighbour"]
        await asyncio.sleep(LEAST)
        post.digests.note([neighbour("n0/card2/port1", at=11.0)], 5.0)
        post.digests.note([neighbour("n0/card2/port1", at=11.1)], 5.0)  # no news
        await asyncio.sleep(0.01)
        assert len(post.said) == 4
        telling.cancel()

    run(main())


def test_a_link_that_flaps_does_not_flood_and_a_number_waits_its_turn() -> None:
    async def main() -> None:
        post = Post()
        telling = asyncio.ensure_future(post.digests.run())
        post.known = [neighbour("x")]
        for tick in range(100):
            post.digests.note([neighbour(f"n0/card{tick}/port1", at=tick / 100)], 5.0)
            await asyncio.sleep(0.01)
        assert len(post.said) <= 1 + 1.0 / LEAST
        before = len(post.said)
        await asyncio.sleep(LEAST + 0.01)
        before = len(post.said)
        for tick in range(3):
            post.digests.note([reading(2.0 + tick / 10, quantity="hop.latency", unit="us")], 5.0)
            await asyncio.sleep(0.01)
        assert len(post.said) <= before + 1
        telling.cancel()

    run(main())


def test_many_readings_are_several_messages_that_a_broker_takes() -> None:
    async def main() -> None:
        post = Post()
        post.known = [neighbour("n" * 100, subject=f"n0/card{n}/port0") for n in range(2 * MOST + 100)]
        telling = asyncio.ensure_future(post.digests.run())
        await asyncio.sleep(0.1)
        assert [len(list_told(told)) for _, told in post.said] == [MOST, MOST, 100]
        telling.cancel()

    run(main())


def digest(node: str, at: float, readings: Sequence[Reading]) -> Digest:
    columns, rest = pack_columns(readings)
    return Digest(node=node, life="7", at=at, number=1, columns=columns, rest=rest)


def letter(told: Digest, node: str | None = None) -> Message:
    return Message(topic=topics.digest("c0", node or told.node), payload=topics.encode(told))


def test_what_is_heard_is_moved_to_our_clock() -> None:
    async def main() -> None:
        post = Post()
        await asyncio.sleep(100.0)
        told = neighbour("n2/card0/port1", at=995.0, subject="n1/card0/port0")
        post.digests.hear(letter(digest("n1", 1000.0, (told,))))
        assert post.heard == [([msgspec.structs.replace(told, at=95.0)], FRESH + 5.0)]

    run(main())


def test_what_is_told_again_keeps_its_time_whatever_its_way_takes() -> None:
    async def main() -> None:
        post = Post()
        told = neighbour("n2/card0/port1", at=995.0, subject="n1/card0/port0")
        for later in (0.01, 0.25, 0.003):
            await asyncio.sleep(5.0 + later)
            post.digests.hear(letter(digest("n1", 1000.0 + 5.0 * len(post.heard), (told,))))
        assert len({readings[0].at for readings, _ in post.heard}) == 1
        post.digests.hear(letter(digest("n1", 4000.0, (msgspec.structs.replace(told, at=4000.0),))))
        assert post.heard[-1][0][0].at == pytest.approx(asyncio.get_running_loop().time())  # its clock was set

    run(main())


@pytest.mark.parametrize("age", [0.0, 3.2, 58.0])
def test_what_is_polled_slowly_is_good_until_the_digests_stay_away(age: float) -> None:
    async def main() -> None:
        post = Post()
        await asyncio.sleep(100.0)
        told = neighbour("n2/card0/port1", at=1000.0 - age, subject="n1/card0/port0")
        post.digests.hear(letter(digest("n1", 1000.0, (told,))))
        history = History({"link.neighbour": 600.0})
        for readings, fresh_for in post.heard:
            history.add(readings, fresh_for)
        states = [history.newest(100.0 + later)[0].state for later in (0.0, FRESH - 0.1, FRESH + 1.1)]
        assert states == [State.GOOD, State.GOOD, State.STALE]

    run(main())


def test_a_node_speaks_for_itself_and_we_do_not_hear_ourselves() -> None:
    async def main() -> None:
        post = Post()
        lie, ours = neighbour("x", subject="n0/card0/port0"), neighbour("y", subject="n1/card0/port0")
        shared = reading(2.0, quantity="hop.latency", subject="ring/r", unit="us")
        foreign = reading(1.0, quantity="host.load", subject="n1")
        post.digests.hear(letter(digest("n1", 0.0, (lie, ours, shared, foreign))))
        assert [r.subject for r in post.heard[0][0]] == ["n1/card0/port0", "ring/r"]
        post.digests.hear(letter(digest("n0", 0.0, (lie,))))
        post.digests.hear(letter(digest("n1", 0.0, (ours,)), node="n2"))
        assert len(post.heard) == 1

    run(main())


def test_garbage_is_refused_by_name() -> None:
    async def main() -> None:
        post = Post()
        with pytest.raises(PayloadError, match="not a Digest"):
            post.digests.hear(Message(topic=topics.digest("c0", "n1"), payload=b'{"schema":1,"node":"n1"}'))
        assert post.heard == []

    run(main())


def test_a_reading_from_the_future_of_its_own_node_is_unknown() -> None:
    async def main() -> None:
        post = Post()
        told = neighbour("n2/card0/port1", at=2000.0, subject="n1/card0/port0")
        post.digests.hear(letter(digest("n1", 1000.0, (told,))))
        assert post.heard[0][0][0].state is State.UNKNOWN

    run(main())


def test_what_is_said_is_numbered_and_without_a_link_nobody_has_missed_it() -> None:
    async def main() -> None:
        post = Post()
        post.known = [neighbour("x", subject=f"n0/card{n}") for n in range(MOST + 1)]
        telling = asyncio.ensure_future(post.digests.run())
        await asyncio.sleep(EVERY + 0.1)
        post.linked = False
        await asyncio.sleep(EVERY)
        post.linked = True
        await asyncio.sleep(EVERY)
        telling.cancel()
        assert [told.number for _, told in post.said] == [1, 2, 3, 4, 5, 6]

    run(main())


def test_what_was_lost_is_told_until_it_is_over_and_what_was_told_before_we_heard_is_not_lost() -> None:
    async def main() -> None:
        post = Post()
        telling = asyncio.ensure_future(post.digests.run())
        for number in (7, 8, 9, 17, 18):
            post.digests.hear(letter(msgspec.structs.replace(digest("n1", 0.0, ()), number=number)))
        await asyncio.sleep(WINDOW + EVERY)
        ((name, text),) = post.troubles
        assert (name, text.partition(",")[0]) == ("digests", "58 % of the 12 messages that other nodes told in 10 s were lost")
        post.digests.listen_anew()
        for number in (30, 31):
            post.digests.hear(letter(msgspec.structs.replace(digest("n1", 0.0, ()), number=number)))
        await asyncio.sleep(WINDOW + EVERY)
        telling.cancel()
        assert post.troubles == [("digests", "")]

    run(main())


def test_texts_that_not_everybody_takes_are_cleaned_and_those_beside_them_kept() -> None:
    async def main() -> None:
        post = Post()
        told = (neighbour("a\0b", subject="n1/card0"), neighbour("well", subject="n1/card1"))
        post.digests.hear(letter(digest("n1", 0.0, told)))
        assert [one.value for readings, _ in post.heard for one in readings] == ["a\N{REPLACEMENT CHARACTER}b", "well"]

    run(main())


def test_only_what_the_roles_here_need_is_taken_in() -> None:
    async def main() -> None:
        post = Post("n1")
        told = (neighbour("n0/card1/port1"), reading(3.0, quantity="hop.latency", subject="n0/card0", unit="us"))
        message = Message(topic=topics.digest("c0", "n0"), payload=topics.encode(digest("n0", 0.0, told)))
        for wanted, found in (((), []), (("hop.latency", "ups.load"), ["hop.latency"]), (WATCHED, ["link.neighbour", "hop.latency"])):
            post.heard.clear()
            post.wanted = wanted
            post.digests.hear(message)
            assert [one.quantity for readings, _ in post.heard for one in readings] == found

    run(main())


def test_what_has_much_to_say_is_told_in_more_parts() -> None:
    """A node whose sensors all fail at once says so at length, and must not fall silent over it."""

    async def main() -> None:
        post = Post()
        post.known = [msgspec.structs.replace(neighbour(None, subject=f"n0/card{n}"), note="\N{SNOWMAN}" * 4000) for n in range(150)]
        telling = asyncio.ensure_future(post.digests.run())
        await asyncio.sleep(0.01)
        telling.cancel()
        told = [reading for _, part in post.said for reading in part.rest]
        assert [reading.subject for reading in told] == [reading.subject for reading in post.known]
        assert {len(reading.note) for reading in told} == {MOST_NOTE}
        assert len(post.said) > 1

    run(main())
