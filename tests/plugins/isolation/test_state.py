"""The states of a card: the whole table, and no way back without a passed test."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from supernoded_isolation.state import CardState, Facts, find_state, may_be_released

NAMES = [field.name for field in msgspec.structs.fields(Facts)]
EVERY = [Facts(**dict(zip(NAMES, bits, strict=True))) for bits in product((False, True), repeat=len(NAMES))]


def test_every_combination_has_the_state_of_the_first_row_that_fits() -> None:
    counts = dict.fromkeys(CardState, 0)
    for facts in EVERY:
        counts[find_state(facts)] += 1
    half = len(EVERY) // 2
    assert counts[CardState.ABSENT] == half
    assert counts[CardState.ISOLATING] == half // 4
    assert sum(counts.values()) == len(EVERY)
    assert all(counts.values())


def test_the_rows() -> None:
    out = {CardState.ISOLATING, CardState.ISOLATED, CardState.TESTING, CardState.PROBATION}
    for facts in EVERY:
        state = find_state(facts)
        assert (state is CardState.ABSENT) is not facts.present
        assert not facts.present or (state in out) is facts.held
        assert state is not CardState.PROBATION or (facts.passed and not facts.suspect)
        if may_be_released(facts):
            assert facts.present
            assert (facts.passed and facts.served and not facts.suspect and not facts.testing) or (facts.withdrawn and not facts.fenced)


@dataclass
class Slot:
    """A slot, what is in it, and what was done about it."""

    serial: int = 0
    tested: int = -1  # the serial that has passed a test since it was taken out
    facts: Facts = field(default_factory=Facts)

    def happen(self, event: str) -> None:
        """One thing happens."""
        self.tested = {"pass": self.serial if self.facts.testing else self.tested, "hold": self.tested if self.facts.held else -1}.get(
            event, self.tested
        )
        self.serial += event == "swap"
        out = self.facts.held and self.facts.fenced
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
            assert find_state(slot.facts) not in {CardState.IN_SERVICE, CardState.SPARE, CardState.SUSPECT}
