"""A site of two nodes with eight cards, a job on them, and what is read of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from supernoded.history import History
from supernoded.plugin import Level, Reading, Rule, State, Topology, Value, Verdict, View
from supernoded.topology import CoolantLoop, Ring, RingLevel, Spare, Supernode
from supernoded_isolation.health import build_table
from supernoded_isolation.rules import FaultyRule, IdleRule, ProcessRule, SilentRule, SoftwareRule
from supernoded_isolation.rules.inquiry import Inquiry
from supernoded_isolation.settings import IsolationSettings

JOB = "job/llm"
CARDS = tuple(f"{node}/card{slot}" for node in ("n0", "n1") for slot in range(4))
SPARES = ("n2/card0", "n1/card3")
SITE = Topology(
    nodes=(
        Supernode(name="n0", cards=4, feeds=("A",), loop="cdu0"),
        Supernode(name="n1", cards=4, feeds=("B",), loop="cdu1"),
        Supernode(name="n2", cards=1, feeds=("B",), loop="cdu0"),
    ),
    rings=(Ring(name="pod", level=RingLevel.CLUSTER, order=("n0", "n1")),),
    loops=(CoolantLoop(name="cdu0"), CoolantLoop(name="cdu1")),
    spares=tuple(Spare(card=card) for card in SPARES),
)
TABLE = build_table()
SETTINGS = IsolationSettings()
EVERY, FRESH = 5.0, 13.0


@dataclass
class Site:
    """What is the case, for a test to change; `look` adds one round of readings to the history."""

    now: float = 10_000.0
    step: float = 100.0
    states: dict[int, str] = field(default_factory=dict)
    places: dict[int, str] = field(default_factory=lambda: dict(enumerate(CARDS[:7])))
    behind: set[int] = field(default_factory=set)
    hung: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    unheard: set[str] = field(default_factory=set)  # of these nothing is read
    mute: set[str] = field(default_factory=set)  # nodes of which nothing is told
    dead: set[str] | None = field(default_factory=set)  # nodes that the role `fleet` holds for gone; None = it cannot say
    topology: Topology = SITE
    codes: dict[str, frozenset[str]] = field(default_factory=dict)
    more: dict[tuple[str, str], Value] = field(default_factory=dict)  # (subject, quantity) -> value
    history: History = field(default_factory=lambda: History({}))

    def read(self) -> Iterator[Reading]:
        """Everything, once."""
        for card in (card for node in self.topology.nodes for card in node.list_cards()):
            if card in self.unheard or self.is_mute(card):
                continue
            yield self._make(card, "card.present", None if card in self.hung else 0.0 if card in self.gone else 1.0)
            if card not in self.hung | self.gone:
                yield self._make(card, "card.health", self.codes.get(card, frozenset()))
                yield self._make(card, "card.serial", f"S-{card}")
        heard = {rank: card for rank, card in self.places.items() if not self.is_mute(card)}
        for rank, card in heard.items():
            subject = f"{JOB}/rank{rank}"
            yield self._make(subject, "rank.state", self.states.get(rank, "running"))
            yield self._make(subject, "rank.card", card)
            yield self._make(subject, "rank.step", self.step - 1.0 if rank in self.behind else self.step)
        words = {self.states.get(rank, "running") for rank in heard}
        word = "silent" if "silent" in words else "waiting" if words == {"waiting"} else "running"
        yield self._make(JOB, "job.state", word if words else "absent")
        yield self._make(JOB, "job.world_size", float(len(self.places)))
        yield self._make(JOB, "job.step", self.step)
        yield self._make("fleet", "fleet.gone", None if self.dead is None else frozenset(self.dead))
        for (subject, quantity), value in self.more.items():
            yield self._make(subject, quantity, value)

    def _make(self, subject: str, quantity: str, value: Value) -> Reading:
        state = State.UNKNOWN if value is None else State.GOOD
        return Reading(
            subject=subject, quantity=quantity, value=value, unit="1", at=self.now, state=state, note="timed out" if value is None else ""
        )

    def pass_time(self, seconds: float = EVERY) -> None:
        """Later, and read again."""
        self.now += seconds
        if not set(self.states.values()) - {"running"}:
            self.step += 1.0
        self.history.add(self.read(), FRESH)

    def see(self, watches: Mapping[str, float]) -> View:
        """What somebody who watches these sees now."""
        return self.history.view(self.now, watches)

    def is_mute(self, card: str) -> bool:
        """Whether nothing of its node is told."""
        return card.partition("/")[0] in self.mute

    def kill(self, node: str, others: str = "waiting") -> None:
        """A node is gone, and this is what the ranks elsewhere do then."""
        self.mute.add(node)
        self.dead = {*(self.dead or ()), node}
        self.states = dict.fromkeys(self.places, others)
        for _ in range(4):  # till nothing of it counts as fresh
            self.pass_time()

    def silence(self, rank: int) -> None:
        """A rank does not come, and the others wait for it."""
        self.states = dict.fromkeys(self.places, "waiting") | {rank: "silent"}
        self.behind = {rank}


class Court:
    """All rules of the role `spares`, asked after each look."""

    def __init__(self, site: Site, settings: IsolationSettings = SETTINGS, maintenance: Iterable[str] = ()) -> None:
        closed = frozenset(maintenance)
        inquiry = Inquiry(SITE, TABLE, settings, lambda subject: subject in closed)
        kinds = (SilentRule, FaultyRule, ProcessRule, IdleRule, SoftwareRule)
        self.site, self.rules = site, tuple(kind(inquiry, SITE, settings) for kind in kinds)
        self.memories: dict[str, Any] = {rule.kind: rule.start() for rule in self.rules}
        self.levels: dict[tuple[str, str], Verdict] = {}

    def ask(self) -> None:
        """One round."""
        for rule in self.rules:
            self._ask(rule)

    def _ask(self, rule: Rule[Any]) -> None:
        self.memories[rule.kind], verdicts = rule.judge(self.site.see(rule.watches), self.memories[rule.kind])
        for verdict in verdicts:
            self.levels[verdict.kind, verdict.subject] = verdict

    def run(self, looks: int, seconds: float = EVERY) -> None:
        """Read and ask, so many times."""
        for _ in range(looks):
            self.site.pass_time(seconds)
            self.ask()

    @property
    def raised(self) -> set[tuple[str, str]]:
        """Kinds and subjects."""
        return {key for key, verdict in self.levels.items() if verdict.level is Level.RAISED}

    def text(self, kind: str, subject: str) -> str:
        """What was last said."""
        return self.levels[kind, subject].text
