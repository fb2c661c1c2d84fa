"""The states of a card: the whole table, and no way back without a passed test."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from supernoded.card_state import CardFacts, CardState, find_card_state, may_be_released

THREE = {"present", "fenced"}  # what nobody here may be able to say
NAMES = [field.name for field in msgspec.structs.fields(CardFacts)]
EVERY = [
    msgspec.convert(dict(zip(NAMES, bits, strict=True)), CardFacts)
    for bits in product(*[(False, None, True) if name in THREE else (False, True) for name in NAMES])
]
OUT = {CardState.ISOLATING, CardState.ISOLATED, CardState.PROBATION}


def test_every_word_is_used() -> None:
    assert {find_card_state(facts) for facts in EVERY} == set(CardState)


def test_the_rows() -> None:
    for facts in EVERY:
        state = find_card_state(facts)
        assert (state is CardState.ABSENT) is (facts.present is False)
        assert state is CardState.ABSENT or (state is CardState.TESTING) is facts.testing
        if state in {CardState.ABSENT, CardState.TESTING}:
            continue
        assert (state in OUT) is (facts.held or facts.fenced is True)
        assert (state is CardState.ISOLATING) is (facts.held and not facts.fenced)
        assert state is not CardState.PROBATION or (facts.passed and not facts.suspect)
        assert state is not CardState.SUSPECT or facts.suspect
        assert state in OUT | {CardState.SUSPECT} or not facts.suspect
        assert (state is CardState.SPARE) <= (facts.spare and not facts.works and facts.answers)


def test_what_may_be_released() -> None:
    for facts in EVERY:
        if may_be_released(facts):
            assert facts.present is not False
            assert facts.held
            assert not facts.testing
            assert (facts.passed and facts.served and not facts.suspect) or (facts.withdrawn and not facts.fenced)


@dataclass
class Slot:
    """A slot, what is in it, and what was done about it."""

    serial: int = 0
    tested: int = -1  # the serial that has passed a test since it was taken out
    facts: CardFacts = field(default_factory=CardFacts)

    def happen(self, event: str) -> None:
        """One thing happens."""
        self.tested = {"pass": self.serial if self.facts.testing else self.tested, "hold": self.tested if self.facts.held else -1}.get(
            event, self.tested
        )
        self.serial += event == "swap"
        out = self.facts.held and self.facts.fenced is True
        changes: dict[str, dict[str, bool]] = {
            "hold": {"held": True, "fenced": out},
            "fence": {"fenced": self.facts.held},
            "test": {"testing": out, "served": False},
            "pass": {"testing": False},
            "fail": {"testing": False},
            "ill": {"suspect": True},
            "well": {"suspect": False},
            "vanish": {"present": False},
            "return": {"present": True},
            "wait": {"served": True},
        }
        self.facts = msgspec.structs.replace(self.facts, **changes.get(event, {}))
        self.facts = msgspec.structs.replace(self.facts, passed=self.tested == self.serial)


EVENTS = st.lists(st.sampled_from(["hold", "fence", "test", "pass", "fail", "swap", "ill", "well", "vanish", "return", "wait", "release"]))


@given(EVENTS)
def test_no_way_from_isolated_to_service_without_a_test_of_the_card_that_is_there(events: list[str]) -> None:
    """Its hold is lifted whenever that is allowed, after whatever happens to the card."""
    slot = Slot()
    for event in events:
        slot.happen(event)
        if event == "release" and may_be_released(slot.facts):
            assert slot.tested == slot.serial
            assert slot.facts.present
            assert not slot.facts.suspect
            slot.facts = msgspec.structs.replace(slot.facts, held=False)
        if slot.facts.held:
            assert find_card_state(slot.facts) not in {CardState.IN_SERVICE, CardState.SPARE, CardState.SUSPECT}
