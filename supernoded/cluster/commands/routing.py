"""Where an action is performed: here, on the node that it is about, or where its job is connected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.commands.directory import Directory
from supernoded.cluster.commands.remote import RemoteActuator
from supernoded.model import Action
from supernoded.parts import Actuator

JOB = "job"  # how the subject of a job begins
LAUNCHED = frozenset({"job.abort", "job.remap", "job.resume"})  # what a job's launcher does; its ranks do the rest


class Facts(NamedTuple):
    """What is known of places; the last two are of the job that the action is about."""

    node: str  # this one
    nodes: Collection[str]  # those of the topology
    launcher: str | None = None  # the node that the job's launcher is connected to
    ranks: Sequence[str] = ()  # the nodes of its ranks, the one to ask first; this one before all


def find_place(action: Action, facts: Facts, *, is_local: bool) -> str | None:
    """The node whose daemon performs an action; None = this one. `is_local`: an actuator for it is handed in here."""
    head = action.step.target.partition("/")[0]
    if head == JOB:
        place = facts.launcher if action.step.kind in LAUNCHED else next(iter(facts.ranks), None)
    else:
        place = head if head in facts.nodes and not is_local else None
    return None if place == facts.node else place


def find_job(target: str) -> str:
    """The job that a target is, or is part of: `job/train/rank7` is of `train`; empty for everything else."""
    head, _, rest = target.partition("/")
    return rest.partition("/")[0] if head == JOB else ""


class Routing:
    """Gives an action its actuator: one of this node, found by `local`, or the way to another's."""

    def __init__(
        self, directory: Directory, nodes: Collection[str], local: Callable[[Action], Actuator | None], commander: Commander
    ) -> None:
        self._directory, self._nodes, self._local, self._node = directory, nodes, local, commander.node
        self._remote = RemoteActuator(commander, self._find_node, directory.miss)

    def route(self, action: Action) -> Actuator | None:
        """Who performs it; None = nobody that is known."""
        local = self._local(action)
        return local if self._find_place(action, is_local=local is not None) is None else self._remote

    def _find_place(self, action: Action, *, is_local: bool) -> str | None:
        job, known = find_job(action.step.target), self._directory
        of_job = (known.find_launcher(job), known.list_nodes(job)) if job else ()
        return find_place(action, Facts(self._node, self._nodes, *of_job), is_local=is_local)

    def _find_node(self, action: Action) -> str:
        return self._find_place(action, is_local=self._local(action) is not None) or self._node
