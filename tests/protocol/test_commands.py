"""Commands over a real mosquitto with the certificates, the listener and the access list that `supernodectl pki` makes."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from supernoded.clock import SystemClock
from supernoded.cluster import topics
from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.commands.post import open_keyring
from supernoded.cluster.commands.words import Command, Reply, answer_to
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.mqtt import AiomqttFabric
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.session import Session, Timing
from supernoded.cluster.link.tls import TlsFiles
from supernoded.cluster.roles.seats import FixedSeats
from supernoded.errors import CertificateRefusedError, PublishDeniedError, UnansweredError
from supernoded.journal.writer import open_journal
from supernoded.pki.office import Office
from supernoded.settings import Settings, read_settings
from supernoded.supervisor import Health
from tests.protocol.mosquitto import Mosquitto
from tests.protocol.test_mqtt import WILL
from tests.unit.cluster.fakes import MemoryStore, until

LOG = logging.getLogger("supernoded.cluster.link.session")
QUICK = Timing(beat=0.05, listen=0.15, answer=5.0, first_pause=0.05, longest_pause=0.2, settled=0.5)
CLUSTER = "c7"
TOPOLOGY = "".join(f'\n[[nodes]]\nname = "n{i}"\ncards = 0\n' for i in range(3))


@dataclass
class Site:
    folder: Path
    office: Office
    broker: Mosquitto

    async def serve(self) -> None:
        """The generated listener, on a free port."""
        self.office.issue("b0", 10.0, broker=True, hosts=["127.0.0.1"], at=str(self.folder / "pki/brokers/b0"))
        listener = (self.folder / "pki/brokers/b0/mosquitto.conf").read_text().splitlines()
        self.broker.lines = [line for line in listener if not line.startswith(("listener", "set_tcp_nodelay"))]
        await self.broker.start()

    def issue(self, node: str) -> Settings:
        """Its settings, by the snippet that goes with its keys."""
        self.office.issue(node, 10.0, at=str(self.folder / "pki/nodes" / node))
        file = self.folder / f"{node}.toml"
        snippet = (self.folder / "pki/nodes" / node / "supernoded.toml").read_text().replace("8883", str(self.broker.port))
        file.write_text(f'node = "{node}"\ncluster = "{CLUSTER}"\nstate = "state-{node}"\nruntime = "run"\n{snippet}{TOPOLOGY}')
        return read_settings(file, {})

    @asynccontextmanager
    async def live(self, settings: Settings) -> AsyncIterator[Node]:
        node = Node(settings, self.folder)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work()) for work in (node.session.run, node.commander.run, node.journal.run)]
            await until(lambda: node.session.state.connected)
            yield node
            for task in tasks:
                task.cancel()
        await node.journal.close()


class Node:
    def __init__(self, settings: Settings, folder: Path) -> None:
        clock = SystemClock()
        self.journal = open_journal(folder / f"{settings.node}.db", clock)
        keyring = open_keyring(settings, clock, Health(clock, LOG))
        who = Speaker(settings.node, CLUSTER, "life1")
        outbox = Outbox(MemoryStore(), clock, LOG)
        fingerprint = keyring.keys.fingerprint
        self.session = Session(link(settings), settings.node, CLUSTER, "life1", clock, outbox, LOG, timing=QUICK, fingerprint=fingerprint)
        self.commander = Commander(who, keyring, self.session, self.journal, clock, FixedSeats(settings.node, {}), LOG)
        self.commander.serve("do", self.do)

    async def do(self, command: Command) -> Reply:
        return answer_to(command, f"done for {command.sender}")


def link(settings: Settings) -> AiomqttFabric:
    mqtt = settings.mqtt
    assert mqtt.port is not None
    files = TlsFiles(ca=str(mqtt.ca_file), certificate=str(mqtt.certificate_file), key=str(mqtt.key_file))
    return AiomqttFabric(mqtt.host, mqtt.port, LOG, tls=files, timeout=2.0)


@pytest.fixture
async def site(mosquitto: Mosquitto, tmp_path: Path) -> Site:
    office = Office(tmp_path / "pki", time.time())
    office.found(CLUSTER, 100.0)
    return Site(tmp_path, office, mosquitto)


async def test_nodes_command_each_other(site: Site) -> None:
    await site.serve()
    async with site.live(site.issue("n0")) as n0, site.live(site.issue("n1")) as n1:
        for _ in range(3):
            assert (await n0.commander.ask("n1", "do")).text == "done for n0"
        assert (await n1.commander.ask("n0", "do")).text == "done for n1"
        assert n0.session.counts.denied == n1.session.counts.denied == 0


async def test_a_broker_that_restarts(site: Site) -> None:
    await site.serve()
    async with site.live(site.issue("n0")) as n0, site.live(site.issue("n1")) as n1:
        await n0.commander.ask("n1", "do")
        await site.broker.kill()
        await until(lambda: not n0.session.state.connected and not n1.session.state.connected)
        await site.broker.start()
        await until(lambda: n0.session.state.connected and n1.session.state.connected)
        assert (await n0.commander.ask("n1", "do")).text == "done for n0"


OWN = ["node/n0/beat", "node/n0/presence", "node/n0/hold/h1", "node/n0/jobs", "node/n0/event"]
OTHERS = ["node/n1/beat", "node/n1/presence", "node/n1/hold/h1", "node/n1/jobs", "node/n1/digest", "else", "role/x/y/z/view"]
ALLOWED = ["command/n1", "node/n1/answer", "role/fleet/view", "role/cdu/0/view"]


async def test_what_a_node_may_write(site: Site) -> None:
    await site.serve()
    async with link(site.issue("n0")).connect("n0-a", WILL) as at_broker:
        for leaf in (*OWN, *ALLOWED):
            await at_broker.publish(Message(topic=f"{topics.ROOT}/{CLUSTER}/{leaf}", payload=b"x"))
        for leaf in OTHERS:
            with pytest.raises(PublishDeniedError, match="access list"):
                await at_broker.publish(Message(topic=f"{topics.ROOT}/{CLUSTER}/{leaf}", payload=b"x"))
        with pytest.raises(PublishDeniedError):
            await at_broker.publish(Message(topic=f"{topics.ROOT}/another/node/n0/beat", payload=b"x"))


async def test_what_a_node_may_hear(site: Site) -> None:
    await site.serve()
    told = ["node/n1/digest", "node/n1/hold/h1", "node/n1/jobs", "role/fleet/view"]
    said = ["command/n0", "command/n1", "node/n1/answer", "node/n0/answer", *told]
    heard: list[str] = []
    n0, n1 = link(site.issue("n0")), link(site.issue("n1"))
    async with n0.connect("n0-a", WILL) as ear, n1.connect("n1-a", WILL) as mouth:
        await ear.subscribe([f"{topics.ROOT}/{CLUSTER}/#"])
        for leaf in said:
            await mouth.publish(Message(topic=f"{topics.ROOT}/{CLUSTER}/{leaf}", payload=b"x"))
        async with asyncio.timeout(10):
            async for message in ear.messages():
                heard.append(message.topic.removeprefix(f"{topics.ROOT}/{CLUSTER}/"))
                if heard[-1] == said[-1]:
                    break
    assert heard == [leaf for leaf in said if leaf not in {"command/n1", "node/n1/answer"}]


async def test_a_revoked_node_is_shut_out_by_the_broker_and_the_nodes(site: Site) -> None:
    await site.serve()
    n0, n1 = site.issue("n0"), site.issue("n1")
    async with site.live(n1):
        site.office.revoke("n0")
        async with link(n0).connect("n0-a", WILL):
            pass  # the broker has not read the new list yet
        assert site.broker.process is not None
        site.broker.process.send_signal(signal.SIGHUP)

        async def is_refused() -> bool:
            try:
                async with link(n0).connect("n0-a", WILL):
                    return False
            except CertificateRefusedError as error:
                assert "has been revoked" in str(error)
                return True

        async with asyncio.timeout(20):
            while not await is_refused():
                await asyncio.sleep(0.05)


async def test_a_node_that_is_not_there(site: Site) -> None:
    await site.serve()
    async with site.live(site.issue("n0")) as n0:
        with pytest.raises(UnansweredError):
            await n0.commander.ask("n2", "do", within=0.3)
