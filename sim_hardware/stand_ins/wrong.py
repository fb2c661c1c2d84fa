"""Policies that are wrong, each in one way."""

from __future__ import annotations

from sim_hardware.devices.panel import Panel
from sim_hardware.plant.cooling.orders import Beat, SetControl, SetPump, SetValve
from sim_hardware.plant.job.orders import StopJob
from sim_hardware.plant.power.orders import ArmShed, FireShed
from sim_hardware.stand_ins.careful import KeepArmed, KeepCool, SaveInTime
from sim_hardware.stand_ins.looking import attempt, flags, is_running, list_sheddable, name_job, number

WARM_C = 75.0  # of a die
ALARMING = frozenset({"LB", "FSD", "RB", "OFF", "OB"})


class DoNothing:
    """Looks on."""

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""


class NeverArms:
    """Does all that a careful one does, but never arms a shed."""

    def __init__(self) -> None:
        self._duties = (SaveInTime(), KeepCool())

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        for duty in self._duties:
            duty.act(panel)


class AlwaysShed:
    """Sheds as soon as any input is not quite what it should be."""

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        nominal = panel.rack.sim.power.volts
        if all((number(panel, f"ups/{ups.name}", "ups.input_voltage") or 0.0) > 0.99 * nominal for ups in panel.rack.ups):
            return
        for pdu in panel.rack.pdus:
            group = list_sheddable(panel, pdu.name)
            if group and not number(panel, f"pdu/{pdu.name}", "pdu.armed"):
                attempt(panel, ArmShed(pdu.name, group, 10.0))
            attempt(panel, FireShed(pdu.name))


class AlwaysStop:
    """Stops the job as soon as any input is not quite what it should be, or a rank or card is."""

    def __init__(self) -> None:
        self._stopped = False

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        if not self._stopped and is_running(panel) and _is_amiss(panel):
            self._stopped = True
            attempt(panel, StopJob(name_job(panel)))


def _is_amiss(panel: Panel) -> bool:
    nominal = panel.rack.sim.power.volts
    if any((number(panel, f"ups/{ups.name}", "ups.input_voltage") or 0.0) < 0.99 * nominal for ups in panel.rack.ups):
        return True
    if any(flags(panel, f"ups/{ups.name}", "ups.status") - {"OL", "CHRG"} for ups in panel.rack.ups):
        return True
    if any((number(panel, card, "card.temperature") or 0.0) > 90.0 for card in panel.rack.list_cards()):
        return True
    return panel.sense(f"job/{name_job(panel)}", "job.state") == "hung"


class FullCooling:
    """Turns valve and pumps up to the stop when a pump stands or a card is warm, whatever the dew point is."""

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        warm = any((number(panel, card, "card.temperature.median") or 0.0) > WARM_C for card in panel.rack.list_cards())
        for loop in panel.rack.loops:
            if not warm and panel.sense(f"{loop.subject}/pump0", "pump.state") == "running":
                continue
            attempt(panel, SetControl(loop.subject, "direct"))
            attempt(panel, Beat(loop.subject))
            attempt(panel, SetValve(loop.subject, 100.0))
            for pump in (0, 1):
                attempt(panel, SetPump(loop.subject, pump, 100.0))


class RestoreAllAtOnce:
    """Does all that a careful one does, but closes every outlet in the moment in which one feed is back."""

    def __init__(self) -> None:
        self._duties = (KeepArmed(), SaveInTime(stage_s=0.0, stable_s=0.0, enough=any), KeepCool())

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        for duty in self._duties:
            duty.act(panel)


class BelieveEveryFlag:
    """Stops the job when a UPS shows any alarming flag, or a single sensor of a die is hot, without a second view."""

    def __init__(self) -> None:
        self._stopped = False

    def act(self, panel: Panel) -> None:
        """See `StandIn.act`."""
        flagged = any(flags(panel, f"ups/{ups.name}", "ups.status") & ALARMING for ups in panel.rack.ups)
        hot = any((number(panel, card, "card.temperature") or 0.0) > 100.0 for card in panel.rack.list_cards())
        if not self._stopped and is_running(panel) and (flagged or hot):
            self._stopped = True
            attempt(panel, StopJob(name_job(panel)))
