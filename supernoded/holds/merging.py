"""What several copies of one hold say together, and what can be none. Pure."""

from __future__ import annotations

import math
import re

import msgspec

from supernoded.errors import SupernodedError
from supernoded.journal.rows import clean
from supernoded.model import Hold

KEPT = 30 * 86_400.0  # seconds for which one that is over is remembered: no older copy revives it meanwhile (ours)
MOST_NAME, MOST_TEXT = 200, 2_000  # characters: a message has room for them (ours)
LATEST = 1e11  # seconds; the year 5138: what claims to be later is garbage

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class HoldError(SupernodedError):
    """What was said can be no hold, or finds no room."""


def merge(mine: Hold, told: Hold) -> Hold:
    """What two copies of one hold say together, in whatever order they come.

    Its words are those of the older copy, and once lifted it is lifted: of two liftings the first counts.
    """
    first = min(mine, told, key=_order)
    liftings = [(one.lifted, one.lifted_by) for one in (mine, told) if one.lifted is not None]
    lifted, by = min(liftings) if liftings else (None, "")
    return msgspec.structs.replace(first, lifted=lifted, lifted_by=by)


def _order(hold: Hold) -> tuple[float, float, str, str, str, str, str, str]:
    expires = math.inf if hold.expires is None else hold.expires
    return hold.placed, expires, hold.subject, hold.serial, hold.reason, hold.owner, hold.cause, hold.node


def find_end(hold: Hold) -> float:
    """When it is over, or was; infinity = when somebody lifts it."""
    if hold.lifted is not None:
        return hold.lifted
    return math.inf if hold.expires is None else hold.expires


def find_flaw(hold: Hold) -> str | None:
    """Why something cannot be a hold; None when it can."""
    if _ID.fullmatch(hold.id) is None:
        return f"the id {hold.id[:80]!r} is no name"
    for what in ("subject", "owner"):
        if not getattr(hold, what):
            return f"hold {hold.id} has no {what}"
    for what, most in {"subject": MOST_NAME, "serial": MOST_NAME, "owner": MOST_NAME, "lifted_by": MOST_TEXT, "reason": MOST_TEXT}.items():
        if len(getattr(hold, what)) > most:
            return f"the {what} of hold {hold.id} has {len(getattr(hold, what))} characters, at most {most} are taken"
    for what in ("placed", "expires", "lifted"):
        at = getattr(hold, what)
        if at is not None and not 0.0 <= at <= LATEST:
            return f"hold {hold.id}: {what} at {at:g} is no time"
    return f"the cause or node of hold {hold.id} is too long" if max(len(hold.cause), len(hold.node)) > MOST_NAME else None


def tidy(hold: Hold) -> Hold:
    """With texts as databases and messages take them, so that every copy is the same: a tool may have said anything."""
    texts = {name: text for name in hold.__struct_fields__ if isinstance(text := getattr(hold, name), str) and not text.isprintable()}
    return msgspec.structs.replace(hold, **{name: clean(text) for name, text in texts.items()}) if texts else hold


def is_within(subject: str, held: str) -> bool:
    """Whether what is held takes a subject with it: itself, or what it is a part of."""
    return subject == held or subject.startswith(held + "/")
