"""Verdicts (levels) become edges, edges become incidents, and what strikes several subjects at once becomes one incident. Pure.

* An *edge* is a change between RAISED and CLEAR of one (kind, subject), or a raised one getting more severe; UNSURE changes nothing.
* An incident lives from its first RAISED edge until its cause has been CLEAR for `clear_after` seconds: trouble that comes and goes
  within that time is one incident.
* *Common cause*: the same kind on several subjects that share a thing (a cable, loop, feed, node) within `common_window` seconds is one
  incident of the shared thing; the first ones are merged into it and worked no further on their own. What counts is when they opened.
* One that has begun to take something out of service, or that an earlier life has left, counts there but is merged into no other: it
  alone knows what it has taken out, and brings it back.
* There is never more than one open incident of one kind and subject, here as in the journal: a second wave joins the first.
* Of a subject that vanished, or whose rule is gone, nobody will ever say CLEAR: after `FORGET_AFTER` seconds without a word it is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from supernoded.model import TAKE_OUTS, Event, Incident, Level, Severity, Step, Verdict, event_id, incident_id

Shared = Callable[[str], tuple[str, ...]]  # what a subject shares with others, nearest first

SITE = "site"  # the thing that subjects share which share nothing else but the minute
FORGET_AFTER = 7 * 86_400.0  # seconds
MOST_NAMED = 8  # members that the text of a shared incident names
_WEIGHT = {Severity.INFO: 0, Severity.WARNING: 1, Severity.CRITICAL: 2}


class Opened(msgspec.Struct, frozen=True):
    """A new incident."""

    incident: Incident


class Merged(msgspec.Struct, frozen=True):
    """These were taken over by the incident of a shared thing."""

    incidents: tuple[Incident, ...]
    into: Incident


class Widened(msgspec.Struct, frozen=True):
    """One more subject joined the incident of a shared thing, or it got more severe."""

    incident: Incident


class Edge(msgspec.Struct, frozen=True):
    """An event: a subject's trouble came or went."""

    event: Event


Change = Opened | Merged | Widened | Edge


@dataclass
class _Track:
    """One (kind, subject): is it raised, and since when."""

    raised: bool
    since: float
    heard: float  # when a rule last said anything of it
    incident: str = ""
    severity: Severity = Severity.INFO  # the worst that was told while it is raised
    unsure: str = ""  # what the rule last said while it could not tell


