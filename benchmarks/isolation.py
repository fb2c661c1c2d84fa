"""From a card that hangs to the job's first new step, stage by stage: the scenario `silent-card` on the simulator, in virtual seconds.

Only what waits takes time there: periods, deadlines, the job. A stage ends when a daemon has told its action done or, of the job, when it
happened. What the job needs to read its checkpoint is taken out of the sum, as the budget says.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from benchmarks.measuring import Row, find_percentile, make_row
from sim_hardware.drives.sim import Sim
from supernoded.chaos.drive import ACTION, Happened, Injection, Stage, Told
from supernoded.chaos.execute import AS_WRITTEN, make_setup, plan_run, read_right
from supernoded.chaos.run import direct
from supernoded.model import Sight, Value

SCENARIO = "silent-card"
SEEDS = (1, 2, 3)
LOOK_S = 0.25  # virtual seconds between two looks at the job's step
SLACK_S, LEAST_SILENCE_S, STEPS_SILENT = 45.0, 15.0, 3  # design section 14: max(15 s, 3 x p95 step) + 45 s
JOB = "job/train"
TELLING = "the card is told silent"
# What ends each stage, in the saga's order: an event or action that a daemon told; what the plant did comes after them.
STAGES: tuple[tuple[str, str], ...] = (
    (TELLING, "card.silent"),
    ("hold", f"{ACTION}card.hold"),
    ("abort", f"{ACTION}job.abort"),
    ("isolate", f"{ACTION}card.isolate"),
    ("test of the spare", f"{ACTION}card.test"),
    ("remap", f"{ACTION}job.remap"),
    ("resume asked", f"{ACTION}job.resume"),
)
FIRST_STEP = "first new step"


@dataclass
class Watched:
    """A stage on which the job's step is looked at all the time, and the moment of each fault is kept."""

    stage: Stage
    steps: list[tuple[float, float]] = field(default_factory=list)  # when the job was first seen at a step, and that step
    faults: list[float] = field(default_factory=list)

    def now(self) -> float:
        """See `Stage.now`."""
        return self.stage.now()

    async def wait(self, until: float) -> None:
        """See `Stage.wait`; it returns early, which it may."""
        await self.stage.wait(min(until, self.stage.now() + LOOK_S))
        step = self.stage.truth(JOB, "job.step")
        if isinstance(step, int | float) and (not self.steps or step != self.steps[-1][1]):
            self.steps.append((self.stage.now(), float(step)))

    async def inject(self, injection: Injection) -> None:
        """See `Stage.inject`."""
        self.faults.append(self.stage.now())
        await self.stage.inject(injection)

    async def lift(self, injection: Injection) -> None:
        """See `Stage.lift`."""
        await self.stage.lift(injection)

    async def manifest(self, injection: Injection) -> Sight:
        """See `Stage.manifest`."""
        return await self.stage.manifest(injection)

    def truth(self, subject: str, quantity: str) -> Value:
        """See `Stage.truth`."""
        return self.stage.truth(subject, quantity)

    def happened(self) -> Sequence[Happened]:
        """See `Stage.happened`."""
        return self.stage.happened()

    def told(self) -> Sequence[Told]:
        """See `Stage.told`."""
        return self.stage.told()


@dataclass(frozen=True)
class Course:
    """What one run has shown. Times are virtual seconds after the card began to hang."""

    ends: Mapping[str, float]  # stage -> when it ended; what never did is missing
    restoring: float  # seconds in which the job read its checkpoint
    step: float  # p95 of the job's steps before that, seconds

    @property
    def budget(self) -> float:
        """Seconds, by design section 14."""
        return max(LEAST_SILENCE_S, STEPS_SILENT * self.step) + SLACK_S


def play(seed: int) -> Course:
    """One run."""
    drive = Sim()
    scenario = read_right(find_scenario(), drive, seed)
    plan = plan_run(scenario, drive, seed)
    watched: list[Watched] = []

    async def watch(stage: Stage) -> None:
        watched.append(Watched(stage))
        await direct(watched[0], plan=plan)

    drive.play(make_setup(scenario, drive, seed, AS_WRITTEN), watch)
    return read_course(watched[0].faults[0], watched[0].told(), watched[0].happened(), watched[0].steps)


def find_scenario() -> Path:
    """Its file."""
    return Path(__file__).resolve().parent.parent / "sim_hardware" / "scenarios" / f"{SCENARIO}.yaml"


def read_course(begin: float, told: Sequence[Told], happened: Sequence[Happened], steps: Sequence[tuple[float, float]]) -> Course:
    """The stages out of what daemons told, what happened, and when the job was seen at which step."""
    ends: dict[str, float] = {}
    for name, kind in STAGES:
        first = next((one.at for one in told if one.at >= begin and one.kind == kind and one.raised), None)
        if first is not None:
            ends[name] = first - begin
    resumed = next((one.at for one in happened if one.kind == "job.resumed" and one.at >= begin), None)
    restoring = next((one.at for one in happened if one.kind == "job.restoring" and one.at >= begin), None)
    if resumed is not None:
        after = [at for at, _ in steps if at > resumed]
        ends |= {FIRST_STEP: after[0] - begin} if after else {}
    lengths = [later[0] - earlier[0] for earlier, later in pairwise(steps) if later[0] < begin]
    return Course(
        ends=ends,
        restoring=resumed - restoring if resumed is not None and restoring is not None else 0.0,
        step=find_percentile(lengths, 95) if len(lengths) > 1 else 0.0,
    )


def measure_isolation() -> Iterator[Row]:
    """Each stage over some seeds, and the whole beside its budget."""
    courses = [play(seed) for seed in SEEDS]
    before = 0.0
    for name in (*(name for name, _ in STAGES), FIRST_STEP):
        ends = [course.ends[name] for course in courses if name in course.ends]
        if not ends:
            yield make_row(f"isolation: {name}", float(len(courses)), "runs", 0.0, "in which it was not seen")
            continue
        middle = statistics.median(ends)
        note = f"after the card began to hang; {middle - before:.2f} s of it this stage's; seen in {len(ends)} of {len(courses)} runs"
        yield make_row(f"isolation: {name}", middle, "s", None, note)
        before = middle
    yield from _tell_whole([course for course in courses if FIRST_STEP in course.ends])


def _tell_whole(courses: Sequence[Course]) -> Iterator[Row]:
    if courses:
        worst = max(courses, key=lambda course: course.ends[FIRST_STEP] - course.restoring - course.budget)
        note = f"worst of {len(courses)} runs; {worst.restoring:.1f} s of reading the checkpoint apart; p95 of a step {worst.step:.2f} s"
        yield make_row("isolation: hang to first new step", worst.ends[FIRST_STEP] - worst.restoring, "s", worst.budget, note)
