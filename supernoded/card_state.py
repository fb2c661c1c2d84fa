"""Where a card stands on its way out of service and back, in one word: the one machine that policies and people see. Pure.

    in service -> suspect -> isolating -> isolated -> testing -> probation -> spare -> in service

It is worked out anew from what is known each time, so that no record of it can be out of date. Whatever vanishes is absent, which is not
healthy (safety rule 30). Nobody passes from isolated to spare without a test that he passed with the serial number that is in the slot now.
"""

from __future__ import annotations

from enum import Enum

import msgspec


class CardState(Enum):
    """The words that people are shown."""

    IN_SERVICE = "in service"
    SUSPECT = "suspect"  # something speaks against it, and nothing is done yet
    ISOLATING = "isolating"  # held, and not known to be fenced
    ISOLATED = "isolated"
    TESTING = "testing"
    PROBATION = "probation"  # it has passed a test since it was fenced, and its hold stands still
    SPARE = "spare"
    ABSENT = "absent"  # it was there and is not (safety rule 30)
    UNKNOWN = "unknown"  # it is not heard of


class CardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a card; None = nobody here can say."""

    present: bool | None = True  # False = it was there and is not
    answers: bool = True  # it is heard of
    suspect: bool = False  # something speaks against it now, beside what it was taken out for
    held: bool = False  # a hold stands on it or on its node
    ours: bool = True  # all of its holds are this policy's: what a person holds is not tested by us
    fenced: bool | None = False  # it was seen fenced, or that was tried for the last time
    withdrawn: bool = False  # the cause of its trouble has turned out to lie elsewhere
    testing: bool = False  # a test of it is under way
    passed: bool = False  # it has passed one since it was taken out, with the serial number that is in the slot now
    served: bool = False  # its probation is over
    works: bool = False  # a rank runs on it
    spare: bool = False  # it is kept for replacing another


def find_card_state(facts: CardFacts) -> CardState:
    """The state, by the first row that fits."""
    if facts.present is False:
        return CardState.ABSENT
    if facts.testing:
        return CardState.TESTING
    if facts.held and not facts.fenced:
        return CardState.ISOLATING
    if facts.held and facts.passed and not facts.suspect:
        return CardState.PROBATION
    if facts.held or facts.fenced:  # what nobody holds any more, and what is not given back yet
        return CardState.ISOLATED
    if facts.suspect:
        return CardState.SUSPECT
    if not facts.answers:
        return CardState.UNKNOWN
    return CardState.SPARE if facts.spare and not facts.works else CardState.IN_SERVICE


def may_be_released(facts: CardFacts) -> bool:
    """Whether our hold may be lifted: after a passed test and its probation; or before it was fenced, when the cause lies elsewhere."""
    state = find_card_state(facts)
    return (state is CardState.PROBATION and facts.served) or (state is CardState.ISOLATING and facts.withdrawn)
