"""What a card is to people: the word for where it stands, and a sentence on why. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from supernoded.card_state import CardFacts, CardState, find_card_state
from supernoded.model import Hold, Incident, Reading, State

OUT_FOR = frozenset({"card.silent", "card.faulty"})  # kinds of incidents that take a card out, and stay open till it is back
SUSPECTING = OUT_FOR | {"card.fault", "card.lost"}  # those that speak against a card
ANSWERS = frozenset({"card.temperature", "card.power", "card.health", "card.present"})  # of a card that is there, one is always good


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one card. `fenced` None = only its own node knows."""

    holds: tuple[Hold, ...] = ()  # that stand, its node's too
    fenced: bool | None = False
    passed: bool = False  # a test since it was fenced
    testing: bool = False
    present: bool | None = None
    answers: bool = False  # one of its readings is good and fresh
    incidents: tuple[Incident, ...] = ()  # open ones that speak against it
    spare: bool = False
    ranks: tuple[str, ...] = ()
    serial: str = ""  # of the card in the slot, as it is read


def judge_state(known: Known) -> tuple[CardState, str]:
    """The word, and a sentence on why."""
    state = find_card_state(_list_facts(known))
    match state:
        case CardState.TESTING:
            text = "it is under test"
        case CardState.ABSENT:
            text = _join("it was on the bus and is not", _say_holds(known))
        case CardState.ISOLATING | CardState.ISOLATED | CardState.PROBATION:
            text = _say_out(known, state)
        case CardState.SUSPECT:
            text = "; ".join(incident.text for incident in known.incidents)
        case CardState.UNKNOWN:
            text = "nothing good and fresh is read of it"
        case CardState.SPARE:
            text = "it is kept for replacing another"
        case CardState.IN_SERVICE:
            text = f"{', '.join(known.ranks)} runs on it" if known.ranks else ""
    return state, text


def _list_facts(known: Known) -> CardFacts:
    kinds = {incident.kind for incident in known.incidents}
    return CardFacts(
        present=known.present,
        answers=known.answers,
        suspect=bool(kinds - OUT_FOR if known.holds else kinds),
        held=bool(known.holds),
        fenced=known.fenced,
        testing=known.testing,
        passed=known.passed,
        works=bool(known.ranks),
        spare=known.spare,
    )


def _say_out(known: Known, state: CardState) -> str:
    if not known.holds:
        return "nobody holds it any more, and it is not released: `supernodectl card release` does"
    exchanged = next((hold for hold in known.holds if hold.serial and known.serial and hold.serial != known.serial), None)
    other = "" if exchanged is None else f"{exchanged.serial} was held, and {known.serial} is in the slot now: test it before its release"
    if state is CardState.PROBATION:
        return _join("it has passed a test since it was fenced", _say_holds(known))
    if known.fenced:
        return _join(_say_holds(known), other)
    still = f"{', '.join(known.ranks)} still runs on it" if known.ranks else ""
    fence = "whether it is fenced its own node knows" if known.fenced is None else "it is not fenced"
    return _join(_say_holds(known), still or fence, other)


def _say_holds(known: Known) -> str:
    return "; ".join(f"{hold.owner} holds {'it' if '/' in hold.subject else hold.subject}: {hold.reason}" for hold in known.holds)


def _join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def gather(
    card: str,
    readings: Sequence[Reading],
    *,
    holds: tuple[Hold, ...],
    incidents: Sequence[Incident],
    spares: Collection[str],
    ranks: Mapping[str, tuple[str, ...]],
    testing: bool = False,
    fenced: bool | None = None,
) -> Known:
    """What is known of a card. `readings` are the newest of that card, `ranks` = card -> who runs on it; `fenced` None = as it is read."""
    good = [reading for reading in readings if reading.state is State.GOOD]
    told = _find_flag(good, "card.isolated")
    serials = [reading.value for reading in good if reading.quantity == "card.serial" and isinstance(reading.value, str)]
    present = [reading.value != 0.0 for reading in good if reading.quantity == "card.present"]
    return Known(
        holds=holds,
        fenced=fenced if fenced is not None else told,
        passed=bool(_find_flag(good, "card.proven")),
        testing=testing,
        present=all(present) if present else None,
        answers=any(reading.quantity in ANSWERS for reading in good),
        incidents=tuple(one for one in incidents if one.kind in SUSPECTING and card in (one.subject, *one.members)),
        spare=card in spares,
        ranks=ranks.get(card, ()),
        serial=serials[0] if serials else "",
    )


def _find_flag(good: Sequence[Reading], quantity: str) -> bool | None:
    """Whether any says yes; None = none says anything."""
    told = [reading.value != 0.0 for reading in good if reading.quantity == quantity]
    return any(told) if told else None
