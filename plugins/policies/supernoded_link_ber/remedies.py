"""What people are told of a link: what was seen, why that is most likely, and what to touch."""

from __future__ import annotations

from supernoded.plugin import Case, Cause, Limits, Step, Topology, World
from supernoded_link_ber.health.causes import UNSEATED
from supernoded_link_ber.health.following import find_drain, find_order
from supernoded_link_ber.settings import LinkBerSettings

NOTIFY = "notify"
CABLE = "cable/"
MOST_NAMED = 4  # members of a shared thing that a sentence names
MOST_TOLD = 3  # pieces of evidence in a notice; `supernodectl diagnose` has them all
WORTH_NAMING = 0.1  # weight from which a second cause is named, ours
WAITING = "link.down"  # the trouble whose evidence comes a poll after it


class TellRemedy:
    """Drafts one notice of what needs no cable to be touched, or has said already what to do."""

    def __init__(self, answers: str) -> None:
        self.answers = answers

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """The notice, once."""
        del world, now
        if NOTIFY in case.done or not case.still_raised:
            return None
        return Step(name=NOTIFY, kind=NOTIFY, target=case.incident.subject, reason=f"{case.incident.text}.")


class TouchRemedy:
    """Drafts one notice; where the trouble goes on, the port's draining, and an order for the part (L10)."""

    def __init__(self, answers: str, limits: Limits, settings: LinkBerSettings) -> None:
        self.answers = answers
        self._limits, self._settings = limits.link, settings

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """Tell, drain, order; each once, and nothing when the trouble is over."""
        if not case.still_raised:
            return None
        if NOTIFY in case.done:
            return find_drain(case, world, now, self._settings) or find_order(case, world, now, self._settings)
        if self._waits(case, now):
            return None
        return Step(name=NOTIFY, kind=NOTIFY, target=case.incident.subject, reason=self._draft(case, world.topology))

    def _waits(self, case: Case, now: float) -> bool:
        """Whether the modules, where any can be read, may yet be read after the link went down."""
        incident = case.incident
        read = max((cause.at for cause in case.causes), default=0.0)
        old = 0.0 < read <= incident.opened
        return incident.kind == WAITING and old and 0.0 <= now - incident.opened < self._settings.evidence_s

    def _draft(self, case: Case, topology: Topology) -> str:
        incident = case.incident
        if incident.members and not incident.subject.startswith(CABLE):
            some = ", ".join(incident.members[:MOST_NAMED])
            return (
                f"{incident.text}. {len(incident.members)} links at a time seldom have a bad optic each: before any of {some} is touched, "
                "look for what they share, such as power, a switch, a reboot, new firmware."
            )
        best = case.causes[0] if case.causes else None
        if best is None or (best.name == UNSEATED and not best.at):
            return f"{incident.text}. {self._draft_blind(case, topology)}"
        return f"{incident.text}. {_say(best)}{_say_next(case)} {best.advice}"

    def _draft_blind(self, case: Case, topology: Topology) -> str:
        """By the prior alone, when nothing of the module can be seen."""
        incident = case.incident
        places = incident.members[:MOST_NAMED] or (incident.subject, topology.peer(incident.subject))
        return (
            f"Reseat the optic of {' and of '.join(place for place in places if place)}: "
            f"{self._limits.unseated_percent:g} % of ring breaks are an optic not fully seated. "
            f"Then look for a fibre bent below {self._limits.bend_radius_mm:g} mm. If it comes back, replace cable or optic."
        )


def _say(cause: Cause) -> str:
    evidence = f": {'; '.join(cause.evidence[:MOST_TOLD])}" if cause.evidence else ""
    return f"Most likely ({cause.weight:.0%}): {cause.name} at {cause.subject}{evidence}."


def _say_next(case: Case) -> str:
    others = [cause for cause in case.causes[1:2] if cause.weight >= WORTH_NAMING]
    return "".join(f" Else: {cause.name} at {cause.subject}." for cause in others)
