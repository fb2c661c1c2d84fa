"""The word for a card, over everything that can be known of it."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest

from supernoded.card_state import CardState
from supernoded.cards.showing import SUSPECTING, Known, gather, judge_state
from supernoded.model import Incident, Severity
from tests.unit.cards.rooms import make_hold, read

INCIDENT = Incident(
    id="i1", kind="card.silent", subject="n0/card3", scope="spares", opened=0.0, severity=Severity.WARNING, text="rank 3 is silent"
)
HELD = (make_hold(),)

# Every combination: held, fenced, testing, present, answers, suspected, spare, with a rank.
ALL = list(product([False, True], [None, False, True], [False, True], [None, False, True], *[[False, True]] * 4))


def make_known(combination: tuple[bool | None, ...]) -> Known:
    held, fenced, testing, present, answers, suspected, spare, ranked = combination
    return Known(
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
    known = make_known(combination)
    state, text = judge_state(known)
    assert (state is CardState.ABSENT) is (known.present is False)
    if known.present is False:
        return
    assert (state is CardState.TESTING) is known.testing
    if known.testing:
        return
    out = state in {CardState.ISOLATING, CardState.ISOLATED}
    assert out is bool(known.holds or known.fenced)
    assert (state is CardState.ISOLATED) is (known.fenced is True)
    if not out:
        assert (state is CardState.SUSPECT) is bool(known.incidents)
    if state in {CardState.IN_SERVICE, CardState.SPARE}:
        assert known.answers
        assert (state is CardState.SPARE) is (known.spare and not known.ranks)
    else:
        assert text  # whatever is not well says why


def test_it_says_who_holds_it_and_what_is_still_to_be_done() -> None:
    held = Known(holds=HELD, fenced=False, ranks=("job/train/rank3",))
    assert judge_state(held) == (CardState.ISOLATING, "supernoded_isolation holds it: no beat; job/train/rank3 still runs on it")
    far = Known(holds=(make_hold(subject="n0", owner="operator alice"),), fenced=None)
    assert judge_state(far)[1] == "operator alice holds n0: no beat; whether it is fenced its own node knows"
    assert "card release" in judge_state(Known(fenced=True))[1]


def test_another_card_in_the_slot_of_a_held_one_is_named() -> None:
    _, text = judge_state(Known(holds=HELD, fenced=True, serial="SN9"))
    assert text.endswith("SN3 was held, and SN9 is in the slot now: test it before its release")


def test_what_is_known_comes_from_good_readings_only() -> None:
    readings = [read("card.present", 1.0), read("card.temperature", None), read("card.isolated", 1.0), read("card.serial", "SN9")]
    known = gather("n0/card3", readings, holds=(), incidents=[INCIDENT], spares=["n0/card3"], ranks={"n0/card3": ("r",)})
    assert known == Known(fenced=True, present=True, answers=True, incidents=(INCIDENT,), spare=True, ranks=("r",), serial="SN9")
    nothing = gather("n0/card3", [read("card.health", None)], holds=(), incidents=[], spares=[], ranks={})
    assert nothing == Known(fenced=None)
    assert judge_state(nothing)[0] is CardState.UNKNOWN


@pytest.mark.parametrize("kind", sorted(SUSPECTING))
def test_what_speaks_against_a_card_makes_it_suspect(kind: str) -> None:
    incident = msgspec.structs.replace(INCIDENT, kind=kind)
    known = gather("n0/card3", [read("card.temperature", 50.0)], holds=(), incidents=[incident], spares=[], ranks={})
    assert judge_state(known) == (CardState.SUSPECT, "rank 3 is silent")


@pytest.mark.parametrize("kind", ["card.slow", "card.software", "card.throttled"])
def test_what_is_not_the_cards_own_does_not(kind: str) -> None:
    incident = msgspec.structs.replace(INCIDENT, kind=kind)
    known = gather("n0/card3", [read("card.temperature", 50.0)], holds=(), incidents=[incident], spares=[], ranks={})
    assert judge_state(known)[0] is CardState.IN_SERVICE


def test_a_card_that_has_passed_since_it_was_fenced_is_on_probation_until_something_speaks_against_it() -> None:
    """That the incident for which it was taken out is open still does not."""
    told = [read("card.isolated", 1.0), read("card.proven", 1.0), read("card.present", 1.0)]
    known = gather("n0/card3", told, holds=HELD, incidents=[INCIDENT], spares=[], ranks={})
    assert judge_state(known) == (CardState.PROBATION, "it has passed a test since it was fenced; supernoded_isolation holds it: no beat")
    ill = gather("n0/card3", told, holds=HELD, incidents=[msgspec.structs.replace(INCIDENT, kind="card.fault")], spares=[], ranks={})
    assert judge_state(ill)[0] is CardState.ISOLATED
