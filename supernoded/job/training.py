"""One training job as this node's daemon knows it: its ranks, its requests, how long it takes to save, and what is safe. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import msgspec

from supernoded.job import checkpoints, orders, ranks, starts
from supernoded.job.checkpoints import Checkpoint, Kind
from supernoded.job.failures import Failures
from supernoded.job.orders import Orders
from supernoded.job.protocol import Agreed, Alive, Beat, Bye, Durable, FromPeer, Phase, Saved, SaveFailed, Saving
from supernoded.job.ranks import Rank
from supernoded.job.starts import Starts

REMEMBERED = 8  # saves by which the next one is reckoned (ours)
MOST_REQUESTS = 16
ADOPTED = 600.0, 600.0  # seconds for a request that an earlier life has asked and lost (ours)
FORSAKEN = 120.0  # seconds after which ranks that were lost, all of them, are no job any more (ours)
GRACE = 3.0  # seconds in which a rank whose connection is lost may come back: a client dials again within 0.2 s (ours)


class Kept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What must outlive the daemon. `taken` is wall-clock seconds (Unix)."""

    world: int = 0
    number: int = 0  # of the last request
    requests: tuple[Checkpoint, ...] = ()
    saved_step: int = -1
    durable_step: int = -1
    taken: float = 0.0
    stalls: tuple[float, ...] = ()
    saves: tuple[float, ...] = ()  # from the stall's begin to durable
    failures: int = 0
    watched: float = 0.0  # seconds in which they were seen
    stopped: bool = False  # every rank of this node has said bye, and none has come since
    plan: str = ""  # how the ranks are grouped, as they or the launcher say
    starts: Starts = Starts()
    orders: Orders = ()  # to the launcher, the oldest first


