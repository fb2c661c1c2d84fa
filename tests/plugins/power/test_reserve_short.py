"""On mains: whether the batteries would last for what saving and stopping take (safety rule 14)."""

from __future__ import annotations

from typing import Any

import pytest

from supernoded.model import Level, Reading, Severity, Verdict
from tests.plugins.power.site import POWER, SITE, Bench, find_remedy, find_rule, job, kinds, make_site, read, ups
from tests.plugins.power.site import Trouble as Case

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE
UNTESTED = make_site(ups=[{key: value for key, value in one.items() if key != "energy_wh"} for one in SITE["ups"]])


def stand(at: float, flags: str = "ol", save_time: float = 600.0, **more: float) -> list[Reading]:
    told: dict[str, Any] = {"output_power": 3000.0, **more}
    both = [one for name in "AB" for one in ups(name, flags, 230.0 if "ob" not in flags else 0.0, at, **told)]
    return [*both, *job(at, step_time=10.0, save_time=save_time)]


def weigh(readings: list[Reading], *later: list[Reading], tested: bool = False) -> Verdict:
    bench = Bench(find_rule("power.reserve_short", site=None if tested else UNTESTED))
    verdict = bench.tell(readings)[POWER]
    for more in later:
        verdict = bench.tell(more)[POWER]
    return verdict


def test_a_claim_that_is_shorter_than_a_save_is_told_though_the_mains_are_there() -> None:
    verdict = weigh(*(stand(at, charge=40.0, runtime=20.0) for at in (0.0, 10.0)))
    assert (verdict.level, verdict.severity) == (RAISED, Severity.WARNING)
    assert verdict.text == (
        "without mains ups/A lasts 10 s with the whole load of 6.0 kW (it claims 20 s: 10 s); "
        "needed are 1128 s (save 1068, stop 30, margin 30)"
    )


@pytest.mark.parametrize(
    ("readings", "tested", "expected"),
    [
        (stand(10.0, charge=40.0, runtime=20.0), False, RAISED),
        (stand(10.0, save_time=600.0), True, RAISED),  # 432 s of tested energy
        (stand(10.0, save_time=30.0), True, CLEAR),
        (stand(10.0, save_time=30.0, charge=25.0), True, RAISED),  # it recharges
        (stand(10.0, runtime=4000.0), False, CLEAR),
        (stand(10.0), False, UNSURE),
        (stand(10.0, runtime=0.0, charge=100.0), False, UNSURE),  # that is no claim
        (stand(10.0, "ob", runtime=20.0), False, UNSURE),  # that is `power.reserve`
        (stand(10.0, "ol bypass", runtime=20.0), False, UNSURE),  # that is `power.no_ride_through`
        ([*stand(10.0, runtime=20.0), read("job/train", "job.state", "stopped", 10.0, "j")], False, CLEAR),
    ],
)
def test_what_is_too_little(readings: list[Reading], tested: bool, expected: Level) -> None:
    later = [Reading(**{**{name: getattr(one, name) for name in one.__struct_fields__}, "at": one.at + 10.0}) for one in readings]
    assert weigh(readings, later, tested=tested).level is expected


def test_cards_are_capped_first() -> None:
    def draw(at: float) -> list[Reading]:
        return [read(f"n{node}/card{card}", "card.power", 1100.0, at) for node in (0, 1) for card in (0, 1)]  # 350 W when capped

    verdict = weigh(*([*stand(at, save_time=150.0), *draw(at)] for at in (0.0, 10.0)), tested=True)
    assert verdict.level is CLEAR
    assert "ups/A lasts 864 s with the whole load of 3.0 kW" in verdict.text
    assert weigh(*(stand(at, save_time=250.0) for at in (0.0, 10.0)), tested=True).level is RAISED


def test_one_odd_look_is_not_told() -> None:
    assert weigh(stand(0.0, runtime=20.0), stand(4.0, runtime=20.0)).level is UNSURE
    assert weigh(stand(0.0, runtime=20.0), stand(4.0, runtime=4000.0), stand(12.0, runtime=20.0)).level is UNSURE


def test_people_are_told_and_nothing_else_is_done() -> None:
    trouble = Case(find_remedy("power.reserve_short"))
    trouble.see(stand(0.0, runtime=20.0))
    (steps,) = trouble.play()
    assert kinds(steps) == [("notify", POWER)]
