"""Whatever comes between, in any order: nothing is done that must never be, and in the end nothing of it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.plugin import Hold, Result, Step
from tests.plugins.isolation.saga.theatre import CARD, Theatre, alive, silent
from tests.plugins.isolation.site import CARDS, SETTINGS, SPARES

BY_HAND = "operator alice"
WORST: Final = {"card.hold": Result.REFUSED, "card.isolate": Result.REFUSED}  # of orders that whoever should do them refuses


def lift(play: Theatre) -> None:
    play.holds = [msgspec.structs.replace(one, lifted=play.site.now) for one in play.holds]


def take(play: Theatre, card: str) -> None:
    play.holds.append(Hold(id=f"hand{len(play.holds)}", subject=card, serial="", reason="x", owner=BY_HAND, placed=play.site.now))


def recover(play: Theatre) -> None:
    """The card answers, and whoever looks after the job has it step again."""
    play.site.hung.clear()
    play.site.codes.clear()
    play.site.states, play.site.behind, play.stands, play.still_raised = {}, set(), False, False


def fail(play: Theatre) -> None:
    """Again, as long as its rank is there."""
    play.site.hung.add(CARD)
    play.still_raised = True
    if play.site.places.get(2) == CARD and not play.stands:
        play.site.silence(2)


def exchange(play: Theatre) -> None:
    play.site.more[CARD, "card.serial"] = f"S-new{len(play.done)}"


EVENTS: Mapping[str, Callable[[Theatre], object]] = {
    "lift": lift,
    "hold the card": lambda play: take(play, CARD),
    "hold a spare": lambda play: take(play, SPARES[0]),
    "recover": recover,
    "fail": fail,
    "exchange": exchange,
    "wait": lambda play: play.site.pass_time(60.0),
    "spare hangs": lambda play: play.site.hung.add(SPARES[1]),
}
turns = st.tuples(st.sampled_from([*EVENTS, *[""] * 6]), st.sampled_from([*[Result.DONE] * 4, Result.UNCONFIRMED, Result.REFUSED]))


def end_well(play: Theatre) -> None:
    """People put right what they have held, and start the job without the card that is out."""
    play.holds = [one for one in play.holds if one.owner != BY_HAND]
    recover(play)
    if play.site.places.get(2) == CARD and {one.subject for one in play.world.holds} & {CARD}:
        play.site.places[2] = CARDS[7] if CARDS[7] not in {one.subject for one in play.world.holds} else "n9/card0"
    for _ in range(3):
        play.site.pass_time()
    play.plan = lambda _: Result.DONE


@given(st.sampled_from([silent, alive]), st.lists(turns, max_size=12))
@settings(max_examples=25, deadline=None)
def test_any_course(begin: Callable[..., Theatre], course: list[tuple[str, Result]]) -> None:
    play = begin(settings=msgspec.structs.replace(SETTINGS, retest_s=300.0))  # within the turns below
    for event, result in course:
        if event:
            EVENTS[event](play)
            play.site.pass_time()

        def perform(step: Step, result: Result = result) -> Result:
            return result if step.kind != "notify" else Result.DONE

        play.plan = perform
        play.turn()
    end_well(play)
    play.run(140)
    out = {one.subject for one in play.world.holds}
    assert not out or any("person" in told or "by hand" in told for told in play.told), (out, play.told)
    assert not play.stands or any("person" in told for told in play.told)
