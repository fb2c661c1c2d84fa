"""People are told, once, what was seen and what to do. Nothing is taken out of service here."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Case, Step, World
from supernoded_isolation.evidence import RANK_WATCHES, list_jobs
from supernoded_isolation.rules.verdicts import say_stuck

NOTIFY, STILL = "notify", "notify-still"
FURTHER: Mapping[str, str] = {
    "card.fault": "Whether it is replaced is decided where the role `spares` is held, and told as card.faulty",
    "card.lost": "Whether it is replaced is decided where the role `spares` is held, and told as card.faulty or card.silent",
    "card.software": "No card is taken out: look at what they share, such as the job's own code, its libraries and its driver",
    "card.slow": "Nothing is taken out for this",
    "card.memory": "Nothing is taken out for this",
    "rank.map": "Until it is right no card of it is blamed by what its ranks say",
    "card.ecc": "Nothing is taken out for this",
    "job.idle": "Nothing is started anew for this",
}


class TellRemedy:
    """Drafts one notice of an incident."""

    def __init__(self, answers: str) -> None:
        self.answers = answers

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """The notice, once."""
        del world, now
        if NOTIFY in case.done or not case.still_raised:
            return None
        incident = case.incident
        shared = (
            f"; {len(incident.members)} cards at a time: before any of them look for what they share, such as job, driver, power, coolant"
        )
        further = f". {FURTHER[self.answers]}" if self.answers in FURTHER else ""
        reason = f"{incident.text}{shared if incident.members else ''}{further}"
        return Step(name=NOTIFY, kind=NOTIFY, target=incident.subject, reason=reason)


class SoftwareRemedy(TellRemedy):
    """Tells what several cards of a job share, and once more when the job still stands after a while: then somebody has to do something."""

    watches: Mapping[str, float] = RANK_WATCHES

    def __init__(self, answers: str, after: float) -> None:
        super().__init__(answers)
        self._after = after

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """The notice, and the second one."""
        incident, age = case.incident, now - case.incident.opened
        first = super().next(case, world, now)
        if first is not None or STILL in case.done or not case.still_raised or age < self._after:
            return first
        job = next((one for one in list_jobs(case.seen, only=incident.subject) if one.subject == incident.subject), None)
        if job is None or not (job.hangs or job.culprits or job.is_dead):
            return None
        return Step(name=STILL, kind=NOTIFY, target=incident.subject, reason=say_stuck(incident.subject, age))
