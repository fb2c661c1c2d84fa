"""Who is connected to `job.sock`, and what is said to them. It asks and tells, and kills nobody."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from supernoded.clock import Clock
from supernoded.errors import WireError
from supernoded.job.checkpoints import Checkpoint, Kind
from supernoded.job.launching import Launching
from supernoded.job.peer import Peer
from supernoded.job.protocol import Acted, Durable, FromDaemon, FromPeer, Hello, Order, Request, VaultTrouble, Welcome, Withdraw
from supernoded.job.training import Kept, Training

MOST_JOBS = 256
UNHEARD = 60.0  # seconds that ranks have to dial a daemon that has just started: they do so after their step (ours)
VAULT_LOST = "supernoded-vault has gone: nothing that is saved now becomes durable"
FORGET_AFTER = 86_400.0  # seconds after which a job that nobody speaks of is forgotten


@dataclass(frozen=True)
class Terms:
    """What the settings say. `tokens` are the secrets by job, `tiers` the folders to restore from."""

    node: str
    tokens: Mapping[str, str]
    tiers: tuple[str, ...]
    silent_s: float
    most_peers: int
    lines_per_s: int
    cards: int = 0  # of this node, 0 = not known


class Server:
    """All jobs of this node. `on_news` is told the name of a job of which something has changed."""

    def __init__(self, terms: Terms, clock: Clock, log: logging.Logger, on_news: Callable[[str], None]) -> None:
        self.terms, self.jobs = terms, dict[str, Training]()
        self._clock, self._log, self._on_news = clock, log, on_news
        self._peers: dict[Peer, None] = {}
        self._launching: dict[str, Launching] = {}
        self._last_spoken: dict[str, float] = {}
        self._refused: dict[tuple[str, str, int], str] = {}  # told once, however often it is tried

    def accept(self) -> Peer:
        """A protocol for a new connection."""
        return Peer(self, self._clock, self.terms.lines_per_s, self._count)

    def open_job(self, name: str, kept: Kept | None = None) -> Training:
        """The job of that name, made where there is none."""
        if name not in self.jobs:
            self.jobs[name] = Training(name, kept or Kept(), lambda: self._on_news(name))
            self._last_spoken[name] = self._clock.now()
            self._launching[name] = Launching(self.jobs[name], self.terms.cards)
            self.jobs[name].unheard_until = self._clock.now() + UNHEARD if kept is not None else 0.0
        return self.jobs[name]

    def admit(self, peer: Peer, hello: Hello) -> str:
        """See `Reception`."""
        why = self._find_refusal(hello)
        self._tell_refusal(hello, why)
        if why:
            return why
        job, now = self.open_job(hello.job), self._clock.now()
        terms = self.terms
        peer.hello = hello
        peer.say(Welcome(node=terms.node, silent_s=terms.silent_s, tiers=terms.tiers))
        if hello.kind == "rank":
            card = hello.card or (f"{terms.node}/card{hello.local_rank}" if hello.local_rank >= 0 else "")
            job.come(hello.rank, hello.world, card, hello.step, now, hello.life)
            for one in job.list_unagreed():
                peer.say(self._make_request(one, now))
        elif hello.kind == "vault":
            job.troubles = {}  # it tells what there is
            self._on_news(hello.job)
        else:
            job.launcher = True
            self._on_news(hello.job)
            for order in self._launching[hello.job].list_open():
                peer.say(order)
        if hello.plan and hello.kind != "vault":
            self._launching[hello.job].tell_plan(hello.plan)
        return ""

    def hear(self, peer: Peer, message: FromPeer) -> None:
        """See `Reception`."""
        hello, now = peer.hello, self._clock.now()
        if hello is None:
            return
        job = self.jobs[hello.job]
        self._last_spoken[hello.job] = now
        if hello.kind == "rank":
            job.hear(hello.rank, message, now)
        elif isinstance(message, Durable):
            job.make_durable(message, now)
        elif isinstance(message, VaultTrouble):
            job.troubles = {tier: text for tier, text in {**job.troubles, message.tier: message.text}.items() if text}
            self._on_news(hello.job)
        elif isinstance(message, Acted):
            self._launching[hello.job].answer(message)

    def lose(self, peer: Peer) -> None:
        """See `Reception`."""
        self._peers.pop(peer, None)
        if peer.hello is None:
            return
        job = self.jobs[peer.hello.job]
        if peer.hello.kind == "rank":
            job.go(peer.hello.rank, self._clock.now())
        elif peer.hello.kind == "vault":
            job.troubles = {"vault": VAULT_LOST} if job.here else {}
            self._on_news(job.name)
        else:
            job.launcher = bool(self._list_peers(job.name, "launcher"))
            self._on_news(job.name)

    def ask(self, name: str, request: str, kind: Kind, reason: str, within: tuple[float, float]) -> Checkpoint:
        """Ask a job for a checkpoint; the same request twice is one, unless it has failed. Raises WireError."""
        job = self.find(name)
        old = job.find(request)
        if old is not None and old.stage == "withdrawn":
            raise WireError(f"{old.describe()}; ask under another name")
        if old is not None and old.stage != "failed":
            return old
        if not job.here:
            raise WireError(f"job {name}: none of its ranks is connected, so that nobody can save; they connect to job.sock")
        now = self._clock.now()
        one = job.ask(request, kind, reason, now, within)
        self._tell(name, "rank", self._make_request(one, now))
        return one

    def withdraw(self, name: str, request: str) -> Checkpoint:
        """Take a request back, where the ranks have not agreed yet. Raises WireError."""
        job = self.find(name)
        one = job.find(request)
        if one is None:
            raise WireError(f"job {name}: there is no request {request}")
        job.withdraw(request)
        self._tell(name, "rank", Withdraw(id=request))
        return job.find(request) or one

    def order(self, name: str, order: Order) -> None:
        """Tell the launcher, where it is not done already. Raises WireError when there is none, or the order is of another start."""
        self.launching(name).give(order, lambda told: bool(self._tell(name, "launcher", told)))

    def launching(self, name: str) -> Launching:
        """What its launcher is told and tells. Raises WireError for a job that is not known."""
        self.find(name)
        return self._launching[name]

    def find(self, name: str) -> Training:
        """A job. Raises WireError naming those that there are."""
        if name not in self.jobs:
            raise WireError(f"there is no job {name} on {self.terms.node}; there are {', '.join(sorted(self.jobs)[:8]) or 'none'}")
        return self.jobs[name]

    def pass_time(self) -> None:
        """Deadlines, peers that never say who they are, jobs that nobody speaks of."""
        now = self._clock.now()
        for peer in [peer for peer in self._peers if peer.is_dumb(now)]:
            peer.refuse("no hello within its time")
        for job in self.jobs.values():
            job.pass_time(now)
        speaking = {peer.hello.job for peer in self._peers if peer.hello is not None}
        for name in [name for name, at in self._last_spoken.items() if now - at > FORGET_AFTER and name not in speaking]:
            del self.jobs[name], self._last_spoken[name], self._launching[name]
            self._on_news(name)

    def hang_up(self) -> None:
        """The daemon ends: everybody dials anew."""
        for peer in list(self._peers):
            peer.close()

    def _count(self, peer: Peer) -> str:
        self._peers[peer] = None
        most = self.terms.most_peers
        return f"{most} are connected already, the limit of [job] most_peers" if len(self._peers) > most else ""

    def _find_refusal(self, hello: Hello) -> str:
        secret = self.terms.tokens.get(hello.job)
        if secret is not None and not hmac.compare_digest(hello.token.encode(errors="replace"), secret.encode()):
            return f"the token of job {hello.job} is wrong; set SUPERNODED_JOB_TOKEN to the secret of [job] tokens"
        if hello.job not in self.jobs and len(self.jobs) >= MOST_JOBS:
            return f"{MOST_JOBS} jobs are known already, which is the limit"
        if hello.kind == "rank":
            job = self.jobs.get(hello.job) or Training(hello.job, Kept(), lambda: None)
            return job.find_refusal(hello.rank, hello.world, self._clock.now())
        if self._list_peers(hello.job, hello.kind):
            return f"job {hello.job} has a {hello.kind} already; end that process first"
        return ""

    def _list_peers(self, job: str, kind: str) -> list[Peer]:
        return [peer for peer in self._peers if peer.hello is not None and (peer.hello.job, peer.hello.kind) == (job, kind)]

    def _tell(self, job: str, kind: str, message: FromDaemon) -> int:
        peers = self._list_peers(job, kind)
        for peer in peers:
            peer.say(message)
        return len(peers)

    def _make_request(self, one: Checkpoint, now: float) -> Request:
        left = max(0.0, one.deadline - now), max(0.0, one.hard - now)
        return Request(id=one.id, kind=one.kind, deadline_s=left[0], hard_s=left[1], reason=one.reason, number=one.number)

    def _tell_refusal(self, hello: Hello, why: str) -> None:
        who = hello.job, hello.kind, hello.rank
        if why and self._refused.get(who) != why.partition(",")[0]:
            self._log.warning("job %s: a %s is refused: %s", hello.job, hello.kind, why)
            self._refused[who] = why.partition(",")[0]  # what follows counts seconds
            for old in list(self._refused)[:-MOST_JOBS]:
                del self._refused[old]
        elif not why and self._refused.pop(who, ""):
            self._log.info("job %s: that %s is taken in now", hello.job, hello.kind)
