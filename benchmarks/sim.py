"""The simulator's speed: the plant alone, and whole daemons that poll its devices over simulated wires.

A figure is CPU time for one simulated second, after the start and `WARM_UP` simulated seconds, in steady training; its note says
how many simulated seconds pass in one of CPU time. There is one thread and it waits for nothing but its journals' disk, so that on a
quiet machine this is the wall's time too. The budget over the wires is for four nodes of eight cards (design section 14).
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Sequence

from benchmarks.measuring import Row, make_parser, make_row, show
from sim_hardware.drives.sim import Sim
from sim_hardware.plant.site import TICK, advance, start
from sim_hardware.rack import RackError, load_rack
from supernoded.chaos.drive import Setup, Stage

RACKS = ("rack-1x8", "rack-4x8", "pod-16x8", "pod-128x8")
PLANT_ALONE = (*RACKS, "pod-1024x8")
WARM_UP = 30.0  # simulated seconds
ROUNDS = 3  # of the plant alone, of which the quickest counts
LARGEST, SMALLER = "pod-1024x8", "pod-128x8"

# ms of CPU time for a simulated second, and the growth of a card's cost from 128 nodes to 1024
PLANT_BUDGETS = {"rack-4x8": 1.0, "pod-128x8": 40.0}
WIRES_BUDGETS = {"rack-4x8": 10.0}
GROWTH_BUDGET = 1.3


def measure_plant(name: str, seconds: float) -> float:
    """CPU seconds for a simulated one, with nobody looking."""
    site, best = advance(start(load_rack(name), 1), WARM_UP), float("inf")
    for number in range(ROUNDS):
        gc.collect()
        begin = time.process_time()
        site = advance(site, WARM_UP + (number + 1) * seconds)
        best = min(best, (time.process_time() - begin) / seconds)
    return best


def measure_wires(name: str, seconds: float) -> float:
    """CPU seconds for a simulated one, with a daemon on every node, all plugins, all devices and the broker."""

    async def direct(_: Stage) -> float:
        await asyncio.sleep(WARM_UP)
        begin = time.process_time()
        await asyncio.sleep(seconds)
        return (time.process_time() - begin) / seconds

    played = Sim().play(Setup(rack=name, seed=1), direct)
    if played.failures:
        raise SystemExit(f"{name}: the run has failures, and its speed means nothing: {played.failures[0]}")
    return played.result


def make_rows(what: str, names: Sequence[str], measure: Callable[[str, float], float], budgets: dict[str, float], work: float) -> list[Row]:
    """A row a rack; `work` is about how many card-seconds are simulated for it."""
    rows = []
    for name in names:
        took = measure(name, max(2.0, min(120.0, work / len(load_rack(name).list_cards()))))
        rows.append(make_row(f"{what}, {name}", 1e3 * took, "ms/s", budgets.get(name), f"{1.0 / took:.0f} simulated s per s"))
    return rows


def make_cost_rows(names: Sequence[str], rows: Sequence[Row]) -> list[Row]:
    """What a card costs in a step, and how that grows."""
    costs = {name: _read(row) * 1e3 * TICK / len(load_rack(name).list_cards()) for name, row in zip(names, rows, strict=True)}
    made = [make_row(f"one card in one step, {name}", cost, "us") for name, cost in costs.items()]
    if {LARGEST, SMALLER} <= costs.keys():
        made.append(make_row(f"the same, {LARGEST} to {SMALLER}", costs[LARGEST] / costs[SMALLER], "times", GROWTH_BUDGET))
    return made


def _read(row: Row) -> float:
    value = row["value"]
    assert isinstance(value, float)
    return value


def main() -> None:
    """Measure and print; the exit code says nothing about the budgets."""
    parser = make_parser(__doc__)
    parser.add_argument("--plant", nargs="*", default=list(PLANT_ALONE), metavar="RACK", help="racks whose plant runs alone")
    parser.add_argument("--wires", nargs="*", default=list(RACKS), metavar="RACK", help="racks that run with daemons and devices")
    asked = parser.parse_args()
    try:
        rows = make_rows("the plant alone", asked.plant, measure_plant, PLANT_BUDGETS, 20_000.0)
        rows += make_cost_rows(asked.plant, rows)
        rows += make_rows("over the wires", asked.wires, measure_wires, WIRES_BUDGETS, 4_000.0)
    except RackError as error:
        parser.error(str(error))
    show(rows, as_json=asked.json)


if __name__ == "__main__":
    main()
