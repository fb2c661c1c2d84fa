"""What happens to a CDU, each edge once."""

from __future__ import annotations

from msgspec.structs import replace

from sim_hardware.plant.cooling.cdu import Cdu, Faults, Told
from sim_hardware.plant.cooling.drives import Pump
from sim_hardware.plant.cooling.plc import Controller
from sim_hardware.plant.words import Happening

BAND = 0.3  # K beside the effective setpoint (T5)
SWING, SWING_S = 0.5, 60  # K peak to peak, in so many seconds (T6)
LARGE = 2.0  # L/min: more than a drip tray holds for a minute (ours)
LEVEL_LOW, LEVEL_OUT = 20.0, 5.0  # %
NO_FLOW, FLOW_BACK = 0.2, 0.4  # share of rated
_RELIEF = 0.05  # K that a temperature must be back within its limit
_AIRY = 0.02  # share of the coolant


def tell_water(cdu: Cdu, subject: str, dew_point: float, at: float, told: list[Happening]) -> Told:
    """What the coolant does."""
    was, supply, flow = cdu.told, cdu.water.outlet, cdu.water.flow
    off = supply - cdu.controller.setpoint
    out = abs(off) > (BAND - _RELIEF if was.out_of_band else BAND)
    condensing = supply < dew_point + (_RELIEF if was.condensing else 0.0)
    dry = flow < (FLOW_BACK if was.dry else NO_FLOW)
    low = cdu.water.level < LEVEL_LOW
    airy = max(cdu.water.air, cdu.faults.air) > _AIRY
    if (out, condensing, dry, low, airy) == (was.out_of_band, was.condensing, was.dry, was.low, was.airy):
        return was
    edges = (
        (out, was.out_of_band, "coolant.out_of_band", "coolant.in_band", f"supply is {off:+.2f} K beside its setpoint", supply),
        (condensing, was.condensing, "condensation", "condensation.ended", f"supply {supply:.2f} C, dew point {dew_point:.2f} C", supply),
        (dry, was.dry, "flow.lost", "flow.back", f"flow is {flow:.0%} of rated", flow),
        (low, was.low, "level.low", "level.back", f"reservoir at {cdu.water.level:.1f} %", cdu.water.level),
        (airy, was.airy, "air", "air.gone", f"{max(cdu.water.air, cdu.faults.air):.1%} of the coolant is air", None),
    )
    for now, before, begins, ends, text, value in edges:
        if now != before:
            told.append(Happening(at, begins if now else ends, subject, f"{subject}: {text}", value))
    return replace(was, out_of_band=out, condensing=condensing, dry=dry, low=low, airy=airy)


def tell_swing(was: Told, subject: str, supply: float, at: float, told: list[Happening]) -> Told:
    """The supply's swing over a minute; for every whole second."""
    past = (*was.past[-(SWING_S - 1) :], supply)
    size = max(past) - min(past)
    swinging = size > (SWING * 0.9 if was.swinging else SWING)
    if swinging != was.swinging:
        kind = "coolant.swing" if swinging else "coolant.steady"
        told.append(Happening(at, kind, subject, f"{subject}: supply moved by {size:.2f} K within {SWING_S} s", size))
    return replace(was, past=past, swinging=swinging)


def tell_pump(before: Pump, after: Pump, subject: str, at: float, told: list[Happening]) -> None:
    """A pump's drive came to another state that matters."""
    if before.state == after.state:
        return
    texts = {"tripped": "drive has tripped", "running": "runs", "off": "has stopped"}
    if after.state in {"tripped", "running"} or (after.state == "off" and before.state in {"starting", "running"}):
        kind = "pump.stopped" if after.state == "off" else f"pump.{after.state}"
        told.append(Happening(at, kind, subject, f"{subject} {texts[after.state]} at {after.speed:.0%} of full speed", after.speed * 100.0))


def tell_control(before: Controller, after: Controller, subject: str, at: float, told: list[Happening], cause: str = "") -> None:
    """Somebody else controls it now; with a cause, because the one before was lost."""
    if before.control == after.control:
        return
    if cause:
        told.append(Happening(at, "cdu.fallback", subject, f"{subject} falls back to its own control: {cause}"))
    told.append(Happening(at, "cdu.control_changed", subject, f"{subject}: {before.control} has become {after.control}"))


def find_leaks(faults: Faults, closed: frozenset[str]) -> dict[str, float]:
    """Where coolant runs out, L/min; a closed branch has none in it."""
    return {place: litres for place, litres in faults.leaks if litres > 0.0 and place not in closed}


def tell_leaks(was: Told, leaks: dict[str, float], subject: str, at: float, told: list[Happening]) -> Told:
    """Leaks that begin, end, or are large. One that is large anywhere also wets the CDU's own sensor."""
    leaking = frozenset(leaks)
    large = sum(leaks.values()) >= LARGE
    begun, ended = sorted(leaking - was.leaking), sorted(was.leaking - leaking)
    told += [Happening(at, "leak.begun", place, f"{place} leaks {leaks[place]:.2f} L/min", leaks[place]) for place in begun]
    told += [Happening(at, "leak.ended", place, f"{place} leaks no more") for place in ended]
    if large and not was.large:
        total = sum(leaks.values())
        told.append(Happening(at, "leak.large", subject, f"{subject}: its loop loses {total:.2f} L/min", total))
    wet = was.wet | leaking | (frozenset({subject}) if large else frozenset())
    return replace(was, leaking=leaking, large=large, wet=wet)
