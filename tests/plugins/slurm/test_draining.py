"""Nodes are drained and put back on the simulated Slurm, and nothing that others have said of them is lost."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

import supernoded_slurm
from sim_hardware.devices.tools import ToolImpairment, ToolState, run_tool
from sim_hardware.plant.job.orders import StopJob
from sim_hardware.rack import Rack, generate_rack
from sim_hardware.rack.shape import Spare
from supernoded.model import Action, Step
from supernoded.plugin import Actuator, Effect, Node, WireError, YieldedError
from supernoded.testing import Answer, MemoryWires
from supernoded_slurm.settings import SlurmSettings
from tests.sim.devices.tools.desks import Desk

NAMES = {"n0": "host0"}


def act(kind: str, incident: str = "i1", reason: str = "n0/card3 is silent") -> Action:
    step = Step(name="a", kind=kind, target="n0", reason=reason)
    return Action(id=f"{incident}/a", step=step, incident=incident, scope="spares", epoch=1, issued=0.0, deadline=10.0)


class Bench:
    """A plugin before a simulated scontrol."""

    def __init__(self, node: Node, wires: MemoryWires, rack: Rack | None = None) -> None:
        self.desk, self.tools = Desk(rack or generate_rack(1, 8)), ToolState()
        self.tools.slurm.aliases["host0"] = "n0"
        self.program = wires.command(["scontrol"])
        self.program.answer = self.play
        self.actuator: Actuator
        (self.actuator,) = supernoded_slurm.supernoded_actuators(SlurmSettings(scontrol=("scontrol",), nodes=NAMES), node)

    def play(self, argv: Sequence[str]) -> Answer:
        run = run_tool("scontrol", argv, self.desk, "n0", self.tools)
        if run.seconds > 100.0:
            raise WireError("scontrol: did not end and was killed within 2.5 s")
        return Answer(code=run.rc, out=run.out, err=run.err, truncated=False)

    async def do(self, action: Action) -> Effect:
        await self.actuator.apply(action)
        return (await self.actuator.observe(action)).effect

    def updates(self) -> list[tuple[str, ...]]:
        return [words for words in self.program.runs if words[0] == "update"]


@pytest.fixture
def bench(supernoded_node: Node, supernoded_wires: MemoryWires) -> Bench:
    return Bench(supernoded_node, supernoded_wires)


async def test_a_node_with_jobs_is_drained_and_put_back(bench: Bench) -> None:
    drain, release = act("node.drain"), act("node.release")
    assert (await bench.actuator.observe(drain)).effect is Effect.ABSENT
    assert await bench.do(drain) is Effect.PRESENT
    assert bench.tools.slurm.find("n0").reason == "supernoded: i1 n0/card3 is silent"
    seen = await bench.actuator.observe(drain)
    assert "host0 is ALLOCATED+DRAIN in Slurm" in seen.text
    assert (await bench.actuator.observe(release)).effect is Effect.ABSENT
    assert await bench.do(release) is Effect.PRESENT
    assert not bench.tools.slurm.find("n0").drained
    assert not any("State=DOWN" in words or "State=RESUME" in words for words in bench.updates())


async def test_asked_twice_it_is_one_order(bench: Bench) -> None:
    for kind in ("node.drain", "node.release"):
        await bench.actuator.apply(act(kind))
        await bench.actuator.apply(act(kind))
    assert len(bench.updates()) == 2


async def test_the_last_incident_puts_it_back(bench: Bench) -> None:
    assert await bench.do(act("node.drain", "i1")) is Effect.PRESENT
    assert await bench.do(act("node.drain", "i2", "another")) is Effect.PRESENT
    assert bench.tools.slurm.find("n0").reason == "supernoded: i1,i2 n0/card3 is silent"
    assert await bench.do(act("node.release", "i1")) is Effect.PRESENT
    assert bench.tools.slurm.find("n0").drained
    assert bench.tools.slurm.find("n0").reason.startswith("supernoded: i2 ")
    assert await bench.do(act("node.release", "i2")) is Effect.PRESENT
    assert not bench.tools.slurm.find("n0").drained


async def test_what_somebody_else_drained_is_neither_written_over_nor_resumed(bench: Bench) -> None:
    bench.tools.slurm.drain("n0", "fan tray swap", by="alice")
    before = bench.tools.slurm.find("n0")
    seen = await bench.actuator.observe(act("node.drain"))
    assert seen.effect is Effect.UNKNOWN
    assert "for 'fan tray swap' of alice, which is not ours to change" in seen.text
    with pytest.raises(YieldedError, match="alice"):
        await bench.actuator.apply(act("node.drain"))
    await bench.actuator.apply(act("node.release"))
    assert bench.tools.slurm.find("n0") == before
    assert bench.updates() == []


async def test_a_reason_that_changed_since_is_its_writers(bench: Bench) -> None:
    await bench.actuator.apply(act("node.drain"))
    bench.tools.slurm.explain("n0", "supernoded drained it, I keep it", by="bob")
    assert await bench.do(act("node.release")) is Effect.PRESENT
    assert bench.tools.slurm.find("n0").drained
    assert bench.tools.slurm.find("n0").by == "bob"


async def test_a_node_that_is_down_stays_so(bench: Bench) -> None:
    await bench.actuator.apply(act("node.drain"))
    bench.tools.slurm.mark_down("n0", bench.tools.slurm.find("n0").reason)
    assert await bench.do(act("node.release")) is Effect.PRESENT
    assert (bench.tools.slurm.find("n0").down, bench.tools.slurm.find("n0").drained) == (True, False)


async def test_a_node_of_which_a_part_is_in_use_is_drained_too(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    bench = Bench(supernoded_node, supernoded_wires, msgspec.structs.replace(generate_rack(1, 8), spares=(Spare(card="n0/card7"),)))
    assert (await bench.actuator.observe(act("node.drain"))).text == "host0 is MIXED in Slurm"
    assert await bench.do(act("node.drain")) is Effect.PRESENT
    bench.desk.order(StopJob("train"))
    assert (await bench.actuator.observe(act("node.drain"))).text.startswith("host0 is IDLE+DRAIN in Slurm")


@pytest.mark.parametrize(
    ("impairment", "said"),
    [
        (ToolImpairment(hang=True), "did not end"),
        (ToolImpairment(rc=3), "show node host0 ended with 3: without a word"),
        (ToolImpairment(garbage=True), "host0"),
    ],
)
async def test_a_scontrol_that_is_ill_leaves_it_unknown(bench: Bench, impairment: ToolImpairment, said: str) -> None:
    bench.tools.impairments["scontrol"] = impairment
    seen = await bench.actuator.observe(act("node.drain"))
    assert seen.effect is Effect.UNKNOWN
    assert said in seen.text
    with pytest.raises(WireError):
        await bench.actuator.apply(act("node.drain"))
    bench.tools.impairments.clear()
    assert not bench.tools.slurm.find("n0").drained


async def test_a_refusal_is_told_with_what_to_do(bench: Bench) -> None:
    bench.tools.slurm.denied = True
    with pytest.raises(WireError, match="Invalid user id; the daemon's user must be an operator of Slurm"):
        await bench.actuator.apply(act("node.drain"))


async def test_a_node_that_slurm_does_not_know_is_named(supernoded_node: Node, bench: Bench) -> None:
    settings = SlurmSettings(scontrol=("scontrol",), nodes={"n0": "host9"})
    (actuator,) = supernoded_slurm.supernoded_actuators(settings, supernoded_node)
    seen = await actuator.observe(act("node.drain"))
    assert bench.program.runs[-1] == ("show", "node", "host9", "-o")
    assert (seen.effect, "Slurm knows no node host9" in seen.text) == (Effect.UNKNOWN, True)


async def test_without_the_pen_nothing_is_sent(bench: Bench, supernoded_wires: MemoryWires) -> None:
    supernoded_wires.refusals["spares"] = "another holds it"
    with pytest.raises(WireError, match="another holds it"):
        await bench.actuator.apply(act("node.drain"))
    assert bench.updates() == []


def test_as_delivered_it_does_nothing(supernoded_node: Node) -> None:
    assert supernoded_slurm.supernoded_actuators(SlurmSettings(), supernoded_node) == ()
