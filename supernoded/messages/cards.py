"""What is asked and answered about cards, and what is held."""

from __future__ import annotations

from typing import Annotated

import msgspec

from supernoded.messages.answers import Answer
from supernoded.messages.filters import Filter

LONGEST_HOLD = 366 * 86_400.0  # s that a hold by hand may be given; without a time it stands until it is lifted (ours)

Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]


class HoldFilter(Filter, frozen=True, kw_only=True):
    """Holds that stand, or with `all` those too that were lifted or have expired within 30 days."""

    all: bool = False


class LiftAsk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a lifting by hand."""

    reason: Reason


class CardFilter(Filter, frozen=True, kw_only=True):
    """All cards; of `subject`, a card or node, its own daemon is asked for the ranks that run there, as not every node is told."""

    subject: str = ""


class CardRow(msgspec.Struct, frozen=True, kw_only=True):
    """One card. `state` is in service, suspect, isolating, isolated, testing, probation, spare, absent or unknown; `text` says why."""

    subject: str
    serial: str = ""
    state: str
    text: str = ""
    ranks: tuple[str, ...] = ()  # that run on it, as subjects
    temperature: float | None = None  # C
    health: tuple[str, ...] = ()  # its flags
    holds: tuple[str, ...] = ()  # ids of those that stand on it or on its node


class Cards(Answer, frozen=True, kw_only=True):
    """Every card that this daemon knows; those of other nodes from what is told."""

    cards: tuple[CardRow, ...] = ()


class IsolateAsk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of an isolation by hand. Without `fence` the card is held, and nothing takes it away yet."""

    reason: Reason
    expires_s: Annotated[float, msgspec.Meta(gt=0, le=LONGEST_HOLD)] | None = None  # None = until it is lifted
    fence: bool = True


class ReleaseAsk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a release by hand."""

    reason: Reason


class TestAsk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a test by hand."""

    reason: str = ""


class TestFilter(Filter, frozen=True, kw_only=True):
    """Which test of a card."""

    test: str


class CardDone(Answer, frozen=True, kw_only=True):
    """What is now true of a card, a sentence each, and what was not done and why."""

    subject: str
    hold: str = ""  # id of the hold that was placed
    done: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()


class CardTested(Answer, frozen=True, kw_only=True):
    """How a test stands; `passed` is None while it runs."""

    subject: str
    test: str  # its id
    passed: bool | None = None
    text: str = ""
    test_s: float  # how long it takes, or may take
