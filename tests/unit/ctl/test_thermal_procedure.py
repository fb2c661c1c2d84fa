from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from supernoded.ctl.thermal_points import Record
from supernoded.ctl.thermal_procedure import HAND_FOR, RENEW_EVERY, Commissioning, Plan, find_loop, find_unit
from supernoded.ctl.thermal_watch import Bounds
from supernoded.errors import AdminError
from supernoded.messages import CoolingUnit, Thermal
from tests.unit.ctl.plant import FLOW, PRIMARY, RETURN, Plant

WIDE = Bounds(most=40.0)


class Run:
    """One commissioning of a plant, and what was told."""

    def __init__(
        self,
        folder: Path,
        plant: Plant,
        positions: tuple[float, ...] = (60.0, 80.0),
        *,
        settle: float = 60.0,
        bounds: Bounds = WIDE,
        silence: bool = False,
    ) -> None:
        self.plant, self.told = plant, list[str]()
        self.record = Record(folder / "cdu0.toml", cdu="cdu/0", recorded=1000.0)
        self.procedure = Commissioning(plant, Plan("cdu/0", positions, settle, bounds, silence), self.told.append)

    def go(self) -> None:
        self.procedure.check()
        self.procedure.run(self.record)


def test_each_position_is_held_until_nothing_moves_and_the_valve_is_given_back(tmp_path: Path) -> None:
    run = Run(tmp_path, Plant())
    run.go()
    assert [(point.valve, point.steady) for point in run.record.points] == [(60.0, True), (80.0, True)]
    for point in run.record.points:
        assert point.supply == pytest.approx(RETURN - (RETURN - PRIMARY) * point.valve / 100.0, abs=0.1)
        assert (point.return_temperature, point.primary, point.flow) == (RETURN, PRIMARY, FLOW)
    assert run.plant.releases == 1
    assert run.told[-1] == "its loop valve of cdu/0 turns cdu/0/valve again"
    assert 30.0 < run.plant.now - 1000.0 < 90.0  # it waited no longer than it had to


def test_the_hand_is_renewed_well_before_it_would_let_go(tmp_path: Path) -> None:
    run = Run(tmp_path, Plant(), (60.0,))
    run.go()
    times = [at for at, _ in run.plant.holds]
    assert max(after - before for before, after in itertools.pairwise(times)) <= RENEW_EVERY + 1.0
    assert RENEW_EVERY * 2 < HAND_FOR


def test_what_never_settles_is_recorded_as_such_when_its_time_is_up(tmp_path: Path) -> None:
    plant = Plant()
    wobble = [(float(i), lambda one, warm=i % 2: one.unit_changes.update(primary=12.0 + warm)) for i in range(0, 200, 3)]
    plant.faults += wobble
    run = Run(tmp_path, plant, (60.0,), settle=30.0)
    run.go()
    assert [point.steady for point in run.record.points] == [False]
    assert any("though it still moved after 30 s" in line for line in run.told)


def test_a_drift_of_return_and_supply_together_is_steady_enough(tmp_path: Path) -> None:
    def drift(plant: Plant) -> None:
        returned = RETURN - 0.02 * (plant.now - 1000.0)
        plant.unit_changes |= {"return_temperature": returned, "supply": returned - 0.6 * (returned - PRIMARY)}

    plant = Plant()
    plant.faults += [(float(second), drift) for second in range(200)]
    run = Run(tmp_path, plant, (60.0,))
    run.go()
    assert [point.steady for point in run.record.points] == [True]
    assert plant.now - 1000.0 < 30.0


def test_where_its_loop_keeps_the_valve_back_the_place_where_it_stands_is_recorded(tmp_path: Path) -> None:
    run = Run(tmp_path, Plant(best=70.0), (80.0,))
    run.go()
    assert [point.valve for point in run.record.points] == [70.0]
    assert any("not at the 80 % asked for" in line for line in run.told)


def change_unit(**changes: object) -> Callable[[Plant], None]:
    return lambda plant: plant.unit_changes.update(changes)


def change_loop(**changes: object) -> Callable[[Plant], None]:
    return lambda plant: plant.loop_changes.update(changes)


@pytest.mark.parametrize(
    ("happen", "sentence"),
    [
        (change_unit(supply=40.5), "cdu/0 supplies 40.50 C, at most 40 C is allowed (--most)"),
        (change_unit(dew_margin=-0.5), "0.50 K below the dew point and its margin"),
        (change_unit(dew_margin=None), "the dew point at cdu/0 is not known: say with --least"),
        (change_unit(supply=None), "the supply temperature of cdu/0 is not known"),
        (change_unit(leak=True), "cdu/0 leaks"),
        (change_unit(control="auto"), "cdu/0 is not turned by us any more, its control is auto"),
        (change_loop(engaged=False, idle_because="the policy no longer acts"), "is not steered any more: the policy no longer acts"),
        (change_loop(hand_value=10.0, hand_by="bob"), "is not as it was asked for: bob holds it"),
        (change_loop(by_hand=False), "is not as it was asked for: the hand was taken off"),
    ],
)
def test_it_lets_go_at_once_and_keeps_what_it_has(tmp_path: Path, happen: Callable[[Plant], None], sentence: str) -> None:
    plant = Plant()
    run = Run(tmp_path, plant)
    after_first_point = 1.0

    def trip(line: str) -> None:
        run.told.append(line)
        if line == "valve to 80 %":
            plant.faults.append((plant.now - 1000.0 + after_first_point, happen))

    run.procedure = Commissioning(plant, Plan("cdu/0", (60.0, 80.0), 60.0, WIDE), trip)
    with pytest.raises(AdminError) as stopped:
        run.go()
    assert sentence in str(stopped.value)
    assert (plant.releases, plant.hand) == (1, None)
    assert len(run.record.points) == 1
    assert run.record.partial.exists()
    assert not run.record.path.exists()


