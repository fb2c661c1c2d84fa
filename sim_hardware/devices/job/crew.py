"""All processes of one job. What its ranks agree on in their collective is known to all of them at once: that is what a collective does.

A request that any rank has heard is agreed on at the end of the step that runs; the plant then saves at the end of the next one.

A rank whose process hangs, or whose card is hung or isolated, says nothing more and keeps its connection: it stands in a call of the driver
that lets none of its threads run. Its peers wait in the collective, and say once a second that they live. Without its card (gone, without
power) the process dies, and with it the job. An abort ends all processes; a start makes others, each on the card that the plant has it on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sim_hardware.devices.job.peer import Peer
from sim_hardware.devices.job.storage import Storage
from sim_hardware.devices.panel import Panel
from sim_hardware.plant.job.orders import AbortCollective, RemapRanks, RequestCheckpoint, ResumeJob, StopJob, WithdrawCheckpoint
from sim_hardware.plant.words import Order, OrderError

GOING = frozenset({"running", "saving", "restoring", "hung"})  # its processes live
ALIVE_S = 1.0  # between two words that a process lives, as the plant has it
TIER = "durable"


@dataclass
class Asked:
    """What the daemon has asked for, and how far that is."""

    id: str
    stop: bool
    heard_at: int  # the step when it was heard
    agreed: int = -1


class Crew:
    """The ranks, the launcher and the vaults of the job of a rack. `wall` gives a node's Unix time.

    `present` are the nodes that have a daemon to speak to: of a big rack only these are looked after.
    """

    def __init__(self, panel: Panel, wall: Callable[[str], float], storage: Storage | None = None) -> None:
        self._panel, self._wall, self._storage = panel, wall, storage
        job = panel.rack.sim.job
        self.job = job.name if job is not None else ""
        self.peers: tuple[Peer, ...] = tuple(self._list_peers()) if self.job else ()
        self._done: set[str] = set()  # orders
        self._lived = 0.0  # when the processes last said so
        self.present: set[str] = set()
        self._asked: Asked | None = None
        self._later: Asked | None = None  # what was heard while that is under way
        self._phase, self._committed = "", int(self._number("job.committed_step")) if self.job else 0

    def _list_peers(self) -> list[Peer]:
        nodes = [node.name for node in self._panel.rack.nodes]
        launcher = Peer(self.job, nodes[0], "launcher", plan=self._find_plan())
        vaults = [Peer(self.job, node, "vault") for node in nodes] if self._storage is None else []  # else they are real ones
        return [*self._list_ranks(), launcher, *vaults]

    def _list_ranks(self) -> list[Peer]:
        world, plan = int(self._number("job.world_size")), self._find_plan()
        ranks = [Peer(self.job, "", "rank", rank=rank, world=world, plan=plan) for rank in range(world)]
        for rank in ranks:
            self._place(rank)
        return ranks

    def _find_plan(self) -> str:
        """How the ranks are grouped; empty of a rack with too few cards for one replica."""
        tp, pp, dp = (int(self._number(f"job.{name}")) for name in ("tensor", "pipeline", "replicas"))
        return f"tp={tp} pp={pp} dp={dp} ep=1" if tp * pp * dp == int(self._number("job.world_size")) else ""

    def _place(self, rank: Peer) -> None:
        """On the card that the plant has it on."""
        rank.card = str(self._panel.sense(f"job/{self.job}/rank{rank.rank}", "rank.card"))
        rank.node, _, card = rank.card.partition("/")
        rank.local_rank = int(card.removeprefix("card") or 0)

    def _list_present(self) -> list[Peer]:
        return [peer for peer in self.peers if peer.kind == "rank" and peer.node in self.present]

    # what it is told

    def hear(self, peer: Peer, data: bytes) -> None:
        """Bytes from the daemon to one of them."""
        for message in peer.hear(data):
            kind = message.get("t")
            if kind == "request":
                self._note_request(Asked(str(message.get("id")), message.get("kind") == "stop", int(self._number("job.step"))))
            elif kind == "withdraw" and self._later is not None and self._later.id == message.get("id"):
                self._later = None
            elif kind == "withdraw" and self._asked is not None and self._asked.id == message.get("id") and self._asked.agreed < 0:
                self._asked = None
                self._order(WithdrawCheckpoint(self.job))
            elif kind == "order":
                self._obey(peer, message)

    def _note_request(self, asked: Asked) -> None:
        """What all ranks hear. While they are at an older one it waits for its turn; nothing replaces a stop but a stop."""
        if self._asked is None or (self._asked.agreed < 0 and (asked.stop or not self._asked.stop)):
            self._asked = asked
        elif self._asked.agreed >= 0 and asked.id != self._asked.id and (self._later is None or asked.stop or not self._later.stop):
            self._later = asked

    def _obey(self, launcher: Peer, message: Mapping[str, object]) -> None:
        """Each order once: one that has been done is answered again."""
        name, cards, drop = str(message.get("id")), message.get("cards"), message.get("drop")
        moves = {int(rank): str(card) for rank, card in cards.items()} if isinstance(cards, dict) else {}
        gone = tuple(int(rank) for rank in drop) if isinstance(drop, list) else ()
        orders: dict[object, Order] = {
            "abort": AbortCollective(self.job),
            "remap": RemapRanks(self.job, moves, gone),
            "resume": self._choose() if message.get("kind") == "resume" else ResumeJob(self.job),
        }
        order = orders.get(message.get("kind"))
        if order is None or name in self._done:
            launcher.answer(name, "" if name in self._done else "the launcher knows no such order")
            return
        why = self._order(order)
        if not why:
            self._done.add(name)
            if gone:
                self._number_anew(launcher)
        launcher.answer(name, why)

    def _choose(self) -> ResumeJob:
        """The ranks agree on a step that all can read."""
        if self._storage is None:
            return ResumeJob(self.job)
        return ResumeJob(self.job, *self._storage.choose())

    def _number_anew(self, launcher: Peer) -> None:
        """A replica is given up: the processes there were have ended, and those that start are others."""
        ranks = self._list_ranks()
        for rank in ranks:
            rank.alive, rank.life = False, len(self._done)
        launcher.plan = self._find_plan()
        self.peers = (*ranks, *(peer for peer in self.peers if peer.kind != "rank"))

    def _order(self, order: Order) -> str:
        """Why it was not done; empty when it was."""
        try:
            self._panel.order(order)
        except OrderError as error:
            return str(error)
        return ""

    # what it does

    def look(self) -> None:
        """Look at the plant, and say and do what follows: to be called a few times a second."""
        if not self.job:
            return
        phase, step = str(self._panel.sense(f"job/{self.job}", "job.state")), int(self._number("job.step"))
        self._follow_lives(phase)
        for rank in self._list_present():
            if rank.alive and not rank.silent and step > rank.step:
                rank.step = step
                rank.say("beat", step=step)
        self._say_alive()
        if phase == "saving" and self._phase != "saving":
            self._say_all("saving", step=step)
        self._follow_saves(phase, step)
        self._follow_request(phase, step)
        self._phase = phase

    def _say_alive(self) -> None:
        now = self._panel.now()
        if now >= self._lived + ALIVE_S:
            self._lived = now
            for rank in self._list_present():
                if rank.welcome:  # none waits to be said
                    rank.say("alive")

    def _follow_lives(self, phase: str) -> None:
        for rank in self._list_present():
            state = self._panel.sense(f"job/{self.job}/rank{rank.rank}", "rank.state")
            was_alive, rank.silent = rank.alive, state == "silent"
            rank.alive = phase in GOING and state != "dead"
            if rank.alive and not was_alive:
                rank.begin_anew()
                rank.step = int(self._number("job.step"))
                self._place(rank)

    def _follow_saves(self, phase: str, step: int) -> None:
        committed = int(self._number("job.committed_step"))
        if committed > self._committed:
            self._committed, took = committed, self._panel.rack.sim.job.save_s if self._panel.rack.sim.job is not None else 0.0
            self._say_all("saved", step=committed, size=0, seconds=took)
            for vault in (peer for peer in self.peers if peer.kind == "vault" and peer.node in self.present):
                where = f"/durable/{self.job}/step-{committed:012d}"
                vault.say("durable", step=committed, tier=TIER, where=where, taken=self._wall(vault.node), seconds=took)
        elif self._phase == "saving" and phase != "saving":
            self._say_all("save_failed", step=step, why="the save ended without a checkpoint")
            if self._asked is not None and self._asked.agreed >= 0:
                self._asked, self._later = self._later, None

    def _follow_request(self, phase: str, step: int) -> None:
        asked = self._asked
        if asked is None or phase not in GOING:
            return
        if asked.agreed < 0 and step > asked.heard_at and phase == "running":
            if not self._order(RequestCheckpoint(self.job)):
                asked.agreed = step + 1
                self._say_all("agreed", request=asked.id, step=asked.agreed)
        elif 0 <= asked.agreed <= self._committed:
            self._asked, self._later = None if asked.stop else self._later, None
            if asked.stop:
                self._say_all("bye", step=self._committed)
                self._order(StopJob(self.job))

    def _say_all(self, kind: str, **more: object) -> None:
        for rank in self._list_present():
            rank.say(kind, **more)

    def _number(self, quantity: str) -> float:
        value = self._panel.sense(f"job/{self.job}", quantity)
        return float(value) if isinstance(value, int | float) else 0.0
