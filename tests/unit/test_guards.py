from __future__ import annotations

import msgspec
import pytest

from supernoded.guards import Tally, guard_deadline, guard_holds, guard_lease, guard_maintenance, guard_mode
from supernoded.model import Action, Hold, Mode, Step


def action(kind: str = "card.isolate", target: str = "n0/card3", ident: str = "i1/step", issued: float = 100.0) -> Action:
    step = Step(name="step", kind=kind, target=target, reason="because")
    return Action(
        id=ident, step=step, incident="i1", scope="node", epoch=0, issued=issued, deadline=issued + 10, policy="supernoded_isolation"
    )


def test_deadline() -> None:
    assert guard_deadline(action(), 105.0) is None
    assert "2.0 s ago" in (guard_deadline(action(), 112.0) or "")


def test_an_action_from_the_future_of_a_clock_that_was_set_back_is_refused() -> None:
    assert "clock was set back" in (guard_deadline(action(issued=1000.0), 105.0) or "")


@pytest.mark.parametrize(
    ("mode", "kind", "passes"),
    [
        (Mode.OBSERVE, "notify", False),
        (Mode.OBSERVE, "power.shed", False),
        (Mode.ADVISE, "notify", True),
        (Mode.ADVISE, "job.checkpoint", False),
        (Mode.ACT, "card.isolate", True),
    ],
)
def test_mode(mode: Mode, kind: str, passes: bool) -> None:
    refusal = guard_mode(lambda _: mode)(action(kind), 105.0)
    assert (refusal is None) is passes
    if refusal:
        assert "supernodectl mode act --policy" in refusal


def test_lease() -> None:
    assert guard_lease(lambda _: None)(action(), 0) is None
    assert guard_lease(lambda scope: f"{scope} is gone")(action(), 0) == "node is gone"


def hold(subject: str, owner: str = "alice", expires: float | None = None) -> Hold:
    return Hold(id="h", subject=subject, serial="", reason="cable work", owner=owner, placed=1.0, expires=expires)


def test_what_somebody_else_holds_is_left_alone() -> None:
    refusal = guard_holds(lambda: [hold("n0/card3")])(action(), 105.0)
    assert refusal == "n0/card3 is held by alice: cable work"
    assert guard_holds(lambda: [hold("n0")])(action(), 105.0) is not None
    assert guard_holds(lambda: [hold("n0/card30")])(action(), 105.0) is None


def test_a_card_whose_node_is_held_because_it_was_gone_may_be_tested_and_no_more() -> None:
    gone = msgspec.structs.replace(hold("n0", owner="fleet"), cause="gone")
    assert guard_holds(lambda: [gone])(action("card.test"), 105.0) is None
    assert guard_holds(lambda: [gone])(action("card.isolate"), 105.0) is not None
    assert guard_holds(lambda: [hold("n0")])(action("card.test"), 105.0) is not None


def test_an_expired_hold_our_own_hold_and_protection_pass() -> None:
    assert guard_holds(lambda: [hold("n0", expires=104.0)])(action(), 105.0) is None
    assert guard_holds(lambda: [hold("n0", owner="supernoded_isolation")])(action(), 105.0) is None
    assert guard_holds(lambda: [hold("n0")])(action("power.cap"), 105.0) is None


def test_attempts_on_one_subject_are_bounded_and_a_resend_is_no_attempt() -> None:
    tally = Tally(per_minute=100, attempts=2)
    for ident in ("a", "a", "b"):
        assert tally.guard(action(ident=ident), 100.0) is None
        tally.count(action(ident=ident), 100.0)
    refusal = tally.guard(action(ident="c"), 101.0)
    assert refusal is not None
    assert "tried 2 times on n0/card3" in refusal
    assert tally.guard(action(ident="c", target="n0/card4"), 101.0) is None
    assert tally.guard(action(ident="c"), 100.0 + 3601) is None


def test_what_came_to_nothing_before_anything_was_done_is_no_attempt() -> None:
    tally = Tally(per_minute=1, attempts=1)
    tally.count(action(ident="a"), 100.0)
    tally.withdraw(action(ident="b"))
    assert tally.guard(action(ident="c"), 101.0) is not None
    tally.withdraw(action(ident="a"))
    assert tally.guard(action(ident="c"), 101.0) is None


def test_the_rate_is_bounded_but_not_for_what_protects() -> None:
    tally = Tally(per_minute=2, attempts=100)
    for ident in ("a", "b"):
        tally.count(action(ident=ident, target=f"n0/{ident}"), 100.0)
    assert "2 actions were sent in the last minute" in (tally.guard(action(ident="c"), 130.0) or "")
    assert tally.guard(action("power.shed", ident="c"), 130.0) is None
    assert tally.guard(action(ident="c"), 161.0) is None


def test_a_job_that_was_ended_is_not_kept_waiting_for_its_new_map() -> None:
    tally = Tally(per_minute=1, attempts=2)
    tally.count(action(ident="a"), 100.0)
    remap = action("job.remap", "job/train", ident="b")
    assert tally.guard(remap, 101.0) is None
    tally.count(remap, 101.0)
    tally.count(action("job.remap", "job/train", ident="c"), 102.0)
    assert "tried 2 times" in (tally.guard(action("job.remap", "job/train", ident="d"), 103.0) or "")


def test_a_bundle_of_evidence_takes_no_room() -> None:
    tally = Tally(per_minute=1, attempts=1)
    tally.count(action("card.capture", ident="a"), 100.0)
    assert tally.guard(action(ident="b"), 101.0) is None


def test_what_the_settings_put_under_maintenance_is_left_alone() -> None:
    guard = guard_maintenance(["n0/card3"], {"supernoded_isolation": ["n0/card5*"], "other": ["n0"]})
    assert guard(action(target="n0/card3/port0"), 0) == "n0/card3/port0 is under maintenance by the settings (n0/card3)"
    assert guard(action(target="n0/card51"), 0) is not None
    assert guard(action(target="n0/card4"), 0) is None
    assert guard(action("power.cap"), 0) is None
    assert guard(action("notify"), 0) is None


def test_notices_take_no_room_from_what_is_done() -> None:
    tally = Tally(per_minute=2, attempts=1)
    tally.count(action(ident="first"), 100.0)
    for number in range(20_000):
        tally.count(action("notify", ident=f"n{number}"), 100.0)
    assert "tried 1 times" in (tally.guard(action(ident="c"), 101.0) or "")
    assert tally.guard(action(ident="c", target="n0/card4"), 101.0) is None


@pytest.mark.parametrize("kind", ["card.unhold", "card.release"])
def test_the_way_back_passes_whoever_else_holds_it(kind: str) -> None:
    assert guard_holds(lambda: [hold("n0/card3")])(action(kind), 105.0) is None


def test_a_second_hold_on_the_same_card_touches_nothing_and_one_within_a_held_node_does() -> None:
    assert guard_holds(lambda: [hold("n0/card3")])(action("card.hold"), 105.0) is None
    assert guard_holds(lambda: [hold("n0")])(action("card.hold"), 105.0) is not None


def test_a_lifted_hold_holds_nothing() -> None:
    lifted = Hold(id="h", subject="n0/card3", serial="", reason="r", owner="alice", placed=1.0, lifted=2.0, lifted_by="alice")
    assert guard_holds(lambda: [lifted])(action(), 105.0) is None
