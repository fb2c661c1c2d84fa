"""The direction of one run: what is done to the stage when, and what is looked at. Asyncio only: it plays in virtual and in real time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from supernoded.chaos.drive import Stage
from supernoded.chaos.moments import held_since, list_moments
from supernoded.chaos.plan import Plan
from supernoded.chaos.probes import Check, Probe, measure, say_value
from supernoded.chaos.record import Fault, Record
from supernoded.chaos.window import find_end, find_first, find_untested, find_watched
from supernoded.errors import ChaosError
from supernoded.model import Effect, Value

EPSILON = 1e-6  # seconds: what is nearer than this is now
LOOK = 0.05  # seconds between two looks for a fault that should show; ours: ten looks in a sag of 0.5 s
UNDO_LOOK = 0.5  # seconds between two looks for a fault that should be gone; ours
UNDO_WITHIN = 30.0  # seconds for a lifted fault to be gone; ours: a device's poll, and a PDU's 2 s until a SET shows


async def direct(stage: Stage, plan: Plan) -> Record:
    """Play the plan to its end, and undo all that it did. Raises ChaosError only for what is no fault of the timeline."""
    return await _Director(stage, plan).run()


class _Director:
    def __init__(self, stage: Stage, plan: Plan) -> None:
        self._stage, self._plan = stage, plan
        self._truths = plan.list_truths()
        self._record = Record(plan, faults=[Fault(planned) for planned in plan.faults])

    async def run(self) -> Record:
        record, scenario = self._record, self._plan.scenario
        self._look()
        before = scenario.steady_state.before
        try:
            if await self._stand(self._plan.before, before.hold, before.within) is not None:
                record.start = self._stage.now()
                await self._play()
        finally:
            await self._lift_all()
        if record.start is not None and not self._find_stop():
            converge = scenario.recovery.converge
            record.converging = self._stage.now()
            if self._plan.converge:
                record.converged = await self._stand(self._plan.converge, converge.hold, converge.within)
        await self._verify_undo()
        return record

    async def _stand(self, checks: Sequence[Check], hold: float, within: float) -> float | None:
        """Wait until all have held together for so long from now on; when that was, or None when it was not in time."""
        begun = self._stage.now()
        deadline = begun + within
        while True:
            now, levels = self._stage.now(), [held_since(check, self._record) for check in checks]
            since = [at for at in levels if at is not None]
            until = max([begun, *since]) + hold if len(since) == len(checks) else deadline
            if len(since) == len(checks) and now >= until - EPSILON:
                return now
            if now >= deadline or self._is_aborted():
                return None
            await self._advance(min(deadline, until))

    async def _play(self) -> None:
        while True:
            now = self._stage.now()
            await self._follow_all(now)
            end = find_end(self._record)
            if self._find_stop() or self._is_aborted() or now >= end:
                return
            await self._advance(min([end, *self._list_due(now)]))

    def _list_due(self, now: float) -> list[float]:
        """The next moments at which something is to be done."""
        start, due = self._record.start or 0.0, []
        for fault in self._record.faults:
            planned = fault.planned
            if fault.injected is None:
                due.append(start + (planned.at if planned.at is not None else planned.within))
            elif not fault.ended:
                due.append(fault.injected + planned.stages[fault.next_stage][0])
            if fault.injected is not None and fault.shown is None:
                due.append(min(now + LOOK, fault.injected + planned.shows_within))
            elif fault.lifted is not None and fault.undone is None and planned.undo:
                due.append(now + UNDO_LOOK)
        return [max(at, now + EPSILON) for at in due]

    async def _advance(self, until: float) -> None:
        now = self._stage.now()
        await self._stage.wait(max(min(until, now + self._plan.scenario.sample), now + EPSILON))
        self._look()

    def _look(self) -> None:
        record, now = self._record, self._stage.now()
        record.happened, record.told, record.ended = self._stage.happened(), self._stage.told(), now
        for probe in self._truths:
            held, shown = self._ask(probe)
            record.look(probe, now, held, shown)

    def _ask(self, probe: Probe) -> tuple[bool | None, str]:
        """Whether the probe holds, and the value that decides it: one to the contrary, else one that is not seen, else the first."""
        quantity, decided = probe.condition.truth, not probe.every
        blind: tuple[str, Value, str] | None = None
        first: tuple[str, Value, str] | None = None
        for subject in probe.subjects:
            value, trouble = self._sense(subject, quantity)
            held = measure(value, probe.condition)
            if held is decided:
                return decided is not probe.condition.not_, _say(quantity, subject, value, trouble)
            first = first or (subject, value, trouble)
            blind = blind or ((subject, value, trouble) if held is None else None)
        shown = blind or first
        level = None if blind else probe.every is not probe.condition.not_
        return level, _say(quantity, *shown) if shown else ""

    def _sense(self, subject: str, quantity: str) -> tuple[Value, str]:
        try:
            return self._stage.truth(subject, quantity), ""
        except ChaosError as error:  # a probe that is blind; the verdict says so
            return None, str(error)

    async def _follow_all(self, now: float) -> None:
        """What is due at one moment is done at one moment: all looks before it, then all changes, then all looks after it."""
        faults = self._record.faults
        due = [fault for fault in faults if fault.injected is None and self._is_due(fault, now)]
        ready = [fault for fault in due if await self._check_unseen(fault)]
        for fault in faults:
            if fault.injected is not None or fault in ready:
                await self._follow(fault, now)
        for fault in faults:
            await self._look_for(fault)

    async def _follow(self, fault: Fault, now: float) -> None:
        """Put the fault in place, change it, and take it away at its end."""
        stages, started = fault.planned.stages, fault.injected if fault.injected is not None else now
        while not fault.ended and started + stages[fault.next_stage][0] <= now + EPSILON:
            await self._change(fault, fault.next_stage)
            if self._record.refused or self._record.stuck:
                return

    def _is_due(self, fault: Fault, now: float) -> bool:
        start, planned = self._record.start or 0.0, fault.planned
        if planned.at is not None:
            return now >= start + planned.at - EPSILON
        if now > start + planned.within:
            return False
        if isinstance(planned.after, str):
            return find_first(self._record, find_watched(self._record, planned.after)) is not None
        return planned.after is not None and bool(list_moments(planned.after, self._record, start, now))

    async def _check_unseen(self, fault: Fault) -> bool:
        """A fault that shows before it is there cannot be told from none."""
        present, text = await self._see(fault)
        fault.seen_before = text if present else ""
        return not fault.seen_before

    async def _change(self, fault: Fault, stage: int) -> None:
        _, parameters = fault.planned.stages[stage]
        injection, is_last = fault.planned.injection, stage + 1 == len(fault.planned.stages)
        fault.next_stage = stage + 1
        try:
            if parameters is None:
                await self._lift(fault)
                fault.lifted = self._stage.now() if is_last else None
                return
            await self._stage.inject(msgspec.structs.replace(injection, parameters=parameters))
        except ChaosError as error:
            if parameters is None:
                self._record.stuck = f"{injection.name}: {error}"
            else:
                self._record.refused = f"{injection.name}: {error}"
            return
        fault.injected = self._stage.now() if fault.injected is None else fault.injected

    async def _lift(self, fault: Fault) -> None:
        if fault.planned.undo:
            await self._stage.lift(fault.planned.injection)

    async def _look_for(self, fault: Fault) -> None:
        if fault.injected is None:
            return
        if fault.shown is None:
            present, fault.sight = await self._see(fault)
            fault.shown = self._stage.now() if present else None
        elif fault.lifted is not None and fault.undone is None:
            await self._look_gone(fault)

    async def _see(self, fault: Fault) -> tuple[bool, str]:
        """Whether the fault shows, where the scenario or else the drive looks."""
        if fault.planned.see is not None:
            return held_since(fault.planned.see, self._record) is not None, str(fault.planned.see)
        sight = await self._stage.manifest(fault.planned.injection)
        return sight.effect is Effect.PRESENT, sight.text or sight.effect.value

    async def _look_gone(self, fault: Fault) -> None:
        """What was seen in a state of the plant must be gone from there; all else from where the drive looks."""
        see = fault.planned.see
        if see is not None and see.as_event() is None:
            fault.undone = self._stage.now() if held_since(see, self._record) is None else None
            return
        sight = await self._stage.manifest(fault.planned.injection)
        fault.sight = sight.text or sight.effect.value
        fault.undone = self._stage.now() if sight.effect is Effect.ABSENT else None

    def _is_aborted(self) -> bool:
        record = self._record
        for check in self._plan.abort:
            found = list_moments(check, record, record.start or 0.0, record.ended)
            if found and not record.aborted:
                record.aborted = f"{check}: {found[0][1]}"
        return bool(record.aborted)

    def _find_stop(self) -> str:
        """Why the run is over before its end: nothing more can come of it."""
        return find_untested(self._record) or self._record.aborted or self._record.refused or self._record.stuck

    async def _lift_all(self) -> None:
        for fault in self._record.faults:
            if fault.in_place:
                await self._change(fault, len(fault.planned.stages) - 1)

    async def _verify_undo(self) -> None:
        """Look until every lifted fault is gone, or long enough. What never showed is looked at too: it may show late."""
        deadline = self._stage.now() + UNDO_WITHIN
        while True:
            waiting = [one for one in self._record.faults if one.lifted is not None and one.planned.undo and one.undone is None]
            for fault in waiting:
                await self._look_gone(fault)
            if all(fault.undone is not None for fault in waiting) or self._stage.now() >= deadline:
                return
            await self._advance(min(deadline, self._stage.now() + UNDO_LOOK))


def _say(quantity: str, subject: str, value: Value, trouble: str) -> str:
    return trouble or f"{quantity} of {subject} is {say_value(value)}"
