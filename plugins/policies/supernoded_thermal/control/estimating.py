"""What supply and return really are now, from thermometers, the racks' power and what is known of the pipes."""

from __future__ import annotations

import math

import msgspec
from msgspec.structs import replace

from supernoded_thermal.control.commissioning import Commissioning
from supernoded_thermal.control.learning import Log, has_passed, learn_transport, note_heat
from supernoded_thermal.control.sensing import Water
from supernoded_thermal.control.settings import ControlSettings
from supernoded_thermal.control.tracing import find_refresh, find_response
from supernoded_thermal.control.tracking import Track, Transmitter, estimate, follow
from supernoded_thermal.control.transport import Transport, find_arriving, find_shown, take_power

LEAST_FLOW = 0.1  # of the usual flow: with less, thermometers stand in water that does not move
STILL = 0.02  # K/s, below which a temperature is taken to be steady
QUICK_S, SLOW_S = 180.0, 1800.0  # s in which it is learned what share of the told power arrives, at first and later
LEAST_SHARE, MOST_SHARE = 0.4, 1.6  # of the told power, that may arrive: cards are not all, and meters are up to 15 % wrong
LEAST_LAG = 1.0  # s, of racks
LITRES = 60.0  # L/min in a L/s


class Known(msgspec.Struct, frozen=True):
    """What was learned, and what was seen last."""

    transport: Transport
    by: Transmitter
    supply: Track | None = None
    returned: Track | None = None  # what is measured, less the rise that is predicted
    log: Log = ()
    share: float = 1.0  # of the told power, what arrives when all is steady
    share_for: float = 0.0  # s for which that was learned
    flow: float | None = None  # L/min
    primary: float | None = None  # C
    at: float | None = None


class Estimate(msgspec.Struct, frozen=True):
    """The waters at the exchanger now. C, L/min."""

    supply: float | None = None  # None = no thermometer tells
    arriving: float | None = None  # the return a moment ahead; None = nothing tells
    balance: float | None = None  # the supply as it was when this return left it, by energy balance
    rises: tuple[float, ...] = ()  # K by which the cards warm what comes back now: by what they tell, and by the share of it that arrives
    is_still: bool = True  # no front passes that was not foreseen
    flow: float | None = None  # None = it does not flow
    primary: float | None = None
    every: float = 1.0  # s between two looks at the supply
    notes: tuple[str, ...] = ()


def begin(settings: ControlSettings, data: Commissioning | None) -> Known:
    """What is known before anything was seen."""
    trace = None if data is None else data.trace
    response = None if trace is None else find_response(trace)
    delay, lag = (settings.delay_s, settings.lag_s) if response is None else (response.delay, response.lag)
    by = Transmitter(settings.sensor_lag_s, settings.sensor_step_k, 0.0 if trace is None else find_refresh(trace))
    flow, primary = (None, None) if data is None else (data.flow, data.primary)
    return Known(Transport(delay, max(LEAST_LAG, lag)), by, flow=flow, primary=primary)


class Pipes(msgspec.Struct, frozen=True):
    """The loop's pipes at the flow of now."""

    transport: Transport
    slower: float  # than at commissioned flow
    per_kelvin: float  # W that warm the coolant by a kelvin

    def find_rise(self, at: float) -> float:
        """K by which power warms the coolant that arrives at a time."""
        return self.transport.gain * find_arriving(self.transport, at, self.slower) / self.per_kelvin

    def find_shown(self, at: float) -> float:
        """K of that which a transmitter would show."""
        return self.transport.gain * find_shown(self.transport, at, self.slower) / self.per_kelvin


def learn(known: Known, water: Water, watts: float | None, now: float, usual: float | None, settings: ControlSettings) -> Known:
    """What is known after a look. `usual` is the commissioned flow, L/min."""
    flow = water.flow if water.flow is not None else known.flow
    pipes = lay_pipes(known, usual, settings)
    transport = known.transport
    if watts is not None:
        transport = take_power(transport, now, watts, pipes.slower if pipes else 1.0, settings.sensor_lag_s)
    known = replace(known, transport=transport, flow=flow, primary=water.primary if water.primary is not None else known.primary)
    pipes = lay_pipes(known, usual, settings)
    supply, returned = known.supply, known.returned
    if water.supply is not None:
        supply = follow(supply, water.supply.value, 0.0, water.supply.at, water.supply.of, known.by)
    if water.returned is not None:
        shown = pipes.find_shown(water.returned.at) if pipes is not None and watts is not None else None
        of = f"{water.returned.of}{'' if shown is None else ' over power'}"
        returned = follow(returned, water.returned.value, shown or 0.0, water.returned.at, of, known.by)
    after = replace(known, supply=supply, returned=returned, at=now)
    after = _learn_share(after, pipes, water, now - (known.at or now))
    return after if pipes is None or watts is None else _learn_transport(after, pipes, water, watts, now)


