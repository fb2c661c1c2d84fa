"""The words everything speaks: frozen types without I/O. See docs/words.md for a sentence on each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import Enum

import msgspec

NODE = "node"  # the scope of what a daemon does for its own machine; every other scope is a role

Value = float | str | frozenset[str] | None


class Word(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What all words share: frozen, keyword-only, and the same in JSON as in Python."""


class State(Enum):
    """What a reading is worth."""

    GOOD = "good"
    UNKNOWN = "unknown"  # could not be measured, does not apply, or is not plausible
    STALE = "stale"  # was good, is too old


class Level(Enum):
    """What a rule says of a subject now."""

    RAISED = "raised"
    CLEAR = "clear"
    UNSURE = "unsure"


class Severity(Enum):
    """How much a person should care."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class Effect(Enum):
    """Whether a device shows an action's effect."""

    PRESENT = "present"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Result(Enum):
    """What became of an action."""

    DONE = "done"  # the effect was seen
    REFUSED = "refused"  # a guard said no
    UNCONFIRMED = "unconfirmed"  # sent or raised, effect not seen by the deadline
    EXPIRED = "expired"  # never sent


class Mode(Enum):
    """How far a policy may go."""

    OBSERVE = "observe"  # remedies are rehearsed, nothing is written to any device
    ADVISE = "advise"  # the same, and people are notified
    ACT = "act"


class Reading(Word, frozen=True, kw_only=True, gc=False):
    """One value of one quantity for one subject. `at` is on the scale of `Clock.now`."""

    subject: str
    quantity: str
    value: Value
    unit: str
    at: float
    state: State = State.GOOD
    note: str = ""  # why it is not GOOD, in a few words
    source: str = ""  # the sensor that read it, filled in when it is taken in: two views of one thing stay two series


class Verdict(Word, frozen=True, kw_only=True, gc=False):
    """What one rule says of one subject now. `text` is a sentence with the number and the limit."""

    kind: str
    subject: str
    level: Level
    text: str
    at: float
    severity: Severity = Severity.WARNING
    unseen: tuple[str, ...] = ()  # what the rule could not see


class Cause(Word, frozen=True, kw_only=True, gc=False):
    """One explanation of a trouble, and what to do if it is the right one."""

    name: str  # in a few words: `unseated optic`
    subject: str  # what to touch
    weight: float  # 0 to 1: how well it explains what is seen, prior included
    evidence: tuple[str, ...] = ()  # sentences with numbers that speak for it
    against: tuple[str, ...] = ()  # and against it
    advice: str = ""  # a sentence for the person who goes there
    at: float = 0.0  # of the newest reading that it rests on


class Event(Word, frozen=True, kw_only=True, gc=False):
    """An edge between two verdicts."""

    id: str
    kind: str
    subject: str
    scope: str
    raised: bool
    text: str
    at: float
    severity: Severity
    incident: str = ""  # the incident it belongs to


class Incident(Word, frozen=True, kw_only=True):
    """The life of one trouble. With `members` it is the incident of a thing that several subjects share."""

    id: str
    kind: str
    subject: str
    scope: str
    opened: float
    severity: Severity
    text: str
    closed: float | None = None
    members: tuple[str, ...] = ()
    merged_into: str = ""  # the incident of the shared thing that took this one over


class Step(Word, frozen=True, kw_only=True):
    """The next thing a remedy wants; the daemon makes an action of it."""

    name: str  # unique within its incident
    kind: str
    target: str
    reason: str  # a sentence for people
    patience: float = 10.0  # seconds from asking to giving up
    amount: float | None = None
    details: Mapping[str, str] = {}


class Action(Word, frozen=True, kw_only=True):
    """A step with an identity and a deadline. Its id is `incident/step`, so it cannot be doubled."""

    id: str
    step: Step
    incident: str
    scope: str
    epoch: int
    issued: float
    deadline: float
    policy: str = ""  # the plugin whose remedy asked for it


