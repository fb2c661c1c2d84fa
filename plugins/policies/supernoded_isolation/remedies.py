"""People are told, once, what was seen and what to do. Nothing is taken out of service."""

from __future__ import annotations

from supernoded.plugin import Case, Step, World

NOTIFY = "notify"


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
        reason = f"{incident.text}{shared if incident.members else ''}"
        return Step(name=NOTIFY, kind=NOTIFY, target=incident.subject, reason=reason)
