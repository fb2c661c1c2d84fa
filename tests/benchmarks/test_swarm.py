from __future__ import annotations

import asyncio
from contextlib import suppress

from benchmarks.light_mqtt import LightLink, make_connect
from benchmarks.saying import say
from benchmarks.swarm import CLUSTER, make_swarm
from supernoded.cluster import topics
from supernoded.cluster.topics import Beat, Digest, Presence
from supernoded.quantities import find_fault
from tests.benchmarks.waiting import until
from tests.protocol.mosquitto import Mosquitto

Heard = list[tuple[str, bytes]]


def test_a_node_tells_what_the_vocabulary_knows() -> None:
    readings = say("n7", 7)
    for reading in readings:
        assert find_fault(reading) is None
    assert len({(reading.subject, reading.quantity) for reading in readings}) == len(readings)
    assert {reading.subject.partition("/")[0] for reading in readings} == {"n7", "job"}


async def test_a_swarm_says_what_daemons_say(mosquitto: Mosquitto) -> None:
    await mosquitto.start()
    heard: Heard = []
    ear = LightLink(lambda topic, payload: heard.append((topic, payload)))
    await ear.open(mosquitto.port, make_connect("ear", "ear/will", b"", 0), [f"{topics.ROOT}/#"], 5.0)
    swarm = make_swarm(["n0", "n1", "n2", "n3"], mosquitto.port, ["n0"])
    await swarm.connect(swarm.nodes)
    running = asyncio.create_task(swarm.run())

    def of(kind: type[topics.Payload]) -> set[str]:
        return {topics.decode(payload, kind).node for topic, payload in heard if topic.endswith(f"/{kind.__name__.lower()}")}

    await until(lambda: of(Beat) == of(Digest) == of(Presence) == {"n1", "n2", "n3"})
    await until(lambda: swarm.echoes)
    silent, cut, well = swarm.nodes
    silent.mute = True
    cut.link.cut()
    wills = topics.presence(CLUSTER, cut.name)
    await until(lambda: any(not topics.decode(payload, Presence).online for topic, payload in heard if topic == wills))
    heard.clear()
    await until(lambda: sum(topic == topics.beat(CLUSTER, well.name) for topic, _ in heard) > 1)
    assert of(Beat) == {well.name}
    await swarm.connect([cut])
    await until(lambda: cut.name in of(Beat))
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    for node in swarm.nodes:
        node.link.cut()
    ear.cut()
