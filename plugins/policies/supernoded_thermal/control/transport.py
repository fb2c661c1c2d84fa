"""How the racks' heat comes back with the return: power through a lag and a delay, both longer with less flow.

The return that is predicted is used for its changes alone: what is measured corrects it all the time, so that a wrong power meter or a
wrong delay costs little, and a right one tells what no thermometer can, the next second.
"""

from __future__ import annotations

import math
from bisect import bisect_right

import msgspec

KEPT = 400.0  # s of power that are kept: more than is under way at the least flow

Sent = tuple[float, float, float]  # when; W that left the racks then; W that a transmitter would show of them


class Transport(msgspec.Struct, frozen=True):
    """The pipes at commissioned flow, and what was sent through them lately."""

    delay: float  # s from racks to exchanger
    lag: float  # s, of the racks
    gain: float = 1.0  # of a change of the power that is told, what arrives
    sent: tuple[Sent, ...] = ()


def take_power(transport: Transport, now: float, watts: float, slower: float, sensor_lag: float) -> Transport:
    """With the power as of now. `slower` is commissioned flow over flow."""
    if not transport.sent:
        return msgspec.structs.replace(transport, sent=((now, watts, watts),))
    before, left, shown = transport.sent[-1]
    seconds = now - before
    if seconds <= 0.0:
        return transport
    left = watts + (left - watts) * math.exp(-seconds / (transport.lag * slower))
    shown = left + (shown - left) * math.exp(-seconds / sensor_lag) if sensor_lag > 0.0 else left
    oldest = max(0, bisect_right(transport.sent, (now - KEPT,)) - 1)
    return msgspec.structs.replace(transport, sent=(*transport.sent[oldest:], (now, left, shown)))


def find_arriving(transport: Transport, at: float, slower: float) -> float:
    """Watts that arrive at the exchanger at a time, by what was told of power."""
    return _look_up(transport, at, slower, 1)


def find_shown(transport: Transport, at: float, slower: float) -> float:
    """Watts that a transmitter in the return would show then."""
    return _look_up(transport, at, slower, 2)


def _look_up(transport: Transport, at: float, slower: float, which: int) -> float:
    sent, when = transport.sent, at - transport.delay * slower
    if when <= sent[0][0]:
        return sent[0][which]
    if when >= sent[-1][0]:
        return sent[-1][which]
    place = bisect_right(sent, (when, math.inf))
    before, after = sent[place - 1], sent[place]
    share = (when - before[0]) / (after[0] - before[0])
    return before[which] + (after[which] - before[which]) * share
