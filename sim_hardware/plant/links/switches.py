"""What a switch does under bursts, by its two thresholds (N4 to N6). Pure.

A queue that fills first passes the ECN threshold: frames are marked, and their senders slow down. At the PFC threshold it asks its
neighbours to pause; what is under way still arrives, and just fits when the threshold is 120000 bytes. With less than 10000 bytes
between the two the senders hear of it too late: the burst is lost before anything is marked or paused.
"""

from __future__ import annotations

import msgspec

from sim_hardware.plant.links.site import SWITCH_PORTS

PFC_BYTES, ECN_BYTES, LEAD_BYTES = 120_000.0, 110_000.0, 10_000.0  # N4, N5
KINDS = ("switch.drops", "switch.marks", "switch.pauses")

_QUIET, _HEAVY = 0.7, 1.2  # shares of capacity from which bursts queue, and from which marks are not enough (ours)
_MARKS, _PAUSES, _DROPS = 2e4, 500.0, 2e3  # a second for each share over it (ours)


class Switching(msgspec.Struct, frozen=True):
    """A switch: its settings, its load, and what was to be expected of its counters until `since`."""

    pfc_bytes: float = PFC_BYTES
    ecn_bytes: float = ECN_BYTES
    ecn: bool = True
    burst: float = 0.0  # offered load as a share of capacity
    dark: bool = False
    since: float = 0.0
    expected: tuple[float, ...] = (0.0,) * len(KINDS)
    epoch: int = 0


def rate_queue(switch: Switching) -> tuple[float, float, float]:
    """Drops, marks and pauses a second."""
    if switch.dark or switch.burst <= _QUIET:
        return 0.0, 0.0, 0.0
    excess, heavy = switch.burst - _QUIET, max(0.0, switch.burst - _HEAVY)
    if not switch.ecn or switch.pfc_bytes - switch.ecn_bytes < LEAD_BYTES:
        return _DROPS * excess, 0.0, 0.0
    drops = 0.0 if switch.pfc_bytes == PFC_BYTES else _DROPS * excess
    early = max(1.0, (switch.pfc_bytes - switch.ecn_bytes) / LEAD_BYTES)  # a threshold far too low marks far too much
    return drops, _MARKS * excess * min(early, 5.0), _PAUSES * heavy


def settle_switch(switch: Switching, at: float) -> Switching:
    """The switch with everything counted until `at`."""
    rates = zip(switch.expected, rate_queue(switch), strict=True)
    return msgspec.structs.replace(switch, since=at, expected=tuple(total + rate * (at - switch.since) for total, rate in rates))


def share_queue(switch: Switching) -> tuple[float, float, float]:
    """Drops, marks and pauses a second of each of its ports."""
    drops, marks, pauses = rate_queue(switch)
    return drops / SWITCH_PORTS, marks / SWITCH_PORTS, pauses / SWITCH_PORTS


def wait_in_queue(switch: Switching) -> float:
    """How long a frame waits in a port's queue, us: it stands up to the threshold that holds it, at 200 Gb/s."""
    if switch.dark or switch.burst <= _QUIET:
        return 0.0
    held = min(switch.ecn_bytes if switch.ecn else switch.pfc_bytes, switch.pfc_bytes, PFC_BYTES)
    return held * min(1.0, switch.burst - _QUIET) * 8.0 / 200e3
