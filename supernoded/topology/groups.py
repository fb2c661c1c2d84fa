"""How the ranks of a job are grouped: tensor, pipeline, data and expert parallel (TP x PP x DP x EP). Pure.

Ranks are numbered with TP innermost, then PP, and DP outermost (X1): rank = (replica * pp + stage) * tp + shard. So the ranks of a tensor
group stand side by side within a node, a replica is one unbroken run of ranks, and giving it up only renumbers the ranks behind it. It is
the order tp-pp-dp that Megatron offers beside its own.

An expert group is `ep` ranks of one stage side by side, counted through shards and then replicas: experts whole on one rank, not split
further by TP, as Megatron with an expert tensor size of 1. So `ep` divides dp * tp, and up to `tp` it stays within a replica.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

GroupKind = Literal["tp", "pp", "dp", "ep"]
MOST_RANKS = 10_000_000  # as job.world_size
SIZE = re.compile(r"(?P<name>[a-z]{2})=(?P<size>[0-9]{1,8})", re.ASCII)
NAMES = ("tp", "pp", "dp", "ep")


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How many ranks share a layer (`tp`), how many stages there are (`pp`), replicas (`dp`), and ranks that share experts (`ep`).

    Raises:
        ValueError: a size below 1, more than `MOST_RANKS` ranks, or an `ep` that does not divide dp * tp
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1

    def __post_init__(self) -> None:
        if small := [name for name in NAMES if getattr(self, name) < 1]:
            raise ValueError(f"plan {_say(self)}: {small[0]} is below 1; leave it out where it is not used")
        if self.world > MOST_RANKS:
            raise ValueError(f"plan {_say(self)} has {self.world} ranks, above {MOST_RANKS}; check tp, pp and dp")
        if self.dp * self.tp % self.ep:
            raise ValueError(f"plan {_say(self)}: ep {self.ep} does not divide the {self.dp * self.tp} ranks of a stage (dp * tp)")

    @property
    def world(self) -> int:
        """Ranks in all (X2)."""
        return self.replica_size * self.dp

    @property
    def replica_size(self) -> int:
        """Ranks of one whole copy of the model."""
        return self.tp * self.pp


def parse_plan(text: str) -> Plan:
    """A plan as `format_plan` writes it: `tp=8 pp=16 dp=4 ep=1`, in any order, also with commas; what is left out is 1.

    Raises:
        ValueError: another text, a size twice, or sizes that make no plan
    """
    sizes: dict[str, int] = {}
    for word in text.replace(",", " ").split():
        found = SIZE.fullmatch(word)
        if found is None or found["name"] not in NAMES:
            raise ValueError(f"plan {text[:80]!r}: {word[:20]!r} is no size; write it as tp=8 pp=16 dp=4 ep=1")
        if found["name"] in sizes:
            raise ValueError(f"plan {text[:80]!r}: {found['name']} is given twice")
        sizes[found["name"]] = int(found["size"])
    if not sizes:
        raise ValueError(f"plan {text[:80]!r} has no sizes; write it as tp=8 pp=16 dp=4 ep=1")
    return Plan(**sizes)


def format_plan(plan: Plan) -> str:
    """`tp=8 pp=16 dp=4 ep=1`."""
    return _say(plan)


def list_groups(plan: Plan, kind: GroupKind) -> tuple[tuple[int, ...], ...]:
    """All groups of one kind, each in ascending order: together they hold every rank once."""
    tp, size, world = plan.tp, plan.replica_size, plan.world
    match kind:
        case "tp":
            return _cut(range(world), tp)
        case "pp":
            return tuple(tuple(range(first + shard, first + size, tp)) for first in range(0, world, size) for shard in range(tp))
        case "dp":
            return tuple(tuple(range(place, world, size)) for place in range(size))
        case "ep":
            return tuple(group for stage in range(plan.pp) for group in _cut(_list_stage(plan, stage), plan.ep))


def _list_stage(plan: Plan, stage: int) -> tuple[int, ...]:
    firsts = range(stage * plan.tp, plan.world, plan.replica_size)
    return tuple(first + shard for first in firsts for shard in range(plan.tp))


def _cut(ranks: Sequence[int], size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(ranks[first : first + size]) for first in range(0, len(ranks), size))


def number_replica(plan: Plan, rank: int) -> int:
    """The number of the replica that a rank belongs to.

    Raises:
        ValueError: there is no such rank
    """
    if not 0 <= rank < plan.world:
        raise ValueError(f"rank {rank} is none of plan {_say(plan)}, which has ranks 0 to {plan.world - 1}")
    return rank // plan.replica_size


def find_replica(plan: Plan, rank: int) -> tuple[int, ...]:
    """All ranks of the data parallel replica that a rank belongs to: what goes with it when it is given up (safety rule 31).

    Raises:
        ValueError: there is no such rank
    """
    first = number_replica(plan, rank) * plan.replica_size
    return tuple(range(first, first + plan.replica_size))


def drop_replica(plan: Plan, replica: int) -> tuple[Plan, Mapping[int, int]]:
    """The plan without one whole replica, and for each rank that is left its number before -> its number now.

    Raises:
        ValueError: there is no such replica, it is the last one, or experts are spread over replicas and would go with it
    """
    if not 0 <= replica < plan.dp:
        raise ValueError(f"plan {_say(plan)} has no replica {replica}; it has 0 to {plan.dp - 1}")
    if plan.dp == 1:
        raise ValueError(f"plan {_say(plan)} has one replica only, and without it there is no model; a spare is needed")
    if plan.tp % plan.ep:
        raise ValueError(f"plan {_say(plan)}: experts are spread over replicas (ep does not divide tp), so none can be given up alone")
    gone = range(replica * plan.replica_size, (replica + 1) * plan.replica_size)
    left = (rank for rank in range(plan.world) if rank not in gone)
    return msgspec.structs.replace(plan, dp=plan.dp - 1), {old: new for new, old in enumerate(left)}


def lint_plan(plan: Plan, cards_per_node: int, world: int) -> tuple[str, ...]:
    """What is wrong with a plan for nodes of so many cards and a job of so many ranks, a sentence each; a number of 0 is not known."""
    faults: list[str] = []
    if world and plan.world != world:
        faults.append(f"Plan {_say(plan)} makes {plan.world} ranks (tp * pp * dp), and the job has {world} (X2).")
    if cards_per_node and plan.tp > cards_per_node:
        faults.append(f"tp {plan.tp} is more than the {cards_per_node} cards of a node: a tensor group is to stay within one (X1).")
    elif cards_per_node and cards_per_node % plan.tp:
        faults.append(f"tp {plan.tp} does not divide the {cards_per_node} cards of a node: some tensor groups lie across two (X1).")
    return tuple(faults)


def _say(plan: Plan) -> str:
    return " ".join(f"{name}={getattr(plan, name)}" for name in NAMES)
