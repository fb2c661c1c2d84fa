"""The judgement: when a chiller is failing, what to do about it, and how fast its pump should turn. All pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from supernoded.plugin import NODE, Case, Cause, Level, Result, Setpoint, Severity, Step, Verdict, View, World
from supernoded_acme.device import FENCE, HEALTH, NOTE, PUMP, SAVE, SUPPLY, TEST

FAILING = "x.acme.failing"
GAIN = 2.0  # percent of pump speed per degree and second
SLOWEST, FASTEST = 20.0, 100.0  # percent


class Since(msgspec.Struct, frozen=True):
    """Since when each subject has been failing."""

    bad: Mapping[str, float] = {}


@dataclass(frozen=True)
class FailingRule:
    """Raised when a chiller has said `failing` for long enough."""

    raise_after: float
    kind: str = FAILING
    scope: str = NODE

    @property
    def watches(self) -> Mapping[str, float]:
        """Health, and only its newest reading."""
        return {HEALTH: 60.0}

    def start(self) -> Since:
        """Nobody is failing."""
        return Since()

    def judge(self, seen: View, memory: Since) -> tuple[Since, Sequence[Verdict]]:
        """See `Rule.judge`."""
        bad, verdicts = dict(memory.bad), []
        for subject in seen.subjects(HEALTH):
            reading = seen.good(HEALTH, subject)
            if reading is None:
                verdicts.append(self._say(subject, Level.UNSURE, "its health cannot be read", seen.now, (HEALTH,)))
            elif reading.value != "failing":
                bad.pop(subject, None)
                verdicts.append(self._say(subject, Level.CLEAR, f"says {reading.value}", seen.now))
            else:
                lasted = seen.now - bad.setdefault(subject, reading.at)
                level = Level.RAISED if lasted >= self.raise_after else Level.UNSURE
                text = f"failing for {lasted:.1f} s, raised at {self.raise_after:g} s"
                verdicts.append(self._say(subject, level, text, seen.now))
        return Since(bad), verdicts

    def _say(self, subject: str, level: Level, text: str, now: float, unseen: tuple[str, ...] = ()) -> Verdict:
        severity = Severity.CRITICAL if level is Level.RAISED else Severity.INFO
        return Verdict(kind=self.kind, subject=subject, level=level, text=text, at=now, severity=severity, unseen=unseen)


@dataclass(frozen=True)
class WarmSupply:
    """A failing chiller whose supply is warm has lost its refrigerant, ours says; a cold one is more likely lying about itself."""

    warm_c: float
    name: str = "acme"
    scope: str = NODE

    @property
    def watches(self) -> Mapping[str, float]:
        """Health and supply."""
        return {HEALTH: 60.0, SUPPLY: 60.0}

    def diagnose(self, seen: View, subject: str) -> Sequence[Cause]:
        """See `Diagnosis.diagnose`."""
        supply = seen.good(SUPPLY, subject)
        if not seen.sources(HEALTH, subject) or supply is None or not isinstance(supply.value, float):
            return ()
        warm = supply.value > self.warm_c
        evidence = (f"its supply is at {supply.value:.1f} C, {'above' if warm else 'not above'} {self.warm_c:g} C",)
        name, advice = ("no refrigerant", "look for a leak, then fill it") if warm else ("wrong word of its own", "read its panel")
        return [Cause(name=name, subject=subject, weight=0.8, evidence=evidence, advice=advice, at=supply.at)]


PLAN = (
    ("note", NOTE, "keep what led to this"),
    ("save", SAVE, "save its state before it is taken out"),
    ("fence", FENCE, "no coolant may pass a failing chiller"),
    ("test", TEST, "see whether the fence holds"),
)


@dataclass(frozen=True)
class Retire:
    """Note the evidence, save, fence, test. No fence without a save that was seen, none once the trouble is over."""

    patience: float
    answers: str = FAILING

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """See `Remedy.next`."""
        del world, now
        for name, kind, why in PLAN:
            if name not in case.done:
                wanted = case.still_raised or "fence" in case.done
                return self._step(case, name, kind, why) if wanted else None
            if name != "note" and case.done[name].result is not Result.DONE:
                return None
        return None

    def _step(self, case: Case, name: str, kind: str, why: str) -> Step:
        reason = f"{why}: {case.incident.text}"
        return Step(name=name, kind=kind, target=case.incident.subject, reason=reason, patience=self.patience)


class Drift(msgspec.Struct, frozen=True):
    """Where the pump was left, and when."""

    percent: float
    at: float | None = None


@dataclass(frozen=True)
class HoldSupply:
    """Holds the supply temperature by the pump's speed: integral only, bumpless from where the pump stands."""

    subject: str
    name: str
    want: float
    period: float
    scope: str = NODE

    @property
    def target(self) -> str:
        """The handle it turns."""
        return f"{self.subject}/pump"

    @property
    def watches(self) -> Mapping[str, float]:
        """The supply temperature."""
        return {SUPPLY: 60.0}

    def start(self, now_at: Setpoint | None) -> Drift:
        """From what the chiller shows; from full speed when it shows nothing."""
        return Drift(FASTEST if now_at is None else now_at.value)

    def steer(self, seen: View, memory: Drift) -> tuple[Drift, Setpoint | None]:
        """See `Loop.steer`. Without a good temperature the setpoint runs out and the chiller turns its pump itself."""
        supply = seen.number(SUPPLY, self.subject)
        if supply is None:
            return Drift(memory.percent), None
        elapsed = 0.0 if memory.at is None else seen.now - memory.at
        percent = min(max(memory.percent + GAIN * (supply - self.want) * elapsed, SLOWEST), FASTEST)
        until = seen.now + 3 * self.period
        return Drift(percent, seen.now), Setpoint(target=self.target, quantity=PUMP, value=percent, unit="%", until=until)
