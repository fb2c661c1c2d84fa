"""Three whole daemons on one loop: link errors on n0, n1 killed and started again, n2 cut off from the broker in its own trouble.

`python -m tests.chaos.three SEED FOLDER` plays it and prints the trace's digest.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from sim_hardware.drives import SimSite
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import EventTold, Presence

NODES = ("n0", "n1", "n2")
KILLED, REVIVED, CUT, HEALED, ENDS = 30.0, 36.0, 50.0, 64.0, 80.0

CONFIG = """\
node = "{node}"
state = "{folder}/{node}"
runtime = "{folder}/{node}/run"
[mqtt]
host = "broker"
[plugins.fabric]
infiniband = "{folder}/{node}/infiniband"
ethernet = "{folder}/none"
"""


@dataclass
class Heard:
    """What an observer on the broker heard."""

    beats: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    presence: list[tuple[float, str, bool]] = field(default_factory=list)
    events: list[tuple[float, str, str, bool]] = field(default_factory=list)  # at, node, kind, raised
    digest: str = ""
    failures: list[str] = field(default_factory=list)
    lives: Counter[str] = field(default_factory=Counter)


def write_port(tree: Path, errors: int, seconds: float) -> None:
    """One port at 200 Gb/s, half used, with so many symbol errors so far."""
    port = tree / "mlx5_0" / "ports" / "1"
    (port / "counters").mkdir(parents=True, exist_ok=True)
    for name, text in (("state", "4: ACTIVE"), ("phys_state", "5: LinkUp"), ("rate", "200 Gb/sec (4X HDR)"), ("link_layer", "InfiniBand")):
        (port / name).write_text(f"{text}\n")
    (port / "counters" / "symbol_error").write_text(f"{errors}\n")
    (port / "counters" / "port_rcv_data").write_text(f"{int(seconds * 100e9 / 32)}\n")  # in words of 32 bits


def play(folder: Path, seed: int) -> Heard:
    """Play the scene in a fresh folder."""
    loop, heard = SimLoop(seed), Heard()

    async def main() -> None:
        site = SimSite(loop)
        site.broker.start()
        configs = {}
        for node in NODES:
            write_port(folder / node / "infiniband", 0, 0.0)
            configs[node] = folder / f"{node}.toml"
            configs[node].write_text(CONFIG.format(node=node, folder=folder))
            site.start(node, configs[node])
        loop.spawn("observer", lambda: _observe(site, heard))
        loop.spawn("wear", lambda: _wear(folder))
        loop.at(KILLED, lambda: loop.kill(loop.processes["n1"]))
        loop.at(REVIVED, lambda: site.start("n1", configs["n1"]))
        loop.at(CUT, lambda: site.net.partition("n2", "broker"))
        loop.at(HEALED, lambda: site.net.heal("n2", "broker"))
        await asyncio.sleep(ENDS)

    with virtual_time(loop):
        loop.run_until_complete(main())
        heard.digest = loop.digest()
        heard.failures = [f"{failure.process}: {failure.message}: {failure.error!r}" for failure in loop.failures]
        heard.lives = Counter(process.name for process in loop.lives)
    return heard


async def _wear(folder: Path) -> None:
    """Traffic everywhere; errors on n0 from 10 s on, on n2 from the moment it is cut off."""
    loop = asyncio.get_running_loop()
    while True:
        now = loop.time()
        for node, since in (("n0", 10.0), ("n1", 1e9), ("n2", CUT)):
            write_port(folder / node / "infiniband", int(max(now - since, 0.0) * 100), now)
        await asyncio.sleep(1.0)


async def _observe(site: SimSite, heard: Heard) -> None:
    loop = asyncio.get_running_loop()
    will = Message(topic="observer", payload=b"gone")
    async with site.broker.connect("observer", will) as link:
        await link.subscribe(["supernode/#"])
        async for message in link.messages():
            node, leaf = message.topic.split("/")[-2:]
            if leaf == "beat":
                heard.beats[node].append(loop.time())
            elif leaf == "presence":
                heard.presence.append((loop.time(), node, topics.decode(message.payload, Presence).online))
            elif leaf == "event":
                event = topics.decode(message.payload, EventTold).event
                heard.events.append((loop.time(), node, event.kind, event.raised))


if __name__ == "__main__":
    sys.stdout.write(play(Path(sys.argv[2]), int(sys.argv[1])).digest + "\n")