class Training:
    """A job. `on_news` is called after everything that somebody may wait for."""

    def __init__(self, name: str, kept: Kept, on_news: Callable[[], None]) -> None:
        self.name, self.kept = name, kept
        self.ranks: dict[int, Rank] = {}
        self.unheard_until = 0.0  # of a job that an earlier life knew: till then its ranks may simply not have dialled yet
        self.troubles: dict[str, str] = {}  # of its tiers, as the vault says
        self.plan_trouble = ""  # why what was said last is no plan of this job
        self.launcher = False  # what starts its ranks is connected here
        self.failures = Failures(kept.failures, kept.watched)
        self.durable_at: float | None = None  # when this life has heard of its newest durable step
        self._begun: dict[int, float] = {}  # step -> when the first rank stood still for it
        self._parts: dict[int, dict[int, None]] = {}  # step -> ranks whose part is whole
        self._on_news = on_news

    @property
    def request(self) -> Checkpoint | None:
        """The newest."""
        return self.kept.requests[-1] if self.kept.requests else None

    @property
    def here(self) -> list[Rank]:
        """The ranks that are connected and at work."""
        return [rank for rank in self.ranks.values() if rank.here]

    @property
    def save_time(self) -> float | None:
        """Worst of the last saves in seconds, from the stall's begin to durable; where none was durable the worst stall."""
        return max(self.kept.saves or self.kept.stalls, default=None)

    @property
    def worst_stall(self) -> float | None:
        """The longest in seconds that one of the last saves made a rank stand still; None before the first."""
        return max(self.kept.stalls, default=None)

    @property
    def step_time(self) -> float | None:
        """p95 of the last steps in seconds."""
        return ranks.find_step_time(self.ranks.values())

    def list_troubles(self) -> list[str]:
        """Of its tiers and of its plan, a sentence each."""
        return [text for text in (*self.list_tier_troubles(), self.plan_trouble) if text]

    def list_tier_troubles(self) -> list[str]:
        """Of its tiers alone."""
        return [f"{tier}: {text}" for tier, text in sorted(self.troubles.items())]

    def find(self, request: str) -> Checkpoint | None:
        """The newest request of that id."""
        return next((one for one in reversed(self.kept.requests) if one.id == request), None)

    def judge(self, now: float, silent_s: float) -> str | None:
        """One word for the whole job; None while a daemon that has just started cannot know."""
        aborted = orders.find_abort(self.kept.orders, self.kept.starts.incarnation)
        if self.kept.stopped:
            return "stopped"
        if not self.ranks and now < self.unheard_until and not aborted:
            return None
        stopping = (one := self.request) is not None and one.kind == "stop" and any(-1 < rank.step <= one.step for rank in self.here)
        states = self.judge_ranks(now, silent_s)
        return ranks.judge_job(states, self.ranks, self.kept.world, stopping=stopping, aborted=aborted)

    def judge_ranks(self, now: float, silent_s: float) -> dict[int, str]:
        """The state of each rank."""
        return ranks.judge(self.ranks, now, silent_s, self.worst_stall, self.kept.world)

    def list_unagreed(self) -> list[Checkpoint]:
        """What ranks are still asked for: those that stop come last, as the ranks keep the last one said."""
        waiting = [one for one in self.kept.requests if one.stage in {"asked", "late"} and not one.agreed]
        return sorted(waiting, key=lambda one: (one.kind == "stop", one.number))

    def find_refusal(self, number: int, world: int, now: float) -> str:
        """Why this rank cannot be taken in; empty when it can."""
        if not 0 <= number < world:
            return f"rank {number} of a world of {world} ranks there cannot be; set RANK and WORLD_SIZE"
        old = self.ranks.get(number)
        if old is not None and old.here:
            since = f"connected for {now - old.came:.0f} s, at step {old.step}"
            return f"rank {number} of job {self.name} is here already, {since}; end that process, or give this one its own rank"
        if self.here and world != self.kept.world:
            others = f"ranks {', '.join(str(rank.number) for rank in self.here[:4])} say {self.kept.world}"
            return f"rank {number} says that job {self.name} has {world} ranks, and {others}; start all with one WORLD_SIZE"
        return ""

    def come(self, number: int, world: int, card: str, step: int, now: float, life: str = "") -> None:
        """A rank that is not refused is here, perhaps again."""
        if world != self.kept.world:
            self.ranks.clear()
            self._keep(world=world, plan="")
        self._keep(stopped=False, starts=self._count_start(number, life))
        self.unheard_until = 0.0
        old = self.ranks.get(number)
        times = old.times if old is not None else ()
        if step < 0:
            self.failures.start(number, max(old.step if old is not None else -1, self.kept.saved_step))
        self.ranks[number] = Rank(number=number, came=now, heard=now, card=card, step=step, times=times)
        for saved, there in self._parts.items():
            if saved > step:  # by a process before this one: parts of two starts make no step
                there.pop(number, None)
        again = old is not None and step <= old.step  # one that only dials again has told its step, and what it has agreed to
        self._change(lambda one: checkpoints.lose(one, number) if again and step < one.step else checkpoints.expect(one, number))
        self._watch(now)
        self._on_news()

    def _count_start(self, number: int, life: str) -> Starts:
        """A rank of an older client is another start only where the one before was ended."""
        now = self.kept.starts
        ended = not life and orders.find_abort(self.kept.orders, now.incarnation)
        return starts.resume(now, now.incarnation) if ended else starts.come(now, number, life)

    def keep(self, **fields: object) -> None:
        """What else must outlive the daemon, such as the orders to its launcher."""
        self._keep(**fields)
        self._on_news()

    def go(self, number: int, now: float) -> None:
        """Its connection is lost."""
        rank = self.ranks.get(number)
        if rank is not None and rank.here:
            self.ranks[number] = msgspec.structs.replace(rank, gone=now)
            self._watch(now)
            self._on_news()

    def ask(self, request: str, kind: Kind, reason: str, now: float, within: tuple[float, float], number: int = 0) -> Checkpoint:
        """A new request to the ranks that are here, with seconds to its deadline and to its hard limit."""
        deadline_s, hard_s = within
        one = Checkpoint(
            id=request,
            number=number or self.kept.number + 1,
            kind=kind,
            reason=reason,
            expected=tuple(sorted(rank.number for rank in self.here)),
            asked=now,
            deadline=now + deadline_s,
            hard=now + max(hard_s, deadline_s),
        )
        self._keep(number=one.number, requests=(*self.kept.requests, one)[-MOST_REQUESTS:])
        self._on_news()
        return one

    def withdraw(self, request: str) -> None:
        """Void, where the ranks have not agreed."""
        self._change(lambda one: checkpoints.withdraw(one) if one.id == request else one)

    def pass_time(self, now: float) -> None:
        """Deadlines, and ranks that did not come back."""
        lost = [rank.number for rank in self.ranks.values() if rank.gone is not None and now - rank.gone >= GRACE]
        if self._watch(now, lost=bool(lost)):
            self._on_news()
        self._change(lambda one: checkpoints.pass_time(reduce(checkpoints.lose, lost, one), now))
        moved = [rank.number for rank in self.ranks.values() if rank.gone is not None and self._is_elsewhere(rank, rank.gone, now)]
        for number in moved:
            del self.ranks[number]
        if moved:
            self._on_news()

    def _is_elsewhere(self, rank: Rank, gone: float, now: float) -> bool:
        """Whether the job goes on without it here, which it cannot without it anywhere; or nothing is left of the job here."""
        if not self.here:
            return all(other.stopped or (other.gone is not None and now - other.gone > FORSAKEN) for other in self.ranks.values())
        going = all(other.beat_at is not None and other.beat_at > gone + GRACE for other in self.here)
        anew, ahead = all(other.came > gone for other in self.here), min(other.step for other in self.here) >= rank.step + 2
        return going and (anew or ahead)

    def hear(self, number: int, message: FromPeer, now: float) -> None:
        """What one of its ranks says."""
        rank = self.ranks[number]
        match message:
            case Alive():
                self.ranks[number] = ranks.hear_alive(rank, now)
            case Beat(step=step):
                self.failures.pass_step(number, step)
                if self.kept.starts.awaited:
                    self._keep(starts=starts.step(self.kept.starts, number))
                self.ranks[number] = ranks.hear_beat(rank, step, now)
            case Phase(name=name, expect_s=expect_s):
                self.ranks[number] = ranks.hear_phase(rank, name, expect_s, now)
            case Agreed():
                self._agree(number, message, now)
            case Saving(step=step):
                self.ranks[number] = ranks.hear_saving(rank, step, now)
                self._begun.setdefault(step, now)
                self._change(lambda one: checkpoints.begin_save(one, step))
            case Saved(step=step, seconds=seconds):
                self.ranks[number] = ranks.hear_saving(rank, None, now)
                self._save(number, step, seconds)
            case SaveFailed(step=step, why=why):
                self.ranks[number] = ranks.hear_saving(rank, None, now)
                self._change(lambda one: checkpoints.fail(one, f"rank {number}: {why}") if one.agreed and one.step == step else one)
            case Bye(step=step):
                self.ranks[number] = msgspec.structs.replace(rank, stopped=True, heard=now, step=max(step, rank.step), saving=None)
                self._keep(stopped=all(other.stopped for other in self.ranks.values()))
                self._watch(now)
                self._change(lambda one: checkpoints.excuse(one, number))
                self._on_news()
            case _:
                return

    def make_durable(self, message: Durable, now: float) -> None:
        """The vault has a whole step on a durable tier."""
        if message.step < self.kept.durable_step:
            return  # it is told anew after every connection, and only the newest counts
        if message.step > self.kept.durable_step:
            self.durable_at = now
        begun = self._begun.get(message.step)
        saves = (*self.kept.saves, now - begun)[-REMEMBERED:] if begun is not None else self.kept.saves
        self._keep(durable_step=message.step, taken=message.taken, saves=saves)
        self._begun = {step: at for step, at in self._begun.items() if step > message.step}
        self._parts = {step: there for step, there in self._parts.items() if step > message.step}
        self._change(lambda one: checkpoints.make_durable(one, message.step))
        self._on_news()

    def _watch(self, now: float, *, lost: bool = False) -> bool:
        """See `Failures`; whether there is one more. The time is written with whatever else is."""
        missing = any(rank.gone is not None for rank in self.ranks.values())
        self.failures.look(now, here=bool(self.here), lost=lost, missing=missing)
        more = self.failures.count > self.kept.failures
        self._keep(failures=self.failures.count, watched=self.failures.find_watched(now))
        return more

    def _agree(self, number: int, message: Agreed, now: float) -> None:
        """It answers this request and those before it. One that an earlier life took with it is learnt from the ranks."""
        found = self.find(message.request)
        if message.request and found is None and message.number > self.kept.number:
            found = self.ask(message.request, "checkpoint", "as the ranks say", now, ADOPTED, message.number)
        named = message.number or (found.number if found is not None else 0)

        def agree(one: Checkpoint) -> Checkpoint:
            earlier = one.number < named and one.stage in checkpoints.UNDER_WAY and not one.agreed
            return checkpoints.agree(one, number, message.step) if earlier or one.number == named else one

        self._change(agree)

    def _save(self, number: int, step: int, seconds: float) -> None:
        there = self._parts.setdefault(step, {})
        there[number] = None
        if len(there) == 1:
            self._keep(stalls=(*self.kept.stalls, seconds)[-REMEMBERED:])
        self._keep(stalls=(*self.kept.stalls[:-1], max(seconds, *self.kept.stalls[-1:])))
        if step > self.kept.saved_step and {rank.number for rank in self.here} <= set(there):
            self._keep(saved_step=step)
        for old in sorted(self._parts)[:-REMEMBERED]:
            del self._parts[old]
            self._begun.pop(old, None)
        self._change(lambda one: checkpoints.save(one, number, step))
        self._on_news()

    def _change(self, change: Callable[[Checkpoint], Checkpoint]) -> None:
        changed: Sequence[Checkpoint] = [change(one) for one in self.kept.requests]
        if any(new is not old and new != old for new, old in zip(changed, self.kept.requests, strict=True)):
            self._keep(requests=tuple(changed))
            self._on_news()

    def _keep(self, **fields: object) -> None:
        self.kept = msgspec.structs.replace(self.kept, **fields)