def _learn_transport(known: Known, pipes: Pipes, water: Water, watts: float, now: float) -> Known:
    """Once a front of power has passed; the log then begins anew."""
    if water.supply is None or water.returned is None:
        return replace(known, log=())
    log = note_heat(known.log, now, watts, (water.returned.value - water.supply.value) * pipes.per_kelvin)
    if not has_passed(log, known.transport, pipes.slower):
        return replace(known, log=log)
    return replace(known, log=(), transport=learn_transport(log, known.transport, pipes.slower, known.by))


def lay_pipes(known: Known, usual: float | None, settings: ControlSettings) -> Pipes | None:
    """The pipes as they are now; None when nothing flows, or it is not known what does."""
    if known.flow is None or known.flow <= LEAST_FLOW * (usual or 0.0) or known.flow <= 0.0:
        return None
    return Pipes(known.transport, (usual or known.flow) / known.flow, settings.joules_per_litre_k * known.flow / LITRES)


def _learn_share(known: Known, pipes: Pipes | None, water: Water, seconds: float) -> Known:
    """Frozen while a front passes, and while anything is missing."""
    if pipes is None or water.supply is None or water.returned is None or not known.transport.sent or known.returned is None:
        return known
    told = pipes.find_rise(water.returned.at) / pipes.transport.gain
    if told < 0.5 or known.supply is None or abs(known.supply.slope) > STILL or abs(known.returned.slope) > STILL:
        return known
    share = max(LEAST_SHARE, min(MOST_SHARE, (water.returned.value - water.supply.value) / told))
    pace = 1.0 - math.exp(-seconds / max(QUICK_S, min(SLOW_S, known.share_for)))
    return replace(known, share=known.share + (share - known.share) * pace, share_for=known.share_for + seconds)


def judge(known: Known, water: Water, watts: float | None, now: float, usual: float | None, settings: ControlSettings) -> Estimate:
    """What the waters are now, and what it is told by (safety rule 19)."""
    pipes = lay_pipes(known, usual, settings)
    powered = pipes is not None and watts is not None
    notes = list(water.notes)
    supply = estimate(known.supply, now, known.by) if water.supply is not None and known.supply is not None else None
    arriving = balance = None
    if water.returned is not None and known.returned is not None:
        arriving = estimate(known.returned, now if powered else now + settings.preview_s, known.by)
        if powered and pipes is not None:
            arriving += pipes.find_rise(now) + _preview(pipes, now, settings)
            balance = water.returned.value - known.share * pipes.find_shown(water.returned.at) / pipes.transport.gain
    elif powered and pipes is not None and supply is not None:
        arriving = supply + known.share * pipes.find_rise(now + settings.preview_s) / pipes.transport.gain
        notes.append("by the power model: the return's temperature is lost")
    if supply is None and arriving is not None:
        notes.append(
            "by energy balance: the supply's temperature is lost" if powered else "by feed-forward alone: supply and power are lost"
        )
    if watts is None and arriving is not None:
        notes.append("without a preview: the racks' power is unknown")
    if water.flow is None:
        notes.append("by the last flow: flow is unknown")
    if water.primary is None:
        notes.append("by the primary temperature as it was last, or commissioned: it is not measured")
    rise = pipes.find_rise(now) / pipes.transport.gain if powered and pipes is not None else None
    every = max(known.by.refresh, known.supply.every if known.supply is not None else 0.0)
    still = known.returned is None or abs(known.returned.slope) <= STILL
    rises = () if rise is None else (rise, known.share * rise)
    return Estimate(supply, arriving, balance, rises, still, None if pipes is None else known.flow, known.primary, every, tuple(notes))


def _preview(pipes: Pipes, now: float, settings: ControlSettings) -> float:
    """K that the return will rise by in a moment, by power alone; bounded, as it may be wrong."""
    rise = pipes.find_rise(now + settings.preview_s) - pipes.find_rise(now)
    return max(-settings.most_preview_k, min(settings.most_preview_k, rise))
