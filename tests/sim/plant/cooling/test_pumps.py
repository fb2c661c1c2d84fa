import pytest

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import State
from sim_hardware.plant.cooling.orders import AdmitAir, DrainLevel, FailPump, LoseRunSignal, SetControl, SetPressure, SetPump
from tests.sim.plant.cooling.cooled import give, list_kinds, load, read, run, start_site


def _start(plant: str = "reference") -> tuple[State, float]:
    state = start_site(plant)
    state, _ = run(state, 10.0, load(state))
    return state, read(state, "cdu/0", "coolant.flow")


def _flow(state: State) -> float:
    return read(state, "cdu/0", "coolant.flow")


def _pump(state: State, number: int) -> object:
    return cooling.sense(state, f"cdu/0/pump{number}", "pump.state")


def test_the_standby_takes_over_before_any_card_throttles() -> None:
    state, rated = _start()
    flows: list[float] = []
    state, happened = run(give(state, FailPump("cdu/0", 0, failed=True)), 40.0, load(state), lambda now: flows.append(_flow(now)))
    assert (_pump(state, 0), _pump(state, 1)) == ("tripped", "running")
    assert min(flows) < 0.3 * rated
    assert _flow(state) == pytest.approx(rated, rel=0.02)
    assert "card.throttled" not in list_kinds(happened)
    assert list_kinds(happened, "cdu/0/pump0") == ["pump.tripped"]
    assert list_kinds(happened, "cdu/0/pump1") == ["pump.running"]


def test_a_drive_takes_20_s_to_be_ready_and_run() -> None:
    state, rated = _start()
    state, _ = run(state, 12.0, load(state, 1.0, "cdu/0"))
    ready: list[float] = []
    state, happened = run(state, 60.0, load(state), lambda now: ready.append(now.at) if _flow(now) > 0.9 * rated else None)
    assert ready[0] - 12.0 == pytest.approx(20.0, abs=1.0)
    assert list_kinds(happened, "cdu/0/pump1") == []  # the standby had no power either, and was not needed after
    assert "flow.back" in list_kinds(happened, "cdu/0")


def test_flow_coasts_down_in_about_three_seconds() -> None:
    state, rated = _start()
    state, _ = run(state, 13.0, load(state, 1.0, "cdu/0"))
    assert 0.02 * rated < _flow(state) < 0.2 * rated
    state, _ = run(state, 17.0, load(state, 1.0, "cdu/0"))
    assert _flow(state) < 0.02 * rated


def test_a_run_signal_that_is_lost_is_acknowledged_and_moves_nothing() -> None:
    state, _ = _start()
    state = give(state, LoseRunSignal("cdu/0", 1, lost=True), FailPump("cdu/0", 0, failed=True))
    state, happened = run(state, 70.0, load(state))
    assert _pump(state, 1) == "starting"
    assert read(state, "cdu/0/pump1", "pump.wanted") == 1.0
    assert read(state, "cdu/0/pump1", "pump.command") > 50.0
    assert read(state, "cdu/0/pump1", "pump.rpm") == 0.0
    assert _flow(state) == 0.0
    assert {"flow.lost", "card.throttled", "card.overheated"} <= set(list_kinds(happened))
    state, _ = run(give(state, LoseRunSignal("cdu/0", 1, lost=False)), 90.0, load(state))
    assert _pump(state, 1) == "running"


def test_without_check_valves_a_tripped_pump_lets_coolant_back() -> None:
    state, rated = _start("three-pumps")
    state, _ = run(give(state, FailPump("cdu/0", 0, failed=True)), 14.5, load(state))
    one_of_two = _flow(state) / rated
    state, _ = run(state, 60.0, load(state))
    assert one_of_two < 0.75
    assert _flow(state) == pytest.approx(rated, rel=0.02)


def test_air_and_a_low_level_take_the_flow() -> None:
    state, rated = _start()
    airy, happened = run(give(state, AdmitAir("cdu/0", 0.3)), 20.0, load(state))
    assert _flow(airy) < 0.95 * rated
    assert list_kinds(happened, "cdu/0")[0] == "air"
    state, happened = run(give(state, DrainLevel("cdu/0", 15.0)), 60.0, load(state))
    assert read(state, "cdu/0", "coolant.air") > 0.2
    assert {"level.low", "air"} <= set(list_kinds(happened, "cdu/0"))
    state, happened = run(give(state, DrainLevel("cdu/0", 2.0)), 70.0, load(state))
    assert _flow(state) == 0.0
    state, happened = run(give(state, DrainLevel("cdu/0", 80.0)), 500.0, load(state))
    assert _flow(state) == pytest.approx(rated, rel=0.05)
    assert {"level.back", "air.gone", "flow.back"} <= set(list_kinds(happened, "cdu/0"))


def test_the_pumps_hold_another_pressure() -> None:
    state, rated = _start()
    state, _ = run(give(state, SetPressure("cdu/0", 60.0)), 60.0, load(state))
    assert read(state, "cdu/0", "coolant.pressure_difference") == pytest.approx(60.0, rel=0.02)
    assert _flow(state) == pytest.approx(rated * 0.6**0.5, rel=0.02)


def test_direct_gives_pumps_their_speed_and_takes_it() -> None:
    state, rated = _start()
    state = give(state, SetControl("cdu/0", "direct"), SetPump("cdu/0", 0, 50.0))
    state, _ = run(state, 20.0, load(state))
    assert read(state, "cdu/0/pump0", "pump.speed") == pytest.approx(50.0)
    assert _flow(state) < 0.7 * rated
    state, happened = run(give(state, SetPump("cdu/0", 0, 0.0)), 24.0, load(state))
    assert list_kinds(happened, "cdu/0/pump0") == ["pump.stopped"]
    assert "flow.lost" in list_kinds(happened)
