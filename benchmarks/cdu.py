"""Coolant held through steps of a megawatt: ours, PI alone, and the published structures of swampd and thermald, on every plant file.

What is assumed: plants are those of `sim_hardware/plant/cooling/plants` (`reference` is 2 MW, 48 L/s, 20 s transport, 12 s rack lag,
6 s exchanger lag, valve 15 s), scaled to four nodes of two cards whose full load stands for 1.6 MW; times do not change by that. The
exchanger is one well-mixed volume behind a counterflow effectiveness, pipes are plug flow, racks first-order; all heat is the cards'.
Gauges have 2 s lag and are read every `poll_s`, rounded to 0.1 C; the loop runs each second, half a second after a poll. Power meters
are exact, 15 % off, or lag behind (`lag5`: first-order, 5 s). The valve is commissioned first, by the CLI's procedure over the same
gauges; `delay` and `ua-15` change the plant afterwards. Each run begins with cold memory where the plant's own controller held
0.8 MW. Errors are of the real supply, not of a gauge. Gains were tuned on `reference` alone.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby, pairwise
from types import MappingProxyType

import msgspec

from benchmarks.commissioning import commission
from benchmarks.controllers import CONTROLLERS
from benchmarks.cooled import SETPOINT, Plant, Telling, find_design
from benchmarks.measuring import Row, make_parser
from sim_hardware.plant.cooling import Design, list_designs
from supernoded import __version__

BAND = 0.3  # K (T5)
Loads = tuple[tuple[float, float], ...]  # from when, s; MW
STEPS: Loads = ((0.0, 0.8), (30.0, 1.6), (330.0, 0.4))  # design section 14
REST = 300.0  # s of steady load at the end, in which a limit cycle shows
CYCLE, TURNS = 0.25, 4  # K from crest to trough, and how often it must turn, to be one


@dataclass(frozen=True)
class Case:
    """One way to load a plant and to tell of it."""

    loads: Loads = STEPS
    telling: Telling = field(default_factory=Telling)
    delay: float = 1.0  # of the plant's, as it was commissioned
    clean: float = 1.0  # of its exchanger's UA
    blind: tuple[float, float] | None = None  # from when to when the supply's sensor cannot be read, s

    @property
    def ends(self) -> float:
        """Seconds."""
        return self.loads[-1][0] + REST


def make_square(seconds: float) -> Case:
    """Load that goes up and down, as long each, and then stays."""
    turns = range(max(6, round(480.0 / seconds)) // 2 * 2)
    return Case(loads=((0.0, 0.8), *((30.0 + seconds * turn, 0.8 if turn % 2 else 1.6) for turn in turns)))


CASES: Mapping[str, Case] = MappingProxyType(
    {
        "steps": Case(),
        "power+15": Case(telling=Telling(power_factor=1.15)),
        "power-15": Case(telling=Telling(power_factor=0.85)),
        "delay+20": Case(delay=1.2),
        "delay-20": Case(delay=0.8),
        "ua-15": Case(clean=0.85),
        "lag5": Case(telling=Telling(meter_lag_s=5.0)),
        "lag10": Case(telling=Telling(meter_lag_s=10.0)),
        **{f"square{seconds}": make_square(float(seconds)) for seconds in (20, 40, 60, 90, 120)},
        "sensor-gap": Case(blind=(60.0, 90.0)),
    }
)
BY_DEFAULT = ("steps", "power+15", "power-15", "delay+20", "delay-20", "ua-15", "lag5", "lag10")
ALONE = ("steps",)  # what those without feed-forward are shown in: power is nothing to them


@dataclass(frozen=True)
class Job:
    """One row to be."""

    controller: str
    case: str
    plant: str  # name or file
    poll_s: float


@cache
def _prepare(plant: str) -> tuple[str, Design, object]:
    name, design = find_design(plant)
    return name, design, commission(design)


def change_design(design: Design, case: Case) -> Design:
    """The plant as it has become since it was commissioned."""
    structs = msgspec.structs
    exchanger = structs.replace(design.exchanger, watts_per_kelvin=design.exchanger.watts_per_kelvin * case.clean)
    piping = structs.replace(design.piping, return_s=max(1.0, design.piping.return_s * case.delay))
    return structs.replace(design, exchanger=exchanger, piping=piping)


def run(job: Job) -> Row:
    """One controller through one case."""
    name, design, data = _prepare(job.plant)
    case = CASES[job.case]
    plant = Plant(change_design(design, case), replace(case.telling, poll_s=job.poll_s), case.loads[0][1])
    controller = CONTROLLERS[job.controller](plant.take_over(), data)  # type: ignore[arg-type]
    began, seen = plant.state.at, list[tuple[float, float]]()
    controller.take(plant.poll())
    for half in range(1, round(case.ends * 2.0) + 1):
        plant.megawatts = [watts for since, watts in case.loads if since <= plant.state.at - began][-1]
        plant.blind = case.blind is not None and case.blind[0] <= plant.state.at - began < case.blind[1]
        plant.pass_half()
        seen.append((plant.sense("coolant.true_supply_temperature") - SETPOINT, plant.sense("coolant.valve")))
        if half % 2 == 0 and (half // 2) % round(job.poll_s) == 0:
            controller.take(plant.poll())
        output = controller.step(plant.state.at) if half % 2 else None
        if output is not None:
            plant.put(output)
    errors = [error for error, _ in seen]
    return {
        "controller": job.controller,
        "case": job.case,
        "plant": name,
        "poll_s": job.poll_s,
        "peak_error_c": round(max(map(abs, errors)), 3),
        "seconds_outside": sum(0.5 for error in errors if abs(error) > BAND),
        "valve_travel": round(sum(abs(after - before) for (_, before), (_, after) in pairwise(seen)), 1),
        "limit_cycle": has_cycle(errors[-round(REST * 1.2) :]),
        "cores": os.cpu_count() or 1,
        "version": __version__,
        "python": platform.python_version(),
    }


def has_cycle(errors: Sequence[float]) -> bool:
    """Whether it goes up and down without end under a steady load: crests and troughs CYCLE apart, TURNS times."""
    turns, low, high, rising = 0, errors[0], errors[0], None
    for error in errors:
        low, high = min(low, error), max(high, error)
        if error - low >= CYCLE and rising is not True:
            turns, rising, high = turns + 1, True, error
        elif high - error >= CYCLE and rising is not False:
            turns, rising, low = turns + 1, False, error
        if rising:
            low = error if error > high - 1e-12 else low
    return turns >= TURNS


def list_jobs(plants: Sequence[str], cases: Sequence[str], polls: Sequence[float]) -> Iterator[Job]:
    """The rows, ours first."""
    for plant in plants:
        for case in cases:
            for poll in polls:
                for controller in CONTROLLERS:
                    yield Job(controller, case, plant, poll)


def list_default(plants: Sequence[str]) -> Iterator[Job]:
    """The steps on every plant; slower polls on the first one; those without feed-forward where it makes a difference."""
    for plant in plants:
        for case in BY_DEFAULT:
            for poll in (1.0, 2.0, 5.0) if case == "steps" and plant == plants[0] else (1.0,):
                yield from (Job(name, case, plant, poll) for name in CONTROLLERS if name == "ours" or case in ALONE)


def run_all(jobs: Sequence[Job]) -> list[Row]:
    """All rows, in order. A plant stays with one process, as it is commissioned only once there."""
    plants = [list(group) for _, group in groupby(jobs, key=lambda job: job.plant)]
    if len(plants) == 1:
        return _run_some(plants[0])
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        return [row for rows in pool.map(_run_some, plants) for row in rows]


def _run_some(jobs: Sequence[Job]) -> list[Row]:
    return [run(job) for job in jobs]


def show(rows: Sequence[Row], *, as_json: bool) -> None:
    """Print the rows, for a program or for people."""
    if as_json:
        print(json.dumps(list(rows), indent=2))
        return
    print(f"{'plant':18s} {'case':12s} {'controller':10s} {'poll s':>6s} {'peak C':>7s} {'outside s':>9s} {'travel %':>8s}  limit cycle")
    for row in rows:
        cycle = "YES" if row["limit_cycle"] else "no"
        print(
            f"{row['plant']:18s} {row['case']:12s} {row['controller']:10s} {row['poll_s']:6g} {row['peak_error_c']:7.3f} "
            f"{row['seconds_outside']:9.1f} {row['valve_travel']:8.1f}  {cycle}"
        )


def main() -> None:
    """Measure, and print."""
    parser = make_parser(__doc__)
    parser.add_argument("--plant", metavar="FILE", help="a plant file, or the name of one that is shipped (default: all of those)")
    parser.add_argument("--case", metavar="NAME", choices=[*CASES, "all"], help=f"one of {', '.join(CASES)}, or all (default: the steps)")
    parser.add_argument("--poll", type=float, metavar="S", help="seconds between two polls (default: 1)")
    given = parser.parse_args()
    plants = [given.plant] if given.plant else list(list_designs())
    if given.case or given.poll:
        cases = list(CASES) if given.case == "all" else [given.case or "steps"]
        jobs = list(list_jobs(plants, cases, [given.poll or 1.0]))
    else:
        jobs = list(list_default(plants))
    show(run_all(jobs), as_json=given.json)


if __name__ == "__main__":
    main()
