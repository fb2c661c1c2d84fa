"""What wrong policies get right of power: they arm, and they save in time. The daemon's own policy does what a careful one would do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from sim_hardware.devices.panel import Panel
from sim_hardware.plant.cards.orders import CapCard
from sim_hardware.plant.job.orders import RequestCheckpoint, ResumeJob, StopJob
from sim_hardware.plant.power.orders import ArmShed, SwitchOutlet
from sim_hardware.stand_ins.careful import CAPPED_W
from sim_hardware.stand_ins.looking import attempt, has_mains, has_output, is_running, list_outlets, list_sheddable, name_job, number

LEASE_S, RENEW_S, RESTORE_S = 120.0, 60.0, 10.0  # safety rule 7
RETRY_S = 1.0
STABLE_S = 30.0  # before a return is believed (safety rules 8 and 11)
STAGE_S = 5.0  # between two nodes that come back
CAP_AFTER_S = 1.0  # of both mains lost: no cap is there sooner, so it cannot stand in for a shed


class KeepArmed:
    """Arms the shed of fans while there is mains and coolant flows, and renews it (safety rules 5 to 7)."""

    def __init__(self) -> None:
        self._again = 0.0

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        if panel.now() < self._again or not all(has_mains(panel, ups.name) for ups in panel.rack.ups):
            return
        if any((number(panel, loop.subject, "coolant.flow") or 0.0) <= 0.0 for loop in panel.rack.loops):
            return
        self._again = panel.now() + RENEW_S
        for pdu in panel.rack.pdus:
            group = list_sheddable(panel, pdu.name)
            if group and not attempt(panel, ArmShed(pdu.name, group, RESTORE_S, LEASE_S)):
                self._again = panel.now() + RETRY_S


class SaveInTime:
    """Saves when redundancy is gone, caps on battery, stops before the reserve is used, and comes back in stages."""

    def __init__(self, stage_s: float = STAGE_S, stable_s: float = STABLE_S, enough: Callable[[Iterable[bool]], bool] = all) -> None:
        self._stage_s, self._stable_s, self._enough = stage_s, stable_s, enough
        self._asked = self._capped = self._last = self._stopped = False
        self._since = 0.0  # since when the mains are there again
        self._lost: float | None = None  # since when all mains are gone
        self._off: list[str] = []  # nodes that we switched off
        self._next_node = 0.0

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        upses = [ups.name for ups in panel.rack.ups]
        mains = [has_mains(panel, ups) for ups in upses]
        if self._enough(bool(here and has_output(panel, ups)) for ups, here in zip(upses, mains, strict=True)):
            self._lost = None
            self._return(panel)
            return
        self._since = panel.now()
        self._save(panel)
        if any(mains):
            self._lost = None
        else:
            self._lost = panel.now() if self._lost is None else self._lost
            self._save_energy(panel, upses)

    def _save(self, panel: Panel) -> None:
        if not self._asked and is_running(panel):
            attempt(panel, RequestCheckpoint(name_job(panel)))
            self._asked = True

    def _save_energy(self, panel: Panel, upses: list[str]) -> None:
        if not self._capped and self._lost is not None and panel.now() >= self._lost + CAP_AFTER_S:
            self._capped = True
            for card in panel.rack.list_cards():
                attempt(panel, CapCard(card, CAPPED_W))
        job = panel.rack.sim.job
        need = 2.0 * (job.save_s + job.step_s) + 60.0 if job is not None else 60.0
        left = min((_measure_reserve(panel, ups) for ups in upses if has_output(panel, ups)), default=math.inf)
        if not self._stopped and left < need and is_running(panel):
            self._stop(panel)

    def _stop(self, panel: Panel) -> None:
        """Save once more; then stop the job, and open the outlets of the nodes."""
        if not self._last:
            self._last = True
            attempt(panel, RequestCheckpoint(name_job(panel)))
            return
        if number(panel, f"job/{name_job(panel)}", "job.requested"):
            return
        self._stopped = True
        attempt(panel, StopJob(name_job(panel)))
        for node in panel.rack.nodes:
            self._off.append(node.name)
            for pdu, outlet in list_outlets(panel, node.name):
                attempt(panel, SwitchOutlet(pdu, outlet, on=False))

    def _return(self, panel: Panel) -> None:
        if panel.now() < self._since + self._stable_s:
            return
        if self._capped:
            self._capped = False
            for card in panel.rack.list_cards():
                attempt(panel, CapCard(card, None))
        while self._off and panel.now() >= self._next_node:
            self._next_node = panel.now() + self._stage_s
            for pdu, outlet in list_outlets(panel, self._off.pop(0)):
                attempt(panel, SwitchOutlet(pdu, outlet, on=True))
        self._asked = False
        if self._stopped and not self._off and all(panel.sense(node.name, "node.power") == "on" for node in panel.rack.nodes):
            self._stopped = self._last = False
            attempt(panel, ResumeJob(name_job(panel)))


def _measure_reserve(panel: Panel, ups: str) -> float:
    """Seconds by the energy that is left, never by the claim (safety rule 10)."""
    energy = number(panel, f"ups/{ups}", "ups.battery_energy") or 0.0
    return energy * panel.rack.sim.power.ups.efficiency / max(number(panel, f"ups/{ups}", "ups.output_power") or 0.0, 1.0)
