"""What a case is about, out of what is read and what was written down when it began. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping

import msgspec

from supernoded.plugin import Deed, Hold, Incident, State, View, World, find_most
from supernoded_isolation.evidence import CARD_WATCHES, RANK_WATCHES, Job, list_jobs
from supernoded_isolation.evidence.card_views import read_serial
from supernoded_isolation.evidence.ranks import CARD, has_ended
from supernoded_isolation.evidence.shared import SHARED_WATCHES
from supernoded_isolation.evidence.unheard import UNHEARD_WATCHES, list_torn
from supernoded_isolation.saga.runs import format_runs, parse_runs

POLICY = "isolation"  # the owner of our holds
SAGAS = frozenset({"card.silent", "card.faulty", "rank.silent", "job.lost"})
JOB, STEP, STEP_TIME, SAVE_TIME, AGE, DURABLE, PLAN = (
    "job.state",
    "job.step",
    "job.step_time",
    "job.save_time",
    "job.durable_age",
    "job.durable_step",
    "job.plan",
)
START = "job.incarnation"
WATCHES: Mapping[str, float] = {
    **CARD_WATCHES,
    **RANK_WATCHES,
    **SHARED_WATCHES,
    **UNHEARD_WATCHES,
    **dict.fromkeys((JOB, STEP_TIME, SAVE_TIME, AGE, DURABLE, PLAN), 60.0),
    **dict.fromkeys((STEP, START), 180.0),
    **dict.fromkeys(("card.isolated", "card.proven"), 60.0),  # for people, who are shown every card where the role `spares` is held
}
FLIGHT_S = 120.0  # since its hold, in which a job that stands still is the older saga's (ours)
MOST_DIGITS = 16
_CARD = re.compile(r"(?!job/)[^/]+/card[0-9]+")
MARK = "@"  # between the parts of a place's name


class Place(msgspec.Struct, frozen=True):
    """A card, the rank that ran on it, and where its job was when the case began: its step (-1 = not known) and start (0 = not known).

    Of a node that is gone with several ranks `card` is the node, `rank` the job, and `moved` has them: rank -> card.
    """

    card: str
    rank: str = ""
    step: int = -1
    start: int = 0  # orders to the launcher name it, so that they do nothing to a job that somebody has started anew
    moved: Mapping[int, str] = {}

    @property
    def job(self) -> str:
        """The job of the rank, empty where there is none."""
        return self.rank.rpartition("/")[0] if "/rank" in self.rank else self.rank

    @property
    def number(self) -> int:
        """The number of the rank; -1 where there is none."""
        number = self.rank.rpartition("/rank")[2]
        return int(number) if "/rank" in self.rank and number.isascii() and number.isdecimal() else -1

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of all ranks that need another card."""
        return tuple(sorted(self.moved)) or ((self.number,) if self.number >= 0 else ())

    @property
    def is_node(self) -> bool:
        """Whether a whole node is out."""
        return bool(self.card) and "/" not in self.card

    @property
    def name(self) -> str:
        """As a part of a step's name: what a later life reads it from."""
        runs = [format_runs(self.moved)] if self.moved else []
        return MARK.join((self.card, self.rank, str(self.step), str(self.start), *runs)) if self.rank else self.card

    @property
    def details(self) -> Mapping[str, str]:
        """Of orders to its launcher."""
        return {"incarnation": str(self.start)} if self.start else {}


def read_place(name: str) -> Place:
    """Out of a step's name."""
    card, rank, step, start, runs = (*name.split(MARK), "", "", "", "")[:5]
    return Place(card, rank, _read_number(step, -1), _read_number(start, 0), parse_runs(card, runs))


def _read_number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < MOST_DIGITS else default


def make_place(seen: View, card: str, rank: str) -> Place:
    """As it is now."""
    job = rank.rpartition("/rank")[0] or rank
    step, start = _find_step(seen, job), find_most(seen, START, job)
    return Place(card, rank, -1 if step is None else int(step), 0 if start is None else int(start))


def _find_step(seen: View, job: str) -> float | None:
    """As it is told, else as it was told last: a job of which no rank is left tells none."""
    told = [one for source in seen.sources(STEP, job) for one in seen.window(STEP, job, source) if one.state is State.GOOD]
    last = max(told, key=lambda one: one.at, default=None)
    now = find_most(seen, STEP, job)
    return now if now is not None else last.value if last is not None and isinstance(last.value, float) else None


def find_place(seen: View, card: str, begun: Iterable[Deed]) -> Place:
    """As it was when the case began: later the rank is elsewhere."""
    named = next((deed.target for deed in begun), "")
    if named:
        return read_place(named)
    rank = next((rank for job in list_jobs(seen) for rank in job.ranks if rank.card == card), None)
    return Place(card) if rank is None else make_place(seen, card, rank.subject)


def find_job(seen: View, subject: str) -> Job | None:
    """A job by its subject."""
    return next((job for job in list_jobs(seen, only=subject) if job.subject == subject), None) if subject else None


