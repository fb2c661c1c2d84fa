"""Which node has which job: each tells it when it changes, and everybody knows it of all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import JobHere, JobsTold, PayloadError
from supernoded.model import Reading, State

MOST_JOBS = 200  # of one node that are told; more run on none
MISSED = 30.0  # seconds for which a node that has not answered comes last (ours)

Publish = Callable[[str, bytes], object]


class Directory:
    """Knows the jobs of this node by its own readings, and of the others by what they tell, retained. `publish` retains."""

    def __init__(self, who: Speaker, clock: Clock, nodes: Collection[str], publish: Publish) -> None:
        self._who, self._clock, self._nodes, self._publish = who, clock, frozenset(nodes), publish
        self._source = f"job@{who.node}"  # of job/parts.py: our own readings, not what others tell of the same job
        self._here: dict[str, JobHere] = {}
        self._told: dict[str, JobsTold] = {}
        self._missed: dict[str, float] = {}

    def note(self, readings: Sequence[Reading], fresh_for: float) -> None:
        """What this node has just read of its jobs."""
        del fresh_for
        before = dict(self._here)
        lowest: dict[str, int] = {}
        for reading in readings:
            if reading.source == self._source and reading.state is State.GOOD:
                self._take(reading, lowest)
        for name, rank in lowest.items():
            self._change(name, lowest=rank)
        if self._here != before:
            self.republish()

    def _take(self, reading: Reading, lowest: dict[str, int]) -> None:
        _, _, rest = reading.subject.partition("/")
        name, _, rank = rest.partition("/rank")
        if reading.quantity == "job.launcher":
            self._change(name, launcher=reading.value == 1.0)
        elif reading.quantity == "job.ranks" and reading.value == 0.0:
            self._change(name, lowest=None)
        elif reading.quantity == "rank.state" and reading.value != "gone" and rank.isdecimal():
            lowest[name] = min(int(rank), lowest.get(name, int(rank)))

    def _change(self, name: str, **fields: int | bool | None) -> None:
        changed = msgspec.structs.replace(self._here.get(name, JobHere(name=name)), **fields)
        self._here[name] = changed
        if not changed.launcher and changed.lowest is None:
            del self._here[name]

    def republish(self) -> None:
        """Say what is here: at each change, and at each new link."""
        jobs = tuple(self._here[name] for name in sorted(self._here)[:MOST_JOBS])
        told = JobsTold(node=self._who.node, life=self._who.life, at=self._clock.now(), jobs=jobs)
        self._publish(topics.jobs(self._who.cluster, self._who.node), topics.encode(told))

    def hear(self, message: Message) -> None:
        """What another node tells. Raises PayloadError."""
        told = topics.decode(message.payload, JobsTold)
        if told.node == self._who.node:
            return
        if not message.topic.endswith(f"/node/{told.node}/jobs") or told.node not in self._nodes:
            raise PayloadError(f"the jobs of {told.node[:80]}, which is no node of the topology or has not told this")
        self._told[told.node] = told

    def miss(self, node: str) -> None:
        """A node has not answered: for a while another that has ranks of the same job is asked first."""
        self._missed[node] = self._clock.now() + MISSED

    def find_launcher(self, job: str) -> str | None:
        """The node that a job's launcher is connected to: this one, else who has told it last."""
        if job in self._here and self._here[job].launcher:
            return self._who.node
        claims = [(told.at, told.node) for told, one in self._list_told(job) if one.launcher]
        return max(claims)[1] if claims else None

    def list_nodes(self, job: str) -> Sequence[str]:
        """The nodes of a job's ranks: this one first, then by their lowest rank; who has not answered lately comes last."""
        now = self._clock.now()
        others = [
            (self._missed.get(told.node, 0.0) > now, one.lowest, told.node) for told, one in self._list_told(job) if one.lowest is not None
        ]
        here = [self._who.node] if job in self._here and self._here[job].lowest is not None else []
        return [*here, *(node for *_, node in sorted(others))]

    def _list_told(self, job: str) -> Iterator[tuple[JobsTold, JobHere]]:
        return ((told, one) for told in self._told.values() for one in told.jobs[:MOST_JOBS] if one.name == job)
