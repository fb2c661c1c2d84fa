"""Self-tests and calibrations: the load hangs on the battery although the input is good."""

from __future__ import annotations

import math

from msgspec.structs import replace

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.battery import find_low_mark
from sim_hardware.plant.power.spec import UpsSpec
from sim_hardware.plant.power.state import Draft
from sim_hardware.plant.power.things import Ups

_FLAT = {"battery", "inverter"}


def start_test(draft: Draft, index: int, kind: str) -> None:
    """Begin. A battery that gives nothing fails at once, without harm to the load."""
    spec, ups = draft.spec.ups[index], draft.ups[index]
    until = draft.at + figures.SELF_TEST_S if kind == "selftest" else math.inf
    draft.ups[index] = replace(ups, test=kind, test_until=until, test_result="running")
    draft.tell("ups.test_started", f"ups/{spec.name}", f"UPS {spec.name} begins a {kind}.")


def end_test(draft: Draft, index: int, result: str) -> None:
    """End with `passed`, `failed` or `aborted`."""
    spec, ups = draft.spec.ups[index], draft.ups[index]
    draft.ups[index] = replace(ups, test="none", test_until=math.inf, test_result=result)
    draft.tell("ups.test_ended", f"ups/{spec.name}", f"The {ups.test} of UPS {spec.name} is over: {result}.")
    draft.changed = True


def settle_test(draft: Draft, index: int) -> None:
    """End a test that is over, or that the input or the battery has ended."""
    spec, ups = draft.spec.ups[index], draft.ups[index]
    if ups.test == "none":
        return
    if not ups.input_ok:
        end_test(draft, index, "aborted")
        if ups.path == "battery":
            draft.ups[index] = replace(draft.ups[index], battery_since=draft.at)
            draft.tell("ups.on_battery", f"ups/{spec.name}", f"UPS {spec.name} carries its load from its battery.", ups.energy)
    elif _is_flat(ups):
        end_test(draft, index, "failed")
    elif _is_over(draft, spec, ups):
        end_test(draft, index, "passed" if ups.share >= figures.REPLACE_BELOW else "failed")
    else:
        draft.wake(ups.test_until)


def _is_flat(ups: Ups) -> bool:
    return bool(ups.failed & _FLAT) or ups.stopped or ups.energy <= 0.0


def _is_over(draft: Draft, spec: UpsSpec, ups: Ups) -> bool:
    return ups.test_until <= draft.at or (ups.test == "calibration" and ups.energy <= find_low_mark(spec, ups))
