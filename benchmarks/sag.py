"""From a sag of both mains to a step that is durable, stage by stage: a whole daemon on a simulated rack, whose PDUs hang on serial lines.

Three ways to the shed: the UPSes' contacts wired to the PDUs, which the daemon has only armed; no such lines, so that the daemon sees the
sag by NUT and tells each PDU over its line; and the reflex process on both lines, which is always the real one in real time
(`sag_bridge.py`). Beside them what the frames alone take by arithmetic. The rest is in virtual time by default, where only what waits
takes time: periods, lines, the job; its checkpoints are files there, and the real vault makes them durable. With `--bench` it is in real
time over real ports, where computing takes its time too, and what is saved is told to be durable.
"""

from __future__ import annotations

import asyncio
import statistics
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import sag_bridge
from benchmarks.measuring import Row, make_parser, make_row, scratch, show
from sim_hardware.drives.bench import Bench
from sim_hardware.drives.sim import Sim
from sim_hardware.faults.catalogue import CATALOGUE
from supernoded.chaos.drive import ACTION, Injection, Setup, Stage, Told
from supernoded.reflex.arithmetic import REQUEST, Pace

BAUDS = (9600, 19_200, 115_200)
BITS = 10  # of a byte on the simulated lines, 8N1
ANSWER = 8  # bytes, of a written coil or register
SAG_S = 1.2  # the longest break that the founding document survived (P6)
LOOK_S = 0.25  # between two looks, where nothing happens
SETTLE_S = 15.0  # till the daemon has found its broker, and read everything twice
STEP_S = 2.0  # of the simulated job
ARMED_WITHIN, DURABLE_WITHIN = 240.0, 120.0  # s
SHED_MS = 3.0  # from both contacts to open outlets (P4)
PDUS = ("pdu/A1", "pdu/B1")
RACK = """\
like = "rack-1x4"
[sim.power]
generator = false
direct_lines = {direct}
feed_baud = {baud}
[sim.power.ups]
kind = "line-interactive"
[sim.job]
step_s = {step}
save_s = 4.0
vault = {vault}
"""

DIRECT, TOLD = "direct lines", "by the daemon"

Times = Mapping[str, float]  # seconds after the sag, by stage


