"""What an inquiry remembers and what it finds."""

from __future__ import annotations

import msgspec

from supernoded_isolation.evidence import Evidence, Mark

SILENT, FAULTY = "card.silent", "card.faulty"


class Memory(msgspec.Struct, frozen=True):
    """Of suspects alone, but for what is past. Times are on the scale of `Clock.now`, which is Unix seconds in every life."""

    marks: dict[str, dict[str, Mark]] = {}  # card -> what is seen of it
    since: dict[str, float] = {}  # card -> since when it is a suspect
    kinds: dict[str, str] = {}  # card -> as what it is blamed, for as long as it is a suspect: one card has one of both incidents
    begun: dict[str, float] = {}  # the same cards -> since when each was a suspect: a new life sees nothing for a while, and clears nobody
    raised: dict[str, float] = {}  # subject -> when this rule has raised it
    blamed: dict[str, list[float]] = {}  # card and its serial number -> when it was blamed
    processes: dict[str, list[float]] = {}  # the same, and each rank -> when a process on it was blamed in its place
    quiet: dict[str, float] = {}  # rank or job -> since when it holds others up, or hangs
    phased: tuple[str, ...] = ()  # jobs that have told a phase: one that stands still without a word does not pause
    slow: dict[str, float] = {}  # suspect -> the step since which its rank is a straggler
    stopped: dict[str, float] = {}  # job -> since when it does not step
    ill: dict[
        str, float
    ] = {}  # card -> when it was blamed though it shares something: an abort for the first of several ends what the job says
    fallen: tuple[str, ...] = ()  # ports of cards that were up and are not
    swept: float = 0.0  # when all cards were looked at
    cleared: float = 0.0  # when of all subjects was said how they are


class Finding(msgspec.Struct, frozen=True):
    """One suspect."""

    card: str
    evidence: tuple[Evidence, ...]
    blame: tuple[Evidence, ...] = ()  # empty = it is not to blame
    excuse: str = ""  # what is to blame in its place, as a sentence
    thing: str = ""  # what it shares with other suspects, and these
    others: tuple[str, ...] = ()
    rank: str = ""  # the one on it that holds others up, or hangs with all the others
    job: str = ""  # of the rank on it, whatever that does
    kind: str = ""  # as what it is blamed
    since: float = 0.0  # it is a suspect
    ill: bool = False  # it is to blame though it shares something with other suspects
    stood_s: float = 0.0  # for which that job has not stepped
    urgent: bool = False  # its job is dead, and waits for nothing but a spare


class Standstill(msgspec.Struct, frozen=True):
    """A rank that holds its job up, or a job that hangs and nobody can say for whom, on cards that look well."""

    subject: str
    cards: tuple[str, ...]
    text: str
    sure: bool  # enough was seen of its cards: its processes are to blame
    told: bool = False  # people are told all the same, and nothing is started anew
    idle: bool = False  # it may as well pause: people are told that, and nothing is started anew


class Findings(msgspec.Struct, frozen=True):
    """All that is found at one moment."""

    cards: tuple[Finding, ...] = ()
    standstills: tuple[Standstill, ...] = ()
    few: bool = False  # so few cards that all are always told
