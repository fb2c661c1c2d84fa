"""The session over real sockets: a broker that dies, hangs, is slow, denies, or holds garbage."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from supernoded.clock import SystemClock
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.session import Session, Timing
from supernoded.cluster.topics import EventTold, Presence
from supernoded.model import Event, Severity
from tests.protocol.mosquitto import Mosquitto
from tests.protocol.relay import Relay, peer
from tests.protocol.test_mqtt import WILL, fabric, first
from tests.unit.cluster.fakes import MemoryStore, until

LOG = logging.getLogger("supernoded.cluster.link.session")
QUICK = Timing(beat=0.05, listen=0.15, answer=5.0, first_pause=0.05, longest_pause=0.2, settled=0.5)
CALM = Timing(
    beat=0.2, listen=1.0, answer=5.0, first_pause=0.1, longest_pause=0.4, settled=0.5
)  # rivals hear each other, however busy we are
EVENT, PRESENCE, BEAT = (topics.of_node("c0", "n0", leaf) for leaf in ("event", "presence", "beat"))


def make(port: int, life: str = "life1", timeout: float = 2.0, timing: Timing = QUICK) -> tuple[Session, MemoryStore]:
    clock, store = SystemClock(), MemoryStore()
    return Session(fabric(port, timeout=timeout), "n0", "c0", life, clock, Outbox(store, clock, LOG), LOG, timing=timing), store


@asynccontextmanager
async def running(session: Session) -> AsyncIterator[Session]:
    task = asyncio.create_task(session.run())
    try:
        yield session
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def tell(number: int) -> bytes:
    event = Event(
        id=f"e{number}", kind="link.ber", subject="n0/card3", scope="node", raised=True, text="", at=float(number), severity=Severity.INFO
    )
    return topics.encode(EventTold(node="n0", life="life1", at=float(number), event=event))


def read_beat(message: Message) -> None:
    topics.decode(message.payload, topics.Beat)


@pytest.fixture
async def relay(mosquitto: Mosquitto) -> AsyncIterator[Relay]:
    relay = Relay(mosquitto.port)
    await relay.open()
    yield relay
    await relay.shut()


@asynccontextmanager
async def listening(port: int, heard: list[str]) -> AsyncIterator[None]:
    """An observer that writes down the ids of events for as long as its broker lives."""
    async with fabric(port).connect("observer", WILL) as link:
        await link._client.subscribe(EVENT, qos=0)  # what the broker has sent at QoS 0 arrives even when it is killed next

        async def listen() -> None:
            async for message in link.messages():
                told = topics.decode(message.payload, EventTold)
                heard.append(told.event.id)

        task = asyncio.create_task(listen())
        try:
            yield
        finally:
            await asyncio.wait([task], timeout=0.2)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_a_broker_killed_again_and_again_loses_no_event_and_keeps_the_order(mosquitto: Mosquitto, relay: Relay) -> None:
    await mosquitto.start()
    session, store = make(relay.port)
    heard: list[str] = []
    sent = 0

    async def send(count: int) -> None:
        nonlocal sent
        for _ in range(count):
            await session.send(Message(topic=EVENT, payload=tell(sent)), f"e{sent}")
            sent += 1

    async with running(session):
        for _ in range(5):
            async with listening(mosquitto.port, heard):
                await relay.open()
                enough = sent + 40
                await send(100)
                await until(lambda enough=enough: len(set(heard)) >= enough or not store.letters)  # type: ignore[misc] # bound per round
                await send(100)
                await mosquitto.kill()  # with letters on their way
                assert store.letters
                await relay.shut()
            await send(20)
            await mosquitto.start()
        async with listening(mosquitto.port, heard):
            await relay.open()
            await until(lambda: not store.letters)
    assert list(dict.fromkeys(heard)) == [f"e{number}" for number in range(sent)]
    assert session.counts.links > 1


async def test_a_half_open_link_is_noticed_and_replaced(mosquitto: Mosquitto, relay: Relay) -> None:
    await mosquitto.start()
    session, store = make(relay.port, timeout=0.4)
    async with running(session):
        await until(lambda: session.state.connected)
        relay.thawed.clear()
        await session.send(Message(topic=EVENT, payload=tell(1)), "e1")
        await until(lambda: not session.state.connected)
        assert "no answer within 0.4 s" in session.state.text
        relay.thawed.set()
        await until(lambda: session.state.connected and not store.letters)


async def test_a_slow_broker_is_not_a_dead_one(mosquitto: Mosquitto, relay: Relay) -> None:
    await mosquitto.start()
    session, store = make(relay.port)
    relay.delay = 0.1
    async with running(session):
        await session.send(Message(topic=EVENT, payload=tell(1)), "e1")
        await until(lambda: session.state.connected and not store.letters)
        assert session.counts.links == 1


async def test_a_broker_that_never_answers_is_tried_again_and_again(caplog: pytest.LogCaptureFixture) -> None:
    async with peer([]) as port:
        session, _ = make(port, timeout=0.1)
        async with running(session):
            await until(lambda: "no answer within 0.1 s" in session.state.text)
            await asyncio.sleep(0.5)
    assert len(caplog.records) == 1


async def test_garbage_retained_on_our_topics_harms_nothing(mosquitto: Mosquitto) -> None:
    await mosquitto.start()
    async with fabric(mosquitto.port).connect("vandal", WILL) as link:
        for topic in (PRESENCE, BEAT):
            await link.publish(Message(topic=topic, payload=b"\xff{garbage", retain=True))
        await link.publish(Message(topic=topics.beat("c0", "n1"), payload=b"x" * 100_000, retain=True))
        session, _ = make(mosquitto.port)
        session.on(topics.of_nodes("c0", "beat"), read_beat)
        async with running(session):
            await until(lambda: session.state.connected and session.counts.refused >= 3)
            await link.subscribe([PRESENCE])
            assert topics.decode((await first(link)).payload, Presence).online


async def contend(port: int) -> None:
    """Two daemons of one name: one stays, the other waits, and takes over when the first stops."""
    one, other = make(port, timing=CALM)[0], make(port, "life2", timing=CALM)[0]
    async with running(other) as late:
        async with running(one):
            await until(lambda: one.state.connected or late.state.connected)
            await until(lambda: "another daemon calls itself n0" in one.state.text + late.state.text)
            await until(lambda: one.state.connected != late.state.connected)
            stays, waits = (one, late) if one.state.connected else (late, one)
            links = stays.counts.links
            await asyncio.sleep(0.5)
            assert (stays.counts.links, waits.counts.links) == (links, waits.counts.links)
            assert not waits.state.connected
        await until(lambda: late.state.connected)


async def test_a_second_daemon_of_one_name_stays_off(mosquitto: Mosquitto) -> None:
    await mosquitto.start()
    await contend(mosquitto.port)


async def test_a_denied_topic_costs_its_own_messages_only(mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture) -> None:
    acl = "topic readwrite supernode/v1/c0/node/n0/+\ntopic deny supernode/v1/c0/node/n0/event\n"
    mosquitto.lines = [f"acl_file {mosquitto.write('acl', acl)}"]
    await mosquitto.start()
    session, store = make(mosquitto.port)
    async with running(session):
        for number in range(3):
            await session.send(Message(topic=EVENT, payload=tell(number)), f"e{number}")
        await session.send(Message(topic=topics.outcome("c0", "n0"), payload=b"{}"), "o1")
        await until(lambda: not store.letters)
        assert session.state.connected
    assert session.counts.denied == 3
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert EVENT in line
    assert "0x87" in line
    assert "access list" in line


async def test_a_wrong_password_is_the_sessions_state(mosquitto: Mosquitto, tmp_path: Path) -> None:
    mosquitto.lines = ["allow_anonymous false", f"password_file {mosquitto.password_file(n0='right')}"]
    await mosquitto.start()
    session, _ = make(mosquitto.port)
    async with running(session):
        await until(lambda: "mqtt.username" in session.state.text)
        assert not session.state.connected


async def test_what_is_said_is_what_the_description_says(mosquitto: Mosquitto) -> None:
    """The keys of each payload on the wire are the properties of its schema in docs/asyncapi.yaml, which a unit test holds to the types."""
    await mosquitto.start()
    session, _ = make(mosquitto.port)
    heard: dict[str, bytes] = {}
    async with fabric(mosquitto.port).connect("observer", WILL) as link:
        await link.subscribe(["supernode/v1/c0/node/+/+"])
        async with running(session):
            await session.send(Message(topic=EVENT, payload=tell(1)), "e1")
            async for message in link.messages():
                heard[message.topic.rsplit("/", 1)[1]] = message.payload
                if len(heard) == 3:
                    break
    _, schemas = msgspec.json.schema_components([Presence, topics.Beat, EventTold])
    for leaf, type_ in (("presence", Presence), ("beat", topics.Beat), ("event", EventTold)):
        assert set(msgspec.json.decode(heard[leaf], type=dict)) == set(schemas[type_.__name__]["properties"])
