"""Everything of cards that one daemon runs, and the parts that it hands in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from supernoded.cards.by_hand import ByHand
from supernoded.cards.draining import DrainActuator
from supernoded.cards.evidence import CaptureActuator
from supernoded.cards.fence import Fence
from supernoded.cards.fencing import FenceActuator, FenceSensor
from supernoded.cards.holding import HoldActuator
from supernoded.cards.hooks import SiteHooks, Verb
from supernoded.cards.shelf import Shelf
from supernoded.cards.sources import Kernel, list_sources
from supernoded.cards.testing import TrialActuator
from supernoded.cards.trial import Trial, find_users
from supernoded.errors import WireError
from supernoded.holds import Holds
from supernoded.journal.rows import clean
from supernoded.journal.writer import Journal
from supernoded.model import Reading, State
from supernoded.parts import Actuator
from supernoded.settings import Settings
from supernoded.supervisor import Health
from supernoded.wire import Node

EVIDENCE = "evidence"  # folder of the state folder
_FENCING: tuple[Verb, ...] = ("isolate", "release")
MOST_SERIAL = 200  # characters (ours)
LOOK = 30.0  # seconds between two looks at the kernel's log (ours)


@dataclass(frozen=True)
class Outlook:
    """What the daemon knows beyond cards, asked when it is needed."""

    readings: Callable[[], Sequence[Reading]]  # the newest of everything
    history: Callable[[], Sequence[Reading]]  # all that is in memory
    jobs: Callable[[], Sequence[msgspec.Struct]]  # for people


class Cards:
    """The cards of this node. Give `take` what the node reads."""

    def __init__(self, settings: Settings, node: Node, holds: Holds, journal: Journal, health: Health, outlook: Outlook) -> None:
        site, clock = settings.topology, node.clock
        self._site, self._outlook, self._clock, self._health = site, outlook, clock, health
        self.hooks = SiteHooks(settings.hooks, node.wires)
        self.fence = Fence(
            node.name,
            site,
            state=node.wires.tree(str(settings.state)),
            runtime=node.wires.tree(str(settings.runtime)),
            hooks=self.hooks,
            holds=holds,
            clock=clock,
            health=health,
            serial_of=self.find_serial,
        )
        self.trial = Trial(self.hooks, clock, settings.hooks.test_s, self.find_ranks, self.find_serial)
        self.trial.on_passed.append(self._note_passed)
        programs: dict[str, bool] = {verb: self.hooks.has(verb) for verb in _FENCING}
        self.by_hand = ByHand(self.fence, self.trial, clock, programs=programs)
        self.sensor = FenceSensor(self.fence, clock)
        self._kernel = Kernel(node.host)
        sources = list_sources(settings, journal, self._kernel, outlook.history, outlook.jobs)
        shelf = Shelf(settings.state / EVIDENCE)
        nodes = [one.name for one in site.nodes]
        self._fencing = FenceActuator(self.fence, holds, clock)
        self._capture = CaptureActuator(node.name, self.fence.cards, shelf, sources, self.find_serial, clock)
        self._draining = DrainActuator(self.hooks, nodes, clock)
        self._holding = HoldActuator(holds, [pattern for name in nodes for pattern in (name, f"{name}/card*")], clock)
        self._testing = TrialActuator(self.trial, self.fence.cards, clock)
        self._serials: dict[str, str] = {}

    @property
    def actuators(self) -> list[Actuator]:
        """What the daemon performs of itself; a scheduler's plugin drains nodes where no program is set."""
        drains = [self._draining] if self.hooks.has("drain") else []
        return [self._holding, self._fencing, self._testing, self._capture, *drains]

    def take(self, readings: Sequence[Reading], fresh_for: float) -> None:
        """What this node reads."""
        self.trial.take(readings, fresh_for)
        for reading in readings:
            if reading.quantity == "card.serial" and reading.state is State.GOOD and isinstance(reading.value, str):
                self._serials[reading.subject] = clean(reading.value)[:MOST_SERIAL]

    def find_serial(self, card: str) -> str:
        """Which card is in a slot: as it was read last, else as the topology has it."""
        return self._serials.get(card) or self._site.serial(card)

    def find_ranks(self, card: str) -> list[str]:
        """The ranks that run on a card."""
        return find_users(self._outlook.readings(), card)

    async def _note_passed(self, card: str, serial: str) -> None:
        try:
            await self.fence.note_passed(card, serial)
        except WireError as error:
            self._health.report(f"test of {card}", f"was passed, which is not written down: {error}")
        else:
            self._health.report(f"test of {card}", "")

    async def run(self) -> None:
        """Keep `cards.json` true, and a place in the kernel's log; until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.fence.run(), name="cards: roster")
                group.create_task(self._follow_kernel(), name="cards: kernel log")
        finally:
            for part in (self._fencing, self._capture, self._draining, self.trial):
                part.stop()

    async def _follow_kernel(self) -> None:
        """What cannot be read is said in the bundle that lacks it."""
        while True:
            try:
                await self._kernel.look()
            except WireError:
                return
            await self._clock.sleep(LOOK)
