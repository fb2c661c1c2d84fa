"""The fixtures that authors of plugins are given, used as an author would."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.plugin import NODE, Level, Node, Reading, State, Verdict, View
from supernoded.testing import Answer, Judge, ManualClock, MemoryHost, MemoryWires


async def test_clock_stands_still_until_it_is_advanced(supernoded_clock: ManualClock) -> None:
    began, woken = supernoded_clock.now(), list[float]()

    async def wait(seconds: float) -> None:
        await supernoded_clock.sleep(seconds)
        woken.append(supernoded_clock.now() - began)

    tasks = [asyncio.create_task(wait(seconds)) for seconds in (3.0, 1.0, 0.0)]
    await supernoded_clock.advance(0.5)
    assert woken == [0.0]
    await supernoded_clock.advance(9.5)
    assert woken == [0.0, 1.0, 3.0]
    assert supernoded_clock.now() == began + 10.0
    await asyncio.gather(*tasks)


async def test_a_periodic_task_runs_once_per_period(supernoded_clock: ManualClock) -> None:
    ticks = list[float]()

    async def tick() -> None:
        while True:
            ticks.append(supernoded_clock.now())
            await supernoded_clock.sleep(2.0)

    task = asyncio.create_task(tick())
    await supernoded_clock.advance(10.0)
    task.cancel()
    await supernoded_clock.advance(10.0)  # a sleeper that was cancelled is no trouble
    assert len(ticks) == 6
    assert ticks == sorted(ticks)


def test_the_wall_clock_may_be_set_alone(supernoded_clock: ManualClock) -> None:
    supernoded_clock.wall_offset = -3600.0
    assert supernoded_clock.wall() - supernoded_clock.now() == -3600.0


def test_chance_is_the_same_in_every_run(supernoded_clock: ManualClock) -> None:
    first = supernoded_clock.stream("jitter").random()
    assert first == ManualClock().stream("jitter").random()
    assert first != supernoded_clock.stream("other").random()


async def test_tree_reads_what_the_test_put_there(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    files = supernoded_wires.tree("/sys").files
    files |= {"net/eth0/errors": "7\n", "net/eth1/errors": WireError("net/eth1/errors: I/O error"), "net/eth1/deep/errors": "9"}
    tree = supernoded_node.wires.tree("tree:///sys")
    assert await tree.read("net/eth0/errors") == "7"
    assert await tree.names("net") == ["eth0", "eth1"]
    assert await tree.names("absent") == []
    found = await tree.read_all(["net/*/errors"])
    assert list(found) == ["net/eth0/errors", "net/eth1/errors"]
    assert isinstance(found["net/eth1/errors"], WireError)
    with pytest.raises(WireError, match="absent"):
        await tree.read("absent")


async def test_tree_is_written_and_trimmed_only_while_the_scope_is_held(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    tree = supernoded_node.wires.tree("/state")
    for name in ("a", "b", "c"):
        await tree.order(NODE, f"kept/{name}", name)
    await tree.trim(NODE, "kept", 2)
    assert await tree.names("kept") == ["b", "c"]
    supernoded_wires.refusals[NODE] = "the lease is gone"
    with pytest.raises(NotHeldError, match="the lease is gone"):
        await tree.order(NODE, "kept/d", "d")
    with pytest.raises(NotHeldError):
        await tree.trim(NODE, "kept", 0)
    assert await tree.names("kept") == ["b", "c"]


async def test_command_is_played_by_the_test(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    tool = supernoded_node.wires.command(["npu-smi"])
    with pytest.raises(WireError, match="no such program"):
        await tool.run("info")
    supernoded_wires.command(["npu-smi"]).answer = lambda arguments: Answer(0, " ".join(arguments), "", False)
    assert (await tool.run("info", "-l")).out == "info -l"
    supernoded_wires.refusals[NODE] = "not ours"
    with pytest.raises(NotHeldError):
        await tool.order(NODE, "set")
    assert supernoded_wires.command(["npu-smi"]).runs == [("info", "-l")]


async def test_stream_is_played_by_the_test(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    line, device = supernoded_node.wires.stream("tcp://cdu:1"), supernoded_wires.stream("tcp://cdu:1")
    with pytest.raises(WireError, match="nobody listens"):
        await line.exchange(b"hello\n")
    device.answer = bytes.upper
    assert await line.exchange(b"hello\n") == b"HELLO\n"
    with pytest.raises(WireError, match="no whole answer"):
        await line.exchange(b"cut")
    supernoded_wires.refusals["cdu/0"] = "held by n7"
    with pytest.raises(NotHeldError, match="held by n7"):
        await line.order("cdu/0", b"open\n")
    assert device.sent == [b"hello\n", b"cut"]
    await line.close()
    assert device.closed
    with pytest.raises(WireError, match="udp"):
        supernoded_node.wires.stream("udp://cdu:1")


async def test_host_shows_what_it_is_told(supernoded_node: Node, supernoded_host: MemoryHost) -> None:
    supernoded_host.machine = msgspec.structs.replace(supernoded_host.machine, load=7.0)
    supernoded_host.kernel = ["EDAC MC0: 1 CE"]
    assert (await supernoded_node.host.look()).load == 7.0
    assert await supernoded_node.host.kernel_lines() == ["EDAC MC0: 1 CE"]
    assert await supernoded_node.host.kernel_lines() == []
    assert await supernoded_node.host.disks() == []
    assert await supernoded_node.host.top(3) == []
    assert supernoded_node.host.boot_id()


def test_node_has_a_folder_and_cards(supernoded_node: Node) -> None:
    assert supernoded_node.state.is_dir()
    assert supernoded_node.topology.nodes[0].list_cards()[7] == "n0/card7"


class Seen(msgspec.Struct, frozen=True):
    times: int = 0


@dataclass(frozen=True)
class Hot:
    """Raised at the second hot reading."""

    kind: str = "hot"
    scope: str = NODE

    @property
    def watches(self) -> Mapping[str, float]:
        return {"card.temperature": 60.0}

    def start(self) -> Seen:
        return Seen()

    def judge(self, seen: View, memory: Seen) -> tuple[Seen, Sequence[Verdict]]:
        value = seen.number("card.temperature", "n0/card0")
        if value is None:
            return memory, [Verdict(kind="hot", subject="n0/card0", level=Level.UNSURE, text="not seen", at=seen.now)]
        memory = Seen(memory.times + (value > 90))
        level = Level.RAISED if memory.times > 1 else Level.CLEAR
        return memory, [Verdict(kind="hot", subject="n0/card0", level=level, text=f"{value} C", at=seen.now)]


def read(value: float, at: float, quantity: str = "card.temperature") -> Reading:
    return Reading(subject="n0/card0", quantity=quantity, value=value, unit="C", at=at)


def test_judge_carries_memory_from_moment_to_moment(supernoded_judge: Judge) -> None:
    levels = [verdict.level for verdict in supernoded_judge(Hot(), [read(95.0, 2.0), read(50.0, 1.0), read(96.0, 3.0)])]
    assert levels == [Level.CLEAR, Level.CLEAR, Level.RAISED]


def test_judge_weighs_readings_as_the_daemon_does(supernoded_judge: Judge) -> None:
    """A GOOD reading that cannot be is UNKNOWN to the rule, in a test as on a node."""
    verdicts = supernoded_judge(Hot(), [read(5000.0, 1.0), msgspec.structs.replace(read(95.0, 2.0), state=State.UNKNOWN)])
    assert [verdict.level for verdict in verdicts] == [Level.UNSURE, Level.UNSURE]
