import pytest

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import State
from sim_hardware.plant.cooling.orders import SetFan, SetFanControl, StopFan
from tests.sim.plant.cooling.cooled import give, list_kinds, load, read, run, start_site


def _start() -> State:
    state = start_site()
    return run(state, 10.0, load(state))[0]


def test_the_bmc_holds_the_parts_and_keeps_still() -> None:
    state = _start()
    duty = read(state, "n0/fan0", "fan.duty")
    state, happened = run(state, 900.0, load(state))
    assert read(state, "n0/fan0", "fan.duty") == duty
    assert 30.0 <= duty <= 70.0
    assert 50.0 < read(state, "n0", "air.temperature.optics") < 60.0
    assert happened == []


def test_fans_follow_with_inertia_and_air_with_fans() -> None:
    state = give(_start(), SetFanControl("n0", "full"))
    slow = read(state, "n0/fan0", "fan.speed")
    state, _ = run(state, 12.0, load(state))
    assert slow < read(state, "n0/fan0", "fan.speed") == pytest.approx(slow + (12000.0 - slow) * 0.632, rel=0.02)
    state, _ = run(state, 40.0, load(state))
    assert read(state, "n0/fan0", "fan.speed") == pytest.approx(12000.0, rel=0.001)
    assert read(state, "n0/air0", "air.flow") == pytest.approx(90.0, rel=0.001)


def test_ten_seconds_without_fans_are_harmless_and_minutes_are_not() -> None:
    state = _start()
    state, happened = run(state, 20.0, load(state, 1.0, "n0/fan*"))
    assert set(list_kinds(happened)) == {"fan.stopped"}
    assert len(happened) == 8
    state, happened = run(state, 30.0, load(state))
    assert set(list_kinds(happened)) == {"fan.running"}
    state, happened = run(state, 150.0, load(state, 1.0, "n0/fan*"))
    hot = [h for h in happened if h.kind == "part.overheated"]
    assert hot[0].text.startswith("optics of n0")
    assert 30.0 < hot[0].at - 30.0 < 100.0


def test_manual_duty_is_taken_by_one_fan_and_given_back_to_the_bmc() -> None:
    state = give(_start(), SetFanControl("n0", "manual"), SetFan("n0", 2, 90.0))
    state, _ = run(state, 40.0, load(state))
    assert read(state, "n0/fan2", "fan.speed") == pytest.approx(10800.0, rel=0.001)
    assert read(state, "n0/fan3", "fan.duty") < 60.0
    state, _ = run(give(state, SetFanControl("n0", "auto")), 60.0, load(state))
    assert len({read(state, f"n0/fan{fan}", "fan.duty") for fan in range(8)}) == 1
    assert cooling.sense(state, "n0", "fan.control") == "auto"


def test_a_stopped_fan_shows_in_its_air_and_a_little_beside_it() -> None:
    state = _start()
    before = [read(state, f"n0/air{fan}", "air.flow") for fan in range(8)]
    state, happened = run(give(state, StopFan("n0", 4, stopped=True)), 25.0, load(state))
    after = [read(state, f"n0/air{fan}", "air.flow") for fan in range(8)]
    assert list_kinds(happened, "n0/fan4") == ["fan.stopped"]
    assert after[4] < 0.4 * before[4]
    assert 0.8 * before[3] < after[3] < 0.95 * before[3]
    assert after[0] >= before[0] * 0.999
    _, happened = run(give(state, StopFan("n0", 4, stopped=False)), 40.0, load(state))
    assert list_kinds(happened, "n0/fan4") == ["fan.running"]
