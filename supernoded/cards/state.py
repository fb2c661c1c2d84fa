"""What a card is to people, in one word: worked out anew from what is known each time, so that no record of it can be out of date. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum

import msgspec

from supernoded.model import Hold, Incident, Reading, State

SUSPECTING = frozenset({"card.silent", "card.faulty", "card.suspect"})  # kinds of incidents that speak against a card
ANSWERS = frozenset({"card.temperature", "card.power", "card.health", "card.present"})  # of a card that is there, one is always good


class CardState(Enum):
    """Where a card stands."""

    IN_SERVICE = "in service"
    SUSPECT = "suspect"  # an incident speaks against it, and nothing is done yet
    ISOLATING = "isolating"  # held, and not known to be fenced
    ISOLATED = "isolated"
    TESTING = "testing"
    SPARE = "spare"
    ABSENT = "absent"  # it was on the bus and is not (safety rule 30)
    UNKNOWN = "unknown"  # it is not heard of


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one card. `fenced` and `testing` None = only its own node knows."""

    holds: tuple[Hold, ...] = ()  # that stand, its node's too
    fenced: bool | None = False
    testing: bool = False
    present: bool | None = None
    answers: bool = False  # one of its readings is good and fresh
    incidents: tuple[Incident, ...] = ()  # open ones that speak against it
    spare: bool = False
    ranks: tuple[str, ...] = ()
    serial: str = ""  # of the card in the slot, as it is read


def judge_state(facts: Facts) -> tuple[CardState, str]:
    """The word, and a sentence on why."""
    if facts.testing:
        return CardState.TESTING, "it is under test"
    if facts.present is False:
        return CardState.ABSENT, _join("it was on the bus and is not", _say_holds(facts))
    if facts.holds:
        return _judge_held(facts)
    if facts.fenced:
        return CardState.ISOLATED, "nobody holds it any more, and it is not released: `supernodectl card release` does"
    if facts.incidents:
        return CardState.SUSPECT, "; ".join(incident.text for incident in facts.incidents)
    if not facts.answers:
        return CardState.UNKNOWN, "nothing good and fresh is read of it"
    if facts.spare and not facts.ranks:
        return CardState.SPARE, "it is kept for replacing another"
    return CardState.IN_SERVICE, f"{', '.join(facts.ranks)} runs on it" if facts.ranks else ""


def _judge_held(facts: Facts) -> tuple[CardState, str]:
    exchanged = next((hold for hold in facts.holds if hold.serial and facts.serial and hold.serial != facts.serial), None)
    other = "" if exchanged is None else f"{exchanged.serial} was held, and {facts.serial} is in the slot now: test it before its release"
    if facts.fenced:
        return CardState.ISOLATED, _join(_say_holds(facts), other)
    still = f"{', '.join(facts.ranks)} still runs on it" if facts.ranks else ""
    fence = "whether it is fenced its own node knows" if facts.fenced is None else "it is not fenced"
    return CardState.ISOLATING, _join(_say_holds(facts), still or fence, other)


def _say_holds(facts: Facts) -> str:
    return "; ".join(f"{hold.owner} holds {'it' if '/' in hold.subject else hold.subject}: {hold.reason}" for hold in facts.holds)


def _join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def gather_facts(
    card: str,
    readings: Sequence[Reading],
    *,
    holds: tuple[Hold, ...],
    incidents: Sequence[Incident],
    spares: Collection[str],
    ranks: Mapping[str, tuple[str, ...]],
    testing: bool = False,
    fenced: bool | None = None,
) -> Facts:
    """The facts of a card. `readings` are the newest of that card, `ranks` = card -> who runs on it; `fenced` None = as it is read."""
    good = [reading for reading in readings if reading.state is State.GOOD]
    present = [reading.value != 0.0 for reading in good if reading.quantity == "card.present"]
    told = [reading.value != 0.0 for reading in good if reading.quantity == "card.isolated"]
    serials = [reading.value for reading in good if reading.quantity == "card.serial" and isinstance(reading.value, str)]
    return Facts(
        holds=holds,
        fenced=fenced if fenced is not None else any(told) if told else None,
        testing=testing,
        present=all(present) if present else None,
        answers=any(reading.quantity in ANSWERS for reading in good),
        incidents=tuple(one for one in incidents if one.kind in SUSPECTING and card in (one.subject, *one.members)),
        spare=card in spares,
        ranks=ranks.get(card, ()),
        serial=serials[0] if serials else "",
    )
