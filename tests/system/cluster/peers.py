"""What the nodes of a site share: one mosquitto, whose state can be put back to what it was, and somebody who hears all that is said."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from benchmarks.light_mqtt import LightLink, make_connect
from supernoded.cluster import topics
from supernoded.cluster.topics import Payload, PayloadError
from tests.protocol.mosquitto import find
from tests.system.cluster.networks import Port

P = TypeVar("P", bound=Payload)

MQTT = Port(8883)  # with TLS
PATIENCE = 30.0  # seconds for anything that must come
LOOK = 0.02
CLUSTER = "c0"
CONFIG = """\
per_listener_settings true
persistence true
persistence_location {folder}/
user root
listener 0 {socket}
allow_anonymous true
{listener}
"""


@dataclass
class Broker:
    """A mosquitto in the site's namespace. Its unix socket is for the test alone: no cut reaches it."""

    folder: Path
    enter: Sequence[str]
    listener: str  # lines of its configuration, for the nodes
    process: asyncio.subprocess.Process | None = None

    @property
    def socket(self) -> Path:
        """Where the test listens."""
        return self.folder / "socket"

    @property
    def state(self) -> Path:
        """What it keeps over a restart: retained messages and sessions."""
        return self.folder / "mosquitto.db"

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        self.folder.mkdir(exist_ok=True)
        self.socket.unlink(missing_ok=True)
        config = self.folder / "mosquitto.conf"
        config.write_text(CONFIG.format(folder=self.folder, socket=self.socket, listener=self.listener))
        with (self.folder / "log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(*self.enter, find("mosquitto"), "-c", str(config), stdout=log, stderr=log)
        async with asyncio.timeout(PATIENCE):
            while not await self._answers():
                assert self.process.returncode is None, (self.folder / "log").read_text()
                await asyncio.sleep(LOOK)

    async def _answers(self) -> bool:
        try:
            _, writer = await asyncio.open_unix_connection(self.socket)
        except OSError:
            return False
        writer.close()
        return True

    async def stop(self) -> None:
        """Stop it in order: it writes its state."""
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """As `kill -9`."""
        await self._end(signal.SIGKILL)

    async def _end(self, how: signal.Signals) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(how)
            await self.process.wait()

    async def go_back(self, kept: Path) -> None:
        """Restart it with the state of an earlier time."""
        await self.kill()
        shutil.copy(kept, self.state)
        await self.start()


@dataclass
class Ear:
    """All that is said on the broker, in the order in which it came."""

    heard: list[tuple[str, bytes]] = field(default_factory=list)  # topic and payload
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self, broker: Broker) -> None:
        """Until cancelled; a broker that was restarted is listened to again."""
        while True:
            link = LightLink(self._hear)
            try:
                with suppress(OSError):
                    await link.open(broker.socket, make_connect("ear", "ear/gone", b"", 0), [f"{topics.ROOT}/#"], PATIENCE)
                    await link.lost.wait()
            finally:
                link.cut()
            await asyncio.sleep(LOOK)

    def _hear(self, topic: str, payload: bytes) -> None:
        self.heard.append((topic, payload))
        self.news.set()

    def list_said(self, pattern: str, kind: type[P], since: int = 0) -> list[P]:
        """What was said on the topics below the cluster that match, without what is no payload, such as a deletion."""
        said = []
        for topic, payload in self.heard[since:]:
            if re.fullmatch(f"{topics.ROOT}/{CLUSTER}/{pattern}", topic):
                with suppress(PayloadError):
                    said.append(topics.decode(payload, kind))
        return said

    async def wait(self, pattern: str, kind: type[P], fits: Callable[[P], object], since: int = 0, within: float = PATIENCE) -> P:
        """The first that fits."""
        try:
            async with asyncio.timeout(within):
                while True:
                    self.news.clear()
                    for one in self.list_said(pattern, kind, since):
                        if fits(one):
                            return one
                    await self.news.wait()
        except TimeoutError:
            said = "\n".join(f"{one}" for one in self.list_said(pattern, kind, since)[-20:])
            raise AssertionError(f"nothing that fits was said on {pattern} within {within:g} s; the last there was:\n{said}") from None


@asynccontextmanager
async def listening(broker: Broker) -> AsyncIterator[Ear]:
    """Somebody who hears all that is said."""
    ear = Ear()
    task = asyncio.create_task(ear.listen(broker))
    try:
        yield ear
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
