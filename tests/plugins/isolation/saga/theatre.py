"""A world in which the steps of a remedy have effects, and that refuses what must never be done."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from supernoded.plugin import Case, Hold, Incident, Outcome, Result, Severity, Step, World
from supernoded.topology.groups import drop_replica, format_plan, number_replica, parse_plan
from supernoded_isolation.saga import ProcessRemedy, RelocateRemedy, ReplaceRemedy
from supernoded_isolation.settings import IsolationSettings
from tests.plugins.isolation.site import CARDS, JOB, SETTINGS, TABLE, Site

Plan = Callable[[Step], Result]
EFFECTIVE = {Result.DONE}
MOST_TURNS = 400
CARD = CARDS[2]


def well(step: Step) -> Result:
    """Everything goes well."""
    del step
    return Result.DONE


def but(**results: Result) -> Plan:
    """Everything goes well but for these kinds, written with `_` for the dot."""
    return lambda step: results.get(step.kind.replace(".", "_"), Result.DONE)


@dataclass
class Theatre:
    """One incident, its remedy, and the world."""

    kind: str
    subject: str
    site: Site = field(default_factory=Site)
    settings: IsolationSettings = SETTINGS
    plan: Plan = well
    still_raised: bool = True
    others: tuple[Incident, ...] = ()
    holds: list[Hold] = field(default_factory=list)
    done: dict[str, Outcome] = field(default_factory=dict)
    log: list[Step] = field(default_factory=list)
    stands: bool = False  # the job was ended and not started again
    mapped: bool = False
    passed: set[tuple[str, str]] = field(default_factory=set)  # card and serial that passed a test
    faulty: set[str] = field(default_factory=set)  # spares that would fail a test
    untestable: set[str] = field(default_factory=set)  # cards whose test cannot be begun, or not to its end

    def __post_init__(self) -> None:
        kinds: dict[str, Callable[[], Any]] = {
            "rank.silent": lambda: ProcessRemedy(TABLE, self.settings),
            "job.lost": lambda: RelocateRemedy(TABLE, self.settings),
        }
        self.remedy = kinds.get(self.kind, lambda: ReplaceRemedy(self.kind, TABLE, self.settings))()
        self.site.pass_time()
        self.site.pass_time()
        self.incident = Incident(
            id="i-mine",
            kind=self.kind,
            subject=self.subject,
            scope="spares",
            opened=self.site.now,
            severity=Severity.CRITICAL,
            text=f"{self.subject} is to blame.",
        )

    @property
    def world(self) -> World:
        """As the remedy is told."""
        standing = tuple(hold for hold in self.holds if hold.stands(self.site.now))
        return World(topology=self.site.topology, holds=standing, incidents=(self.incident, *self.others))

    def case(self, running: frozenset[str] = frozenset()) -> Case:
        """As the remedy is told."""
        seen = self.site.see(self.remedy.watches)
        return Case(incident=self.incident, done=dict(self.done), still_raised=self.still_raised, seen=seen, running=running)

    def ask(self, running: frozenset[str] = frozenset()) -> Sequence[Step]:
        """The next steps; asking twice gives the same."""
        steps = tuple(self.remedy.next(self.case(running), self.world, self.site.now))
        assert steps == tuple(self.remedy.next(self.case(running), self.world, self.site.now))
        assert len({step.name for step in steps}) == len(steps)
        assert not {step.name for step in steps} & self.done.keys(), [step.name for step in steps]
        return steps

    def turn(self) -> Sequence[Step]:
        """Ask, perform, and let time pass."""
        steps = self.ask()
        for step in steps:
            self.perform(step, self.plan(step))
        self.site.pass_time()
        return steps

    def run(self, turns: int = 40) -> None:
        """Until nothing happens for so many turns."""
        idle = 0
        for _ in range(MOST_TURNS):
            idle = 0 if self.turn() else idle + 1
            if idle >= turns:
                return
        raise AssertionError(f"never ends: {[step.name for step in self.log[-8:]]}")

    def perform(self, step: Step, result: Result) -> None:
        """One step with its outcome; what must never be asked for fails the test."""
        self.check(step)
        self.log.append(step)
        text = f"{result.value} it is"
        if result is Result.DONE and step.kind == "card.test" and step.target in self.faulty:
            result, text = Result.UNCONFIRMED, "it came to nothing: it has failed"
        if result is Result.DONE and step.kind == "card.test" and step.target in self.untestable:
            result, text = Result.REFUSED, "it could not be done: cardctl cannot be started"
        if result in EFFECTIVE:
            self.apply(step)
        self.done[step.name] = Outcome(action=f"i-mine/{step.name}", result=result, text=text, at=self.site.now)

    def check(self, step: Step) -> None:
        """What must never be."""
        held = {hold.subject for hold in self.world.holds}
        match step.kind:
            case "card.hold":
                out = {self.subject, *self.faulty, *self.failed, *(self.site.dead or ())}
                assert step.target in out, "a healthy card or node is held"
            case "card.isolate":
                assert step.target in held, "fenced without a hold"
            case "job.abort":
                begun = any(step.kind == "job.abort" for step in self.log)  # it may have ended: then it is not left half way
                there = self.kind == "job.lost" and (held or not self.site.mute)
                assert self.kind == "rank.silent" or self.subject in held or begun or there, "a job is ended for a card that is not held"
            case "job.remap":
                moved = json.loads(step.details["cards"])
                assert self.stands, "a new map for a job that runs"
                assert not held & set(moved.values()), "a held card is used"
                assert moved or json.loads(step.details["drop"]), "a map that changes nothing"
                assert all((card, self.serial(card)) in self.passed for card in moved.values()), "an untested spare is used"
            case "job.resume":
                assert self.stands, "a running job is started"
                back = self.kind == "job.lost" and not self.site.mute
                assert self.mapped or self.kind == "rank.silent" or back, "started again on the card that is out"
            case "card.unhold":
                assert (step.target, self.serial(step.target)) in self.passed or not self.fenced(step.target), "let go without a test"
            case "card.release":
                assert step.target not in held, "given back while it is held"
            case "node.drain":
                assert self.settings.drain, "drained though nobody wants that"
                assert any(subject.startswith(f"{step.target}/") for subject in held), "drained without a card that is held"
            case "node.release":
                assert not any(subject.startswith(f"{step.target}/") for subject in held), "put back while a card of it is out"
            case _:
                assert step.kind in {"notify", "card.capture", "card.test", "job.checkpoint", "job.stop"}, step.kind
        assert step.patience > 0.0

    @property
    def failed(self) -> set[str]:
        """Cards whose test was seen to fail."""
        return {step.target for step in self.log if step.kind == "card.test" and self.done[step.name].result is Result.UNCONFIRMED}

    def fenced(self, card: str) -> bool:
        """Whether it was fenced."""
        return any(step.kind == "card.isolate" and step.target == card and self.done[step.name].result is Result.DONE for step in self.log)

    def serial(self, card: str) -> str:
        """Of the card in a slot."""
        return str(self.site.more.get((card, "card.serial"), f"S-{card}"))

    def apply(self, step: Step) -> None:
        """Its effect."""
        site = self.site
        match step.kind:
            case "card.hold":
                known = f"{step.target}/{step.name.partition('-')[0]}"
                if all(hold.id != known for hold in self.holds):
                    self.holds.append(
                        Hold(
                            id=known,
                            subject=step.target,
                            serial=step.details["serial"],
                            reason=step.reason,
                            owner="isolation",
                            placed=site.now,
                            cause=step.details["cause"],
                        )
                    )
            case "card.unhold":
                self.holds = [
                    msgspec.structs.replace(hold, lifted=site.now) if hold.subject == step.target and hold.owner == "isolation" else hold
                    for hold in self.holds
                ]
            case "card.test":
                self.passed.add((step.target, self.serial(step.target)))
            case "job.abort" | "job.stop":
                self.stands, self.mapped = True, False
                site.states = dict.fromkeys(site.places, "gone")
            case "job.remap":
                self.mapped = True
                site.places.update({int(rank): card for rank, card in json.loads(step.details["cards"]).items()})
                self.drop(json.loads(step.details["drop"]))
            case "job.resume":
                self.stands = False
                site.states, site.behind = {}, set()
                site.step -= 20.0
            case "job.checkpoint":
                site.more[JOB, "job.durable_step"] = site.step
                site.more[JOB, "job.durable_age"] = 0.0
            case _:
                return

    def drop(self, ranks: Sequence[int]) -> None:
        """Give ranks up; the plan is the smaller one from then on."""
        for rank in ranks:
            del self.site.places[rank]
        if ranks:
            plan = parse_plan(str(self.site.more[JOB, "job.plan"]))
            for number in sorted({number_replica(plan, rank) for rank in ranks}, reverse=True):
                plan, _ = drop_replica(plan, number)
            self.site.more[JOB, "job.plan"] = format_plan(plan)

    @property
    def kinds(self) -> list[str]:
        """Of what was done, notices left out."""
        return [step.kind for step in self.log if step.kind != "notify"]

    @property
    def told(self) -> list[str]:
        """What people were told."""
        return [step.reason for step in self.log if step.kind == "notify"]


def silent(**more: object) -> Theatre:
    """A card that hangs with its rank, the others wait for it."""
    site = Site()
    site.pass_time()
    site.hung.add(CARD)
    site.silence(2)
    site.more[JOB, "job.durable_step"] = 60.0
    return Theatre("card.silent", CARD, site=site, **more)  # type: ignore[arg-type]


def alive(**more: object) -> Theatre:
    """A card with a grave code, while its job runs."""
    site = Site()
    site.codes[CARD] = frozenset({"8C03A000"})
    return Theatre("card.faulty", CARD, site=site, **more)  # type: ignore[arg-type]
