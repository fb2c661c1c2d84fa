"""Which rank runs on which card: one on each, each on one, and every card of this site (H9). Without it no card can be blamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Topology, Verdict, View
from supernoded_isolation.evidence import RANK_WATCHES, Job, list_jobs

EVERY_S = 5.0  # s between two looks: nodes tell as often
LASTS_S = 15.0  # s for which a map is wrong before it is told: ranks that start or move are told by one node after the other (ours)
MOST_SAID = 4


class MapMemory(msgspec.Struct, frozen=True):
    """Job -> since when its map is wrong."""

    since: dict[str, float] = {}
    at: float = 0.0  # when they were looked at


class MapRule:
    """Raises a job whose ranks are not one to a card. While two are on one card, no card is blamed by what the job says."""

    kind, scope = "rank.map", "spares"
    watches: Mapping[str, float] = RANK_WATCHES

    def __init__(self, site: Topology) -> None:
        self._cards = frozenset(card for node in site.nodes for card in node.list_cards())

    def start(self) -> MapMemory:
        """None is."""
        return MapMemory()

    def judge(self, seen: View, memory: MapMemory) -> tuple[MapMemory, Sequence[Verdict]]:
        """The level of every job."""
        if 0.0 <= seen.now - memory.at < EVERY_S:
            return memory, ()
        jobs = list_jobs(seen)
        faults = {job.subject: tuple(find_faults(job, self._cards)) for job in jobs}
        since = {job: memory.since.get(job, seen.now) for job, found in faults.items() if found}
        return MapMemory(since, seen.now), [self._judge(seen, job, faults[job.subject], since) for job in jobs]

    def _judge(self, seen: View, job: Job, faults: Sequence[str], since: Mapping[str, float]) -> Verdict:
        if not faults:
            return self._say(seen, job, Level.CLEAR, f"{job.subject}: its {len(job.ranks)} ranks are on as many cards")
        more = f"; and {len(faults) - MOST_SAID} more" if len(faults) > MOST_SAID else ""
        text = f"{job.subject}: {'; '.join(faults[:MOST_SAID])}{more}: look at LOCAL_RANK and at which device each process sets"
        lasts = seen.now - since[job.subject] >= LASTS_S
        return self._say(seen, job, Level.RAISED if lasts else Level.UNSURE, text)

    def _say(self, seen: View, job: Job, level: Level, text: str) -> Verdict:
        return Verdict(kind=self.kind, subject=job.subject, level=level, text=text, at=seen.now)


def find_faults(job: Job, cards: frozenset[str]) -> Iterator[str]:
    """All that is wrong with a map, each as a part of a sentence. Whether a rank that is not heard is missing is for others to judge."""
    for card, ranks in sorted(job.doubled.items()):
        yield f"{' and '.join(sorted(ranks))} are on one card, {card}"
    for rank in job.ranks:
        if rank.state == "gone":
            continue
        if not rank.card:
            yield f"on which card {rank.subject} is, is not told"
        elif rank.card not in cards:
            yield f"{rank.subject} is on {rank.card}, which is no card of the topology"
