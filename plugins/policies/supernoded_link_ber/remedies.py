"""What people are told of a link, in one sentence: what was seen, why that is most likely, what to touch, and how long is left."""

from __future__ import annotations

from supernoded.plugin import Case, Incident, Limits, Step, Topology, World
from supernoded_link_ber.health.causes import UNSEATED
from supernoded_link_ber.health.family import STAYS, find_forecast, find_places, find_worse
from supernoded_link_ber.health.following import find_drain, find_order
from supernoded_link_ber.settings import LinkBerSettings
from supernoded_link_ber.wording import join

NOTIFY = "notify"
CABLE = "cable/"
MOST_NAMED = 4  # members of a shared thing that a sentence names
DOWN, FLAPPING = "link.down", "link.flapping"
DOWN_WAITS = 12.0  # seconds for which the notice of a link that is down waits at most: the work stands still (ours)
MEANWHILE = 5.0  # seconds before an alarm at which its trouble had begun: two polls at least made it (ours)
PATIENT = frozenset({"link.saturated", "link.overruled"})  # told only when nothing worse has come of it after a while
OPTICAL = frozenset({DOWN, "link.ber", FLAPPING, "link.optic"})  # whose notice waits for the modules of both ends


class TellRemedy:
    """Drafts one notice of what needs no cable to be touched, or has said already what to do."""

    def __init__(self, answers: str) -> None:
        self.answers = answers

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """The notice, once, and not while a more telling trouble of the same cable is open."""
        waits = case.incident.kind in PATIENT and 0.0 <= now - case.incident.opened < STAYS
        if NOTIFY in case.done or not case.still_raised or waits or find_worse(case.incident, world, now):
            return None
        return Step(name=NOTIFY, kind=NOTIFY, target=case.incident.subject, reason=join(case.incident.text, ()))


class TouchRemedy:
    """Drafts one notice; where the trouble goes on, the port's draining, and an order for the part (L10)."""

    def __init__(self, answers: str, limits: Limits, settings: LinkBerSettings) -> None:
        self.answers = answers
        self._limits, self._settings = limits.link, settings

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """Tell, drain, order; each once, and nothing when the trouble is over.

        Nothing is told while a more telling trouble of the same cable is open: one trouble gives one notice.
        """
        if not case.still_raised and not (NOTIFY not in case.done and _comes_and_goes(case.incident, world)):
            return None
        if NOTIFY in case.done:
            return find_drain(case, world, now, self._settings) or find_order(case, world, now, self._settings)
        if find_worse(case.incident, world, now) or self._waits(case, now):
            return None
        return Step(name=NOTIFY, kind=NOTIFY, target=case.incident.subject, reason=self._draft(case, world))

    def _waits(self, case: Case, now: float) -> bool:
        """Whether the modules, where they are read at all, may yet be read at both ends since the trouble began."""
        incident = case.incident
        read = max((cause.at for cause in case.causes), default=0.0)
        begun = incident.opened - (0.0 if incident.kind == DOWN else MEANWHILE)
        patience = min(DOWN_WAITS, self._settings.evidence_s) if incident.kind == DOWN else self._settings.evidence_s
        return incident.kind in OPTICAL and 0.0 < read <= begun and 0.0 <= now - incident.opened < patience

    def _draft(self, case: Case, world: World) -> str:
        incident = case.incident
        if incident.members and not incident.subject.startswith(CABLE):
            some = ", ".join(incident.members[:MOST_NAMED])
            why = f"{len(incident.members)} links at a time seldom have a bad optic each"
            what = f"to do: before any of {some} is touched, look for what they share, such as power, a switch, a reboot, new firmware"
            return join(incident.text, (why, what))
        best, forecast = case.causes[0] if case.causes else None, find_forecast(incident, world)
        left = (forecast,) if forecast else ()
        if best is None or (best.name == UNSEATED and not best.at):
            return join(incident.text, (self._draft_blind(case, world.topology),), left)
        where = "" if best.subject in best.advice else f" at {best.subject}"
        cause = f"most likely ({best.weight:.0%}): {best.name}{where}"
        evidence = best.evidence[0] if best.evidence else ""
        return join(incident.text, (cause, f"to do: {best.advice}"), left, evidence)

    def _draft_blind(self, case: Case, topology: Topology) -> str:
        """By the prior alone, when nothing of the module can be seen."""
        incident = case.incident
        places = incident.members[:MOST_NAMED] or (incident.subject, topology.peer(incident.subject))
        ends = " and of ".join(place for place in places if place)
        return (
            f"to do: Reseat the optic of {ends}, as {self._limits.unseated_percent:g} % of ring breaks are an optic not fully seated, "
            f"then look for a fibre bent below {self._limits.bend_radius_mm:g} mm"
        )


def _comes_and_goes(incident: Incident, world: World) -> bool:
    """Whether a link that is up just now goes down again and again: the word on that waits for the word on this."""
    places = find_places(incident, world.topology)
    others = (one for one in world.incidents if one.kind == FLAPPING)
    return incident.kind == DOWN and any(not places.isdisjoint(find_places(one, world.topology)) for one in others)
