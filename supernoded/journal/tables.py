"""The tables, the same on SQLite and PostgreSQL. Times are seconds since the Unix epoch, structured values are JSON texts.

`origin` is empty for what this database's own daemons wrote and a node's name for the copy of what a node wrote in its own journal.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, LargeBinary, MetaData, String, Table, false

metadata = MetaData()

_COUNTER = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts by itself only in a column of type INTEGER


def _text(name: str) -> Column[str]:
    return Column(name, String, nullable=False)


def _key(name: str = "id") -> Column[str]:
    return Column(name, String, primary_key=True)


def _count(name: str = "id") -> Column[int]:
    return Column(name, _COUNTER, primary_key=True, autoincrement=True)


def _time(name: str, *, nullable: bool = False) -> Column[float]:
    return Column(name, Double, nullable=nullable)


incidents = Table(
    "incidents",
    metadata,
    _key(),
    *(_text(name) for name in ("origin", "kind", "subject", "scope")),
    _time("opened"),
    _time("closed", nullable=True),
    *(_text(name) for name in ("severity", "text", "members", "merged_into")),
)
Index("incidents_opened", incidents.c.opened)
_standing = incidents.c.closed.is_(None) & (incidents.c.origin == "")
Index(
    "incidents_open",
    incidents.c.scope,
    incidents.c.kind,
    incidents.c.subject,
    unique=True,  # one trouble has one open incident, whoever opens it
    sqlite_where=_standing,
    postgresql_where=_standing,
)

# An intent, and its outcome once `result` is filled in.
actions = Table(
    "actions",
    metadata,
    _key(),
    *(_text(name) for name in ("origin", "incident", "step", "kind", "target", "scope")),
    Column("epoch", BigInteger, nullable=False),
    *(_time(name) for name in ("intended", "issued", "deadline")),
    *(_text(name) for name in ("policy", "reason", "body")),
    Column("result", String),
    Column("outcome", String),
    _time("concluded", nullable=True),
)
Index("actions_incident", actions.c.incident)
Index("actions_intended", actions.c.intended)
Index("actions_open", actions.c.scope, sqlite_where=actions.c.result.is_(None), postgresql_where=actions.c.result.is_(None))

# What would have been done in observe mode.
rehearsals = Table(
    "rehearsals",
    metadata,
    _key(),
    *(_text(name) for name in ("incident", "step", "kind", "target", "scope", "policy", "reason", "body")),
    _time("at"),
)
Index("rehearsals_at", rehearsals.c.at)

events = Table(
    "events",
    metadata,
    _key(),
    *(_text(name) for name in ("origin", "kind", "subject", "scope", "text", "severity", "incident")),
    Column("raised", Boolean, nullable=False),
    _time("at"),
)
Index("events_at", events.c.at)

# `value` is a number, or `words` the JSON of a text or of sorted flags.
readings = Table(
    "readings",
    metadata,
    _count(),
    *(_text(name) for name in ("subject", "quantity", "unit", "state", "note")),
    Column("value", Double),
    Column("words", String),
    _time("at"),
    Column("source", String, nullable=False, server_default=""),
)
Index("readings_subject", readings.c.subject, readings.c.quantity, readings.c.at)

memories = Table("memories", metadata, _key("scope"), _key("rule"), Column("memory", LargeBinary, nullable=False), _time("at"))

holds = Table(
    "holds",
    metadata,
    _key(),
    *(_text(name) for name in ("subject", "serial", "reason", "owner")),
    _time("placed"),
    _time("expires", nullable=True),
    _time("lifted", nullable=True),
    _text("lifted_by"),
    *(Column(name, String, nullable=False, server_default="") for name in ("cause", "node")),
    Column("told", Boolean, nullable=False, server_default=false()),  # this node has placed or lifted it, and so tells it to the others
)

# The highest number of signed commands by sender: our own row is the last that we have used, the others' what we have taken.
counters = Table("counters", metadata, _key("sender"), Column("number", BigInteger, nullable=False))

# What a person has to reset, such as a breaker that has tripped: `name` is it, `text` says why it is so.
latches = Table("latches", metadata, _key("name"), _text("text"), _time("since"))

modes = Table("modes", metadata, _key("policy"), _text("mode"), _text("set_by"), _time("at"))

# Who asked what of the daemon over its admin socket.
requests = Table(
    "requests",
    metadata,
    _count(),
    _time("at"),
    Column("uid", BigInteger, nullable=False),
    Column("pid", BigInteger, nullable=False),
    *(_text(name) for name in ("verb", "detail", "answer")),
)
Index("requests_at", requests.c.at)

# A loop's engagements, hand-overs and summaries.
engagements = Table("engagements", metadata, _count(), *(_text(name) for name in ("loop", "scope", "what", "text")), _time("at"))
Index("engagements_at", engagements.c.at)

outbox = Table(
    "outbox",
    metadata,
    _count("number"),
    Column("id", String, nullable=False, unique=True),
    _text("topic"),
    Column("payload", LargeBinary, nullable=False),
    _time("at"),
    Column("retain", Boolean, nullable=False),
    Column("expiry", Integer, nullable=False),
    Column("critical", Boolean, nullable=False),
)

leases = Table("leases", metadata, _key("role"), _text("holder"), Column("epoch", BigInteger, nullable=False), _time("until"))
