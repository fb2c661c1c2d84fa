"""Performs `node.drain` and `node.release` through `scontrol`. A node that has jobs is never set DOWN: they are let end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Action, Command, Effect, Sight, WireError, YieldedError
from supernoded_slurm.judging import see_drain, see_release
from supernoded_slurm.reasons import name_owner, read_owners, read_text, write_reason
from supernoded_slurm.shown import Shown, clip, read_shown

DRAIN = "node.drain"


class Draining:
    """`names` are Slurm's names of our nodes. Its reason is looked at right before each order: Slurm has no order that is bound to one."""

    kinds = frozenset({DRAIN, "node.release"})

    def __init__(self, scontrol: Command, names: Mapping[str, str], within: float) -> None:
        self._scontrol, self._names, self._within = scontrol, names, within
        self.targets: Sequence[str] = tuple(names)

    async def apply(self, action: Action) -> None:
        """Drain, or put back, if that is still ours to do. Raises WireError; YieldedError when the node is somebody else's."""
        shown = await self._look(action)
        sight = _see(self._name(action), shown, action)
        if sight.effect is Effect.UNKNOWN:
            raise YieldedError(sight.text)
        if sight.effect is Effect.ABSENT:
            await self._update(action, *(_drain(shown, action) if action.step.kind == DRAIN else _release(shown, action)))

    async def observe(self, action: Action) -> Sight:
        """PRESENT = it is out for this incident, or, for a release, is not; UNKNOWN = it is somebody else's, and the text says whose."""
        try:
            return _see(self._name(action), await self._look(action), action)
        except WireError as error:
            return Sight(effect=Effect.UNKNOWN, text=str(error))

    def _name(self, action: Action) -> str:
        return self._names.get(action.step.target, action.step.target)

    async def _look(self, action: Action) -> Shown:
        name = self._name(action)
        answer = await self._scontrol.run("show", "node", name, "-o", within=self._within)
        said = f"{answer.out}\n{answer.err}" if answer.code else answer.out
        if answer.code and "not found" not in said:
            raise WireError(f"scontrol show node {name} ended with {answer.code}: {clip(said) or 'without a word'}")
        return read_shown(said, name)

    async def _update(self, action: Action, *words: str) -> None:
        name = self._name(action)
        answer = await self._scontrol.order(action.scope, "update", f"NodeName={name}", *words, within=self._within)
        if answer.code:
            said = clip(f"{answer.err} {answer.out}") or "without a word"
            raise WireError(f"Slurm refused to change {name}, code {answer.code}: {said}; the daemon's user must be an operator of Slurm")


def _see(name: str, shown: Shown, action: Action) -> Sight:
    return (see_drain if action.step.kind == DRAIN else see_release)(name, shown, name_owner(action.incident))


def _drain(shown: Shown, action: Action) -> tuple[str, ...]:
    owners = (*(read_owners(shown.reason) or ()), name_owner(action.incident))
    return "State=DRAIN", f"Reason={write_reason(tuple(dict.fromkeys(owners)), read_text(shown.reason) or action.step.reason)}"


def _release(shown: Shown, action: Action) -> tuple[str, ...]:
    """For the last incident the flag goes (UNDRAIN leaves a node that is DOWN as it is); until then only its name."""
    left = tuple(owner for owner in read_owners(shown.reason) or () if owner != name_owner(action.incident))
    return (f"Reason={write_reason(left, read_text(shown.reason))}",) if left else ("State=UNDRAIN",)
