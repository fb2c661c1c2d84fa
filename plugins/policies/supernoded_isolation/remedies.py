"""People are told, once, what was seen and what to do. Nothing is taken out of service here."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Case, Step, World

NOTIFY = "notify"
FURTHER: Mapping[str, str] = {
    "card.fault": "Whether it is replaced is decided where the role `spares` is held, and told as card.faulty",
    "card.lost": "Whether it is replaced is decided where the role `spares` is held, and told as card.faulty or card.silent",
    "card.software": "No card is taken out: look at what they share, such as the job's own code, its libraries and its driver",
    "card.slow": "Nothing is taken out for this",
    "card.memory": "Nothing is taken out for this",
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
