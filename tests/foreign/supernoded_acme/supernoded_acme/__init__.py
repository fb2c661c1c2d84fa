"""supernoded reads, steers and retires Acme chillers. The protocol is in this distribution's README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from supernoded.plugin import Actuator, Check, Diagnosis, Fault, Format, Handle, Loop, Node, Remedy, Rule, Sensor, hookimpl
from supernoded_acme.device import Chiller, Orders, Pump, Telemetry
from supernoded_acme.offline import acme, read_log
from supernoded_acme.policy import Drift, FailingRule, HoldSupply, Retire, Since, WarmSupply
from supernoded_acme.settings import Settings
from supernoded_acme.trial import FailingFault, IdentityCheck, Nothing


def _open(settings: Settings, node: Node) -> list[Chiller]:
    """The one chiller of the settings, or none."""
    if not settings.wire:
        return []
    return [Chiller(f"{node.name}/{settings.name}", node.wires.stream(settings.wire), node.clock, settings.timeout)]


@hookimpl
def supernoded_settings() -> type[Settings]:
    """The table `[plugins.acme]`."""
    return Settings


@hookimpl
def supernoded_sensors(settings: Settings, node: Node) -> Sequence[Sensor]:
    """One per chiller."""
    return [Telemetry(chiller, f"acme {settings.name}", settings.period, settings.timeout * 3) for chiller in _open(settings, node)]


@hookimpl
def supernoded_rules(settings: Settings, node: Node) -> Sequence[Rule[Since]]:
    """`x.acme.failing`."""
    del node
    return [FailingRule(settings.raise_after)]


@hookimpl
def supernoded_diagnoses(settings: Settings, node: Node) -> Sequence[Diagnosis]:
    """Why a chiller fails."""
    del node
    return [WarmSupply(settings.supply_c + 1.0)]


@hookimpl
def supernoded_loops(settings: Settings, node: Node) -> Sequence[Loop[Drift]]:
    """One per chiller, unless it is switched off."""
    if not settings.wire or not settings.steer:
        return []
    return [HoldSupply(f"{node.name}/{settings.name}", f"acme {settings.name}", settings.supply_c, settings.period)]


@hookimpl
def supernoded_handles(settings: Settings, node: Node) -> Sequence[Handle]:
    """The pump of each chiller."""
    return [Pump(chiller) for chiller in _open(settings, node)]


@hookimpl
def supernoded_remedies(settings: Settings, node: Node) -> Sequence[Remedy]:
    """Note, save, fence, test."""
    del node
    return [Retire(settings.patience)]


@hookimpl
def supernoded_actuators(settings: Settings, node: Node) -> Sequence[Actuator]:
    """What a chiller performs."""
    return [Orders(chiller) for chiller in _open(settings, node)]


@hookimpl
def supernoded_checks(settings: Settings, node: Node) -> Sequence[Check]:
    """Whether each chiller is the one the settings name."""
    return [IdentityCheck(chiller, settings.serial) for chiller in _open(settings, node)]


@hookimpl
def supernoded_faults(settings: Settings, node: Node) -> Sequence[Fault[Nothing]]:
    """A chiller that says it is failing."""
    return [FailingFault(chiller, node.wires.tree(str(node.state))) for chiller in _open(settings, node)]


@hookimpl
def supernoded_formats() -> Mapping[str, Format]:
    """Recorded answers."""
    return {"acme-log": read_log}


@hookimpl
def supernoded_commands() -> Sequence[click.Command]:
    """`supernodectl acme`."""
    return [acme]
