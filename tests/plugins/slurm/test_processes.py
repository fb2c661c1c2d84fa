"""The same over real processes: `scontrol` as an executable that asks the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest

import supernoded_slurm
from sim_hardware.devices.tools import ToolImpairment
from sim_hardware.devices.tools.serving import serve_tools
from sim_hardware.devices.tools.shim import write_shims
from supernoded.model import Action, Step
from supernoded.plugin import Effect, Node, WireError
from supernoded.wire import Pen
from supernoded.wire.system import Devices, SystemWires
from supernoded_slurm.settings import SlurmSettings
from tests.sim.devices.tools.desks import Desk


def act(kind: str) -> Action:
    step = Step(name="a", kind=kind, target="n0", reason='it\'s "odd"; $(reboot) | x=[y]\n')
    return Action(id="i1/a", step=step, incident="i1", scope="spares", epoch=1, issued=0.0, deadline=10.0)


async def test_a_node_is_drained_and_put_back_by_processes(tmp_path: Path, supernoded_node: Node) -> None:
    wires = SystemWires(Pen(lambda _: None), "slurm", Devices())
    node = Node("n0", supernoded_node.topology, supernoded_node.limits, wires, supernoded_node.clock, supernoded_node.host, tmp_path)
    async with serve_tools(Desk(), tmp_path / "tools.sock") as tools:
        write_shims(tmp_path / "bin", tmp_path / "tools.sock", "n0")
        settings = SlurmSettings(scontrol=(str(tmp_path / "bin" / "scontrol"),), within_s=2.0)
        (actuator,) = supernoded_slurm.supernoded_actuators(settings, node)
        await actuator.apply(act("node.drain"))
        assert (await actuator.observe(act("node.drain"))).effect is Effect.PRESENT
        assert tools.slurm.find("n0").reason == "supernoded: i1 it s odd (reboot) x y"
        tools.impairments["scontrol"] = ToolImpairment(hang=True)
        hasty = supernoded_slurm.supernoded_actuators(SlurmSettings(scontrol=settings.scontrol, within_s=0.3), node)[0]
        assert "within 0.3 s" in (await hasty.observe(act("node.release"))).text
        with pytest.raises(WireError, match="was killed"):
            await hasty.apply(act("node.release"))
        tools.impairments.clear()
        await actuator.apply(act("node.release"))
        assert not tools.slurm.find("n0").drained
    await wires.close()
