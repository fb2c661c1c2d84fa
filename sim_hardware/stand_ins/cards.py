"""Policies that are wrong about cards (safety rules 27 to 31), each in one way that is seen in the field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median

from sim_hardware.devices.panel import Panel
from sim_hardware.plant.cards.orders import IsolateCard
from sim_hardware.plant.job.orders import AbortCollective, RemapRanks, ResumeJob
from sim_hardware.stand_ins.careful import SILENT_S, Duties, KeepCool, ReplaceSilent
from sim_hardware.stand_ins.looking import attempt, flags, name_job, number
from sim_hardware.stand_ins.power import KeepArmed, SaveInTime

SLOW = 1.1  # times the usual, above which these see a slow card
PATIENCE_S = 10.0  # between two cards that are blamed


class IsolateAtOnce(Duties):
    """Does all that a careful one does, and takes a card out at the first sign of anything, without a second view."""

    def __init__(self) -> None:
        super().__init__(KeepArmed(), SaveInTime(), KeepCool(), _IsolateAtOnce(), ReplaceSilent())


class ShrinkByOne(Duties):
    """Does all that a careful one does, but gives a silent rank up instead of moving it, as if any group could do with one less."""

    def __init__(self) -> None:
        super().__init__(KeepArmed(), SaveInTime(), KeepCool(), _ShrinkByOne())


class BlameTheCardAlways(Duties):
    """Does all that a careful one does, and takes out the card of the slowest rank whenever the job is slow, whatever makes it so."""

    def __init__(self) -> None:
        super().__init__(KeepArmed(), SaveInTime(), KeepCool(), _BlameTheCard(), ReplaceSilent())


class _IsolateAtOnce:
    def __init__(self) -> None:
        self._done: dict[str, None] = {}

    def act(self, panel: Panel) -> None:
        """See `Duty.act`."""
        for card in panel.rack.list_cards():
            if card not in self._done and _is_amiss(panel, card):
                self._done[card] = None
                take_out(panel, card)
        for rank, card in list_ranks(panel):
            if card not in self._done and panel.sense(f"job/{name_job(panel)}/rank{rank}", "rank.state") == "silent":
                self._done[card] = None
                take_out(panel, card)


class _ShrinkByOne:
    def __init__(self) -> None:
        self._since: dict[int, float] = {}
        self._done: dict[int, None] = {}

    def act(self, panel: Panel) -> None:
        """See `Duty.act`."""
        job = name_job(panel)
        for rank, _ in list_ranks(panel):
            if panel.sense(f"job/{job}/rank{rank}", "rank.state") not in {"silent", "dead"}:
                self._since.pop(rank, None)
            elif panel.now() - self._since.setdefault(rank, panel.now()) >= SILENT_S and rank not in self._done:
                self._done[rank] = None
                _restart(panel, RemapRanks(job, {}, drop=(rank,)))


class _BlameTheCard:
    def __init__(self) -> None:
        self._usual: float | None = None
        self._next = 0.0

    def act(self, panel: Panel) -> None:
        """See `Duty.act`."""
        job = f"job/{name_job(panel)}"
        times = {card: number(panel, f"{job}/rank{rank}", "rank.step_time") for rank, card in list_ranks(panel)}
        known = {card: seconds for card, seconds in times.items() if seconds is not None}
        if not known:
            return
        slowest = max(known, key=lambda card: known[card])
        self._usual = self._usual or median(known.values())
        if known[slowest] > SLOW * self._usual and panel.now() >= self._next:
            self._next = panel.now() + PATIENCE_S
            take_out(panel, slowest)


def list_ranks(panel: Panel) -> Iterator[tuple[int, str]]:
    """Every rank of the job, and its card."""
    job = name_job(panel)
    for rank in range(int(number(panel, f"job/{job}", "job.world_size") or 0) if job else 0):
        yield rank, str(panel.sense(f"job/{job}/rank{rank}", "rank.card"))


def take_out(panel: Panel, card: str) -> None:
    """Fence a card, and put the first spare in that is free, if its rank has none left."""
    attempt(panel, IsolateCard(card, isolated=True))
    placed = dict(list_ranks(panel))
    spares: Iterable[str] = (spare.card for spare in panel.rack.spares)
    free = next((one for one in spares if one not in placed.values() and number(panel, one, "card.isolated") == 0.0), None)
    moved = {rank: free for rank, its in placed.items() if its == card and free is not None}
    if moved:
        _restart(panel, RemapRanks(name_job(panel), moved))


def _restart(panel: Panel, remap: RemapRanks) -> None:
    for order in (AbortCollective(remap.job), remap, ResumeJob(remap.job)):
        attempt(panel, order)


def _is_amiss(panel: Panel, card: str) -> bool:
    """Any one sign."""
    if flags(panel, card, "card.health") or (number(panel, card, "card.ecc_rate") or 0.0) > 0.0:
        return True
    return number(panel, card, "card.present") == 0.0 or number(panel, card, "card.hung") == 1.0
