"""A site's own fence: harmless when repeated, deaf to what the card says, and a test that finds what is wrong."""

from __future__ import annotations

import pytest

from sim_hardware.devices.tools import Run, ToolState, run_tool
from sim_hardware.plant.cards.orders import FallOff, HangCard, RaiseCode, StormEcc
from sim_hardware.plant.job.orders import StopJob
from sim_hardware.plant.words import Order
from tests.sim.devices.tools.desks import Desk

CARD = "n0/card3"


def run(desk: Desk, *argv: str) -> Run:
    return run_tool("cardctl", argv, desk, "n0", ToolState())


def stop_job(desk: Desk) -> Desk:
    desk.order(StopJob("train"))
    return desk


def test_a_card_is_taken_away_and_given_back_and_twice_is_once() -> None:
    desk = Desk()
    for verb, isolated in (("isolate", 1.0), ("release", 0.0)):
        first, again = run(desk, verb, CARD), run(desk, verb, CARD)
        assert (first.rc, again.rc) == (0, 0)
        assert "already" in again.out
        assert "already" not in first.out
        assert desk.sense(CARD, "card.isolated") == isolated


def test_a_hung_card_is_fenced_like_any_other() -> None:
    desk = Desk()
    desk.order(HangCard(CARD, hung=True))
    assert run(desk, "isolate", CARD).rc == 0
    assert desk.sense(CARD, "card.isolated") == 1.0


def test_a_card_with_a_rank_is_not_tested() -> None:
    desk = Desk()
    busy = run(desk, "test", CARD)
    assert (busy.rc, busy.err) == (75, f"cardctl: {CARD}: rank 3 is on it; stop or move it before a test\n")
    run(desk, "isolate", CARD)
    desk.play(0.5)
    assert run(desk, "test", CARD).out == f"{CARD}: passed\n"


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (HangCard(CARD, hung=True), "it does not answer"),
        (FallOff(CARD, off=True), "it is not on its bus"),
        (RaiseCode(CARD, code="8C084E00", present=True), "it shows 8C084E00"),
        (StormEcc(CARD, corrected_per_s=20.0), "it corrects 20 memory errors a second"),
    ],
)
def test_what_is_wrong_with_a_card_fails_its_test(order: Order, said: str) -> None:
    desk = stop_job(Desk())
    well = run(desk, "test", CARD)
    desk.order(order)
    bad = run(desk, "test", CARD)
    assert (well.rc, bad.rc) == (0, 1)
    assert said in bad.out
    assert bad.seconds == well.seconds >= 1.0


@pytest.mark.parametrize(
    "argv", [(), ("test",), ("reset", CARD), ("test", "n0/card8"), ("isolate", "n1/card0"), ("--help",), ("test", CARD, "x")]
)
def test_what_is_no_question_is_no_order(argv: tuple[str, ...]) -> None:
    assert run(Desk(), *argv).rc == 2
