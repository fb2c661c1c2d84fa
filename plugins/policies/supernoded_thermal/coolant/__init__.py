"""What is judged of a coolant loop, where its role `cdu/<id>` is held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Node
from supernoded_thermal.coolant.detectors import DetectorRule
from supernoded_thermal.coolant.dew import DewRule
from supernoded_thermal.coolant.fallback import FallbackRule
from supernoded_thermal.coolant.flowing import FlowRule, PumpRule
from supernoded_thermal.coolant.heating import LoopCause
from supernoded_thermal.coolant.holding import BandRule, CapacityRule, SwingRule
from supernoded_thermal.coolant.leaks import LeakRule
from supernoded_thermal.coolant.level import LevelRule
from supernoded_thermal.coolant.masters import MastersRule
from supernoded_thermal.coolant.primary import PrimaryRule
from supernoded_thermal.coolant.rule import LoopRule
from supernoded_thermal.coolant.sensors import FrozenRule, SensorRule
from supernoded_thermal.coolant.site import Loop, list_loops
from supernoded_thermal.coolant.valve import ValveRule
from supernoded_thermal.settings import ThermalSettings

__all__ = ["KINDS", "RULES", "Loop", "LoopCause", "list_loops", "make_causes", "make_rules"]

RULES: tuple[type[LoopRule], ...] = (
    PrimaryRule,
    PumpRule,
    FlowRule,
    LeakRule,
    DetectorRule,
    LevelRule,
    BandRule,
    SwingRule,
    CapacityRule,
    ValveRule,
    MastersRule,
    DewRule,
    FallbackRule,
    SensorRule,
    FrozenRule,
)
KINDS = tuple(rule.kind for rule in RULES)


def make_rules(settings: ThermalSettings, node: Node) -> Sequence[LoopRule]:
    """Every rule of every loop that is described."""
    return [rule(loop, node, settings) for loop in list_loops(node.topology) for rule in RULES]


def make_causes(settings: ThermalSettings, node: Node) -> Mapping[str, LoopCause]:
    """What explains the heat of each loop, by its subject."""
    return {loop.subject: LoopCause(loop, node, settings) for loop in list_loops(node.topology)}
