"""What a careful operator would do about coolant and cards if he were quick enough: as little as wins the shipped scenarios."""

from __future__ import annotations

from typing import Protocol

from sim_hardware.devices.panel import Panel
from sim_hardware.plant.cards.orders import CapCard
from sim_hardware.plant.job.orders import AbortCollective, RemapRanks, RequestCheckpoint, ResumeJob, StopJob
from sim_hardware.stand_ins.looking import attempt, is_running, name_job, number

CAPPED_W = 350.0
HOT_C, TOO_HOT_C = 80.0, 90.0  # of a die's median: cap, stop
LEAST_FLOW = 0.6  # of what a node had
SILENT_S = 3.0  # three beats (H2)


class Duty(Protocol):
    """One thing that a policy sees to."""

    def act(self, panel: Panel) -> None:
        """Look at the rack, and do what has to be done now."""
        ...


class Duties:
    """A policy of several duties."""

    def __init__(self, *duties: Duty) -> None:
        self._duties = duties

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        for duty in self._duties:
            duty.act(panel)


class Careful(Duties):
    """Caps what runs hot, saves and stops in time, and puts a spare in."""

    def __init__(self) -> None:
        super().__init__(KeepCool(), ReplaceSilent())


class KeepCool:
    """Caps cards whose coolant fails, and stops the job before they throttle. With `caps` false it does not cap."""

    def __init__(self, *, caps: bool = True) -> None:
        self._caps = caps
        self._flow: dict[str, float] = {}  # what each node had
        self._capped: set[str] = set()
        self._saving = self._stopped = False

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        for node in panel.rack.nodes:
            flow = number(panel, node.name, "coolant.flow")
            usual = self._flow.setdefault(node.name, flow or 0.0)
            hottest = max((number(panel, card, "card.temperature.median") or 0.0 for card in node.list_cards()), default=0.0)
            if node.name not in self._capped and (hottest > HOT_C or flow is None or flow < LEAST_FLOW * usual):
                self._capped.add(node.name)
                for card in node.list_cards() if self._caps else ():
                    attempt(panel, CapCard(card, CAPPED_W))
            if self._capped and not self._saving and is_running(panel):
                self._saving = True
                attempt(panel, RequestCheckpoint(name_job(panel)))
            if self._saving and not self._stopped and hottest > TOO_HOT_C and is_running(panel):
                self._stopped = True
                attempt(panel, StopJob(name_job(panel)))


class ReplaceSilent:
    """Puts a spare card in the place of one whose rank is silent while its peers wait (safety rule 27)."""

    def __init__(self) -> None:
        self._since: dict[int, float] = {}

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        job = name_job(panel)
        if not job or panel.sense(f"job/{job}", "job.state") != "hung":
            self._since.clear()
            return
        size = int(number(panel, f"job/{job}", "job.world_size") or 0)
        silent = [rank for rank in range(size) if panel.sense(f"job/{job}/rank{rank}", "rank.state") in {"silent", "dead"}]
        for rank in silent:
            self._since.setdefault(rank, panel.now())
        ripe = [rank for rank in silent if panel.now() - self._since[rank] >= SILENT_S]
        spares = [spare.card for spare in panel.rack.spares]
        if not ripe or len(ripe) > len(spares):
            return
        cards = {rank: str(panel.sense(f"job/{job}/rank{rank}", "rank.card")) for rank in range(size)}
        cards |= dict(zip(ripe, [card for card in spares if card not in cards.values()], strict=False))
        attempt(panel, AbortCollective(job))
        attempt(panel, RemapRanks(job, cards))
        attempt(panel, ResumeJob(job))
