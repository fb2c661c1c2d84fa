"""The word for a card, over everything that can be known of it."""

from __future__ import annotations

from itertools import product

import pytest

from supernoded.cards.state import CardState, Facts, gather_facts, judge_state
from supernoded.model import Incident, Severity
from tests.unit.cards.rooms import make_hold, read

INCIDENT = Incident(
    id="i1", kind="card.silent", subject="n0/card3", scope="spares", opened=0.0, severity=Severity.WARNING, text="rank 3 is silent"
)
HELD = (make_hold(),)

# Every combination: held, fenced, testing, present, answers, suspected, spare, with a rank.
ALL = list(product([False, True], [None, False, True], [False, True], [None, False, True], *[[False, True]] * 4))


def make_facts(combination: tuple[bool | None, ...]) -> Facts:
    held, fenced, testing, present, answers, suspected, spare, ranked = combination
    return Facts(
        holds=HELD if held else (),
        fenced=fenced,
        testing=bool(testing),
        present=present,
        answers=bool(answers),
        incidents=(INCIDENT,) if suspected else (),
        spare=bool(spare),
        ranks=("job/train/rank3",) if ranked else (),
    )


@pytest.mark.parametrize("combination", ALL)
def test_what_must_hold_in_every_case(combination: tuple[bool | None, ...]) -> None:
    facts = make_facts(combination)
    state, text = judge_state(facts)
    assert (state is CardState.TESTING) is facts.testing
    if facts.testing:
        return
    assert (state is CardState.ABSENT) is (facts.present is False)
    if facts.present is False:
        return
    out = state in {CardState.ISOLATING, CardState.ISOLATED}
    assert out is bool(facts.holds or facts.fenced)
    assert (state is CardState.ISOLATED) is (facts.fenced is True)
    if not out:
        assert (state is CardState.SUSPECT) is bool(facts.incidents)
    if state in {CardState.IN_SERVICE, CardState.SPARE}:
        assert facts.answers
        assert (state is CardState.SPARE) is (facts.spare and not facts.ranks)
    else:
        assert text  # whatever is not well says why


def test_it_says_who_holds_it_and_what_is_still_to_be_done() -> None:
    held = Facts(holds=HELD, fenced=False, ranks=("job/train/rank3",))
    assert judge_state(held) == (CardState.ISOLATING, "supernoded_isolation holds it: no beat; job/train/rank3 still runs on it")
    far = Facts(holds=(make_hold(subject="n0", owner="operator alice"),), fenced=None)
    assert judge_state(far)[1] == "operator alice holds n0: no beat; whether it is fenced its own node knows"
    assert "card release" in judge_state(Facts(fenced=True))[1]


def test_another_card_in_the_slot_of_a_held_one_is_named() -> None:
    _, text = judge_state(Facts(holds=HELD, fenced=True, serial="SN9"))
    assert text.endswith("SN3 was held, and SN9 is in the slot now: test it before its release")


def test_facts_come_from_good_readings_only() -> None:
    readings = [read("card.present", 1.0), read("card.temperature", None), read("card.isolated", 1.0), read("card.serial", "SN9")]
    facts = gather_facts("n0/card3", readings, holds=(), incidents=[INCIDENT], spares=["n0/card3"], ranks={"n0/card3": ("r",)})
    assert facts == Facts(fenced=True, present=True, answers=True, incidents=(INCIDENT,), spare=True, ranks=("r",), serial="SN9")
    nothing = gather_facts("n0/card3", [read("card.health", None)], holds=(), incidents=[], spares=[], ranks={})
    assert nothing == Facts(fenced=None)
    assert judge_state(nothing)[0] is CardState.UNKNOWN
