"""Performs `fan.full` and `fan.auto` on a node by its BMC; what was ours is remembered, and nothing else is undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Action, Effect, NotHeldError, Sight, StateFile, Tree, WireError
from supernoded_redfish.controls import AUTOMATIC, MANUAL, OVERRIDE, Control
from supernoded_redfish.fans import FULL_DUTY, FULL_SHARE, Fan, Fans


class Record(msgspec.Struct, frozen=True):
    """What we set, and what each fan would turn at full duty by what it showed before; an empty mode = we hold nothing."""

    mode: str = ""
    at_full: Mapping[str, float] = {}


class FanOrder:
    """See `supernoded.plugin.Actuator`. Whatever stood before, `fan.auto` gives the fans to the BMC: nobody is left at a fixed speed."""

    kinds = frozenset({"fan.full", "fan.auto"})

    def __init__(self, fans: Fans, state: Tree) -> None:
        self.targets: Sequence[str] = (fans.node,)
        self._fans = fans
        self._record = StateFile(state, f"fans/{fans.node}.json", Record, "fans", "look at them and remove it")
        self._unwritten: Record | None = None  # the newest, where the disk did not take it

    async def apply(self, action: Action) -> None:
        """Write what is not yet so. Raises WireError.

        Full speed is safe, so it is ordered also where nothing can be written down; then it is remembered for as long as this life lasts.
        """
        control = await self._fans.read_control()
        if action.step.kind == "fan.auto":
            record = await self._read()
            if record.mode and control.mode == record.mode:
                await self._fans.set_mode(action.scope, control, AUTOMATIC)
        elif not _is_full(control):
            ours = Record(OVERRIDE if control.takes(OVERRIDE) else MANUAL, await self._find_full())
            trouble = await self._write(action.scope, ours)
            await self._fans.set_full(action.scope, control)
            if trouble is not None:
                raise trouble

    async def _find_full(self) -> Mapping[str, float]:
        """What each would turn at full duty; nothing where that cannot be read, which must not keep them from being set."""
        try:
            fans = await self._fans.read_speeds()
        except WireError:
            return {}
        return {name: full for name, fan in fans.items() if (full := fan.at_full) is not None}

    async def observe(self, action: Action) -> Sight:
        """By who controls them, and by how fast they turn (safety rule 23). Raises WireError."""
        control = await self._fans.read_control()
        if action.step.kind == "fan.auto":
            return await self._look_back(action.scope, control, await self._read())
        if not _is_full(control):
            return Sight(effect=Effect.ABSENT, text=f"the mode of its fans is {control.mode[:40] or 'not told'}")
        return judge_speeds(await self._fans.read_speeds(), await self._read_at_full())

    async def _look_back(self, scope: str, control: Control, record: Record) -> Sight:
        if control.mode == AUTOMATIC:
            trouble = await self._write(scope, Record()) if record.mode else None
            if trouble is not None:
                return Sight(effect=Effect.PRESENT, text=f"the BMC controls its fans; what was ours could not be struck out: {trouble}")
            return Sight(effect=Effect.PRESENT, text="the BMC controls its fans")
        if record.mode and control.mode == record.mode:
            return Sight(effect=Effect.ABSENT, text=f"the mode of its fans is still {control.mode}")
        text = f"the mode of its fans is {control.mode[:40] or 'not told'}, which this daemon has not set; put it back where it was set"
        return Sight(effect=Effect.UNKNOWN, text=text)

    async def _write(self, scope: str, record: Record) -> WireError | None:
        """Why it could not be written down. Raises NotHeldError."""
        try:
            await self._record.write(scope, record)
        except NotHeldError:
            raise
        except WireError as error:
            self._unwritten = record
            return error
        self._unwritten = None
        return None

    async def _read_at_full(self) -> Mapping[str, float]:
        try:
            return (await self._read()).at_full
        except WireError:
            return {}  # then the BMC's word on the duty counts

    async def _read(self) -> Record:
        return await self._record.read() if self._unwritten is None else self._unwritten


def _is_full(control: Control) -> bool:
    fixed = control.mode == MANUAL and control.settable and control.set_point is not None
    return control.mode == OVERRIDE or (fixed and (control.set_point or 0.0) >= FULL_DUTY)


def judge_speeds(fans: Mapping[str, Fan], at_full: Mapping[str, float]) -> Sight:
    """Whether they turn as fast as they can. One that stands cannot be ordered to turn: it is named, and the others count."""
    standing = [name for name, fan in fans.items() if fan.rpm == 0.0]
    unseen = [name for name, fan in fans.items() if fan.rpm is None and fan.duty is None]
    turning = [name for name in fans if name not in standing and name not in unseen]
    slow = [name for name in turning if not _is_fast(fans[name], at_full.get(name))]
    told = "".join(f"; {_name(names)} {what}" for names, what in ((standing, "stand still"), (unseen, "cannot be seen")) if names)
    if slow:
        shown = ", ".join(f"fan {name} {_show(fans[name])}" for name in slow)
        return Sight(effect=Effect.ABSENT, text=f"{len(slow)} of {len(fans)} fans are not at full speed: {shown}{told}"[:400])
    if 2 * len(turning) < len(fans):
        return Sight(effect=Effect.UNKNOWN, text=f"full speed is set{told}")
    return Sight(effect=Effect.PRESENT, text=f"{len(turning)} of {len(fans)} fans are near full speed{told}")


def _is_fast(fan: Fan, at_full: float | None) -> bool:
    """By its speed where it is known what is full; else by its duty, and that it turns."""
    if fan.rpm is not None and at_full is not None:
        return fan.rpm >= FULL_SHARE * at_full
    return fan.duty is not None and fan.duty >= FULL_DUTY


def _name(fans: Sequence[str]) -> str:
    return ", ".join(f"fan {name}" for name in fans)


def _show(fan: Fan) -> str:
    duty = "no duty" if fan.duty is None else f"{fan.duty:.0f} %"
    return f"at {duty}, {'no speed' if fan.rpm is None else f'{fan.rpm:.0f} rpm'}"
