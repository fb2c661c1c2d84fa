"""What is done when no feed has mains, and when they are back (safety rules 5, 8, 9, 11)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.model import Reading, Result
from supernoded_power.settings import PowerSettings
from tests.plugins.power.site import JOB, POWER, SITE, Trouble, find_remedy, job, kinds, make_site, read, ups

SHED = [("power.shed", "pdu/A1"), ("power.shed", "pdu/B1")]
CAP = [("power.cap", "n0"), ("power.cap", "n1")]
SAVE = [("job.checkpoint", JOB)]
TELL = [("notify", POWER)]
TIMES: dict[str, Any] = {"step_time": 10.0, "save_time": 30.0, "request": "none", "durable_age": 500.0}


def out(at: float = 0.0, a: str | None = "ob", b: str | None = "ob", volts: float = 0.0) -> list[Reading]:
    return [*ups("A", a, volts, at, output_power=3000.0), *ups("B", b, volts, at, output_power=3000.0)]


def begin(*readings: list[Reading]) -> Trouble:
    trouble = Trouble(find_remedy("power.outage"))
    trouble.see(*(readings or (out(), job(**TIMES))))
    return trouble


def test_shed_and_cap_at_once_then_save_while_it_runs_on_then_tell() -> None:
    trouble = begin()
    first, second, third = trouble.play()
    assert kinds(first) == [*SHED, *CAP]
    assert kinds(second) == SAVE
    assert kinds(third) == TELL
    assert [(step.patience, step.amount) for step in first] == [(3.0, None)] * 2 + [(10.0, 350.0)] * 2
    assert not trouble.ask()  # it runs on: nothing is stopped


def test_the_save_waits_for_the_caps_and_is_not_doubled() -> None:
    trouble = begin()
    steps = trouble.ask()
    trouble.running |= {step.name for step in steps}
    assert trouble.ask() == ()
    trouble.end(steps[:3])
    assert trouble.ask() == ()
    trouble.end(steps[3:], Result.UNCONFIRMED)
    (save,) = trouble.ask()
    trouble.running.add(save.name)
    trouble.see(out(2.0), job(2.0, "saving", request="agreed", step_time=10.0))
    assert trouble.ask() == ()


def test_a_save_is_asked_for_in_time_however_slow_caps_are() -> None:
    trouble = begin()
    trouble.running |= {step.name for step in trouble.ask()}
    trouble.see(out(1.4), job(1.4, **TIMES))
    assert trouble.ask() == ()
    trouble.see(out(1.5), job(1.5, **TIMES))
    (save,) = trouble.ask()
    assert (save.kind, save.target) == SAVE[0]
    trouble.running.add(save.name)
    assert trouble.ask() == ()


def test_the_notice_says_how_it_is_now_where_the_opening_could_not() -> None:
    trouble = begin()
    trouble.incident = msgspec.structs.replace(trouble.incident, text="pdu/A1 shed 0.1 s ago; no UPS has been read since")
    *_, (tell,) = trouble.play()
    assert "no UPS has been read since. Now feed/A is on battery (its input is at 0 V" in tell.reason


def test_the_notice_waits_for_slow_caps() -> None:
    trouble = begin()
    first = trouble.ask()
    trouble.running |= {step.name for step in first}
    trouble.see(out(2.0), job(2.0, **TIMES))
    trouble.end(trouble.ask())
    assert trouble.ask() == ()
    trouble.end(first, Result.UNCONFIRMED)
    (tell,) = trouble.ask()
    assert "nodes capped: 0 of 2 seen; jobs saved: 1 of 1 seen" in tell.reason


def test_after_a_restart_the_notice_waits_for_a_save_under_way_though_its_job_is_not_heard() -> None:
    trouble = begin()
    trouble.end(trouble.ask())
    (save,) = trouble.ask()
    later = Trouble(find_remedy("power.outage"))
    later.done, later.running = dict(trouble.done), {save.name}
    later.see(out(3.0))
    assert later.ask() == ()
    later.see(out(3.5), job(3.5, "absent"))  # its ranks have not come back to the daemon yet
    assert later.ask() == ()
    later.end([save])
    assert kinds(later.ask()) == TELL


def test_in_a_later_round_a_save_waits_for_no_more_than_the_first_outcome() -> None:
    trouble = begin()
    trouble.end(trouble.ask())
    trouble.end(trouble.ask())
    trouble.end(trouble.ask())
    come_back(trouble, 40.0)
    trouble.end(trouble.ask())
    trouble.raised = True
    trouble.see(out(100.0), job(100.0, **TIMES))
    again = trouble.ask()
    assert {kind for kind, _ in kinds(again)} == {"power.shed", "power.cap"}
    trouble.running |= {step.name for step in again}
    trouble.see(out(110.0), job(110.0, **TIMES))
    assert trouble.ask() == ()
    trouble.end(again[:1])
    trouble.see(out(111.5), job(111.5, **TIMES))
    assert kinds(trouble.ask()) == SAVE


def test_the_deadline_is_made_of_energy_and_times() -> None:
    trouble = begin()
    trouble.end(trouble.ask())
    (save,) = trouble.ask()
    assert save.amount == pytest.approx(432.0 - 30.0 - 30.0)  # what one UPS lasts with all the load, without stop and margin
    assert save.details["deadline"].startswith("ups/A lasts 432 s")
    assert (save.details["save_time"], save.details["step_time"]) == ("30.0 s", "10.0 s")
    low = begin(out(a="ob lb"), job(**TIMES))
    low.end(low.ask())
    assert low.ask()[0].amount == 70.0  # as soon as can be: 1.75 x 40 s


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("ob", "ol bypass"),
        ("ob", "ol eco"),
        ("ob", "off"),
        ("ob", "ol ob"),
        ("ob", None),
    ],
)
def test_no_shed_unless_both_ask_for_it_and_none_forbids_it(a: str, b: str | None) -> None:
    trouble = begin(out(a=a, b=b), job(**TIMES))
    assert kinds(trouble.ask()) == CAP


def test_one_feed_alone_never_sheds() -> None:
    site = make_site(ups=SITE["ups"][:1], pdus=SITE["pdus"][:1])
    trouble = Trouble(find_remedy("power.outage", site=site))
    trouble.see(ups("A", "ob", 0.0))
    assert kinds(trouble.ask()) == CAP


def test_a_shed_that_could_not_be_had_at_once_is_not_had_later() -> None:
    trouble = begin(out(b=None), job(**TIMES))
    trouble.end(trouble.ask())
    trouble.see(out(5.0), job(5.0, **TIMES))
    assert kinds(trouble.ask()) == SAVE


def test_what_was_saved_since_is_not_saved_again() -> None:
    trouble = begin()
    trouble.end(trouble.ask())
    trouble.see(out(20.0), job(20.0, step_time=10.0, durable_age=12.0))  # by the incident of one feed, perhaps
    assert kinds(trouble.ask()) == TELL


def test_a_job_whose_rank_is_silent_gives_no_checkpoint() -> None:
    trouble = begin(out(), job(state="silent"))
    trouble.end(trouble.ask())
    (tell,) = trouble.ask()
    assert f"No checkpoint can be had of {JOB}" in tell.reason


def test_a_job_that_has_stopped_is_left_alone() -> None:
    trouble = begin(out(), job(state="stopped"))
    trouble.end(trouble.ask())
    assert kinds(trouble.ask()) == TELL


def test_the_notice_says_what_was_seen_and_done() -> None:
    trouble = begin()
    steps = trouble.ask()
    trouble.end(steps[:3])
    trouble.end(steps[3:], Result.UNCONFIRMED)
    trouble.end(trouble.ask())
    (tell,) = trouble.ask()
    assert tell.reason == "what was seen; fans shed: 2 of 2 seen; nodes capped: 1 of 2 seen; jobs saved: 1 of 1 seen; job/train runs on."


def play_out(trouble: Trouble) -> None:
    assert len(list(trouble.play())) == 3


def come_back(trouble: Trouble, at: float, request: str = "asked", event: str = "restored") -> None:
    trouble.raised = False
    events = [read(f"pdu/{name}1", "pdu.event", event, at) for name in "AB"]
    trouble.see(out(at, "ol", "ol", 230.0), job(at, request=request, step_time=10.0), events)


def test_back_again_the_request_is_withdrawn_and_caps_are_lifted() -> None:
    trouble = begin()
    play_out(trouble)
    come_back(trouble, 60.0)
    undo, tell = trouble.play()
    assert kinds(undo) == [("job.withdraw", JOB), *CAP]
    assert [step.amount for step in undo] == [None] * 3
    assert tell[0].reason == "The mains are back for 30 s or longer; requests withdrawn: 1 of 1 seen; caps lifted: 2 of 2 seen."


@pytest.mark.parametrize("request_", ["agreed", "saving", "saved", "durable", "none", "failed"])
def test_what_a_rank_has_agreed_to_is_finished(request_: str) -> None:
    trouble = begin()
    play_out(trouble)
    come_back(trouble, 60.0, request_)
    assert kinds(trouble.ask()) == CAP


def test_one_node_that_knows_of_the_agreement_is_enough() -> None:
    trouble = begin()
    play_out(trouble)
    come_back(trouble, 60.0)
    trouble.see([read(JOB, "job.request", "agreed", 60.0, "other")])
    assert kinds(trouble.ask()) == CAP


def test_only_what_was_capped_is_lifted() -> None:
    trouble = begin()
    steps = trouble.ask()
    trouble.end(steps[:3])
    trouble.end(steps[3:], Result.REFUSED)
    list(trouble.play())
    come_back(trouble, 60.0, "none")
    assert kinds(trouble.ask()) == CAP[:1]


def test_a_pdu_whose_timer_has_not_closed_is_restored() -> None:
    trouble = begin()
    play_out(trouble)
    come_back(trouble, 60.0, "none", "fired")
    assert kinds(trouble.ask()) == [*CAP, ("power.restore", "pdu/A1"), ("power.restore", "pdu/B1")]


def test_gone_again_after_a_return_it_begins_anew() -> None:
    trouble = begin()
    play_out(trouble)
    come_back(trouble, 60.0)
    assert len(list(trouble.play())) == 2
    trouble.raised = True
    trouble.see(out(80.0), job(80.0, **TIMES))
    assert [kinds(steps) for steps in trouble.play()] == [[*SHED, *CAP], SAVE, TELL]
    come_back(trouble, 140.0)
    assert [kinds(steps) for steps in trouble.play()] == [[("job.withdraw", JOB), *CAP], TELL]
    assert not trouble.ask()


def test_a_restart_in_the_middle_goes_on_where_it_was() -> None:
    trouble = begin()
    trouble.end(trouble.ask())
    later = begin(out(10.0), job(10.0, **TIMES))
    later.done = dict(trouble.done)
    assert [kinds(steps) for steps in later.play()] == [SAVE, TELL]


def test_an_outage_that_was_over_before_anything_was_done_needs_nothing() -> None:
    trouble = begin()
    come_back(trouble, 31.0)
    assert trouble.ask() == ()


def test_caps_and_patience_are_settings() -> None:
    trouble = Trouble(find_remedy("power.outage", PowerSettings(cap_w=200.0, patience_s=2.0, cap_patience_s=7.0)))
    trouble.see(out())
    assert {(step.patience, step.amount) for step in trouble.ask()} == {(2.0, None), (7.0, 200.0)}


def test_a_job_that_has_been_asked_is_not_asked_again_unless_that_comes_to_nothing() -> None:
    trouble = begin()
    trouble.end(trouble.ask())
    trouble.see(out(2.0), job(2.0, request="asked", step_time=10.0))
    trouble.end(trouble.ask())
    assert not any(name.startswith("1-save") for name in trouble.done)
    trouble.see(out(9.0), job(9.0, request="failed", step_time=10.0))
    assert kinds(trouble.ask()) == SAVE


WORDS = ["ol", "ob", "lb", "rb", "chrg", "dischrg", "bypass", "cal", "test", "off", "fsd", "over", "trim", "boost", "alarm", "eco", "odd"]
FLAGS = st.one_of(st.none(), st.frozensets(st.sampled_from(WORDS)))
VOLTS = st.sampled_from([0.0, 150.0, 211.0, 230.0, None])


@given(FLAGS, FLAGS, VOLTS, VOLTS, st.sampled_from([0.0, 230.0, None]))
def test_a_shed_needs_two_feeds_that_both_say_so(
    a: frozenset[str] | None, b: frozenset[str] | None, volts_a: float | None, volts_b: float | None, pdu: float | None
) -> None:
    trouble = Trouble(find_remedy("power.outage"))
    for name, flags, volts in (("A", a, volts_a), ("B", b, volts_b)):
        trouble.see(ups(name, None if flags is None else " ".join(flags), volts, pdu=pdu))
    sheds = any(step.kind == "power.shed" for step in trouble.ask())
    for flags, volts in ((a, volts_a), (b, volts_b)):
        is_contrary = flags is not None and ({"ol", "ob"} <= flags or "odd" in flags)
        is_forbidden = flags is not None and bool(flags & {"bypass", "off"})
        is_well = volts in {211.0, 230.0} and (flags is None or "ob" not in flags)
        if flags is None or is_contrary or is_forbidden or is_well or pdu == 0.0:
            assert not sheds


def test_a_save_that_came_to_nothing_is_asked_for_again_and_told_once_more() -> None:
    trouble = begin()
    trouble.end(trouble.ask())
    trouble.end(trouble.ask(), Result.UNCONFIRMED)  # its storage is full, say
    (tell,) = trouble.ask()
    assert "jobs saved: 0 of 1 seen" in tell.reason
    trouble.end([tell])
    (again,) = trouble.ask()
    assert (again.kind, again.name) == ("job.checkpoint", "1-save2-job/train")
    trouble.running.add(again.name)
    assert trouble.ask() == ()
    trouble.end([again])
    (retold,) = trouble.ask()
    assert retold.reason == "Jobs saved at try 2: 1 of 1 seen."
    trouble.end([retold])
    assert not trouble.ask()


def test_it_is_tried_five_times_in_a_round_and_not_when_it_is_saved_meanwhile() -> None:
    trouble = begin()
    asked = 0
    while steps := trouble.ask():
        asked += sum(step.kind == "job.checkpoint" for step in steps)
        trouble.end(steps, Result.UNCONFIRMED if steps[0].kind == "job.checkpoint" else Result.DONE)
    assert asked == 5
    other = begin()
    other.end(other.ask())
    other.end(other.ask(), Result.UNCONFIRMED)
    other.end(other.ask())
    other.see(out(40.0), job(40.0, step_time=10.0, durable_age=5.0))
    assert not other.ask()


def find_deadline(trouble: Trouble) -> tuple[float | None, str]:
    """Of the save that is asked for once all else has ended, and what it rests on."""
    trouble.end(step for step in trouble.ask() if step.kind != "job.checkpoint")
    (save,) = (step for step in trouble.ask() if step.kind == "job.checkpoint")
    return save.amount, save.details["deadline"]


def test_what_was_given_before_counts_in_a_later_round_where_no_charge_is_told() -> None:
    trouble = begin()
    for at in range(2, 202, 2):
        trouble.see(out(float(at)), job(float(at), **TIMES))
    seconds, why = find_deadline(trouble)
    assert why == "ups/A lasts 332 s with the whole load of 6.0 kW (615 of 1000 Wh tested are left: 332 s)"
    assert seconds == pytest.approx(432.0 - 100.0 - 60.0)


def test_a_charge_that_falls_faster_than_the_test_says_counts() -> None:
    trouble = begin()
    for at, charge in ((10.0, 90.0), (20.0, 70.0), (30.0, 50.0)):
        told = [read(f"ups/{name}", "ups.charge", charge, at) for name in "AB"]
        trouble.see(out(at), told, job(at, **TIMES))
    seconds, why = find_deadline(trouble)
    assert "50 % of charge fall by 120.0 % a minute: 12 s" in why
    assert seconds == 70.0  # no less than a save takes


def test_after_a_restart_it_was_on_battery_since_the_incident_opened() -> None:
    trouble = begin(out(200.0), job(200.0, **TIMES))
    assert "lasts 332 s" in find_deadline(trouble)[1]


def test_a_claim_that_has_stood_still_for_long_is_none() -> None:
    trouble = begin()
    for at in range(2, 72, 2):
        claim = [read(f"ups/{name}", "ups.runtime", 130.0, float(at)) for name in "AB"]
        trouble.see(out(float(at)), claim, job(float(at), **TIMES))
    assert "claims" not in find_deadline(trouble)[1]


def test_what_was_given_in_an_outage_before_counts_and_the_mains_between_do_not() -> None:
    trouble = begin()
    for at in range(2, 302, 2):
        away = at < 100 or at >= 250
        trouble.see(out(float(at)) if away else out(float(at), "ol", "ol", 230.0), job(float(at), **TIMES))
    assert "lasts 357 s" in find_deadline(trouble)[1]  # 150 s on battery
