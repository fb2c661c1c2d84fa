"""Where a card stands on its way out of service and back: out of its holds, what speaks against it, and what was done. Pure.

    in service -> suspect -> isolating -> isolated -> testing -> probation -> spare -> in service

Whatever vanishes is absent, which is not healthy (safety rule 30). Nobody passes from isolated to spare without a test that he passed
with the serial number that is in the slot now.
"""

from __future__ import annotations

from enum import Enum

import msgspec


class CardState(Enum):
    """The words that people are shown."""

    IN_SERVICE = "in service"
    SUSPECT = "suspect"
    ISOLATING = "isolating"
    ISOLATED = "isolated"
    TESTING = "testing"
    PROBATION = "probation"
    SPARE = "spare"
    ABSENT = "absent"


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a card."""

    present: bool = True  # its tool has an answer from it
    suspect: bool = False  # something speaks against it now
    held: bool = False  # a hold stands on it or on its node
    ours: bool = True  # all of its holds are this policy's: what a person holds is not tested by us
    fenced: bool = False  # it was seen fenced, or that was tried for the last time
    withdrawn: bool = False  # the cause of its trouble has turned out to lie elsewhere
    testing: bool = False  # a test of it is under way
    passed: bool = False  # it has passed one since it was taken out, with the serial number that is in the slot now
    served: bool = False  # its probation is over
    works: bool = False  # a rank runs on it


def find_state(facts: Facts) -> CardState:
    """The state, by the first row that fits."""
    if not facts.present:
        return CardState.ABSENT
    if not facts.held:
        return CardState.SUSPECT if facts.suspect else CardState.IN_SERVICE if facts.works else CardState.SPARE
    if not facts.fenced:
        return CardState.ISOLATING
    if facts.testing:
        return CardState.TESTING
    return CardState.PROBATION if facts.passed and not facts.suspect else CardState.ISOLATED


def may_be_released(facts: Facts) -> bool:
    """Whether our hold may be lifted: after a passed test and its probation; or before it was fenced, when the cause lies elsewhere."""
    state = find_state(facts)
    return (state is CardState.PROBATION and facts.served) or (state is CardState.ISOLATING and facts.withdrawn)
