"""What the plugins handed in, each part with its owner; two parts of one duty are refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from supernoded.errors import PluginError
from supernoded.model import NODE, Action
from supernoded.parts import Actuator, Check, Diagnosis, Fault, Handle, Loop, Remedy, Rule, Sensor


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One plugin and where it comes from. `trouble` says why it is left out."""

    name: str
    distribution: str = ""
    version: str = ""
    plugin: Any = None
    trouble: str = ""


@dataclass
class Parts:
    """Everything the plugins handed in, each with the plugin that did."""

    plugins: list[Found] = field(default_factory=list)
    sensors: list[Sensor] = field(default_factory=list)
    rules: list[Rule[Any]] = field(default_factory=list)
    diagnoses: list[Diagnosis] = field(default_factory=list)
    loops: list[Loop[Any]] = field(default_factory=list)
    handles: dict[str, Handle] = field(default_factory=dict)  # by target
    remedies: dict[str, Remedy] = field(default_factory=dict)  # by the kind it answers
    actuators: list[Actuator] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    faults: list[Fault[Any]] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict)  # "sensor load" -> plugin

    def add_own(
        self, owner: str, *, sensors: Sequence[Sensor] = (), actuators: Sequence[Actuator] = (), rules: Sequence[Rule[Any]] = ()
    ) -> None:
        """Parts of the daemon itself. Raises PluginError when a plugin performs the same on the same targets."""
        self.owners |= {f"sensor {sensor.name}": owner for sensor in sensors}
        self.owners |= {f"rule {rule.kind}": owner for rule in rules} | name_duties(actuators, owner)
        self.sensors += sensors
        self.rules += rules
        self.actuators += actuators
        refuse_overlap(self)

    def owner(self, what: str, name: str) -> str:
        """The plugin that handed in this part."""
        return self.owners.get(f"{what} {name}", "")

    @property
    def policies(self) -> list[str]:
        """The plugins that say what is done: a mode is about one of these."""
        return sorted({owner for part, owner in self.owners.items() if part.startswith(("remedy ", "loop "))})

    def watched_by_roles(self) -> frozenset[str]:
        """The quantities that parts of roles watch: any node may hold one."""
        rules = [rule for rule in self.rules if rule.scope != NODE]
        watchers = [
            *rules,
            *(diagnosis for diagnosis in self.diagnoses if diagnosis.scope != NODE),
            *(loop for loop in self.loops if loop.scope != NODE),
            *(self.remedies[rule.kind] for rule in rules if rule.kind in self.remedies),
        ]
        return frozenset(quantity for part in watchers for quantity in getattr(part, "watches", ()))

    def of(self, plugin: str) -> dict[str, tuple[str, ...]]:
        """What one plugin handed in: kind of part -> names."""
        found: dict[str, tuple[str, ...]] = {}
        for part in sorted(part for part, owner in self.owners.items() if owner == plugin):
            kind, _, name = part.partition(" ")
            found[kind] = (*found.get(kind, ()), name)
        return found

    def route(self, action: Action) -> Actuator | None:
        """The one that performs this action here."""
        return self.actuator_for(action.step.kind, action.step.target)

    def actuator_for(self, kind: str, target: str) -> Actuator | None:
        """The one that performs this kind on this target."""
        return next((a for a in self.actuators if kind in a.kinds and any(fnmatchcase(target, pattern) for pattern in a.targets)), None)


def name_duties(actuators: Iterable[Actuator], owner: str) -> dict[str, str]:
    """The entries of actuators in `Parts.owners`."""
    return {f"actuator {kind} on {', '.join(one.targets)}": owner for one in actuators for kind in sorted(one.kinds)}


def refuse_overlap(parts: Parts) -> None:
    """Two actuators for one action kind on one target, or two loops on one handle, would leave it to chance who acts."""
    turned: dict[str, str] = {}
    for loop in parts.loops:
        if loop.target in turned:
            raise PluginError(f"two loops turn {loop.target}: {turned[loop.target]} and {loop.name}; switch one of their plugins off")
        turned[loop.target] = loop.name
    for i, one in enumerate(parts.actuators):
        for other in parts.actuators[i + 1 :]:
            clash = any(fnmatchcase(a, b) or fnmatchcase(b, a) for a in one.targets for b in other.targets)
            for kind in sorted(one.kinds & other.kinds if clash else ()):
                names = " and ".join(_name_actuator(parts, actuator, kind) for actuator in (one, other))
                raise PluginError(f"two actuators perform {kind!r} on one target: {names}; narrow the targets or switch one off")


def _name_actuator(parts: Parts, actuator: Actuator, kind: str) -> str:
    targets = ", ".join(actuator.targets)
    return f"{parts.owner('actuator', f'{kind} on {targets}')} ({targets})"
