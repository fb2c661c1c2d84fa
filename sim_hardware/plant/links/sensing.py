"""What a port shows, quantity by quantity. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from sim_hardware.plant.chance import Chance, start_chance
from sim_hardware.plant.links import optics
from sim_hardware.plant.links.counting import KEPT, count_arrivals
from sim_hardware.plant.links.judging import is_dark, send
from sim_hardware.plant.links.ports import find_after, find_before
from sim_hardware.plant.links.state import MILD, State, average_moved
from sim_hardware.plant.links.tallying import BORNE, LANE_NAMES, TIMED, count_bits, expect
from sim_hardware.plant.links.widths import saturate
from sim_hardware.plant.words import Value

VOLTS = 3.3  # of a module's supply
_SWITCH_C = 45.0  # of a switch's modules, which the cooling plant knows nothing of


class Measure(NamedTuple):
    """A quantity of a port."""

    unit: str
    read: Callable[[State, int], Value]


def _count(name: str, state: State, number: int) -> float:
    port, site = state.ports[number], state.site
    chance = _find_chance(site.seed, site.places[number].subject, name, port.tally.epoch)
    return float(saturate(count_arrivals(chance, expect(port, name, _moved(state, number), state.at))))


@lru_cache(maxsize=KEPT)
def _find_chance(seed: int, subject: str, name: str, epoch: int) -> Chance:
    return start_chance(seed, f"{subject}/{name}/{epoch}")


def _moved(state: State, number: int) -> float:
    return average_moved(state.site, state.moved, number, state.peers[number])


def _count_bits(state: State, number: int) -> float:
    return float(int(count_bits(state.ports[number], _moved(state, number), state.at)))


def _count_corrected(state: State, number: int) -> float:
    """Symbols of all lanes."""
    return sum(_count(name, state, number) for name in LANE_NAMES)


def _count_recoveries(state: State, number: int) -> float:
    """Trainings that nobody noticed, and those that brought the link back."""
    return _count("link.recoveries", state, number) + state.ports[number].tally.recovered


def _fact(unit: str, read: Callable[[State, int], Value]) -> Measure:
    """What only a port with power shows."""
    return Measure(unit, lambda state, number: None if is_dark(state, number) else read(state, number))


def _module(unit: str, read: Callable[[State, int], Value]) -> Measure:
    """What only a module that is there, with power, shows."""
    return _fact(unit, lambda state, number: None if state.ports[number].faults.absent else read(state, number))


def _heat(state: State, number: int) -> float:
    node = state.site.places[number].node
    if node < 0:
        return _SWITCH_C
    return state.optics[node] if state.optics else MILD


def _bias(state: State, number: int) -> float:
    faults = state.ports[number].faults
    return optics.bias(faults.aged, _heat(state, number)) if faults.enabled else 0.0


def _neighbour(state: State, number: int) -> str | None:
    return state.site.places[state.peers[number]].subject if state.ports[number].up else None


def _neighbour_mac(state: State, number: int) -> str | None:
    return name_mac(state.peers[number]) if state.ports[number].up else None


def _before(state: State, number: int) -> float | None:
    """The mean of the lanes in use."""
    port = state.ports[number]
    return sum(find_before(port, state.at)) / max(1, port.width) if port.up else None


def _after(state: State, number: int) -> float | None:
    return find_after(state.ports[number], state.at) if state.ports[number].up else None


def _changes(state: State, number: int) -> str:
    return json.dumps([[round(at, 3), word] for at, word in state.ports[number].tally.changes])


def name_mac(number: int) -> str:
    """The address of a port: locally administered (IEEE 802), by its number."""
    return ":".join(f"{byte:02x}" for byte in (0x02, 0x5E, *number.to_bytes(4)))


def name_ip(number: int) -> str:
    """The address of a port, by its number: 16 bits of 10.64.0.0/10 and above."""
    return f"10.{64 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


def _lane(read: Callable[[State, int], tuple[float, ...]], lane: int) -> Callable[[State, int], float]:
    return lambda state, number: read(state, number)[lane]


def _received(state: State, number: int) -> tuple[float, ...]:
    return state.ports[number].light.received


def _total_received(state: State, number: int) -> float:
    """The mean of the lanes in use, as a module that shows one figure shows it."""
    return sum(_received(state, number)) / max(1, state.ports[number].width)


def _los(state: State, number: int) -> float:
    return float(_total_received(state, number) < optics.DARK_MW)


MEASURES: Mapping[str, Measure] = {
    "link.state": Measure("1", lambda state, number: float(state.ports[number].up)),
    "link.phys_state": Measure("text", lambda state, number: state.ports[number].physical),
    "link.speed": Measure("Gb/s", lambda state, number: state.ports[number].speed if state.ports[number].up else None),
    "link.width": Measure("1", lambda state, number: float(state.ports[number].width)),
    "link.bits": Measure("bit", _count_bits),
    **{name: Measure("1", partial(_count, name)) for name in (*TIMED, *BORNE) if name != "link.recoveries"},
    "link.recoveries": Measure("1", _count_recoveries),
    "link.fec.corrected": Measure("1", _count_corrected),
    "link.downed": Measure("1", lambda state, number: float(state.ports[number].tally.downs)),
    "link.ups": Measure("1", lambda state, number: float(state.ports[number].tally.ups)),
    "link.downs": Measure("1", lambda state, number: float(state.ports[number].tally.downs)),
    "link.changes": Measure("1", lambda state, number: float(state.ports[number].tally.ups + state.ports[number].tally.downs)),
    "link.flaps": Measure("text", _changes),
    "link.ber.post_fec": Measure("1", _after),
    "link.ber.pre_fec": Measure("1", _before),
    "link.present": _fact("1", lambda state, number: float(not state.ports[number].faults.absent)),
    "link.los": _fact("1", _los),
    "link.rx_power": _module("mW", _total_received),
    **{f"link.rx_power.lane{lane}": _module("mW", _lane(_received, lane)) for lane in range(optics.LANES)},
    "link.tx_power": _module("mW", send),
    "link.bias": _module("mA", _bias),
    "link.temperature": _module("C", _heat),
    "link.voltage": _module("V", lambda _state, _number: VOLTS),
    "link.neighbour": Measure("text", _neighbour),
    "link.neighbour_mac": Measure("text", _neighbour_mac),
    "link.fec.mode": Measure("text", lambda _state, _number: "rs544"),
    "link.mac": Measure("text", lambda _state, number: name_mac(number)),
    "link.ip": Measure("text", lambda _state, number: name_ip(number)),
}