def is_running(seen: View, job: str) -> bool:
    """Whether every node that hears of a job says that it runs."""
    words = [seen.text(JOB, job, source) for source in seen.sources(JOB, job)]
    told = {word for word in words if word is not None} - {"absent"}
    return bool(told) and told <= {"running", "saving", "starting"}


def find_rank_on(seen: View, card: str) -> str:
    """The rank that was last said to run on a card, heard of now or not; one that has ended runs nowhere."""
    return find_ranks_on(seen, {card}).get(card, "")


def find_ranks_on(seen: View, cards: Collection[str]) -> Mapping[str, str]:
    """The same of several cards by one look, as a site may have thousands of ranks: card -> rank."""
    found: dict[str, str] = {}
    for subject in seen.subjects(CARD):
        last = seen.newest(CARD, subject)
        if last is None or last.value not in cards or last.state is State.UNKNOWN:
            continue
        if isinstance(last.value, str) and last.value not in found and not has_ended(seen, subject):
            found[last.value] = subject
    return found


def are_holds_known(world: World) -> bool:
    """Whether those of earlier lives are read: until then none seems to stand."""
    return math.isfinite(world.ages.get("holds", 0.0))


def list_holds(world: World, card: str) -> list[Hold]:
    """What keeps a card out of service: its own holds and those of its node."""
    return [hold for hold in world.holds if hold.subject in (card, card.partition("/")[0])]


def list_ours(world: World, card: str) -> list[Hold]:
    """Those of its own that this policy has placed."""
    return [hold for hold in world.holds if hold.subject == card and hold.owner == POLICY]


def list_others(world: World, card: str) -> list[Hold]:
    """What somebody else has placed on it or its node."""
    return [hold for hold in list_holds(world, card) if hold.owner != POLICY]


def find_serial(seen: View, world: World, card: str) -> str:
    """The serial number of the card in a slot, as its tool says or last said, else as it is described; empty = not known."""
    return read_serial(seen, card) or world.topology.serial(card)


def list_older(world: World, mine: Incident) -> list[Incident]:
    """The open incidents whose sagas go first, the oldest first."""
    order = (mine.opened, mine.id)
    return sorted(
        (one for one in world.incidents if one.kind in SAGAS and (one.opened, one.id) < order), key=lambda one: (one.opened, one.id)
    )


def find_busy(seen: View, world: World, mine: Incident, place: Place) -> Incident | None:
    """The older incident that is worked on this card, or on another one of its job: one card of one job at a time."""
    for one in list_older(world, mine):
        if one.subject == place.card or (place.job and is_in_flight(seen, world, one, place.job)):
            return one
    return None


def is_in_flight(seen: View, world: World, one: Incident, job: str) -> bool:
    """Whether an incident is about a rank of this job, or has taken a card out and the job does not step yet."""
    if one.kind == "job.lost":  # it stays open till its node is back: what counts is whether all ranks have a place again
        return one.subject == job and bool(list_torn(seen, only=job))
    if not is_card(one.subject, world):
        touched = one.kind != "rank.silent" or _is_touched(seen, job, one.opened)  # else it has only told who takes the node
        return touched and (one.subject == job or one.subject.startswith(f"{job}/"))
    on_it = find_rank_on(seen, one.subject)
    if on_it:
        return on_it.rpartition("/")[0] == job
    held = [hold.placed for hold in list_ours(world, one.subject) if hold.placed >= one.opened - 1.0]
    if not held or is_running(seen, job) or was_started(seen, job, max(held)):
        return False
    found = find_job(seen, job)  # ranks that are there and stand still were started again, and stand still for another reason
    ended = found is None or all(rank.state == "gone" for rank in found.ranks)
    return ended or seen.now - max(held) < FLIGHT_S


def _is_touched(seen: View, job: str, since: float) -> bool:
    """Whether a job was ended or started anew since a moment: one that stands still as it did was not."""
    found = find_job(seen, job)
    return found is None or found.is_dead or not (found.hangs or found.culprits) or was_started(seen, job, since)


def was_started(seen: View, job: str, since: float) -> bool:
    """Whether a job was started again since a moment: what holds it up now is another trouble."""
    for source in seen.sources(START, job):
        window = [one for one in seen.window(START, job, source) if one.state is State.GOOD and isinstance(one.value, float)]
        before = [one.value for one in window if one.at <= since]
        if before and window[-1].value != before[-1]:
            return True
    return False


def is_card(subject: str, world: World) -> bool:
    """Whether it is something in a node, and no thing that cards share; of a node or spare that is described, or of ours."""
    head, _, rest = subject.partition("/")
    nodes = {node.name for node in world.topology.nodes} | {spare.card.partition("/")[0] for spare in world.topology.spares}
    return bool(rest) and "/" not in rest and head in nodes


def was_described(subject: str, world: World) -> bool:
    """Whether it is a card, by its name, of a node that the topology has no more."""
    return _CARD.fullmatch(subject) is not None and not is_card(subject, world)
