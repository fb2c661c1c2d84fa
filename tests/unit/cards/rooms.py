"""A node's cards in memory: holds over a real journal, a fence, its files and programs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from supernoded.cards.fence import Fence
from supernoded.cards.hooks import SiteHooks
from supernoded.holds import Holds
from supernoded.journal.writer import open_journal
from supernoded.model import Action, Hold, Reading, State, Step, Value
from supernoded.settings import Hooks
from supernoded.supervisor import Health
from supernoded.testing import Answer, ManualClock, MemoryCommand, MemoryTree, MemoryWires
from supernoded.topology import Topology

T = TypeVar("T")
POLICY = "supernoded_isolation"
CTL = Hooks(isolate=("cardctl", "isolate", "{card}"), release=("cardctl", "release", "{card}"), test=("cardctl", "test", "{card}"))


async def run_inline(work: Callable[[], T]) -> T:
    return work()


def make_action(kind: str, target: str = "n0/card3", name: str = "", incident: str = "i1", **details: str) -> Action:
    step = Step(name=name or f"1-{kind}-{target}", kind=kind, target=target, reason="no beat for 20 s", details=details)
    return Action(
        id=f"{incident}/{step.name}", step=step, incident=incident, scope="spares", epoch=1, issued=0.0, deadline=1e12, policy=POLICY
    )


def make_hold(id_: str = "h1", subject: str = "n0/card3", owner: str = POLICY, **more: object) -> Hold:
    plain = Hold(id=id_, subject=subject, serial="SN3", reason="no beat", owner=owner, placed=100.0)
    return msgspec.structs.replace(plain, **more)


def read(quantity: str, value: Value, at: float = 0.0, *, subject: str = "n0/card3", source: str = "tool", note: str = "") -> Reading:
    state = State.GOOD if value is not None else State.UNKNOWN
    return Reading(subject=subject, quantity=quantity, value=value, unit="1", at=at, state=state, source=source, note=note)


class CardRoom:
    """`ran` are the words of every program that was run; `code` and `said` are what the next ones end with."""

    def __init__(self, folder: Path, clock: ManualClock, hooks: Hooks = CTL) -> None:
        self.clock, self.wires = clock, MemoryWires()
        self.code, self.said = 0, "done"
        self.ran: list[tuple[str, ...]] = []
        self.health = Health(clock, logging.getLogger("cards"))
        self.journal = open_journal(folder / "journal.db", clock, run=run_inline)
        self.holds = Holds("n0", self.journal, clock, lambda _: True)
        self.hooks = SiteHooks(hooks, self.wires)
        self.site = Topology.empty("n0", cards=4)
        self.serials: dict[str, str] = {}
        self.ranks: dict[str, list[str]] = {}
        self.state, self.runtime = _tree(self.wires, "/state"), _tree(self.wires, "/run")
        self.fence = self.make_fence()
        for words in (hooks.isolate, hooks.release, hooks.test, hooks.drain, hooks.undrain):
            if words:
                self._play(words[:2])

    def make_fence(self) -> Fence:
        """One more life's."""
        return Fence(
            "n0",
            self.site,
            state=self.state,
            runtime=self.runtime,
            hooks=self.hooks,
            holds=self.holds,
            clock=self.clock,
            health=self.health,
            serial_of=lambda card: self.serials.get(card, "SN"),
        )

    def _play(self, fixed: tuple[str, ...]) -> None:
        command = self.wires.command(fixed)
        assert isinstance(command, MemoryCommand)

        def answer(arguments: Sequence[str]) -> Answer:
            self.ran.append((*fixed, *arguments))
            return Answer(self.code, f"{self.said}\n" if not self.code else "", f"{self.said}\n" if self.code else "", False)

        command.answer = answer


def _tree(wires: MemoryWires, root: str) -> MemoryTree:
    tree = wires.tree(root)
    assert isinstance(tree, MemoryTree)
    return tree
