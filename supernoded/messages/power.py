"""What is answered about power, and about what became of a sag."""

from __future__ import annotations

import msgspec

from supernoded.messages.answers import Answer
from supernoded.model import Incident, Level, Severity, Verdict


class Supply(msgspec.Struct, frozen=True, kw_only=True):
    """One UPS. None = not known. `text` is the worst that a rule says of it."""

    subject: str
    status: tuple[str, ...] | None = None  # its flags, in small letters
    link: str = ""  # what its server says of its own line to it
    input_voltage: float | None = None  # V, the lowest phase
    charge: float | None = None  # %
    runtime: float | None = None  # s, as it claims
    load: float | None = None  # %
    level: Level = Level.UNSURE
    severity: Severity = Severity.INFO
    text: str = ""


class Strip(msgspec.Struct, frozen=True, kw_only=True):
    """One PDU and its armed group. None = not known, or it has none."""

    subject: str
    feed: str
    power: float | None = None  # W
    armed: bool | None = None
    lease_left: float | None = None  # s
    group: tuple[str, ...] | None = None  # numbers of the outlets that would open
    restore_s: float | None = None
    event: str = ""  # its newest
    event_age: float | None = None  # s since its newest firing, by its own clock
    shed_delay: float | None = None  # ms from trigger to open contacts, by its own clock
    off: tuple[str, ...] = ()  # numbers of the outlets that are off
    level: Level = Level.UNSURE
    severity: Severity = Severity.INFO
    text: str = ""


class Power(Answer, frozen=True, kw_only=True):
    """All UPSes and PDUs that this daemon knows of, and what the rules say of power: the raised first."""

    supplies: tuple[Supply, ...] = ()
    strips: tuple[Strip, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    judged_by: str = ""  # the node that has the role power/<site>, as far as is known


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened. `what` is one of seen, raised, cleared, ordered, done, refused, unconfirmed, expired, rehearsed."""

    at: float
    what: str
    subject: str
    text: str


class Timeline(Answer, frozen=True, kw_only=True):
    """What was seen and done about one incident, in the order of time."""

    incident: Incident
    moments: tuple[Moment, ...] = ()
    left_off: int = 0
