"""What is seen of one power supply of a node, and of all of them together. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

import msgspec

from supernoded.plugin import View, is_read, say_why

POWER, PRESENT, STATE, REDUNDANCY = "psu.power", "psu.present", "psu.state", "psu.redundancy"
WATCHES: Mapping[str, float] = dict.fromkeys((POWER, PRESENT, STATE, REDUNDANCY), 120.0)  # four looks
LEAST_W = 1.0  # of a supply that gives anything; ours
STARVED = {"low": "at or below its lower critical threshold", "input-lost": "says that its input is lost"}


class Fate(Enum):
    """What a supply does for its node."""

    CARRIES = "carries"
    STARVES = "starves"  # it is there, and gives nothing
    ABSENT = "absent"  # nobody has put one there: no trouble
    STANDS_BY = "stands by"  # cold redundancy: no trouble either
    UNKNOWN = "unknown"


class Supply(msgspec.Struct, frozen=True):
    """One supply now; `at` is of the newest reading, `text` says what is read."""

    subject: str
    fate: Fate
    watts: float | None
    at: float
    text: str

    @property
    def name(self) -> str:
        """Without its node."""
        return self.subject.rpartition("/")[2]


def list_supplies(seen: View) -> dict[str, list[Supply]]:
    """All supplies by node, and nodes of which only the redundancy is read."""
    subjects = sorted({subject for quantity in (POWER, PRESENT, STATE) for subject in seen.subjects(quantity)})
    nodes: dict[str, list[Supply]] = {}
    for subject in subjects:
        nodes.setdefault(subject.rpartition("/")[0], []).append(_look(seen, subject))
    for node in seen.subjects(REDUNDANCY):
        nodes.setdefault(node, [])
    return nodes


def _look(seen: View, subject: str) -> Supply:
    watts, present, state = seen.number(POWER, subject), seen.number(PRESENT, subject), seen.text(STATE, subject)
    ats = [one.at for quantity in (POWER, STATE) if (one := seen.good(quantity, subject)) is not None]
    fate = _find_fate(watts, present, state, metered=is_read(seen, POWER, subject))
    gives = "" if watts is None else f"gives {watts:.0f} W"
    says = STARVED.get(state or "", f"says {state!r}" if state not in {None, "ok"} else "")
    text = ", ".join(part for part in (gives, says) if part) or say_why(seen, POWER, subject)
    return Supply(subject, fate, watts, max(ats, default=0.0), text)


def _find_fate(watts: float | None, present: float | None, state: str | None, *, metered: bool) -> Fate:
    gives_nothing = watts is not None and watts < LEAST_W
    if state in STARVED or gives_nothing:
        if present != 1.0:
            return Fate.ABSENT if present == 0.0 else Fate.UNKNOWN
        return Fate.STANDS_BY if state == "standby" else Fate.STARVES
    if watts is not None or (not metered and state == "ok" and present == 1.0):
        return Fate.CARRIES
    return Fate.ABSENT if present == 0.0 else Fate.UNKNOWN


def pick(supplies: Iterable[Supply], fate: Fate) -> list[Supply]:
    """Those of one fate."""
    return [supply for supply in supplies if supply.fate is fate]


def say_load(carrying: Sequence[Supply]) -> str:
    """Who carries, and how much where it is measured: `psu1 alone (780 W)`."""
    names = " and ".join(supply.name for supply in carrying) + (" alone" if len(carrying) == 1 else "")
    measured = [supply.watts for supply in carrying if supply.watts is not None]
    return f"{names} ({sum(measured):.0f} W)" if measured else names
