"""Policies that are wrong, each in one way: what a careful one would do, with one thing left out or one thing too many."""

from __future__ import annotations

from collections.abc import Callable

from sim_hardware.devices.panel import Panel
from sim_hardware.plant.cooling.orders import Beat, SetControl, SetPump, SetValve
from sim_hardware.plant.job.orders import StopJob
from sim_hardware.plant.power.orders import FireShed
from sim_hardware.stand_ins.careful import Duties, KeepCool, ReplaceSilent
from sim_hardware.stand_ins.looking import attempt, flags, is_running, name_job, number
from sim_hardware.stand_ins.power import KeepArmed, SaveInTime

WARM_C = 75.0  # of a die
EXACT = 0.99  # of the nominal voltage, below which these see trouble
ALARMING = frozenset({"LB", "FSD", "RB", "OFF", "OB"})


class DoNothing(Duties):
    """Looks on."""


class ArmsOnly(Duties):
    """Arms the shed and does nothing else."""

    def __init__(self) -> None:
        super().__init__(KeepArmed())


class NeverArms(Duties):
    """Does all that a careful one does, but never arms a shed."""

    def __init__(self) -> None:
        super().__init__(SaveInTime(), KeepCool(), ReplaceSilent())


class NeverCaps(Duties):
    """Does all that a careful one does, but caps no card whose coolant fails."""

    def __init__(self) -> None:
        super().__init__(KeepArmed(), SaveInTime(), KeepCool(caps=False), ReplaceSilent())


class RestoreAllAtOnce(Duties):
    """Does all that a careful one does, but closes every outlet in the moment in which one feed is back."""

    def __init__(self) -> None:
        super().__init__(KeepArmed(), SaveInTime(stage_s=0.0, stable_s=0.0, enough=any), KeepCool(), ReplaceSilent())


class AlwaysShed(Duties):
    """Does all that a careful one does, and sheds as soon as any input is not quite what it should be."""

    def __init__(self) -> None:
        super().__init__(KeepArmed(), _Shed(), SaveInTime(), KeepCool(), ReplaceSilent())


class AlwaysStop(Duties):
    """Does all that a careful one does, and stops the job as soon as an input, a UPS, a card or a rank is not quite what it should be."""

    def __init__(self) -> None:
        super().__init__(_Stop(_is_amiss), KeepArmed(), SaveInTime(), KeepCool(), ReplaceSilent())


class BelieveEveryFlag(Duties):
    """Does all that a careful one does, and stops the job for any alarming flag or one hot sensor of a die, without a second view."""

    def __init__(self) -> None:
        super().__init__(_Stop(_is_flagged), KeepArmed(), SaveInTime(), KeepCool(), ReplaceSilent())


class FullCooling(Duties):
    """Does all that a careful one does, and turns the cooling up to the stop when a card is warm, whatever the dew point is."""

    def __init__(self) -> None:
        super().__init__(_Cool(), KeepArmed(), SaveInTime(), KeepCool(), ReplaceSilent())


class _Shed:
    def act(self, panel: Panel) -> None:
        """See `Duty.act`."""
        if _has_poor_input(panel):
            for pdu in panel.rack.pdus:
                attempt(panel, FireShed(pdu.name))


class _Stop:
    def __init__(self, sees_cause: Callable[[Panel], bool]) -> None:
        self._sees_cause = sees_cause
        self._stopped = False

    def act(self, panel: Panel) -> None:
        """See `Duty.act`."""
        if not self._stopped and self._sees_cause(panel):
            self._stopped = attempt(panel, StopJob(name_job(panel)))


class _Cool:
    def act(self, panel: Panel) -> None:
        """See `Duty.act`."""
        if not any((number(panel, card, "card.temperature.median") or 0.0) > WARM_C for card in panel.rack.list_cards()):
            return
        for loop in panel.rack.loops:
            attempt(panel, SetControl(loop.subject, "direct"))
            attempt(panel, Beat(loop.subject))
            attempt(panel, SetValve(loop.subject, 100.0))
            for pump in (0, 1):
                attempt(panel, SetPump(loop.subject, pump, 100.0))


def _has_poor_input(panel: Panel) -> bool:
    least = EXACT * panel.rack.sim.power.volts
    return any((number(panel, f"ups/{ups.name}", "ups.input_voltage") or 0.0) < least for ups in panel.rack.ups)


def _is_amiss(panel: Panel) -> bool:
    if _has_poor_input(panel) or panel.sense(f"job/{name_job(panel)}", "job.state") == "hung":
        return True
    if any(flags(panel, f"ups/{ups.name}", "ups.status") - {"OL", "CHRG"} for ups in panel.rack.ups):
        return True
    return any((number(panel, card, "card.temperature") or 0.0) > WARM_C for card in panel.rack.list_cards())


def _is_flagged(panel: Panel) -> bool:
    if not is_running(panel):
        return False
    flagged = any(flags(panel, f"ups/{ups.name}", "ups.status") & ALARMING for ups in panel.rack.ups)
    return flagged or any((number(panel, card, "card.temperature") or 0.0) > 100.0 for card in panel.rack.list_cards())
