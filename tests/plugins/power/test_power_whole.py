"""A whole daemon with a small plant of two UPSes, two PDUs and a job: from the sag to the safe step, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from supernoded.job.parts import JobActuator
from supernoded.plugin import NODE, Action, Effect, Node, Reading, Setpoint, Sight, Value, hookimpl, make_reading
from supernoded.quantities import VOCABULARY
from supernoded.testing import PlayDaemon, Trial

JOB = "job/train"
OUTLETS = 'outlets = [{number = 1, load = "n0"}, {number = 2, load = "n1"}, {number = 3, load = "n*/fan*", sheddable = true}]'
SETTINGS = """
mode = "act"
incidents.clear_after_s = 20.0
nodes = [{name = "n0", cards = 1, feeds = ["A", "B"], loop = "cdu0"}, {name = "n1", cards = 1, feeds = ["A", "B"], loop = "cdu0"}]
ups = [{name = "A", energy_wh = 100.0}, {name = "B", energy_wh = 100.0}]
loops = [{name = "cdu0"}]
pdus = [
  {name = "A1", feed = "A", OUTLETS},
  {name = "B1", feed = "B", OUTLETS},
]
[roles]
"feed/A" = "n0"
"feed/B" = "n0"
"cdu/0" = "n0"
"power/site" = "n0"
""".replace("OUTLETS", OUTLETS)


@dataclass
class Plant:
    """All that the test's parts read and change."""

    flags: dict[str, frozenset[str]] = field(default_factory=lambda: dict.fromkeys("AB", frozenset({"ol"})))
    volts: dict[str, float] = field(default_factory=lambda: dict.fromkeys("AB", 230.0))
    leases: dict[str, float] = field(default_factory=dict)  # PDU -> until
    watts: float = 500.0
    request: str = "none"
    state: str = "running"
    saved_at: float = 0.0
    off: set[str] = field(default_factory=set)
    done: list[str] = field(default_factory=list)  # kind, target and amount of what was performed

    def fail(self, names: str = "AB") -> None:
        for name in names:
            self.flags[name], self.volts[name] = frozenset({"ob", "dischrg"}), 0.0

    def mend(self) -> None:
        for name in "AB":
            self.flags[name], self.volts[name] = frozenset({"ol", "chrg"}), 230.0

    def list_values(self, now: float) -> Mapping[str, Mapping[str, tuple[str, Value]]]:
        """By scope: subject and quantity -> value."""
        feeds: dict[str, dict[str, Value]] = {
            f"feed/{name}": {
                f"ups/{name} ups.status": self.flags[name],
                f"ups/{name} ups.input_voltage": self.volts[name],
                f"ups/{name} ups.input_voltage.nominal": 230.0,
                f"ups/{name} ups.output_power": self.watts,
                f"pdu/{name}1 pdu.armed": float(self.leases.get(f"{name}1", 0.0) > now),
                f"pdu/{name}1 pdu.event": "armed",
                f"pdu/{name}1 pdu.event_count": 1.0,
                **{
                    f"pdu/{name}1/outlet{number} outlet.state": "off" if f"pdu/{name}1/outlet{number}" in self.off else "on"
                    for number in (1, 2)
                },
            }
            for name in "AB"
        }
        job: dict[str, Value] = {
            f"{JOB} job.state": self.state,
            f"{JOB} job.request": self.request,
            f"{JOB} job.step_time": 2.0,
            f"{JOB} job.save_time": 8.0,
            f"{JOB} job.durable_age": now - self.saved_at if self.saved_at else 500.0,
        }
        node: dict[str, Value] = {"n0/board host.temperature": 40.0, "n1/board host.temperature": 40.0}
        scopes: dict[str, dict[str, Value]] = {**feeds, NODE: {**job, **node}, "cdu/0": {"cdu/0 coolant.flow": 40.0}}
        return {
            scope: {f"{key} {VOCABULARY[key.split()[1]].unit}": (key.split()[1], value) for key, value in values.items()}
            for scope, values in scopes.items()
        }


@dataclass
class Gauge:
    """Reads all of one scope."""

    plant: Plant
    node: Node
    scope: str
    period: float = 1.0
    timeout: float = 0.4

    @property
    def name(self) -> str:
        return f"plant {self.scope}"

    async def read(self) -> Sequence[Reading]:
        now = self.node.clock.now()
        values = self.plant.list_values(now)[self.scope]
        return [make_reading(key.split()[0], quantity, value, VOCABULARY[quantity].unit, now) for key, (quantity, value) in values.items()]


@dataclass
class Works:
    """Performs everything, and shows it at once; the job's checkpoint is whole after 6 s."""

    plant: Plant
    node: Node
    kinds: frozenset[str] = frozenset(
        {"power.shed", "power.restore", "power.cap", "power.off", "power.on", "job.checkpoint", "job.withdraw", "job.stop", "job.resume"}
    )
    targets: Sequence[str] = ("pdu/*", "n0", "n1", JOB)
    seen: dict[str, float] = field(default_factory=dict)

    async def apply(self, action: Action) -> None:
        step, plant = action.step, self.plant
        amount = f" {step.amount:.0f}" if step.kind == "power.cap" and step.amount else ""
        plant.done.append(f"{step.kind} {step.target}{amount}")
        self.seen[action.id] = self.node.clock.now() + (6.0 if step.kind == "job.checkpoint" else 0.0)
        if step.kind == "job.stop":
            plant.state = "stopped"
        elif step.kind == "job.resume":
            plant.state = "running"
        elif step.kind == "power.off":
            plant.off.add(step.target)
        elif step.kind == "power.on":
            plant.off.discard(step.target)

    async def observe(self, action: Action) -> Sight:
        shows = self.seen.get(action.id)
        if shows is None:
            return Sight(effect=Effect.ABSENT)
        if self.node.clock.now() < shows:
            return Sight(effect=Effect.UNKNOWN)
        if action.step.kind == "job.checkpoint":
            self.plant.saved_at = shows
        return Sight(effect=Effect.PRESENT)