class Watch:
    """A stage with a stop-watch.

    What the plant did has the plant's own time. What was told is timed as it is heard: in real time the plant's clock stands still between
    two events.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage, self.heard = stage, list[tuple[float, Told]]()
        self._clock = asyncio.get_running_loop().time
        self._since = self._sagged = 0.0

    async def until(self, seconds: float, true: Callable[[], bool] = lambda: False) -> None:
        """Wait till it is true, or so long."""
        end = self._clock() + seconds
        while (left := end - self._clock()) > 0 and not true():
            await self.stage.wait(self.stage.now() + min(left, LOOK_S))
            self.heard += [(self._clock(), told) for told in self.stage.told()[len(self.heard) :]]

    async def sag(self) -> None:
        """Both mains are away for a moment; all times are from here."""
        fault = CATALOGUE["power.input_sag"]
        sags = [Injection(f"sag-{feed}", fault.kind, f"utility/{feed}", fault.parameters(), SAG_S) for feed in "AB"]
        self._since = self._clock()
        for one in sags:
            await self.stage.inject(one)
        self._sagged = next(one.at for one in self.stage.happened() if one.kind == "utility.sag")
        await self.until(SAG_S)
        for one in sags:
            await self.stage.lift(one)

    def find(self, kind: str, count: int) -> float | None:
        """Seconds till the plant did so, or the daemon told so, the last of so many; None when that has not been."""
        done = [one.at - self._sagged for one in self.stage.happened() if one.kind == kind and one.at >= self._sagged]
        told = [at - self._since for at, one in self.heard if one.kind == kind and one.raised and at >= self._since]
        found = told or done
        return found[count - 1] if len(found) >= count else None


STAGES: Mapping[str, tuple[str, int]] = {
    "contacts up": ("ups.flagged", 2),
    "both PDUs have shed": ("shed.fired", 2),
    "outage told": ("power.outage", 1),
    "cards capped": (f"{ACTION}power.cap", 1),
    "shed confirmed": (f"{ACTION}power.shed", 2),
    "save begun": ("checkpoint.begun", 1),
    "step saved": ("checkpoint.committed", 1),
    "step whole on storage": ("checkpoint.durable", 1),
    "step durable, confirmed": (f"{ACTION}job.checkpoint", 1),
}


async def direct(stage: Stage, pause: float) -> Times:
    """Wait till all is armed and the job steps; sag; note the stages. `pause` s more, so that runs meet the polls at other moments."""
    watch = Watch(stage)
    await watch.until(ARMED_WITHIN, lambda: _is_ready(stage))
    await watch.until(pause)
    await watch.sag()
    *_, last = STAGES.values()
    await watch.until(DURABLE_WITHIN, lambda: watch.find(*last) is not None)
    await watch.until(2 * LOOK_S)  # files are looked at as often
    return {name: seconds for name, one in STAGES.items() if (seconds := watch.find(*one)) is not None}


def _is_ready(stage: Stage) -> bool:
    return all(stage.truth(pdu, "pdu.armed") == 1.0 for pdu in PDUS) and stage.truth("job/train", "job.state") == "running"


def play(folder: Path, direct_lines: bool, baud: int, options: Namespace) -> list[Times]:
    """Some sags, each on a rack of its own."""
    file = folder / f"rack-{direct_lines}-{baud}.toml"
    file.write_text(RACK.format(direct=str(direct_lines).lower(), baud=baud, step=STEP_S, vault=str(not options.bench).lower()))
    drive, runs = Bench() if options.bench else Sim(), options.runs
    pauses = [SETTLE_S + STEP_S * run / runs for run in range(runs)]
    setups = [Setup(rack=str(file), seed=run + 1, max_wall=options.most) for run in range(runs)]
    played = [drive.play(setup, partial(direct, pause=pause)) for setup, pause in zip(setups, pauses, strict=True)]
    if failures := [one for each in played for one in each.failures]:
        raise SystemExit("\n".join(failures))
    return [one.result for one in played]


def list_rows(way: str, baud: int, runs: Sequence[Times]) -> Iterator[Row]:
    """A row a stage: the median of the runs, and beside it the worst."""
    contact = statistics.median(times.get("contacts up", 0.0) for times in runs)
    for name in STAGES:
        found = sorted(times[name] for times in runs if name in times)
        what = f"{way}, {baud}: {name}"
        if not found:
            yield make_row(what, -1.0, "ms", note=f"in none of {len(runs)} runs")
            continue
        by_itself = name == "both PDUs have shed" and way == DIRECT
        note = f"worst {1e3 * found[-1]:.1f}, of {len(found)} runs" + (f" of {len(runs)}" if len(found) < len(runs) else "")
        yield make_row(what, round(1e3 * statistics.median(found), 3), "ms", round(1e3 * contact + SHED_MS, 3) if by_itself else None, note)


def list_arithmetic(baud: int) -> Iterator[Row]:
    """What no program can be faster than, on a line that nobody else uses."""
    pace = Pace(baud, BITS)
    alone = pace.time_bytes(REQUEST) + pace.silence
    answered = alone + pace.time_bytes(ANSWER) + pace.silence
    note = "more than the 3 ms of P4" if 1e3 * alone > SHED_MS else "within the 3 ms of P4"
    yield make_row(f"arithmetic, {baud}: frame and silence", 1e3 * alone, "ms", note=note)
    yield make_row(f"arithmetic, {baud}: and its answer", 1e3 * answered, "ms")


def measure_bridge(folder: Path, baud: int, sags: int) -> list[Row]:
    """Through the reflex process."""
    home = folder / f"bridge-{baud}"
    home.mkdir()
    rack = home / "rack.toml"
    rack.write_text(RACK.format(direct="false", baud=baud, step=STEP_S, vault="false"))
    return sag_bridge.play(rack, home, baud, sags)


def main() -> None:
    """Each way at each speed."""
    parser = make_parser(__doc__)
    parser.add_argument("--bench", action="store_true", help="in real time, over real ports: a minute and more a run")
    parser.add_argument("--runs", type=int, default=0, help="sags of each way and speed (default: 5, with --bench 1)")
    parser.add_argument("--sags", type=int, default=20, help="of the reflex process at each speed")
    parser.add_argument("--baud", type=int, nargs="+", choices=BAUDS, default=list(BAUDS), help="speeds of the lines")
    parser.add_argument("--most", type=float, default=900.0, help="seconds that one run may take on the wall")
    options = parser.parse_args()
    options.runs = options.runs or (1 if options.bench else 5)
    rows: list[Row] = []
    with scratch() as folder:
        for baud in options.baud:
            rows += list_arithmetic(baud)
            rows += measure_bridge(folder, baud, options.sags)
            for way in (DIRECT, TOLD):
                rows += list_rows(way, baud, play(folder, way == DIRECT, baud, options))
    show(rows, as_json=options.json)


if __name__ == "__main__":
    main()
