"""People are told, once, in one sentence of what is wrong and one of what to do."""

from __future__ import annotations

from supernoded.plugin import Case, Step, World

NOTIFY = "notify"
ADVICE = {  # where no diagnosis says more
    "ring.mode": "Look for the hop that is broken or swapped: supernodectl ring.",
    "ring.slow": "Check that cable: its seat, its bends, its length.",
    "ring.jitter": "Look for bit errors and congestion on that hop: supernodectl links.",
    "ring.conflict": "Ask both again by hand before anything is moved.",
}


class TellRemedy:
    """Drafts one notice."""

    def __init__(self, answers: str) -> None:
        self.answers = answers

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """The notice, once."""
        del world, now
        if NOTIFY in case.done or not case.still_raised:
            return None
        advice = case.causes[0].advice if case.causes else ADVICE.get(self.answers, "")
        text = case.incident.text.rstrip(".")
        reason = f"{text}." if not advice or advice in text else f"{text}. {advice}"
        return Step(name=NOTIFY, kind=NOTIFY, target=case.incident.subject, reason=reason)
