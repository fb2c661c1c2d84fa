"""The grammar of a scenario file, as typed tables. Times are seconds of the scenario, and may be written as `90s` or `5m`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import tomli_w
from msgspec import field

from supernoded.chaos.condition import Condition, Count, Seconds, Whole, count_given
from supernoded.chaos.move import Move, Text
from supernoded.tables import Conflict, Key, Table, about

LONGEST = 900.0  # seconds of one fault, where the file says nothing (chaos-controller's default is an hour; ours is shorter)
WINDOWS = ("never", "always", "at_end", "count", "sometimes")


class Metadata(Table, frozen=True, kw_only=True):
    """What the scenario is, whose it is, and why it exists."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="words joined by hyphens")]
    owner: Text
    why: Text
    refs: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    contributes: Mapping[str, Literal["none", "low", "medium", "high"]] = {}


class OnSim(Table, frozen=True, kw_only=True):
    """Runs in virtual time."""

    seeds: Annotated[int, about("how many seeds a run without --seed takes", ge=1, le=10_000)] = 1
    max_wall: Annotated[float, about("real time that one run may take", unit="s", gt=0, le=86_400)] = 240.0


class OnBench(Table, frozen=True, kw_only=True):
    """Runs in real time against simulated devices."""

    protocols: tuple[str, ...] = ()
    max_wall: Annotated[float, about("real time that one run may take", unit="s", gt=0, le=86_400)] = 3600.0


class OnLive(Table, frozen=True, kw_only=True):
    """Runs in staging, for real."""

    approval: Annotated[int, about("people who must agree", ge=0, le=10)] = 2
    window: str = ""
    env: Text = "staging"


class Drives(Table, frozen=True, kw_only=True):
    """On which drives the scenario may run."""

    sim: OnSim | None = None
    bench: OnBench | None = None
    live: OnLive | None = None


class Site(Table, frozen=True, kw_only=True):
    """The rack it runs on; a live drive has its own."""

    fixture: Text


class Target(Table, frozen=True, kw_only=True):
    """Subjects picked by seed, or one subject by name."""

    shorthand: ClassVar[str] = "subject"

    subject: str = ""
    select: str = ""
    where: Mapping[str, str | int | float] = {}
    pick: Annotated[int, about("how many; all without it", ge=1)] | None = None
    not_: str = field(default="", name="not")

    def conflicts(self) -> Iterable[Conflict]:
        """Either a subject or a choice."""
        if bool(self.subject) == bool(self.select):
            yield Conflict(key=("select",), fault="a target is either `subject` or `select`", remedy="give one of them")


class Limits(Table, frozen=True, kw_only=True):
    """A run that would go beyond these is refused before anything is done."""

    max_nodes: Annotated[int, about("nodes with a fault", ge=0)] | None = None
    max_percent: Annotated[float, about("nodes with a fault", unit="%", ge=0, le=100)] | None = None
    max_duration: Annotated[float, about("the longest fault", unit="s", gt=0, le=86_400)] = LONGEST
    keep: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class Standing(Table, frozen=True, kw_only=True):
    """Conditions that must all hold together for `hold`, within `within`."""

    all: tuple[Condition, ...] = ()
    hold: Seconds = 0.0
    within: Seconds = 300.0


class SteadyState(Table, frozen=True, kw_only=True):
    """What must hold before anything is done, and all the time from then on."""

    before: Standing = Standing()
    always: tuple[Condition, ...] = ()


class Remedy(Table, frozen=True, kw_only=True):
    """What is under test: plugins of the daemon, or a policy that the drive brings in their place; then no daemon runs."""

    plugins: tuple[str, ...] = ()
    stand_in: str = ""
    settings: str | Mapping[str, Any] = ""  # TOML, or the same as a mapping
    needed: bool = True  # false: the scenario passes without it too, such as a near miss

    def conflicts(self) -> Iterable[Conflict]:
        """A remedy that is nothing cannot be left out."""
        if not self.plugins and not self.stand_in:
            yield Conflict(key=("plugins",), fault="names no remedy", remedy="name plugins, or a stand_in, or leave `remedy` out")

    def write_settings(self) -> str:
        """The settings as TOML. Raises TypeError for a value that TOML does not know."""
        return self.settings if isinstance(self.settings, str) else tomli_w.dumps(self.settings)


