"""PFC and ECN of the switches against what is declared (N4, N5): each threshold, their distance, and whether marking is on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Limits, Severity, Verdict, View
from supernoded_network.growth import list_subjects, say_why
from supernoded_network.settings import NetworkSettings, SwitchSettings

PFC, ECN, MARKING = "switch.pfc_threshold", "switch.ecn_threshold", "switch.ecn"
WATCHES: Mapping[str, float] = {PFC: 60.0, ECN: 60.0, MARKING: 60.0}  # only the newest counts; settings may be polled slowly


class Setting(msgspec.Struct, frozen=True):
    """How a switch is set, or is meant to be; None = not seen. Thresholds in bytes."""

    pfc: float | None
    ecn: float | None
    marking: float | None


def declare(subject: str, limits: Limits, settings: NetworkSettings) -> Setting:
    """How a switch is meant to be set."""
    own = settings.switches.get(subject.removeprefix("switch/").partition("/")[0], SwitchSettings())
    network = limits.network
    pfc = own.pfc_threshold_bytes or network.pfc_threshold_bytes
    below = network.ecn_threshold_bytes if own.pfc_threshold_bytes is None else pfc - network.ecn_below_pfc_bytes
    return Setting(float(pfc), float(own.ecn_threshold_bytes or below), 1.0)


def look_at(seen: View, subject: str) -> Setting:
    """How it is set."""
    return Setting(seen.number(PFC, subject), seen.number(ECN, subject), seen.number(MARKING, subject))


def find_drift(found: Setting, meant: Setting, distance: float) -> Iterator[str]:
    """What is not as declared, each a part of a sentence. The distance is judged apart from the two thresholds."""
    if found.pfc is not None and found.pfc != meant.pfc:
        yield f"the PFC threshold is {found.pfc:.0f} B, declared is {meant.pfc:.0f} B"
    if found.marking == 0.0:
        yield "ECN marking is off"
    if found.ecn is not None and found.ecn != meant.ecn:
        yield f"the ECN threshold is {found.ecn:.0f} B, declared is {meant.ecn:.0f} B"
    if found.pfc is not None and found.ecn is not None and found.pfc - found.ecn != distance:
        side = "below" if found.ecn < found.pfc else "above"
        yield f"ECN marks {abs(found.pfc - found.ecn):.0f} B {side} PFC, declared is {distance:.0f} B below"


def propose(found: Setting, meant: Setting, subject: str, limits: Limits, settings: NetworkSettings) -> str:
    """The change as a diff, for a person to approve and make; empty when there is none."""
    lines: list[str] = []
    if found.pfc is not None and found.pfc != meant.pfc:
        lines += _change(settings.pfc_command, found.pfc, meant.pfc, limits.network.pfc_priority)
    if found.marking == 0.0:
        lines += [f"-{settings.ecn_off_command}", f"+{settings.ecn_on_command}"]
    if found.ecn is not None and found.ecn != meant.ecn:
        lines += _change(settings.ecn_command, found.ecn, meant.ecn, limits.network.pfc_priority)
    return "\n".join((f"--- {subject} as it is", f"+++ {subject} as declared", *lines)) if lines else ""


def _change(command: str, old: float, new: float | None, priority: int) -> Sequence[str]:
    def fill(value: float) -> str:
        return command.replace("{priority}", f"{priority}").replace("{bytes}", f"{value:.0f}")

    return () if new is None else (f"-{fill(old)}", f"+{fill(new)}")


class SettingsRule:
    """Raises a switch that is not set as declared."""

    kind, scope = "switch.settings", NODE
    watches: Mapping[str, float] = WATCHES

    def __init__(self, limits: Limits, settings: NetworkSettings) -> None:
        self._limits, self._settings = limits, settings

    def start(self) -> None:
        """It remembers nothing."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every switch that shows a setting."""
        return memory, [self._judge(seen, subject) for subject in list_subjects(seen, WATCHES)]

    def _judge(self, seen: View, subject: str) -> Verdict:
        found, meant = look_at(seen, subject), declare(subject, self._limits, self._settings)
        distance = (meant.pfc or 0.0) - (meant.ecn or 0.0)
        drift = list(find_drift(found, meant, distance))
        unseen = [
            say_why(seen, name, subject) for name, value in zip(WATCHES, msgspec.structs.astuple(found), strict=True) if value is None
        ]
        if drift:
            level, text = Level.RAISED, f"{subject} is not set as declared: {'; '.join(drift)}"
        elif unseen:
            level, text = Level.UNSURE, f"{subject}: how it is set cannot be seen: {'; '.join(unseen)}"
        else:
            level, text = Level.CLEAR, f"{subject}: PFC at {found.pfc:.0f} B, ECN on at {found.ecn:.0f} B, as declared"
        return Verdict(
            kind=self.kind, subject=subject, level=level, text=text, at=seen.now, severity=Severity.WARNING, unseen=tuple(unseen)
        )
