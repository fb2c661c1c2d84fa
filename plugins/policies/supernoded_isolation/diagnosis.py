"""Why a card or rank is in trouble: for and against the card, its process, heat, its links, software, and who else uses the node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Cause, Topology, View
from supernoded_isolation.evidence import JOB_VIEWS, Bounds, Evidence, Job, find_blame, list_jobs, look_at_card
from supernoded_isolation.evidence.card_views import is_well
from supernoded_isolation.evidence.shared import find_heat, find_hog, has_settled
from supernoded_isolation.evidence.words import NETWORK
from supernoded_isolation.health import Table
from supernoded_isolation.rules.inquiry import WATCHES
from supernoded_isolation.settings import IsolationSettings

CARD, PROCESS, HEAT, LINK, SOFTWARE, HOG = "card", "process", "heat", "link", "software", "hog"
BLAMED, LIKELY, POSSIBLE = 0.95, 0.6, 0.3  # two views, or one that is grave; one of the machine's; the job's alone (ours)


class CardDiagnosis:
    """Explains cards, ranks and jobs where the role `spares` is held."""

    name, scope = "cards", "spares"
    watches: Mapping[str, float] = WATCHES

    def __init__(self, site: Topology, table: Table, settings: IsolationSettings) -> None:
        self._site, self._table, self._set = site, table, settings

    def diagnose(self, seen: View, subject: str) -> Sequence[Cause]:
        """Causes, the best first; none for what is neither a card with a word against it nor in a job that stands still."""
        jobs = list_jobs(seen)
        job = next((one for one in jobs if any(subject in (rank.card, rank.subject, one.subject) for rank in one.ranks)), None)
        cards = self._list_cards(subject, job)
        found = [cause for card in cards for cause in self._explain(seen, card, job)]
        if (job is not None and subject != job.subject and len(cards) == 1) or subject.startswith("job/"):
            found += self._explain_job(seen, job, cards)
        best: dict[tuple[str, str], Cause] = {}
        for cause in sorted(found, key=lambda one: -one.weight):
            best.setdefault((cause.name, cause.subject), cause)
        return list(best.values())

    def _list_cards(self, subject: str, job: Job | None) -> list[str]:
        if job is None:
            return [subject] if "/card" in subject and subject.count("/") == 1 else []
        return [rank.card for rank in job.ranks if rank.card and subject in (rank.card, rank.subject, job.subject)]

    def _explain(self, seen: View, card: str, job: Job | None) -> Iterator[Cause]:
        settled = has_settled(seen, card.partition("/")[0], self._set.settle_s)
        machine = list(look_at_card(seen, card, self._site, self._table, settled=settled))
        told = job.tell(card) if job is not None else None
        evidence = [*machine, *([told] if told is not None else [])]
        if not evidence:
            return
        others = (find_heat(seen, card), find_hog(seen, card.partition("/")[0]))
        well = is_well(seen, card, self._table, 0.0)
        against = [one for one in (*others, f"{card} answers and shows no code" if well else "") if one]
        if machine or told:
            yield self._make(seen, CARD, card, self._weigh(evidence), evidence, against, f"Isolate {card}, and put a spare in its place.")
        if others[0]:
            yield self._blame(seen, HEAT, card, 0.9, others[0], f"Cool {card} first.")
        if others[1]:
            yield self._blame(seen, HOG, card.partition("/")[0], 0.9, others[1], "End it, or move it to a node of its own.")
        ports = [one for one in machine if one.view == NETWORK]
        if ports and len(machine) == len(ports):
            yield self._make(seen, LINK, card, LIKELY, ports, (), f"Look at the cables and modules of {card}.")

    def _weigh(self, evidence: Sequence[Evidence]) -> float:
        """By one look: whether it is seen again is the rule's to say."""
        if find_blame(evidence, Bounds(1, 1)):
            return BLAMED
        return LIKELY if any(one.view not in JOB_VIEWS for one in evidence) else POSSIBLE

    def _explain_job(self, seen: View, job: Job | None, cards: Sequence[str]) -> Iterator[Cause]:
        if job is None or not (job.culprits or job.hangs):
            return
        held = [rank for rank in job.culprits if rank.card in cards or not rank.card]
        ill = [
            rank.card
            for rank in job.ranks
            if rank.card and any(True for _ in look_at_card(seen, rank.card, self._site, self._table, settled=True))
        ]
        for rank in held:
            if rank.card and is_well(seen, rank.card, self._table, 0.0):
                text = f"{rank.subject} is {rank.state}, and {rank.card} answers and shows no code"
                yield self._blame(seen, PROCESS, rank.subject, 0.7, text, f"Start {job.subject} anew on the same cards.")
        if len(ill) > 1 or len(job.culprits) > 1:
            names = ", ".join(sorted({*ill, *(rank.card for rank in job.culprits if rank.card)}))
            text = f"{names} of {job.subject} are in trouble at a time"
            yield self._blame(seen, SOFTWARE, job.subject, 0.8, text, "Look at the job's own code, its libraries and its driver.")

    def _blame(self, seen: View, name: str, subject: str, weight: float, text: str, advice: str) -> Cause:
        return Cause(name=name, subject=subject, weight=weight, evidence=(text,), advice=advice, at=seen.now)

    def _make(
        self, seen: View, name: str, subject: str, weight: float, evidence: Sequence[Evidence], against: Sequence[str], advice: str
    ) -> Cause:
        texts = tuple(dict.fromkeys(f"{one.text} ({one.view})" for one in evidence))
        lighter = weight * (0.5 if against and weight < BLAMED else 1.0)
        return Cause(
            name=name,
            subject=subject,
            weight=lighter,
            evidence=texts,
            against=tuple(against),
            advice=advice,
            at=max((one.at for one in evidence), default=seen.now),
        )