def test_ctrl_c_lets_go_too(tmp_path: Path) -> None:
    plant = Plant()

    def interrupt(_: Plant) -> None:
        raise KeyboardInterrupt

    plant.faults.append((5.0, interrupt))
    with pytest.raises(KeyboardInterrupt):
        Run(tmp_path, plant).go()
    assert plant.releases == 1


def test_a_daemon_that_is_gone_hides_no_error_and_the_hand_lets_go_by_itself(tmp_path: Path) -> None:
    plant = Plant()
    plant.faults.append((5.0, lambda one: setattr(one, "gone", True)))
    run = Run(tmp_path, plant)
    with pytest.raises(AdminError, match="no daemon can be reached"):
        run.go()
    assert f"which it is by itself within {HAND_FOR:g} s: no daemon can be reached" in run.told[-1]
    for _ in range(int(HAND_FOR)):
        plant.sleep(1.0)
    assert (plant.hand, plant.valve) == (None, 50.0)


def test_a_valve_that_does_not_come_back_is_told(tmp_path: Path) -> None:
    plant = Plant(after_release={"engaged": False, "idle_because": "another hand is on it"})
    with pytest.raises(AdminError, match=r"has not come back to its loop within .* s: another hand is on it"):
        Run(tmp_path, plant, (60.0,)).go()


def test_in_silence_it_is_measured_how_long_it_takes_to_fall_back_and_where_to(tmp_path: Path) -> None:
    run = Run(tmp_path, Plant(watchdog=12.0), (60.0,), silence=True)
    run.go()
    assert run.record.silence_s == pytest.approx(13.0, abs=1.01)
    assert run.record.fallback_c == 20.0
    assert (run.plant.releases, run.plant.control) == (2, "direct")
    assert "it fell back after 13 s of silence, to 20.00 C" in run.told


def test_a_unit_that_does_not_fall_back_is_taken_again_at_once_and_must_not_stay_direct(tmp_path: Path) -> None:
    run = Run(tmp_path, Plant(watchdog=12.0, deaf=True), (60.0,), silence=True)
    with pytest.raises(AdminError, match=r"has not fallen back in 2\d s of silence, its control is direct: do not leave it at authority"):
        run.go()
    assert (run.plant.releases, run.plant.hand) == (2, None)
    assert len(run.record.points) == 1
    assert run.record.silence_s is None


@pytest.mark.parametrize(
    ("plant", "bounds", "sentence"),
    [
        (Plant(unit_changes={"authority": "setpoint"}), WIDE, "has authority setpoint: its own controller turns the valve, we may not"),
        (Plant(loop_changes={"engaged": False, "idle_because": "x is off"}), WIDE, "cdu/0/valve is not steered: x is off"),
        (Plant(hand=(40.0, 2000.0, "bob")), WIDE, "is held by hand by bob; `supernodectl thermal release cdu/0/valve` ends that"),
        (Plant(loop_changes={"can_be_held": False}), WIDE, "cannot be held by hand: its loop valve of cdu/0 has no way to"),
        (Plant(watchdog=None), WIDE, "the watchdog of cdu/0 is not read"),
        (Plant(dew_margin=None), WIDE, "the dew point at cdu/0 is not known: say with --least"),
        (Plant(), Bounds(most=20.0), "cdu/0 supplies 26.00 C, at most 20 C is allowed"),
        (Plant(), Bounds(most=40.0, least=27.0), "cdu/0 supplies 26.00 C, at least 27 C is allowed (--least)"),
    ],
)
def test_it_does_not_begin_where_it_could_not_end(tmp_path: Path, plant: Plant, bounds: Bounds, sentence: str) -> None:
    with pytest.raises(AdminError) as refused:
        Run(tmp_path, plant, bounds=bounds, silence=True).procedure.check()
    assert sentence in str(refused.value)
    assert plant.holds == []


def test_without_a_dew_point_a_floor_that_was_named_will_do(tmp_path: Path) -> None:
    run = Run(tmp_path, Plant(dew_margin=None), (60.0,), bounds=Bounds(most=40.0, least=15.0))
    run.go()
    assert len(run.record.points) == 1


def test_what_is_not_here_is_named() -> None:
    with pytest.raises(AdminError, match="there is no coolant unit 'cdu/9' here; there are cdu/0"):
        find_unit(Plant().look(), "cdu/9")
    elsewhere = Thermal(now=1.0, units=(CoolingUnit(subject="cdu/0", authority="direct", judged_by="n3"),))
    with pytest.raises(AdminError, match="no loop of this daemon turns cdu/0/valve; node n3 has the role cdu/0, ask the daemon there"):
        find_loop(elsewhere, "cdu/0", "cdu/0/valve")
