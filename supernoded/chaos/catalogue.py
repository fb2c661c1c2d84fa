"""What a drive can do to a rack, and what stands in the rack, as far as a scenario can speak of it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Literal, Protocol

import msgspec

from supernoded.parts import Fidelity

Danger = Literal["model", "telemetry", "os", "device", "physical"]  # from the least to the greatest
ANYTHING = "*"
SENSOR = "sensor"  # the family of what is named `SUBJECT:QUANTITY`


class FaultKind(Protocol):
    """One kind of fault of a drive's catalogue. A frozen dataclass or Struct with these fields fits."""

    @property
    def kind(self) -> str:
        """Such as `link.ber_ramp`."""
        ...

    @property
    def text(self) -> str:
        """One sentence: what it does."""
        ...

    @property
    def parameters(self) -> type[msgspec.Struct]:
        """The type of its parameters; `supernoded.tables.about` gives a field its meaning, unit and bounds."""
        ...

    @property
    def targets(self) -> tuple[str, ...]:
        """The families it can befall, such as `card`; `*` is any subject."""
        ...

    @property
    def takes_out(self) -> bool:
        """Whether its target is out of service meanwhile, so that it counts as redundancy spent."""
        ...

    @property
    def undoable(self) -> bool:
        """Whether lifting it makes it vanish; false for what has to be repaired."""
        ...

    @property
    def danger(self) -> Danger:
        """Its class of danger."""
        ...

    def fidelity(self, drive: str) -> Fidelity:
        """In which layer this drive makes it."""
        ...


class Redundancy(msgspec.Struct, frozen=True, kw_only=True):
    """Subjects of which at least `least` must stay in service, such as the two feeds of a node."""

    members: tuple[str, ...]
    least: int
    text: str = ""


class RackView(msgspec.Struct, frozen=True, kw_only=True):
    """A rack by its names."""

    name: str
    subjects: Mapping[str, tuple[str, ...]]  # family (node, card, port, ups, ...) -> its subjects, in the rack's order
    attributes: Mapping[str, Mapping[str, tuple[str, ...]]] = {}  # subject -> attribute (feed, node, loop, ...) -> its values
    sensors: Mapping[tuple[str, str], str] = {}  # (subject, quantity) -> unit
    happenings: Mapping[str, tuple[str, ...]] = {}  # kind -> the families it can befall, or below; `*` any; empty = not known
    tellings: frozenset[str] = frozenset()  # the kinds that daemons can tell; empty = not known
    redundancy: Mapping[str, tuple[Redundancy, ...]] = {}  # what `limits.keep` may name

    def find_families(self, subject: str) -> tuple[str, ...]:
        """The families that this subject is of."""
        families = tuple(family for family, members in self.subjects.items() if subject in members)
        return (*families, SENSOR) if self.is_sensor(subject) else families

    def is_sensor(self, text: str) -> bool:
        """Whether it is `SUBJECT:QUANTITY` of a sensor here."""
        subject, _, quantity = text.partition(":")
        return (subject, quantity) in self.sensors

    def find_nodes(self, subject: str) -> tuple[str, ...]:
        """The nodes that a fault of this subject befalls by its name or attributes."""
        nodes = self.subjects.get("node", ())
        named = (*self.attributes.get(subject, {}).get("node", ()), subject.partition(":")[0].partition("/")[0])
        return tuple(node for node in nodes if node in named)

    def list_subjects(self) -> tuple[str, ...]:
        """Every subject there is, once."""
        everything = [subject for members in self.subjects.values() for subject in members]
        return tuple(dict.fromkeys([*everything, *(subject for subject, _ in self.sensors)]))


def suggest(name: str, known: Iterable[str], things: str) -> str:
    """What to do about a name that is not there: the nearest, or all that are."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]}?"
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"{things} here: {shown or 'none'}"
