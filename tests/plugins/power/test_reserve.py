"""How long the batteries last (safety rules 9 and 10)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.model import Level, Reading, Verdict
from supernoded_power.settings import PowerSettings
from tests.plugins.power.site import POWER, SITE, Bench, find_rule, job, level, make_site, read, ups

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE
JOB_NEEDS: dict[str, Any] = {"step_time": 10.0, "save_time": 30.0}  # 1.75 x 40 s, and 30 s to stop, and 30 s of margin: 130 s
CORDS = ("pdu/A1/outlet1", "pdu/A1/outlet2", "pdu/B1/outlet1", "pdu/B1/outlet2")


def site(energy_wh: float | None = 1000.0, other_wh: float | None = 1000.0) -> list[dict[str, object]]:
    upses = [{**SITE["ups"][0], "energy_wh": energy_wh}, {**SITE["ups"][1], "energy_wh": other_wh}]
    return [{key: value for key, value in one.items() if value is not None} for one in upses]


def make(energy_wh: float | None = 1000.0, other_wh: float | None = 1000.0, settings: PowerSettings | None = None) -> Bench:
    return Bench(find_rule("power.reserve", settings, make_site(ups=site(energy_wh, other_wh))))


def both(at: float, flags: str | None = "ob", volts: float = 0.0, **more: float) -> list[Reading]:
    more = {"output_power": 3000.0, **more}
    return [*ups("A", flags, volts, at, **more), *ups("B", flags, volts, at, **more), *job(at, **JOB_NEEDS)]


def ask(bench: Bench, readings: list[Reading]) -> Verdict:
    return bench.tell(readings)[POWER]


def test_the_tested_energy_is_carried_by_one_ups_alone() -> None:
    verdict = ask(make(), both(0.0))
    assert verdict.level is CLEAR  # 1000 Wh x 80 % x 90 % / 6 kW = 432 s
    assert verdict.text == (
        "ups/A lasts 432 s with the whole load of 6.0 kW (800 of 1000 Wh tested are left: 432 s); "
        "needed are 130 s (save 70, stop 30, margin 30)"
    )


def test_what_was_given_is_gone() -> None:
    bench = make()
    levels = [ask(bench, both(float(at))).level for at in range(0, 700, 4)]
    first = 4 * levels.index(RAISED)
    # Half of the load is on each: 432 s are used up at half speed, so 130 s are left after 2 x 302 s.
    assert first in {604, 608}  # it is a look every 4 s
    assert set(levels[levels.index(RAISED) :]) == {RAISED}


def test_health_and_the_charge_at_its_begin_count() -> None:
    assert "1000 of 1000 Wh" in ask(make(), both(0.0, battery_health=100.0)).text
    assert "400 of 1000 Wh" in ask(make(), both(0.0, charge=50.0)).text  # a sag during recharge
    assert ask(make(), both(0.0, charge=25.0)).level is RAISED


def test_a_measured_energy_needs_no_test() -> None:
    bench = make(None, None)
    assert "lasts 540 s" in ask(bench, both(0.0, battery_energy=3.6e6)).text


def test_the_least_of_three_counts() -> None:
    bench = make()
    for number, charge in enumerate((100.0, 90.0, 80.0)):
        verdict = ask(bench, both(10.0 * number, charge=charge, runtime=900.0 - number))
    assert "80 % of charge fall by 60.0 % a minute: 40 s" in verdict.text  # 1 %/s at half load
    assert "it claims 898 s: 449 s" in verdict.text
    assert verdict.text.startswith("ups/A lasts 40 s")
    assert verdict.level is RAISED


def test_two_points_are_no_slope() -> None:
    bench = make()
    ask(bench, both(0.0, charge=100.0))
    assert "a minute" not in ask(bench, both(10.0, charge=50.0)).text


@pytest.mark.parametrize(
    ("claim", "charge", "is_believed"),
    [(300.0, 90.0, True), (0.0, 100.0, False), (0.0, 5.0, True), (200_000.0, 90.0, False)],
)
def test_a_claim_must_be_plausible(claim: float, charge: float, is_believed: bool) -> None:
    assert ("it claims" in ask(make(), both(0.0, runtime=claim, charge=charge)).text) == is_believed


def test_a_claim_that_stands_still_is_none() -> None:
    bench = make()
    for at in range(0, 64, 4):
        verdict = ask(bench, both(float(at), runtime=600.0))
        assert ("it claims" in verdict.text) == (at <= 60)


def test_unknown_is_no_low_battery() -> None:
    """Minutes, charge and temperature of -1 come as UNKNOWN (facility 7.2)."""
    nothing = [read(f"ups/{name}", f"ups.{what}", None, note="-1") for name in "AB" for what in ("charge", "runtime")]
    bench = make(None, None)
    verdict = ask(bench, [*nothing, *ups("A", "ob", 0.0), *ups("B", "ob", 0.0)])
    assert (verdict.level, verdict.text) == (UNSURE, "nothing is known of the reserve of ups/A, ups/B")


@pytest.mark.parametrize(("a", "b", "expected"), [("ob lb", "ob lb", RAISED), ("ob lb", "ob", UNSURE), ("ob rb", "ob lb", RAISED)])
def test_their_own_word_counts_where_nothing_else_is_known(a: str, b: str, expected: Level) -> None:
    assert ask(make(None, None), [*ups("A", a, 0.0), *ups("B", b, 0.0)]).level is expected


def test_one_that_is_about_to_cut_is_not_counted_on() -> None:
    readings = [*ups("A", "ob fsd", 0.0, output_power=3000.0), *ups("B", "ob", 0.0, output_power=3000.0)]
    assert "ups/B lasts 432 s" in ask(make(100.0), readings).text


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("ol", "ol", CLEAR),
        ("ob", "ol", CLEAR),  # one feed carries on
        ("ob", "ol ob", UNSURE),
        ("ob", None, UNSURE),  # never heard of: no evidence
        ("ol", "ol lb", CLEAR),
    ],
)
def test_only_without_mains(a: str, b: str | None, expected: Level) -> None:
    bench = make(10.0, 10.0)  # next to nothing
    volts = [0.0 if word and word.startswith("ob") else 230.0 for word in (a, b)]
    readings = [*ups("A", a, volts[0], output_power=3000.0), *ups("B", b, volts[1] if b else None, output_power=3000.0)]
    assert ask(bench, readings).level is expected


def test_one_ups_dies_on_battery_and_the_other_carries_all() -> None:
    bench = make(1000.0, 1000.0)
    ask(bench, both(0.0))
    dead = [*ups("A", "ob", 0.0, 4.0, pdu=0.0, output_power=0.0), *ups("B", "ob", 0.0, 4.0, output_power=6000.0), *job(4.0, **JOB_NEEDS)]
    verdict = ask(bench, dead)
    assert verdict.text.startswith("ups/B lasts 42")  # no surprise: it was counted with the whole load before
    assert verdict.level is CLEAR


def test_silence_does_not_stop_anything_by_itself() -> None:
    calm = make(600.0, 600.0)
    ask(calm, both(0.0))
    silent = [*ups("A", None, None, 200.0), *ups("B", None, None, 200.0)]
    assert ask(calm, silent).level is UNSURE
    second = [*ups("A", None, None, 300.0), *ups("B", "ob", 0.0, 300.0, output_power=6000.0), *job(300.0, **JOB_NEEDS)]
    verdict = ask(calm, second)  # what it gave in the silence is counted
    assert (verdict.level, "ups/B lasts 39 s with the whole load of 9.0 kW" in verdict.text) == (RAISED, True)


def test_a_job_that_has_stopped_needs_no_save() -> None:
    readings = [one for one in both(0.0) if not one.subject.startswith("job/")]
    assert "save 0, stop 30" in ask(make(), [*readings, *job(0.0, "stopped", **JOB_NEEDS)]).text
    assert "save 158, stop 30" in ask(make(), [*readings, *job(0.0)]).text  # neither time is known: 1.75 x (60 + 30)


def test_once_low_it_stays_raised_till_what_was_on_is_on_again() -> None:
    bench = make(100.0, 100.0)
    on = [read(cord, "outlet.state", "on") for cord in CORDS]
    assert ask(bench, [*both(0.0), *on]).level is RAISED
    off = [read(cord, "outlet.state", "off", 60.0) for cord in CORDS]
    assert ask(bench, [*both(60.0), *off]).level is RAISED
    back = "the mains are not back to stay"
    assert back in ask(bench, [*both(100.0, "ol", 230.0)]).text
    half = [read(cord, "outlet.state", "on", 140.0) for cord in CORDS[:2]]
    verdict = ask(bench, [*both(140.0, "ol", 230.0), *half])
    assert (verdict.level, verdict.text[:58]) == (RAISED, "the mains are back; 2 of 4 cords that were on are not seen")
    all_on = [read(cord, "outlet.state", "on", 150.0) for cord in CORDS]
    assert ask(bench, [*both(150.0, "ol", 230.0), *all_on]).level is CLEAR


def test_what_never_comes_back_is_given_up_so_that_the_next_outage_has_its_own_reserve() -> None:
    bench = make(100.0, 100.0)
    ask(bench, [*both(0.0), *(read(cord, "outlet.state", "on") for cord in CORDS)])
    ask(bench, both(10.0, "ol", 230.0))
    assert ask(bench, both(3000.0, "ol", 230.0)).level is RAISED
    assert ask(bench, both(3700.0, "ol", 230.0)).level is CLEAR


def test_a_site_without_a_ups_has_no_reserve() -> None:
    bench = Bench(find_rule("power.reserve", site=make_site(ups=[], feeds=[{"name": "A"}])))
    assert bench.tell([read("pdu/A1", "pdu.voltage", 0.0)]) == {}


@given(st.floats(1, 5000), st.floats(1, 5000), st.floats(0, 3000), st.floats(100, 20_000), st.integers(1, 6))
def test_more_energy_never_stops_earlier(a: float, b: float, more: float, watts: float, steps: int) -> None:
    poor, rich = make(a, b), make(a + more, b + more / 2)
    for number in range(steps):
        readings = both(60.0 * number, output_power=watts)
        first, second = ask(poor, readings), ask(rich, readings)
        assert not (second.level is RAISED and first.level is not RAISED)


@given(st.lists(st.sampled_from(["charge", "runtime", "battery_energy", "output_power", "battery_health"]), unique=True), st.data())
def test_no_number_that_a_ups_may_tell_breaks_it(names: list[str], data: st.DataObject) -> None:
    bench = make()
    for at in (0.0, 3.0, 3.5):
        more = {name: data.draw(st.floats(0, 1e6)) for name in names}
        assert ask(bench, [*ups("A", "ob", 0.0, at, **more), *ups("B", "ob lb", 0.0, at)]).level in {RAISED, CLEAR, UNSURE}


def test_a_generator_that_carries_does_not_end_it() -> None:
    bench = make(100.0, 100.0, PowerSettings(generator=True))
    ask(bench, both(0.0))
    ask(bench, both(20.0, "ol", 230.0))
    assert level(bench, POWER, both(120.0, "ol", 230.0)) is RAISED


def test_three_outages_in_a_row_use_one_battery_unless_it_tells_its_charge() -> None:
    bench, telling = make(), make()
    for number in range(3):
        start = 300.0 * number
        for at in range(0, 220, 4):
            last = ask(bench, both(start + at))
            told = ask(telling, both(start + at, charge=100.0))
        ask(bench, both(start + 240.0, "ol", 230.0))
        ask(telling, both(start + 240.0, "ol", 230.0, charge=100.0))
    assert last.level is RAISED
    assert told.level is CLEAR


def test_at_rest_nothing_changes_that_would_have_to_be_written() -> None:
    bench = make()
    ask(bench, both(0.0, "ol", 230.0))
    before = bench.memory
    ask(bench, both(60.0, "ol", 231.0, output_power=4000.0, charge=99.0))
    assert bench.memory == before


def test_a_battery_that_tells_no_charge_is_full_again_after_hours() -> None:
    bench = make()
    for at in range(0, 500, 4):
        ask(bench, both(float(at)))
    ask(bench, both(600.0, "ol", 230.0))
    ask(bench, both(600.0 + 28_800.0, "ol", 230.0))
    assert "800 of 1000 Wh" in ask(bench, both(30_000.0)).text
