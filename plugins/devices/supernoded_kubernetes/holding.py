"""Performs `node.drain` and `node.release` by two patches: the condition says why before the taint acts, and goes after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from supernoded.plugin import Action, Clock, Effect, Http, Sight, StatusError, WireError
from supernoded_kubernetes.patches import MOST_OWNERS, Shown, name_owner, read_node, write_condition, write_taints

DRAIN = "node.drain"
TRIES = 3  # of a patch that meets somebody else's write (ours)
CONFLICT = 409
_ADVICE = {
    401: "the token is refused; see token_file",
    403: "give its account get and patch on nodes and nodes/status",
    404: "give its name under [plugins.kubernetes] nodes",
    429: "it asks us to slow down; we look again",
}
Patch = tuple[str, Mapping[str, object]]  # of which part of the node, "" = its spec
Write = Callable[[Shown, Action], Patch | None]


class Holding:
    """`names` are the cluster's names of our nodes."""

    kinds = frozenset({DRAIN, "node.release"})

    def __init__(self, api: Http, names: Mapping[str, str], clock: Clock, within: float) -> None:
        self._api, self._names, self._clock, self._within = api, names, clock, within
        self.targets: Sequence[str] = tuple(names)

    async def apply(self, action: Action) -> None:
        """Place the hold, or lift it. Raises WireError; what is half done is made whole by the next call."""
        shown = await self._look(action)
        sight = _see(shown, action)
        if sight.effect is Effect.UNKNOWN:
            raise WireError(sight.text)
        if sight.effect is Effect.PRESENT:
            return
        steps = (self._write_condition, _write_taint)
        for write in steps if _list_owners(shown, action) else reversed(steps):
            await self._patch(action, write)

    async def observe(self, action: Action) -> Sight:
        """PRESENT = the node is held for this incident, or, for a release, is not."""
        try:
            return _see(await self._look(action), action)
        except WireError as error:
            return Sight(effect=Effect.UNKNOWN, text=str(error))

    def _path(self, action: Action) -> str:
        return f"api/v1/nodes/{self._names.get(action.step.target, action.step.target)}"

    async def _look(self, action: Action) -> Shown:
        try:
            found = await self._api.get(self._path(action), within=self._within)
        except StatusError as error:
            raise _explain(error) from error
        return read_node(found, self._path(action).rpartition("/")[2])

    def _write_condition(self, shown: Shown, action: Action) -> Patch | None:
        owners = _list_owners(shown, action)
        if frozenset(owners) == frozenset(shown.owners):
            return None
        return "/status", write_condition(shown, owners, shown.text or action.step.reason, self._clock.wall())

    async def _patch(self, action: Action, write: Write) -> None:
        """Write what is to be changed of what is there, and look and begin anew when somebody has written in between."""
        for tries_left in reversed(range(TRIES)):
            wanted = write(await self._look(action), action)
            if wanted is None:
                return
            try:
                await self._send(action, *wanted)
            except StatusError as error:
                if error.status != CONFLICT or not tries_left:
                    raise
            else:
                return

    async def _send(self, action: Action, part: str, patch: Mapping[str, object]) -> None:
        try:
            await self._api.order(action.scope, "PATCH", f"{self._path(action)}{part}", patch, within=self._within)
        except StatusError as error:
            raise _explain(error) from error


def _list_owners(shown: Shown, action: Action) -> tuple[str, ...]:
    """The incidents that hold it, with or without this one."""
    owner = name_owner(action.incident)
    others = tuple(one for one in shown.owners if one != owner)
    return (*others, owner) if action.step.kind == DRAIN else others


def _write_taint(shown: Shown, action: Action) -> Patch | None:
    hold = bool(_list_owners(shown, action))
    return None if shown.tainted is hold else ("", write_taints(shown, hold=hold))


def _see(shown: Shown, action: Action) -> Sight:
    mine, drains = name_owner(action.incident) in shown.owners, action.step.kind == DRAIN
    if drains and not mine and len(shown.owners) >= MOST_OWNERS:
        return Sight(effect=Effect.UNKNOWN, text=f"{action.step.target} is held for {len(shown.owners)} incidents of ours, no more fit")
    held = f"held for {', '.join(shown.owners)}" if shown.owners else "not held"
    text = f"{action.step.target} is {held} in Kubernetes, {'with' if shown.tainted else 'without'} our taint"
    if drains:
        return Sight(effect=Effect.PRESENT if mine and shown.tainted else Effect.ABSENT, text=text)
    return Sight(effect=Effect.ABSENT if mine else Effect.PRESENT, text=text)


def _explain(error: StatusError) -> StatusError:
    advice = _ADVICE.get(error.status)
    return StatusError(f"{error}; {advice}", error.status) if advice else error
