"""Questions to a view that several rules ask, and how a verdict is made. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from supernoded.plugin import Level, Severity, State, Verdict, View

PHASES = ("L1", "L2", "L3")


def list_phases(seen: View, quantity: str, subject: str, source: str | None = None) -> dict[str, float]:
    """The value of each phase that is read."""
    found = ((phase, seen.number(f"{quantity}.{phase}", subject, source)) for phase in PHASES)
    return {phase: number for phase, number in found if number is not None}


def name_phases(*quantities: str) -> tuple[str, ...]:
    """The quantities with those of each phase, for `watches`."""
    return tuple(name for quantity in quantities for name in (quantity, *(f"{quantity}.{phase}" for phase in PHASES)))


def find_last(seen: View, quantity: str, subject: str) -> float | None:
    """When any source last had a GOOD reading of it within the watched window."""
    ends = (
        next((one.at for one in reversed(seen.window(quantity, subject, source)) if one.state is State.GOOD), None)
        for source in seen.sources(quantity, subject)
    )
    return max((at for at in ends if at is not None), default=None)


def judge(
    kind: str, subject: str, at: float, level: Level, text: str, severity: Severity = Severity.WARNING, unseen: Iterable[str] = ()
) -> Verdict:
    """A verdict."""
    return Verdict(kind=kind, subject=subject, level=level, text=text, at=at, severity=severity, unseen=tuple(unseen))
