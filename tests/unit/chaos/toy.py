"""A toy drive: two pumps, a temperature, a job that is lost when it is too hot, and a daemon in five lines. In virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from supernoded.chaos.catalogue import Danger, FaultKind, RackView, Redundancy
from supernoded.chaos.condition import Condition
from supernoded.chaos.drive import Happened, Injection, Played, Setup, Stage, Told
from supernoded.chaos.playing import PlayDaemon
from supernoded.errors import ChaosError
from supernoded.model import Effect, Sight, Value
from supernoded.parts import Fidelity
from supernoded.tables import about

T = TypeVar("T")

TICK = 0.1
PUMPS = ("cdu/0/pump0", "cdu/0/pump1")
COOL, HOT = 60.0, 90.0


class Stop(msgspec.Struct, frozen=True):
    """Parameters of `pump.stop`."""

    share: Annotated[float, about("of the flow that is lost", ge=0, le=1)] = 1.0
    coast: Annotated[float, about("until it stands", unit="s", ge=0, le=10)] = 0.0


class Nothing(msgspec.Struct, frozen=True):
    """No parameters."""


@dataclass(frozen=True)
class Kind:
    kind: str
    text: str
    parameters: type[msgspec.Struct] = Nothing
    targets: tuple[str, ...] = ("pump",)
    takes_out: bool = True
    undoable: bool = True
    danger: Danger = "model"
    made: Mapping[str, Fidelity] = field(default_factory=lambda: {"toy": Fidelity.MODEL, "sim": Fidelity.MODEL})

    def fidelity(self, drive: str) -> Fidelity:
        return self.made.get(drive, Fidelity.ABSENT)


KINDS: dict[str, FaultKind] = {
    kind.kind: kind
    for kind in (
        Kind("pump.stop", "A pump stops.", Stop),
        Kind("pump.unseen", "Nothing at all, and nothing to be seen of it.", takes_out=False),
        Kind("pump.haunted", "Shows whether it is there or not.", takes_out=False),
        Kind("pump.sticky", "A pump stops and stays stopped.", Stop),
        Kind("pump.refused", "Cannot be put in place.", takes_out=False),
        Kind("pump.broken", "A pump breaks for good.", undoable=False),
        Kind("card.warm", "A card is warm.", targets=("card",), takes_out=False),
        Kind("card.melted", "Only elsewhere.", targets=("card",), made={}),
    )
}
VIEW = RackView(
    name="toy",
    subjects={"node": ("n0", "n1"), "card": ("n0/card0", "n0/card1", "n1/card0", "n1/card1"), "pump": PUMPS, "cdu": ("cdu/0",)},
    attributes={
        **{f"n{node}/card{slot}": {"node": (f"n{node}",), "slot": (str(slot),)} for node in (0, 1) for slot in (0, 1)},
        "n0": {"feed": ("A", "B")},
        "n1": {"feed": ("B",)},
    },
    sensors={
        ("n0", "air.temperature"): "C",
        ("cdu/0", "coolant.flow"): "L/min",
        ("cdu/0/pump0", "pump.state"): "text",
        ("cdu/0/pump1", "pump.state"): "text",
        ("cdu/0", "cdu.status"): "flags",
        ("n1", "air.temperature"): "C",
    },
    happenings={"pump.stopped": ("pump",), "pump.started": ("pump",), "job.lost": ("job",)},
    tellings=frozenset({"cooling.lost"}),
    redundancy={"n_plus_1_pumps": (Redundancy(members=PUMPS, least=1, text="pumps of cdu/0"),)},
)


class ToyStage:
    """See `Stage`. `policy` is `cool` (tells after 2 s, cools after 3), `panic` (stops the job at once) or nothing."""

    def __init__(self, setup: Setup, policy: str) -> None:
        self._setup, self._policy = setup, policy
        self.faults: dict[str, Injection] = {}
        self.log: list[str] = []
        self._happened: list[Happened] = []
        self._told: list[Told] = []
        self._temperature, self._low_since, self._cooling, self._lost = COOL, float("nan"), False, False
        self._at = asyncio.get_running_loop().time()

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def wait(self, until: float) -> None:
        known = len(self._happened) + len(self._told)
        while self.now() < until - 1e-9:
            await asyncio.sleep(min(TICK, until - self.now()))
            self._update()
            if len(self._happened) + len(self._told) > known:
                return

    async def inject(self, injection: Injection) -> None:
        if injection.fault == "pump.refused":
            raise ChaosError("no such pump can be refused; choose another fault")
        self.log.append(f"inject {injection.name} {injection.parameters}")
        if self._setup.physics and injection.name not in self.faults and injection.fault != "pump.unseen":
            self._happen("pump.stopped", injection.target, "it stands")
        if self._setup.physics:
            self.faults[injection.name] = injection

    async def lift(self, injection: Injection) -> None:
        self.log.append(f"lift {injection.name}")
        if injection.fault != "pump.sticky":
            self.faults.pop(injection.name, None)

    async def manifest(self, injection: Injection) -> Sight:
        shown = injection.name in self.faults and injection.fault != "pump.unseen"
        if injection.fault == "pump.haunted":
            shown = True
        return Sight(effect=Effect.PRESENT if shown else Effect.ABSENT, text=f"register 7 is {int(shown)}")

    def truth(self, subject: str, quantity: str) -> Value:
        if subject == "n1":
            return None
        states = {pump: "off" if any(one.target == pump for one in self.faults.values()) else "running" for pump in PUMPS}
        values: dict[tuple[str, str], Value] = {
            ("n0", "air.temperature"): self._temperature,
            ("cdu/0", "coolant.flow"): self._find_flow(),
            ("cdu/0", "cdu.status"): frozenset({"OK"} if self._find_flow() >= 60 else {"LOW", "ALARM"}),
            **{(pump, "pump.state"): state for pump, state in states.items()},
        }
        if (subject, quantity) not in values:
            raise ChaosError(f"{subject} has no {quantity}")
        return values[subject, quantity]

    def happened(self) -> Sequence[Happened]:
        return self._happened

    def told(self) -> Sequence[Told]:
        return self._told

    def _find_flow(self) -> float:
        lost = sum(one.parameters.share * 50.0 for one in self.faults.values() if isinstance(one.parameters, Stop))
        return 100.0 - lost + (50.0 if self._cooling else 0.0)

    def _happen(self, kind: str, subject: str, text: str) -> None:
        self._happened.append(Happened(self.now(), kind, subject, text))

    def _tell(self, raised: bool) -> None:
        self._told.append(Told(self.now(), "n0", "cooling.lost", "cdu/0", raised, "the flow is low" if raised else "the flow is back"))

    def _update(self) -> None:
        now = self.now()
        step, self._at = now - self._at, now
        low = self._find_flow() < 60.0
        self._temperature = min(self._temperature + step, 200.0) if low else max(self._temperature - 2 * step, COOL)
        if self._temperature > HOT and not self._lost:
            self._lost = True
            self._happen("job.lost", "job/train", f"{self._temperature:.1f} C, at most {HOT:g}")
        self._decide(low, now)

    def _decide(self, low: bool, now: float) -> None:
        """The whole daemon."""
        raised = bool(self._told) and self._told[-1].raised
        self._low_since = (self._low_since if self._low_since == self._low_since else now) if low else float("nan")
        if self._policy == "panic" and not self._lost:
            self._lost = True
            self._happen("job.lost", "job/train", "the policy stopped it")
        if self._policy != "cool":
            return
        if low and not raised and now - self._low_since >= 2.0:
            self._tell(True)
        if low and now - self._low_since >= 3.0:
            self._cooling = True
            self._happen("pump.started", "cdu/0/pump1", "the daemon asked for it")
        if not low and raised:
            self._tell(False)


@dataclass
class Toy:
    """See `Drive`. `stages` are those that were played; `failures` are found in each."""

    folder: Path = Path("absent")
    failures: Sequence[str] = ()
    name: str = "toy"
    stages: list[ToyStage] = field(default_factory=list)
    setups: list[Setup] = field(default_factory=list)

    def faults(self) -> Mapping[str, FaultKind]:
        return KINDS

    def conditions(self) -> Mapping[str, Sequence[Condition]]:
        return {
            "pumps_running": [Condition(truth="pump.state", on="pump", equals="running")],
            "cool": [Condition(truth="air.temperature", on="n0", below=61.0), Condition(happened="job.lost", not_=True)],
        }

    def stand_ins(self) -> Mapping[str, str]:
        return {"cool": "Cools.", "do-nothing": "Does nothing.", "panic": "Stops the job whatever there is."}

    def racks(self) -> Sequence[str]:
        return ("toy",)

    def view(self, rack: str) -> RackView:
        if rack != "toy":
            raise ChaosError("there is no such rack")
        return VIEW

    def scenarios(self) -> Sequence[Path]:
        return (self.folder,)

    def play(self, setup: Setup, direct: Callable[[Stage], Coroutine[Any, Any, T]]) -> Played[T]:
        self.setups.append(setup)
        loop = SimLoop(setup.seed)

        async def main() -> T:
            self.stages.append(ToyStage(setup, setup.stand_in))
            return await direct(self.stages[-1])

        with virtual_time(loop):
            result = loop.run_until_complete(main())
        log = [*self.stages[-1].log, *map(str, self.stages[-1].happened())]
        return Played(result, f"{setup.seed}-{len(log)}-{sum(len(line) for line in log)}", self.failures)

    def player(self, folder: Path) -> PlayDaemon:
        raise NotImplementedError
