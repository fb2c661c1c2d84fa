"""The wire: one chiller, what it tells, what it performs and the pump it lends. Judges nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from supernoded.plugin import NODE, Action, Clock, Effect, Reading, Setpoint, Sight, State, Stream, WireError

HEALTH = "x.acme.health"
SUPPLY = "coolant.supply_temperature"
PUMP = "coolant.pump_speed"
ANSWERS = {"health": (HEALTH, "text"), "supply": (SUPPLY, "C"), "pump": (PUMP, "%")}  # first word -> quantity, unit
NOTE, SAVE, FENCE, TEST, HEAL = "x.acme.note", "x.acme.save", "x.acme.fence", "x.acme.test", "x.acme.heal"
ORDERS = {NOTE: "note {id} {reason}", SAVE: "ask save {id}", FENCE: "set fence 1 {id}", TEST: "ask test {id}", HEAL: "simulate ok {id}"}
PROGRESS = {"none": Effect.ABSENT, "running": Effect.UNKNOWN, "done": Effect.PRESENT}


@dataclass(frozen=True)
class Chiller:
    """One chiller on its line. Every wait is bounded by `timeout` seconds."""

    subject: str
    stream: Stream
    clock: Clock
    timeout: float

    async def ask(self, request: str, word: str) -> list[str]:
        """The fields of the answer after its first, which must be `word`. Raises WireError."""
        answer = (await self.stream.exchange(f"{request}\n".encode(), within=self.timeout)).decode("ascii", "replace").split()
        if len(answer) < 2 or answer[0] != word:
            raise WireError(f"{self.subject}: {request!r} was answered by {' '.join(answer)!r}; is this an Acme chiller?")
        return answer[1:]

    async def order(self, scope: str, request: str) -> None:
        """Have something performed. Raises WireError when the chiller does not say ok; no byte goes out when `scope` may not write."""
        answer = (await self.stream.order(scope, f"{request}\n".encode(), within=self.timeout)).decode("ascii", "replace").strip()
        if answer != "ok":
            raise WireError(f"{self.subject}: {request!r} was refused: {answer!r}")


def to_reading(subject: str, fields: Sequence[str], at: float) -> Reading:
    """One answer, such as `supply 21.9`, as a reading; `none`, `unknown` and what is no number are UNKNOWN. Raises WireError."""
    if len(fields) < 2 or fields[0] not in ANSWERS:
        raise WireError(f"{subject}: {' '.join(fields)!r} is no answer of an Acme chiller")
    quantity, unit = ANSWERS[fields[0]]
    value = fields[1] if unit == "text" else _number(fields[1])
    if value in {None, "unknown"}:
        return Reading(subject=subject, quantity=quantity, value=None, unit=unit, at=at, state=State.UNKNOWN, note=f"says {fields[1]!r}")
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class Telemetry:
    """Reads everything a chiller tells."""

    chiller: Chiller
    name: str
    period: float
    timeout: float
    scope: str = NODE

    async def read(self) -> Sequence[Reading]:
        """Health, supply and pump, one after the other on one line."""
        readings = []
        for word in ANSWERS:
            fields = await self.chiller.ask(f"get {word}", word)
            readings.append(to_reading(self.chiller.subject, [word, *fields], self.chiller.clock.now()))
        return readings


@dataclass(frozen=True)
class Orders:
    """Performs what the remedy asks for."""

    chiller: Chiller
    kinds: frozenset[str] = frozenset(ORDERS)

    @property
    def targets(self) -> Sequence[str]:
        """The one chiller."""
        return (self.chiller.subject,)

    async def apply(self, action: Action) -> None:
        """Send the order under the action's own id. Raises WireError."""
        reason = " ".join(action.step.reason.split())
        await self.chiller.order(action.scope, ORDERS[action.step.kind].format(id=action.id, reason=reason))

    async def observe(self, action: Action) -> Sight:
        """What the chiller remembers of the id; of a fence, whether it stands as well."""
        _, count, progress = (await self.chiller.ask(f"get order {action.id}", "order") + ["", ""])[:3]
        effect = PROGRESS.get(progress, Effect.UNKNOWN)
        if effect is Effect.PRESENT and action.step.kind == FENCE and await self.chiller.ask("get fence", "fence") != ["1"]:
            return Sight(effect=Effect.UNKNOWN, text="was fenced and is not any more: somebody else released it")
        return Sight(effect=effect, text=f"performed {count} times, {progress}")


@dataclass(frozen=True)
class Pump:
    """Lends the chiller's pump to a loop."""

    chiller: Chiller
    quantity: str = PUMP

    @property
    def target(self) -> str:
        """`<chiller>/pump`."""
        return f"{self.chiller.subject}/pump"

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        """Turn the pump for as long as the setpoint lives. Raises WireError."""
        left = setpoint.until - self.chiller.clock.now()
        if left <= 0:
            raise WireError(f"{self.target}: {setpoint.value:.1f} % has lived out {-left:.1f} s ago; nothing was sent")
        await self.chiller.order(scope, f"set pump {setpoint.value:.1f} {left:.1f}")

    async def now_at(self) -> Setpoint | None:
        """The speed the chiller shows; None when it shows none."""
        speed = _number((await self.chiller.ask("get pump", "pump"))[0])
        return None if speed is None else Setpoint(target=self.target, quantity=PUMP, value=speed, unit="%")

    async def hand_back(self, scope: str) -> Sight:
        """Give the pump back and look who turns it."""
        await self.chiller.order(scope, "set pump own")
        owner = (await self.chiller.ask("get pump", "pump"))[-1]
        return Sight(effect=Effect.PRESENT if owner == "own" else Effect.ABSENT, text=f"turned by {owner}")