class Ledger:
    """The open incidents of one scope."""

    def __init__(self, scope: str, shared: Shared, clear_after: float = 60.0, common_window: float = 30.0, common_count: int = 3) -> None:
        self.scope = scope
        self._shared, self._clear_after, self._window, self._count = shared, clear_after, common_window, common_count
        self._tracks: dict[tuple[str, str], _Track] = {}
        self._open: dict[str, Incident] = {}
        self._begun: set[str] = set()  # incidents that are merged into no other

    @property
    def open(self) -> list[Incident]:
        """Every open incident, merged ones left out, oldest first."""
        return list(self._open.values())

    def restore(self, incidents: Iterable[Incident], now: float) -> None:
        """Take up what an earlier life left open: raised until a verdict says otherwise."""
        for incident in incidents:
            self._open[incident.id] = incident
            self._begun.add(incident.id)
            for subject in incident.members or (incident.subject,):
                track = _Track(raised=True, since=incident.opened, severity=incident.severity, heard=now, incident=incident.id)
                self._tracks[incident.kind, subject] = track

    def take(self, verdict: Verdict) -> list[Change]:
        """What one verdict changes."""
        track = self._tracks.get((verdict.kind, verdict.subject))
        if track is not None:
            track.heard = verdict.at
        if verdict.level is Level.UNSURE:
            if track is not None:
                track.unsure = verdict.text
            return []
        raised = verdict.level is Level.RAISED
        if track is None:
            if not raised:
                return []
            track = self._tracks[verdict.kind, verdict.subject] = _Track(raised=False, since=verdict.at, heard=verdict.at)
        track.unsure = ""
        if raised == track.raised:
            return self._escalate(verdict, track) if raised else []
        track.raised, track.since, track.severity = raised, verdict.at, verdict.severity
        changes = self._open_for(verdict, track) if raised and track.incident not in self._open else []
        return [*changes, Edge(self._edge(verdict, track.incident))]

    def _escalate(self, verdict: Verdict, track: _Track) -> list[Change]:
        """What is raised and gets worse is told again; what gets better is told when it is clear."""
        incident = self._open.get(track.incident)
        if incident is None or _WEIGHT[verdict.severity] <= _WEIGHT[track.severity]:
            return []
        track.severity = verdict.severity
        worse = msgspec.structs.replace(
            incident,
            severity=max(incident.severity, verdict.severity, key=_WEIGHT.__getitem__),
            text=incident.text if incident.members else verdict.text,
        )
        self._open[incident.id] = worse
        return [Widened(worse), Edge(self._edge(verdict, incident.id))]

    def _edge(self, verdict: Verdict, incident: str) -> Event:
        raised = verdict.level is Level.RAISED
        return Event(
            id=event_id(incident, verdict.subject, raised, verdict.at),
            kind=verdict.kind,
            subject=verdict.subject,
            scope=self.scope,
            raised=raised,
            text=verdict.text,
            at=verdict.at,
            severity=verdict.severity,
            incident=incident,
        )

    def _open_for(self, verdict: Verdict, track: _Track) -> list[Change]:
        """Join the incident of a shared thing, make one, or open one of its own."""
        joined = self._join(verdict, track)
        if joined is not None:
            return [joined]
        own = self._new(verdict, verdict.subject, verdict.text, ())
        track.incident = own.id
        self._open[own.id] = own
        return [Opened(own), *self._merge_around(own, verdict)]

    def _new(self, verdict: Verdict, subject: str, text: str, members: tuple[str, ...]) -> Incident:
        return Incident(
            id=incident_id(verdict.kind, subject, verdict.at),
            kind=verdict.kind,
            subject=subject,
            scope=self.scope,
            opened=verdict.at,
            severity=verdict.severity,
            text=text,
            members=members,
        )

    def _join(self, verdict: Verdict, track: _Track) -> Widened | None:
        """An open incident of this very subject, or of a thing that it shares and that was struck lately, takes it in."""
        things = (*self._shared(verdict.subject), SITE)
        for incident in self._open.values():
            if incident.kind != verdict.kind:
                continue
            is_common = bool(incident.members) and incident.subject in things and self._is_near(incident, verdict.at)
            if is_common or incident.subject == verdict.subject:
                track.incident = incident.id
                return Widened(self._widen(incident, {verdict.subject}, verdict.severity))
        return None

    def _widen(self, incident: Incident, subjects: set[str], severity: Severity) -> Incident:
        """It takes in more subjects."""
        members = tuple(sorted(dict.fromkeys((*self._subjects(incident), *sorted(subjects)))))  # nearly in order already
        wider = msgspec.structs.replace(
            incident,
            members=members,
            severity=max(incident.severity, severity, key=_WEIGHT.__getitem__),
            text=_common_text(incident.kind, incident.subject, members),
        )
        self._open[incident.id] = wider
        return wider

    def _is_near(self, incident: Incident, at: float) -> bool:
        """Whether something was struck within the window around `at` (a clock that was set back leaves edges in the future).

        That a trouble went is no blow: what an earlier life left open is often seen clear at the first look.
        """
        struck = (track.since for subject in self._subjects(incident) if (track := self._of(incident, subject)).raised)
        first = next(struck, incident.opened)  # of a thousand that were struck together the first tells
        return abs(at - first) <= self._window or any(abs(at - since) <= self._window for since in struck)

    def _merge_around(self, own: Incident, verdict: Verdict) -> list[Change]:
        """Look for the nearest thing that the newcomer shares with other young incidents of its kind."""
        alike = (i for i in self._open.values() if i.kind == own.kind and i.id != own.id and not i.members)
        others = [i for i in alike if abs(verdict.at - i.opened) <= self._window]
        for thing in self._shared(own.subject):
            sharing = [i for i in others if thing in self._shared(i.subject)]
            if sharing:
                return self._merge([*sharing, own], thing, verdict)
        if len(others) + 1 >= self._count:
            return self._merge([*others, own], SITE, verdict)
        return []

    def _merge(self, incidents: list[Incident], thing: str, verdict: Verdict) -> list[Change]:
        """One incident of `thing` takes these over, but for those that have begun: the one open for an earlier wave, else a new one."""
        text = _common_text(verdict.kind, thing, tuple(sorted(i.subject for i in incidents)))
        incidents = [i for i in incidents if i.id not in self._begun]
        members = tuple(sorted(i.subject for i in incidents))
        worst = max((i.severity for i in incidents), key=_WEIGHT.__getitem__)
        others = [i for i in self._open.values() if i not in incidents]
        earlier = next((i for i in others if i.kind == verdict.kind and i.subject == thing), None)
        if earlier is None:
            shared = msgspec.structs.replace(self._new(verdict, thing, text, members), severity=worst)
            self._open[shared.id] = shared
        else:
            shared = self._widen(earlier, set(members), worst)
        merged = tuple(msgspec.structs.replace(i, merged_into=shared.id) for i in incidents)
        for incident in incidents:
            del self._open[incident.id]
            self._tracks[incident.kind, incident.subject].incident = shared.id
        return [Opened(shared) if earlier is None else Widened(shared), Merged(merged, shared)]

    def begin(self, incident: Incident, steps: Iterable[Step]) -> None:
        """These steps of it are begun."""
        if any(step.kind in TAKE_OUTS for step in steps):
            self._begun.add(incident.id)

    def is_raised(self, incident: Incident) -> bool:
        """Whether any of its subjects is still in trouble."""
        return any(self._of(incident, subject).raised for subject in self._subjects(incident))

    def is_over(self, incident: Incident, now: float) -> bool:
        """Whether its cause has been clear for long enough, or is forgotten."""
        tracks = [self._of(incident, subject) for subject in self._subjects(incident)]
        return all(_is_forgotten(track, now) or (not track.raised and now - track.since >= self._clear_after) for track in tracks)

    def is_forgotten(self, incident: Incident, now: float) -> bool:
        """Whether it will end without having been seen clear, because nobody judges some of its subjects any more."""
        return any(_is_forgotten(self._of(incident, subject), now) for subject in self._subjects(incident))

    def is_open(self, incident: Incident) -> bool:
        """Whether it is neither closed nor merged into another."""
        return incident.id in self._open

    def home(self, incident: Incident) -> str:
        """The incident that its subject belongs to now: itself, or the one that took it over; empty when that is closed."""
        track = self._tracks.get((incident.kind, incident.subject))
        return track.incident if track is not None else ""

    def current(self, incident: Incident) -> Incident:
        """The incident as it is now; members may have joined."""
        return self._open.get(incident.id, incident)

    def adopt(self, incident: Incident, older: Incident, now: float) -> Incident:
        """The journal knows this trouble under an older identity: go on under that one, with the subjects of both."""
        subjects = set(self._subjects(incident))
        for subject in {*subjects, *(older.members or (older.subject,))}:
            # as what is restored: raised until a verdict says otherwise
            fresh = _Track(raised=True, since=older.opened, heard=now, severity=older.severity)
            self._tracks.setdefault((incident.kind, subject), fresh).incident = older.id
        self._open.pop(incident.id, None)
        self._open[older.id] = older
        self._begun.add(older.id)
        return older if subjects == set(self._subjects(older)) else self._widen(older, subjects, incident.severity)

    def close(self, incident: Incident, now: float) -> Incident:
        """Its life is over."""
        for subject in self._subjects(incident):
            self._tracks.pop((incident.kind, subject), None)
        self._open.pop(incident.id, None)
        self._begun.discard(incident.id)
        return msgspec.structs.replace(incident, closed=now)

    def unsure(self, incident: Incident) -> str:
        """What the rule last could not tell of it; empty when it can."""
        return next((t.unsure for s in self._subjects(incident) if (t := self._of(incident, s)).unsure), "")

    def _subjects(self, incident: Incident) -> tuple[str, ...]:
        now = self._open.get(incident.id, incident)
        return now.members or (now.subject,)

    def _of(self, incident: Incident, subject: str) -> _Track:
        return self._tracks.get((incident.kind, subject)) or _Track(raised=False, since=incident.opened, heard=incident.opened)


def _is_forgotten(track: _Track, now: float) -> bool:
    return now - track.heard >= FORGET_AFTER


def _common_text(kind: str, thing: str, members: tuple[str, ...]) -> str:
    where = "subjects within a minute" if thing == SITE else f"subjects that share {thing}"
    more = f" and {len(members) - MOST_NAMED} more" if len(members) > MOST_NAMED else ""
    return f"{kind} on {len(members)} {where}: {', '.join(members[:MOST_NAMED])}{more}"
