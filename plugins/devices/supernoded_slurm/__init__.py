"""Slurm: a node is taken out of the scheduler and put back, under a reason of our own and no other."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Actuator, Node, hookimpl
from supernoded_slurm.draining import Draining
from supernoded_slurm.settings import SlurmSettings


@hookimpl
def supernoded_settings() -> type[SlurmSettings]:
    """`[plugins.slurm]`."""
    return SlurmSettings


@hookimpl
def supernoded_actuators(settings: SlurmSettings, node: Node) -> Sequence[Actuator]:
    """One for all nodes of the topology, wherever `scontrol` is configured; none where it is not."""
    if not settings.scontrol:
        return ()
    names = {one.name: settings.nodes.get(one.name, one.name) for one in node.topology.nodes}
    return (Draining(node.wires.command(settings.scontrol), names, settings.within_s),)
