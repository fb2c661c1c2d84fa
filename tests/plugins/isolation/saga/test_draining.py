"""With `drain` the scheduler puts nothing new on a node while a card of it is isolated; and it is put back with the card."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from supernoded.plugin import Hold, Result
from supernoded_isolation.saga.draining import MOST_DRAINS
from tests.plugins.isolation.saga.theatre import CARD, Theatre, alive, but, silent
from tests.plugins.isolation.site import SETTINGS, Site

DRAINS = msgspec.structs.replace(SETTINGS, drain=True)


def unused(**more: object) -> Theatre:
    """A card with a grave code on which nothing runs."""
    site = Site(codes={CARD: frozenset({"8C03A000"})})
    del site.places[2]
    return Theatre("card.faulty", CARD, site=site, **more)  # type: ignore[arg-type]


def list_drains(play: Theatre) -> list[tuple[str, str]]:
    return [(step.kind, step.target) for step in play.log if step.kind.startswith("node.")]


def mend(play: Theatre) -> None:
    """Its card is well again, passes, and is let go."""
    play.site.hung.clear()
    play.site.codes.clear()
    play.still_raised = False
    play.run(20)
    play.site.pass_time(SETTINGS.probation_s + 60.0)
    play.site.pass_time()
    play.run(40)


@pytest.mark.parametrize("begin", [silent, alive, unused])
def test_its_node_is_drained_once_it_is_fenced_and_put_back_with_it(begin: Callable[..., Theatre]) -> None:
    play = begin(settings=DRAINS)
    play.run()
    assert list_drains(play) == [("node.drain", "n0")]
    assert play.kinds.index("card.isolate") < play.kinds.index("node.drain")
    assert play.remedy.keeps_open(play.case(), play.world)
    mend(play)
    assert not play.world.holds
    assert list_drains(play) == [("node.drain", "n0"), ("node.release", "n0")]
    assert not play.remedy.keeps_open(play.case(), play.world)


def test_as_delivered_no_scheduler_is_asked() -> None:
    play = silent()
    play.run()
    mend(play)
    assert list_drains(play) == []


def test_what_was_drained_is_put_back_though_the_settings_have_changed() -> None:
    play = unused(settings=DRAINS)
    play.run()
    play.settings = SETTINGS
    play.__post_init__()
    mend(play)
    assert list_drains(play)[-1] == ("node.release", "n0")


def test_a_drain_that_is_refused_holds_nothing_up_and_people_are_told() -> None:
    play = silent(settings=DRAINS, plan=but(node_drain=Result.REFUSED))
    play.run(60)
    assert "job.resume" in play.kinds
    assert list_drains(play) == [("node.drain", "n0")] * MOST_DRAINS
    assert any("node.drain on n0 came to nothing" in told for told in play.told)
    mend(play)
    assert "node.release" not in play.kinds
    assert not play.world.holds


def test_while_a_person_holds_the_card_too_the_node_is_put_back_with_our_own_hold() -> None:
    play = unused(settings=DRAINS)
    play.run()
    play.holds = [msgspec.structs.replace(hold, lifted=play.site.now) for hold in play.holds]
    play.holds.append(Hold(id="h9", subject="n1/card1", serial="", reason="x", owner="operator alice", placed=1.0))
    play.run()
    assert list_drains(play)[-1] == ("node.release", "n0")


def test_a_release_that_fails_is_tried_again() -> None:
    play = unused(settings=DRAINS)
    play.run()
    play.plan = lambda step: Result.UNCONFIRMED if step.kind == "node.release" and len(list_drains(play)) < 3 else Result.DONE
    mend(play)
    assert list_drains(play) == [("node.drain", "n0"), *[("node.release", "n0")] * 3]
    assert not play.remedy.keeps_open(play.case(), play.world)
