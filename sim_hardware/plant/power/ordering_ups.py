"""Orders to the UPSes."""

from __future__ import annotations

from msgspec.structs import replace

from sim_hardware.plant.power.battery import measure_capacity
from sim_hardware.plant.power.finding import check, find
from sim_hardware.plant.power.orders import AddLoad, AgeBattery, FailUps, LieRuntime, SetUpsMode, StartTest, StickFlag, StopTest
from sim_hardware.plant.power.spec import PHASES
from sim_hardware.plant.power.state import Draft
from sim_hardware.plant.power.testing import end_test, start_test
from sim_hardware.plant.words import Order, OrderError

_MODES = ("normal", "eco", "bypass", "off")
_PARTS = ("battery", "inverter", "transfer", "earth", "charger")
_TESTS = ("selftest", "calibration")
_CALIBRATE_FROM = 0.8  # of its energy that a battery must have; ours


def order_ups(draft: Draft, order: Order) -> bool:
    """Whether it was an order to a UPS; then it is carried out. Raises OrderError."""
    match order:
        case SetUpsMode():
            _set_mode(draft, order)
        case StartTest():
            _start_test(draft, order)
        case StopTest():
            _stop_test(draft, order)
        case FailUps():
            _fail(draft, order)
        case AgeBattery():
            _age(draft, order)
        case LieRuntime():
            index = find(draft.spec, "ups", order.ups)
            lie = order.seconds if order.seconds is None else check(f"the runtime of UPS {order.ups}", order.seconds, -1e9, 1e9, "s")
            draft.ups[index] = replace(draft.ups[index], lie=lie)
        case StickFlag():
            index = find(draft.spec, "ups", order.ups)
            stuck = draft.ups[index].stuck
            draft.ups[index] = replace(draft.ups[index], stuck=stuck | {order.flag} if order.stuck else stuck - {order.flag})
        case AddLoad():
            _add_load(draft, order)
        case _:
            return False
    return True


def _set_mode(draft: Draft, order: SetUpsMode) -> None:
    """Another mode ends a test; the one that it is in already changes nothing. No UPS goes to a bypass that is out of tolerance."""
    index = find(draft.spec, "ups", order.ups)
    _check_word(f"the mode of UPS {order.ups}", order.mode, _MODES)
    if order.mode == draft.ups[index].mode:
        return
    if order.mode == "bypass" and not draft.ups[index].input_ok:
        raise OrderError(f"power: UPS {order.ups} has a bypass input that is out of tolerance; wait for good input")
    if draft.ups[index].test != "none":
        end_test(draft, index, "aborted")
    draft.ups[index] = replace(draft.ups[index], mode=order.mode)


def _start_test(draft: Draft, order: StartTest) -> None:
    """Refused while there is no reserve to test: the load would hang on it."""
    index = find(draft.spec, "ups", order.ups)
    _check_word(f"the test of UPS {order.ups}", order.kind, _TESTS)
    spec, ups = draft.spec.ups[index], draft.ups[index]
    if ups.test != "none":
        raise OrderError(f"power: UPS {spec.name} is in its {ups.test} already; stop it, or wait for its end")
    if not ups.input_ok or ups.path not in ("double", "direct") or ups.mode == "bypass":
        raise OrderError(f"power: UPS {spec.name} is in mode {ups.mode} on path {ups.path}; a test needs good input and a load on line")
    share = ups.energy / max(1.0, measure_capacity(spec, ups))
    if order.kind == "calibration" and share < _CALIBRATE_FROM:
        raise OrderError(
            f"power: the battery of UPS {spec.name} is at {share:.0%}; a calibration needs {_CALIBRATE_FROM:.0%}, so charge it first"
        )
    start_test(draft, index, order.kind)


def _stop_test(draft: Draft, order: StopTest) -> None:
    index = find(draft.spec, "ups", order.ups)
    if draft.ups[index].test == "none":
        raise OrderError(f"power: UPS {order.ups} runs no test that could be stopped")
    end_test(draft, index, "aborted")


def _fail(draft: Draft, order: FailUps) -> None:
    index = find(draft.spec, "ups", order.ups)
    _check_word(f"the part of UPS {order.ups}", order.part, _PARTS)
    failed = draft.ups[index].failed
    draft.ups[index] = replace(draft.ups[index], failed=failed | {order.part} if order.failed else failed - {order.part})


def _age(draft: Draft, order: AgeBattery) -> None:
    """What the aged battery can no longer hold is lost; a younger one is not fuller."""
    index = find(draft.spec, "ups", order.ups)
    share = check(f"the share of the battery of UPS {order.ups}", order.share, 0.0, 1.0, "of its rated energy")
    aged = replace(draft.ups[index], share=share)
    kept = min(aged.energy, measure_capacity(draft.spec.ups[index], aged))
    gone = aged.energy - kept
    draft.ups[index] = replace(aged, energy=kept)
    draft.book = replace(draft.book, batteries=draft.book.batteries - gone, lost=draft.book.lost + gone)


def _add_load(draft: Draft, order: AddLoad) -> None:
    index = find(draft.spec, "ups", order.ups)
    phases = PHASES[: draft.spec.ups[index].build.phases]
    _check_word(f"the phase of UPS {order.ups}", order.phase, phases)
    watts = check(f"the load added to UPS {order.ups}", order.watts, 0.0, 1e9, "W")
    added = tuple(watts if phase == order.phase else before for phase, before in zip(PHASES, draft.ups[index].added, strict=True))
    draft.ups[index] = replace(draft.ups[index], added=added)


def _check_word(what: str, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        raise OrderError(f"power: {what} is {word!r}; give one of {', '.join(words)}")
