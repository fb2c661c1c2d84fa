"""The machine itself: load, memory, disks, processes, clock and kernel log; and the notices for people."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Actuator, Node, Rule, Sensor, hookimpl
from supernoded_host.hogs import Allowance
from supernoded_host.kernel import KernelSensor
from supernoded_host.notices import Notices
from supernoded_host.rules import ClockRule, HogRule, Memory, ThresholdRule
from supernoded_host.sensors import DiskSensor, MachineSensor, ProcessSensor
from supernoded_host.settings import HostSettings


@hookimpl
def supernoded_settings() -> type[HostSettings]:
    """`[plugins.host]`."""
    return HostSettings


@hookimpl
def supernoded_sensors(settings: HostSettings, node: Node) -> Sequence[Sensor]:
    """One sensor per source, so that none waits for another."""
    limits = Allowance(settings.hog_memory_percent, settings.hog_cores_percent, settings.ranks)
    sensors: list[Sensor] = [
        MachineSensor(node.name, node.host, node.clock, settings.period_s),
        DiskSensor(node.name, node.host, node.clock, settings.disk_period_s),
        ProcessSensor(node.name, node.host, node.clock, settings.process_period_s, settings.processes, limits),
    ]
    if settings.kernel_log:
        sensors.append(KernelSensor(node.name, node.host, node.clock, settings.period_s))
    return sensors


@hookimpl
def supernoded_rules(settings: HostSettings, node: Node) -> Sequence[Rule[Memory] | Rule[None]]:
    """Disk nearly full, memory nearly out, a process that takes the node, wall clock stepped."""
    del node
    return (
        ThresholdRule("host.disk_full", "disk.used", settings.disk_full_percent, settings.hysteresis_percent, "disk is {0:.1f} % full"),
        ThresholdRule(
            "host.memory_low", "host.memory_used", settings.memory_low_percent, settings.hysteresis_percent, "memory is {0:.1f} % used"
        ),
        HogRule(),
        ClockRule(settings.clock_step_s),
    )


@hookimpl
def supernoded_actuators(settings: HostSettings, node: Node) -> Sequence[Actuator]:
    """The notices of kind `notify`, for every subject."""
    folder = settings.notices or str(node.state.absolute() / "notices")
    return (Notices(node.wires.tree(folder), settings.most_notices),)