class Expectation(Condition, frozen=True, kw_only=True):
    """What must come of it: a condition and the window it is judged in, from the start, from a fault (`of`) or from another (`after`)."""

    shorthand: ClassVar[str] = ""

    name: Text
    within: Whole | None = None
    of: str = ""
    after: str = ""
    before: str = ""
    never: bool = False
    always: bool = False
    at_end: bool = False
    sometimes: bool = False
    count: Count | None = None

    def conflicts(self) -> Iterable[Conflict]:
        """One way of judging; one beginning of the window."""
        yield from super().conflicts()
        yield from count_given(self, WINDOWS, 0, 1, "is judged in one way")
        yield from count_given(self, ("of", "after"), 0, 1, "begins at one moment")
        if self.before and (self.never or self.always or self.at_end):
            yield Conflict(key=("before",), fault="only what happens has an order", remedy="leave it out")


class Recovery(Table, frozen=True, kw_only=True):
    """What must hold again when every fault is lifted."""

    heal_at: Literal["end_of_timeline"] = "end_of_timeline"
    converge: Standing = Standing()


class Wanted(Table, frozen=True, kw_only=True):
    """The forms in which `--folder` keeps the report."""

    formats: tuple[Literal["json", "junit"], ...] = ("json",)


class Scenario(Table, frozen=True, kw_only=True):
    """A whole file."""

    api_version: Literal["supernode.chaos/v1"] = field(name="apiVersion")
    kind: Literal["Scenario"]
    metadata: Metadata
    topology: Site
    drives: Drives = Drives(sim=OnSim())
    targets: Mapping[str, Target] = {}
    limits: Limits = Limits()
    steady_state: SteadyState = SteadyState()
    abort_if: tuple[Condition, ...] = ()
    remedy: Remedy | None = None
    stubs: tuple[str, ...] = ()  # policies that must fail it
    timeline: tuple[Move, ...] = ()
    lasts: Whole | None = None  # at least so long
    sample: Annotated[float, about("from one look at the truth to the next", unit="s", ge=0.01, le=60)] = 0.5
    expect: tuple[Expectation, ...] = ()
    recovery: Recovery = Recovery()
    report: Wanted = Wanted()

    def conflicts(self) -> Iterable[Conflict]:
        """What refers to a name finds it once; something must be expected."""
        yield from list_uses(self.expect)
        if not self.expect and not self.steady_state.always:
            yield Conflict(key=("expect",), fault="nothing is expected", remedy="add an expectation: without one every run passes")
        if not self.timeline and self.lasts is None:
            yield Conflict(key=("lasts",), fault="no fault and no length", remedy="say how long a run without a fault lasts, such as 10m")

    def list_conditions(self) -> Iterator[tuple[Key, Condition]]:
        """Every condition and where it stands."""
        yield from _place(("steady_state", "before", "all"), self.steady_state.before.all)
        yield from _place(("steady_state", "always"), self.steady_state.always)
        yield from _place(("abort_if",), self.abort_if)
        yield from _place(("expect",), self.expect)
        yield from _place(("recovery", "converge", "all"), self.recovery.converge.all)
        for place, move in enumerate(self.timeline):
            if move.after is not None:
                yield ("timeline", place, "after"), move.after
            if move.manifest.see is not None:
                yield ("timeline", place, "manifest", "see"), move.manifest.see


def list_uses(expectations: Sequence[Expectation]) -> Iterable[Conflict]:
    """Names that stand twice, and `after` and `before` that lead to nothing or in a circle."""
    places = {one.name: place for place, one in reversed(list(enumerate(expectations)))}
    for place, one in enumerate(expectations):
        if places[one.name] != place:
            yield Conflict(key=("expect", place, "name"), fault="this name stands here twice", remedy="rename one of them")
        for name in ("after", "before"):
            other = getattr(one, name)
            if other and other not in places:
                remedy = f"name one of {', '.join(sorted(places))}"
                yield Conflict(key=("expect", place, name), fault="no expectation has this name", remedy=remedy)
        if _goes_round(one, expectations, places):
            yield Conflict(key=("expect", place, "after"), fault="waits for itself", remedy="break the circle")


def _goes_round(one: Expectation, expectations: Sequence[Expectation], places: dict[str, int]) -> bool:
    current, passed = one, {one.name}
    while current.after in places:
        current = expectations[places[current.after]]
        if current.name in passed:
            return current.name == one.name
        passed.add(current.name)
    return False


def _place(key: Key, conditions: Sequence[Condition]) -> Iterator[tuple[Key, Condition]]:
    for place, condition in enumerate(conditions):
        yield (*key, place), condition
