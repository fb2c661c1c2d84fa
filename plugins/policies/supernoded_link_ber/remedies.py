"""What to touch, in the order in which it helps. First form: people are told."""

from __future__ import annotations

from supernoded.plugin import Case, Limits, Step, World

NOTIFY = "notify"
MOST_NAMED = 4  # members of a shared thing that a sentence names


class TouchRemedy:
    """Drafts one notice: reseat first, then look at the bends, then replace (L6, L7, L10)."""

    def __init__(self, answers: str, limits: Limits) -> None:
        self.answers = answers
        self._limits = limits.link

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """The notice, once."""
        del now
        if NOTIFY in case.done or not case.still_raised:
            return None
        incident = case.incident
        places = [incident.subject, world.topology.peer(incident.subject)] if not incident.members else list(incident.members[:MOST_NAMED])
        reason = (
            f"{incident.text}. Reseat the optic of {' and of '.join(place for place in places if place)}: "
            f"{self._limits.unseated_percent:g} % of ring breaks are an optic not fully seated. "
            f"Then look for a fibre bent below {self._limits.bend_radius_mm:g} mm. If it comes back, replace cable or optic."
        )
        return Step(name=NOTIFY, kind=NOTIFY, target=incident.subject, reason=reason)