CAME_TO_NOTHING = "it came to nothing: "  # how the outcome begins of what was tried and is seen to have failed
COULD_NOT = "it could not be done: "  # and of what was taken, and could not be tried


class Sight(Word, frozen=True, kw_only=True, gc=False):
    """What a device shows of an action's effect, and whether waiting shows nothing else.

    `final` = it was tried and has failed; `refused` = it was taken, and could not be tried: nothing was done.
    """

    effect: Effect
    text: str = ""
    final: bool = False
    refused: bool = False


class Outcome(Word, frozen=True, kw_only=True, gc=False):
    """What became of an action."""

    action: str
    result: Result
    text: str
    at: float


class Setpoint(Word, frozen=True, kw_only=True, gc=False):
    """A loop's output, and until when it may stand without being renewed."""

    target: str  # the handle's target
    quantity: str
    value: float
    unit: str = ""
    until: float = 0.0  # on the scale of `Clock.now`
    note: str = ""  # what it had to do without: `supply by energy balance`; empty = nothing


class Lease(Word, frozen=True, kw_only=True, gc=False):
    """A role held by one daemon's one life. `until` is the database's time."""

    role: str
    holder: str  # node#life
    epoch: int
    until: float


class Hold(Word, frozen=True, kw_only=True, gc=False):
    """A named reason to keep a card or node out of service; only its owner lifts it. Times are Unix seconds.

    It names slot and serial (safety rule 30). Once lifted it stays so: of two copies the lifted one is right.
    """

    id: str
    subject: str
    serial: str  # of the card in the slot, empty for a node
    reason: str
    owner: str  # a policy, or who asked: `operator alice`
    placed: float
    expires: float | None = None
    cause: str = ""  # in a word, what breakers count: `silent`, `fault`, `gone`, `operator`
    node: str = ""  # whose daemon placed it
    lifted: float | None = None
    lifted_by: str = ""

    def stands(self, now: float) -> bool:
        """Whether it keeps its subject out of service."""
        return self.lifted is None and (self.expires is None or self.expires > now)


class Latch(Word, frozen=True, kw_only=True, gc=False):
    """What stays as it is until a person resets it, such as a breaker that has tripped."""

    name: str
    text: str  # why
    since: float


class Said(Word, frozen=True, kw_only=True, gc=False):
    """An operator's word on how far a policy may go."""

    policy: str
    mode: Mode
    by: str
    at: float


def incident_id(kind: str, subject: str, opened: float) -> str:
    """A short, stable identity: the same trouble at the same moment has the same id in every life."""
    digest = hashlib.sha256(f"{kind} {subject} {opened:.6f}".encode()).hexdigest()
    return f"i{digest[:11]}"


def hold_id(owner: str, subject: str, why: str) -> str:
    """The identity of a hold: the same owner's for the same reason (an incident, or the moment of a word) is the same hold."""
    digest = hashlib.sha256(f"{owner} {subject} {why}".encode()).hexdigest()
    return f"h{digest[:11]}"


def action_id(incident: str, step: str) -> str:
    """The identity of the one action that performs `step` for `incident`."""
    return f"{incident}/{step}"


def event_id(incident: str, subject: str, raised: bool, at: float) -> str:
    """The identity of an edge; the same edge written twice is one row."""
    digest = hashlib.sha256(f"{incident} {subject} {raised} {at:.6f}".encode()).hexdigest()
    return f"e{digest[:15]}"


PROTECTIVE = frozenset({"job.checkpoint", "job.withdraw", "job.stop", "job.resume"})
PROTECTIVE_FAMILIES = ("fan.", "coolant.", "power.")


TAKE_OUTS = frozenset({"card.hold", "card.isolate", "node.drain"})  # what breakers and grants are about (safety rules 28 and 29)


def is_protective(kind: str) -> bool:
    """Whether an action of this kind protects and so passes breakers, rates and grants (safety rule 2)."""
    return kind in PROTECTIVE or kind.startswith(PROTECTIVE_FAMILIES)
