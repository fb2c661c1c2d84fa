"""One size of the site: the holder at rest, nodes that fall silent, and a part of the site that is cut off and comes back."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass

import psutil

from benchmarks.holder import HOLDERS, Told, Usage, doors, listening, start_daemon, write_settings
from benchmarks.measuring import Row, find_percentile, make_row, mosquitto, scratch
from benchmarks.swarm import Swarm, SwarmNode, allow_files, make_swarm

LATE_S, GONE_S, CPU_PERCENT = 3.0, 10.0, 25.0  # design section 14, at 1,024 nodes
OF_BUDGET = 1024
VICTIMS = 8  # nodes that fall silent, at moments of their own
SPREAD = 1.0  # seconds over which they do
SETTLE, WINDOW = 6.0, 8.0  # seconds
PATIENCE = 20.0  # seconds for an event of the holder
LONGEST = 120.0  # seconds for one size, from which on nothing is waited for any more: what was not told by then is a row
LEAST_WAIT = 1.0  # seconds
CUT_SHARE, CUT_S = 0.25, 6.0  # of the nodes, and for how long they are cut off


async def measure_size(count: int) -> list[Row]:
    """All rows of one size."""
    allow_files(count)
    end = time.monotonic() + LONGEST
    names = [f"n{number}" for number in range(count)]
    chance = random.Random(count)
    victims = chance.sample([name for name in names if name not in HOLDERS.values()], min(VICTIMS, count // 4))
    with scratch() as folder, mosquitto(folder) as port, doors() as ports:
        swarm = make_swarm(names, port, HOLDERS.values())
        async with AsyncExitStack() as stack:
            told = await stack.enter_async_context(listening(port))
            holders = {}
            for role, node in HOLDERS.items():
                config = write_settings(folder / role, node, port, names, victims, ports)
                holders[role] = (await stack.enter_async_context(start_daemon(config))).watch()
            tell(count, "the holders are ready, the clients connect")
            await stack.enter_async_context(speaking(swarm))
            tell(count, "the clients beat, everybody is well")
            bench = Bench(count, swarm, told, holders, find_broker(), chance, end)
            return [
                *await bench.measure_rest(),
                *await bench.measure_silence([node for node in swarm.nodes if node.name in victims]),
                *await bench.measure_heal(),
                *bench.measure_clients(),
            ]


def tell(count: int, text: str) -> None:
    """How far it is, for who waits for the rows."""
    print(f"{time.strftime('%H:%M:%S')} {count} nodes: {text}", file=sys.stderr, flush=True)


@asynccontextmanager
async def speaking(swarm: Swarm) -> AsyncIterator[None]:
    """All of them are connected, and beat."""
    await swarm.connect(swarm.nodes)
    running = asyncio.create_task(swarm.run())
    try:
        yield
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def find_broker() -> psutil.Process:
    """The mosquitto that this process has started."""
    return next(child for child in psutil.Process().children() if child.name() == "mosquitto")


@dataclass
class Bench:
    """What is measured at one size, in this order."""

    count: int
    swarm: Swarm
    told: Told
    holders: Mapping[str, psutil.Process]  # role -> daemon
    broker: psutil.Process
    chance: random.Random
    end: float  # monotonic; nothing is waited for beyond it

    def row(self, what: str, value: float, unit: str, budget: float | None = None, note: str = "") -> Row:
        """A row of this size; budgets are for 1,024 nodes."""
        return make_row(f"{self.count} nodes: {what}", value, unit, budget if self.count == OF_BUDGET else None, note)

    @property
    def patience(self) -> float:
        """For how many seconds an event is waited for now."""
        return min(PATIENCE, max(self.end - time.monotonic(), LEAST_WAIT))

    async def wait(self, kind: str, names: Collection[str], *, raised: bool, since: float) -> dict[str, float]:
        """When each was told so, as far as that came in time."""
        found = await self.told.wait(kind, names, self.patience, raised=raised, since=since)
        tell(self.count, f"{len(found)} of {len(names)} are told {'' if raised else 'no longer '}{kind}")
        return found

    async def measure_rest(self) -> list[Row]:
        """Everybody is well: what the holder and the broker need."""
        await asyncio.sleep(SETTLE)
        self.swarm.forget()
        processes = *self.holders.values(), self.broker, psutil.Process()
        before = [Usage.read(process) for process in processes]
        await asyncio.sleep(WINDOW)
        *shares, broker, own = (Usage.read(process).share_since(usage) for process, usage in zip(processes, before, strict=True))
        (sent, heard), beats = self.swarm.count(), self.swarm.count_beats()
        readings = sum(len(node.readings) for node in self.swarm.nodes) / self.swarm.every
        rows = []
        for (role, process), share in zip(self.holders.items(), shares, strict=True):
            rows += [
                self.row(f"CPU of the holder of {role}, of one core", share, "%", CPU_PERCENT, f"over {WINDOW:g} s"),
                self.row(f"CPU of {role} for a node and second", share * 1e4 / self.count, "us"),
                self.row(f"resident memory of the holder of {role}", process.memory_info().rss / 1e6, "MB"),
            ]
        return [
            *rows,
            self.row("CPU of mosquitto, of one core", broker, "%"),
            self.row("CPU of the clients, of one core", own, "%", note="all of them in one process"),
            self.row("messages from the nodes", sent / WINDOW, "1/s", None, f"with {readings:.0f} readings/s"),
            self.row("beats of a node", beats / len(self.swarm.nodes) / WINDOW, "1/s", None, "below 0.99 the clients are measured"),
            self.row("messages to the nodes", heard / WINDOW, "1/s"),
        ]

    async def measure_silence(self, victims: Sequence[SwarmNode]) -> list[Row]:
        """Some stop, one after the other; half of them hang with their connection, of the others it is cut."""
        begin = time.monotonic()
        for number, node in enumerate(victims):
            await asyncio.sleep(self.chance.uniform(0.0, 2 * SPREAD / len(victims)))
            node.mute = True
            if number % 2:
                node.link.cut()
        names = [node.name for node in victims]
        late = await self.wait("node.late", names, raised=True, since=begin)
        gone = await self.wait("node.gone", names, raised=True, since=begin)
        last = {node.name: node.said_at for node in victims}
        back = await self.bring_back(victims)
        clear = await self.wait("node.gone", list(gone), raised=False, since=back)
        note = f"{len(victims)} nodes, from the last beat to the event of fleet's holder"
        return [
            *self.tell_times("to late", late, last, LATE_S, note),
            *self.tell_times("to gone", gone, last, GONE_S, "their machines answer no probe"),
            *self.tell_times("to well again", clear, dict.fromkeys(names, back), None, "from the moment they were back"),
            self.row("not told late, gone, well", float(3 * len(names) - len(late) - len(gone) - len(clear)), "1", 0.0),
        ]

    async def measure_heal(self) -> list[Row]:
        """A quarter of the site is cut off, and comes back at once."""
        part = self.chance.sample(list(self.swarm.nodes), round(CUT_SHARE * self.count))
        begin, names = time.monotonic(), [node.name for node in part]
        for node in part:
            node.mute = True
            node.link.cut()
        late = await self.wait("node.late", names, raised=True, since=begin)
        seen = max(late.values(), default=begin) - begin
        await asyncio.sleep(max(CUT_S - (time.monotonic() - begin), 0.0))
        healed = time.monotonic()
        back = await self.bring_back(part)
        clear = await self.told.wait_well(list(late), self.patience)
        tell(self.count, f"{len(clear)} of the {len(late)} that were late are well again")
        ended = max((*clear.values(), healed)) - healed
        note = f"{len(part)} nodes were cut off; {len(late)} were told late, {len(clear)} well again"
        return [
            self.row("until all of a part that is cut off are late", seen, "s", None, note),
            self.row("until all of it are well again", ended, "s", None, f"{back - healed:.2f} s of it are their connecting"),
        ]

    def measure_clients(self) -> list[Row]:
        """Whether the clients kept up."""
        lags, echoes = sorted(self.swarm.lags), sorted(self.swarm.echoes)
        return [
            self.row("lag of the clients, p99", 1e3 * find_percentile(lags, 99), "ms"),
            self.row("a beat to the broker and back, p99", 1e3 * find_percentile(echoes, 99), "ms"),
        ]

    async def bring_back(self, nodes: Sequence[SwarmNode]) -> float:
        """Their links are there again and they beat; when that was so of all of them that the broker took in time."""
        with suppress(OSError):
            await self.swarm.connect([node for node in nodes if not node.link.is_open])
        for node in nodes:
            node.mute = False
        return time.monotonic()

    def tell_times(self, what: str, at: Mapping[str, float], since: Mapping[str, float], budget: float | None, note: str) -> Iterator[Row]:
        """Median and p95 of what was told; nothing of what was not."""
        times = [at[name] - since[name] for name in at]
        if len(times) > 1:
            yield self.row(f"{what}, p50", find_percentile(times, 50), "s")
            yield self.row(f"{what}, p95", find_percentile(times, 95), "s", budget, note)