@dataclass
class Lease:
    """The shed of one PDU as a handle."""

    plant: Plant
    node: Node
    pdu: str
    quantity: str = "pdu.lease_left"

    @property
    def target(self) -> str:
        return f"pdu/{self.pdu}/shed"

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        self.plant.leases[self.pdu] = self.node.clock.now() + setpoint.value

    async def now_at(self) -> Setpoint | None:
        return None

    async def hand_back(self, scope: str) -> Sight:
        self.plant.leases.pop(self.pdu, None)
        return Sight(effect=Effect.PRESENT)


Play = Callable[..., tuple[Plant, Trial]]


@pytest.fixture
def play(supernoded_daemon: PlayDaemon, monkeypatch: pytest.MonkeyPatch) -> Play:
    monkeypatch.setattr(JobActuator, "targets", ("elsewhere/*",))  # the plant's own job has no ranks that connect

    def run(seconds: float, script: Mapping[float, Callable[[Plant], object]], settings: str = "", **how: Any) -> tuple[Plant, Trial]:
        plant = Plant(**how)

        def supernoded_sensors(settings: Any, node: Node) -> Sequence[Gauge]:
            return [Gauge(plant, node, scope) for scope in ("feed/A", "feed/B", "cdu/0", NODE)]

        def supernoded_actuators(settings: Any, node: Node) -> Sequence[Works]:
            return [Works(plant, node)]

        def supernoded_handles(settings: Any, node: Node) -> Sequence[Lease]:
            return [Lease(plant, node, pdu) for pdu in ("A1", "B1")]

        hooks = (supernoded_sensors, supernoded_actuators, supernoded_handles)
        plugin = SimpleNamespace(**{hook.__name__: hookimpl(hook) for hook in hooks})
        moments = {at: (lambda change=change: change(plant)) for at, change in script.items()}
        return plant, supernoded_daemon({"plant": plugin}, SETTINGS + settings, seconds=seconds, script=moments)

    return run


def told(trial: Trial) -> list[str]:
    return [deed.action.step.reason for deed in trial.actions if deed.action.step.kind == "notify" and deed.action.policy == "power"]


def test_a_quiet_minute_arms_both_and_does_nothing_else(play: Play) -> None:
    plant, trial = play(60.0, {})
    assert set(plant.leases) == {"A1", "B1"}
    assert plant.done == []
    assert [incident.kind for incident in trial.incidents] == []


def test_a_sag_of_both_is_shed_capped_saved_and_undone(play: Play) -> None:
    plant, trial = play(150.0, {40.0: Plant.fail, 60.0: Plant.mend}, watts=50.0)
    assert sorted(plant.done[:4]) == ["power.cap n0 350", "power.cap n1 350", "power.shed pdu/A1", "power.shed pdu/B1"]
    assert "job.checkpoint job/train" in plant.done[4:]
    assert sorted(plant.done[-2:]) == ["power.cap n0", "power.cap n1"]
    assert not any(deed.startswith(("job.stop", "power.off")) for deed in plant.done)
    outages = [incident for incident in trial.incidents if incident.kind == "power.outage"]
    assert [incident.closed is not None for incident in outages] == [True]
    assert any(text.startswith("no feed has mains") and text.endswith("job/train runs on.") for text in told(trial))


def test_a_long_outage_stops_in_order_and_comes_back(play: Play) -> None:
    plant, trial = play(400.0, {40.0: Plant.fail, 200.0: Plant.mend}, watts=1000.0)
    order = [deed.split()[0] for deed in plant.done]
    assert [deed for deed in plant.done if deed.startswith("power.off")] == ["power.off pdu/A1/outlet2", "power.off pdu/B1/outlet2"]
    assert (
        order.index("job.checkpoint")
        < order.index("job.stop")
        < order.index("power.off")
        < order.index("power.on")
        < order.index("job.resume")
    )
    assert (plant.off, plant.state) == (set(), "running")
    assert [incident.kind for incident in trial.incidents if incident.closed is None] == ["power.reserve_short"]  # half of it was used up


def test_one_feed_lost_saves_and_never_sheds(play: Play) -> None:
    plant, trial = play(90.0, {40.0: lambda plant: plant.fail("A")})
    assert plant.done == ["job.checkpoint job/train"]
    assert {incident.kind for incident in trial.incidents} == {"power.feed_lost"}


def test_in_observe_nothing_is_armed_and_nothing_is_done(play: Play) -> None:
    plant, trial = play(90.0, {40.0: Plant.fail}, '[policies.power]\nmode = "observe"\n')
    assert (plant.leases, plant.done) == ({}, [])
    rehearsed = {deed.action.step.kind for deed in trial.actions if deed.action.policy == "power"}
    assert {"power.shed", "power.cap", "job.checkpoint"} <= rehearsed
