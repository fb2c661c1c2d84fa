"""What is asked over the admin socket and what is answered: docs/admin-api.md shows each shape."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from supernoded.model import Action, Cause, Event, Hold, Incident, Level, Mode, Outcome, Reading, Severity, Verdict

SCHEMA = 1  # grows when a field changes its meaning or goes away; a new field with a default does not change it
VERSION_PATH = "/v1"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer has. `now` is the daemon's time when it answered: ages are `now` minus a time."""

    schema: int = SCHEMA
    now: float


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a request that was refused: one sentence, with the remedy."""

    schema: int = SCHEMA
    error: str


class SensorCondition(msgspec.Struct, frozen=True, kw_only=True):
    """One sensor; `reason` says why it fails and is empty while it works."""

    name: str
    scope: str
    since: float
    reason: str = ""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One supervised part of the daemon; `reason` is empty while it is well."""

    name: str
    since: float
    reason: str = ""
    restarts: int = 0


class JournalCondition(msgspec.Struct, frozen=True, kw_only=True):
    """How the journal is doing. `waiting` rows are in memory, not yet written; `size` is in bytes."""

    place: str  # file or database, without secrets
    reason: str = ""  # empty while it is well
    waiting: int = 0
    size: int = 0


class SessionCondition(msgspec.Struct, frozen=True, kw_only=True):
    """The MQTT session. `outbox` messages wait to be delivered."""

    broker: str  # host:port
    connected: bool
    since: float
    reason: str = ""  # why it is not connected
    outbox: int = 0


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """One role that this daemon holds."""

    name: str
    epoch: int  # 0 = fixed by the settings
    since: float
    left: float | None = None  # seconds until its lease ends unless it is renewed; None = fixed
    bridging: bool = False  # its lease has run out and the database is lost: its devices are steered on


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A plugin that is installed but not running."""

    name: str
    reason: str


class Status(Answer, frozen=True, kw_only=True):
    """The node on one screen. `troubles` are sentences; none and `ready` = all is well."""

    node: str
    cluster: str
    version: str
    pid: int
    started: float
    ready: bool
    troubles: tuple[str, ...] = ()
    mode: Mode  # of policies that nobody spoke of
    modes: Mapping[str, Mode] = {}  # of each policy
    sensors: tuple[SensorCondition, ...] = ()
    readings: Mapping[str, int] = {}  # newest readings by `State` value
    journal: JournalCondition
    session: SessionCondition | None = None  # None = no broker is configured
    roles: tuple[Role, ...] = ()
    open_incidents: Mapping[str, int] = {}  # by `Severity` value
    newest_incidents: tuple[Incident, ...] = ()  # at most three, newest first
    holds: int = 0
    left_out: tuple[LeftOut, ...] = ()

    @property
    def failing_sensors(self) -> tuple[SensorCondition, ...]:
        """The sensors that do not work."""
        return tuple(sensor for sensor in self.sensors if sensor.reason)


class Health(Answer, frozen=True, kw_only=True):
    """The supervised parts of the daemon."""

    ready: bool
    troubles: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()


class Plugin(msgspec.Struct, frozen=True, kw_only=True):
    """One installed plugin, what it handed in (part -> names), and why it is left out when it is."""

    name: str
    distribution: str = ""
    version: str = ""
    reason: str = ""
    parts: Mapping[str, tuple[str, ...]] = {}


class Plugins(Answer, frozen=True, kw_only=True):
    """All installed plugins."""

    plugins: tuple[Plugin, ...] = ()


class Readings(Answer, frozen=True, kw_only=True):
    """Readings, sorted by subject, quantity and time. `left_off` more matched but are over the limit."""

    readings: tuple[Reading, ...] = ()
    left_off: int = 0


class Incidents(Answer, frozen=True, kw_only=True):
    """Incidents, newest first."""

    incidents: tuple[Incident, ...] = ()
    left_off: int = 0
    unread: str = ""  # which journal could not be read, and why


class Events(Answer, frozen=True, kw_only=True):
    """Events, newest first."""

    events: tuple[Event, ...] = ()
    left_off: int = 0
    unread: str = ""  # which journal could not be read, and why


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """An action and what became of it. A rehearsed one was never sent anywhere and has no outcome."""

    action: Action
    outcome: Outcome | None = None  # None = under way
    rehearsed: bool = False


class Actions(Answer, frozen=True, kw_only=True):
    """Actions, newest first."""

    actions: tuple[Deed, ...] = ()
    left_off: int = 0
    unread: str = ""  # which journal could not be read, and why


class Story(Answer, frozen=True, kw_only=True):
    """One incident whole: events and actions, oldest first, and the incidents that were merged into it."""

    incident: Incident
    events: tuple[Event, ...] = ()
    actions: tuple[Deed, ...] = ()
    merged: tuple[Incident, ...] = ()
    unread: str = ""  # which journal could not be read, and why


class Holds(Answer, frozen=True, kw_only=True):
    """What is kept out of service, oldest first."""

    holds: tuple[Hold, ...] = ()


class PolicyMode(msgspec.Struct, frozen=True, kw_only=True):
    """How far one policy may go, and who said so (`default`, `settings`, or a user's name)."""

    policy: str
    mode: Mode
    said_by: str = "default"
    since: float | None = None


class Modes(Answer, frozen=True, kw_only=True):
    """Every policy's mode, sorted by policy. `default` is that of policies nobody spoke of."""

    default: Mode
    policies: tuple[PolicyMode, ...] = ()


class ModeChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of `PUT /v1/modes/<policy>`."""

    mode: Mode


class ModeChanged(Answer, frozen=True, kw_only=True):
    """A change of mode that is done; `text` says what it took (devices handed back, for one)."""

    policy: str
    before: Mode
    after: Mode
    text: str = ""


class Rehearsed(Answer, frozen=True, kw_only=True):
    """What a policy would have done in the last `days` days, newest first. `since` = from when on there are records."""

    policy: str
    days: float
    since: float | None = None
    actions: tuple[Deed, ...] = ()
    left_off: int = 0


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """One port and what is known of its link. `speed` in Gb/s; None = not known. `text` is the worst that a rule says of it."""

    subject: str
    peer: str = ""  # the port at the other end as the topology has it
    neighbour: str = ""  # the port at the other end as the device sees it
    state: str = "unknown"  # up, down, unknown, or conflict: its sources contradict each other
    speed: float | None = None
    width: float | None = None
    fec: str = ""
    rx_power: float | None = None  # mW, of the weakest lane
    ber: float | None = None  # after correction, where a device tells it
    level: Level = Level.UNSURE
    severity: Severity = Severity.INFO
    kinds: tuple[str, ...] = ()  # of the rules that raise it
    text: str = ""


class Links(Answer, frozen=True, kw_only=True):
    """All ports with a link, by subject."""

    links: tuple[Link, ...] = ()


class Diagnosed(Answer, frozen=True, kw_only=True):
    """What is known of one subject, from the hardware up: link, communication library, application (L15).

    `verdicts` are the last words of all rules on it, its parts, its cable and peer, in that order; `causes` the best first; `holds` keep
    it out of service.
    """

    subject: str
    related: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    causes: tuple[Cause, ...] = ()
    readings: tuple[Reading, ...] = ()
    incidents: tuple[Incident, ...] = ()
    holds: tuple[Hold, ...] = ()


_encoder = msgspec.json.Encoder(order="deterministic")


def encode(answer: msgspec.Struct) -> bytes:
    """The JSON of one message; the same message gives the same bytes."""
    return _encoder.encode(answer)
