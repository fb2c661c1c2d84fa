"""What flows over the links: congestion settings, silent loss, time-outs of the communication library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supernoded.plugin import Diagnosis, Node, Remedy, Rule, hookimpl
from supernoded_network.buffer import BufferRule
from supernoded_network.diagnosis import NetworkDiagnosis
from supernoded_network.loss import LossRule
from supernoded_network.mtu import MtuRule
from supernoded_network.remedies import TellRemedy
from supernoded_network.settings import NetworkSettings
from supernoded_network.switches import SettingsRule


@hookimpl
def supernoded_settings() -> type[NetworkSettings]:
    """`[plugins.network]`."""
    return NetworkSettings


@hookimpl
def supernoded_rules(settings: NetworkSettings, node: Node) -> Sequence[Rule[Any]]:
    """What is judged of switches, paths and communication."""
    return (SettingsRule(node.limits, settings), LossRule(settings), MtuRule(node, settings), BufferRule(node, settings))


@hookimpl
def supernoded_diagnoses(settings: NetworkSettings, node: Node) -> Sequence[Diagnosis]:
    """What explains it."""
    return (NetworkDiagnosis(node.limits, settings),)


@hookimpl
def supernoded_remedies(settings: NetworkSettings, node: Node) -> Sequence[Remedy]:
    """What people are told."""
    return [TellRemedy(rule.kind, node.limits, settings) for rule in (SettingsRule, LossRule, MtuRule, BufferRule)]
