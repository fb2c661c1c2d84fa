"""What a port has counted by a time: of one counter, where somebody reads it, and of all, before something changes for the port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import msgspec

from sim_hardware.plant.links.coding import BAD_BLOCK_BITS
from sim_hardware.plant.links.optics import LANE_SYMBOLS, LANES
from sim_hardware.plant.links.ports import Port, Tally, raise_all

LANE_NAMES = tuple(f"link.fec.corrected.lane{lane}" for lane in range(LANES))

_FRAME_BITS = 4096 * 8  # of the usual RoCE MTU
_RECOVERIES = 1e-3  # of blocks that could not be corrected, each by a training that nobody notices (ours)
_WAIT_BITS = 1e3  # data that waits makes one tick for so many bits (ours)

Lanes = tuple[float, ...]  # mean bit error rates before correction


def _spoil(port: Port, after: float, _: Lanes) -> float:
    return after * port.speed * 1e9


def _lose(port: Port, after: float, _: Lanes) -> float:
    return after * port.speed * 1e9 / BAD_BLOCK_BITS


def _correct(lane: int, _port: Port, _after: float, before: Lanes) -> float:
    return LANE_SYMBOLS * min(1.0, 10.0 * before[lane])


TIMED: Mapping[str, Callable[[Port, float, Lanes], float]] = MappingProxyType(  # a second: a line carries symbols also without data
    {
        "link.symbol_errors": _spoil,
        "link.recoveries": lambda port, after, before: _lose(port, after, before) * _RECOVERIES,
        "link.discards": lambda port, _after, _before: port.crowd[0],
        "link.fec.uncorrected": _lose,
        "link.cnp": lambda port, _after, _before: port.crowd[1],
        "link.pfc_received": lambda port, _after, _before: port.crowd[2],
        "link.pfc_sent": lambda port, _after, _before: port.crowd[3],
        **{name: partial(_correct, lane) for lane, name in enumerate(LANE_NAMES)},
    }
)
BORNE: Mapping[str, Callable[[Port, float], float]] = MappingProxyType(  # for each bit that is carried
    {
        "link.receive_errors": lambda _port, after: min(after, 1.0 / _FRAME_BITS),  # a wrong bit spoils its frame
        "link.waits": lambda port, _after: (1.0 - port.width / LANES) / _WAIT_BITS,  # with lanes lost, data waits
    }
)
_PLACES: Mapping[str, int] = MappingProxyType({name: place for table in (TIMED, BORNE) for place, name in enumerate(table)})


def count_bits(port: Port, moved: float, at: float) -> float:
    """Bits that it has carried by then, when its sender has sent `moved`."""
    return port.tally.bits + (_carry(port, moved) if _goes_on(port, at) else 0.0)


def expect(port: Port, name: str, moved: float, at: float) -> float:
    """What was to be expected of one counter by then, exactly as `settle` would keep it. It decides how fast a port is read."""
    tally, place = port.tally, _PLACES[name]
    timed = TIMED.get(name)
    total = (tally.borne if timed is None else tally.timed)[place]
    if not _goes_on(port, at):
        return total
    if timed is None:
        return total + BORNE[name](port, _average_after(port, at)) * _carry(port, moved)
    return total + timed(port, _average_after(port, at), _average_before(port, at)) * (at - tally.since)


def settle(port: Port, moved: float, at: float) -> Port:
    """The port with everything counted until `at`, when its sender has sent `moved`. The link has been the same all the time.

    Done again at the same moment it only takes `moved` as the new beginning, which is that of another sender after a plug was moved.
    """
    return msgspec.structs.replace(port, tally=_count(port, moved, at))


def _count(port: Port, moved: float, at: float) -> Tally:
    tally = port.tally
    if not _goes_on(port, at):
        return msgspec.structs.replace(tally, since=at, moved=moved)
    after, before = _average_after(port, at), _average_before(port, at)
    duration, bits = at - tally.since, _carry(port, moved)
    timed = zip(tally.timed, TIMED.values(), strict=True)
    borne = zip(tally.borne, BORNE.values(), strict=True)
    return msgspec.structs.replace(
        tally,
        since=at,
        moved=moved,
        bits=tally.bits + bits,
        timed=tuple([total + rate(port, after, before) * duration for total, rate in timed]),
        borne=tuple([total + rate(port, after) * bits for total, rate in borne]),
    )


def _goes_on(port: Port, at: float) -> bool:
    return port.up and at > port.tally.since


def _carry(port: Port, moved: float) -> float:
    """Bits since the last settling."""
    return port.speed * 1e9 * (moved - port.tally.moved)


def _average_after(port: Port, at: float) -> float:
    override = port.faults.override
    return override.after.mean(port.tally.since, at) if override else port.light.after


def _average_before(port: Port, at: float) -> Lanes:
    override = port.faults.override
    return raise_all(port, override.before.mean(port.tally.since, at) if override else 0.0)
