"""Delay, lag and gain of the racks, learned from a front of power that has passed: what was predicted against what came back.

Frozen without excitation, and while a front is under way.
"""

from __future__ import annotations

from msgspec.structs import replace

from supernoded_thermal.control.fitting import Response, fit_power
from supernoded_thermal.control.tracking import Transmitter
from supernoded_thermal.control.transport import Transport

KEPT = 300  # seconds that are looked back on
FRONT = 0.15  # of the highest power, that it must have changed by
QUIET = 0.05  # of the highest power, within which it stands still
EXPLAINED = 0.97  # of the variance, below which nothing is learned
COARSE, FINE = (0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0), (-2.0, -1.0, 0.0, 1.0, 2.0)
LAGS, NEAR = (0.5, 0.7, 1.0, 1.4, 2.0), (0.85, 1.0, 1.18)
LEAST_GAIN, MOST_GAIN = 0.4, 1.6

Log = tuple[tuple[float, float, float], ...]  # when, W that was told, W that came back with the return


def note_heat(log: Log, now: float, watts: float, returned: float) -> Log:
    """The log with one more second. A gap starts it anew."""
    if log and not 0.5 < now - log[-1][0] < 1.5:
        return log if now - log[-1][0] <= 0.5 else ((now, watts, returned),)
    return (*log[-KEPT:], (now, watts, returned))


def has_passed(log: Log, transport: Transport, slower: float) -> bool:
    """Whether a front of power is in the log and wholly behind."""
    needed = int((1.3 * transport.delay + 4.0 * transport.lag) * slower)
    if len(log) < needed + 20:
        return False
    told = [watts for _, watts, _ in log]
    last, most = told[-needed:], max(told)
    return max(last) - min(last) < QUIET * most and most - min(told) > FRONT * most


def learn_transport(log: Log, transport: Transport, slower: float, by: Transmitter) -> Transport:
    """The transport that explains the log best, or the same one where none does. A register is on average half its refresh time old."""
    told, came = [watts for _, watts, _ in log], [watts for _, _, watts in log]
    delay, lag = transport.delay * slower, transport.lag * slower
    rough = fit_power(told, came, 1.0, [delay * times for times in COARSE], [lag * times for times in LAGS], by.lag)
    delays = [rough.delay + more for more in FINE if rough.delay + more >= 0.0]  # a short one may have nothing before it
    best = fit_power(told, came, 1.0, delays, [rough.lag * times for times in NEAR], by.lag)
    delay = max(0.0, best.delay - 0.5 * by.refresh)
    return replace(transport, delay=delay / slower, lag=best.lag / slower, gain=best.weights[1]) if is_sure(best) else transport


def is_sure(response: Response) -> bool:
    """Whether a fit is worth believing."""
    return response.explained > EXPLAINED and LEAST_GAIN < response.weights[1] < MOST_GAIN and response.delay > 0.0
