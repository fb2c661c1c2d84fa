"""How often a checkpoint is worth its time (C7). Pure.

Saves cost time, what is lost at a failure costs time too, and the sum has a lowest point.

J. W. Young, "A first order approximation to the optimum checkpoint interval", Communications of the ACM 17(9), 1974.
J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future Generation Computer Systems 22(3), 2006.
"""

from __future__ import annotations

import math

import msgspec

from supernoded.settings.vault import Interval


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds from the end of one save to the next, and why."""

    seconds: float
    text: str


def find_young(save_s: float, mtbf_s: float) -> float:
    """The square root of twice save time by time between failures, in seconds."""
    return math.sqrt(2 * save_s * mtbf_s)


def find_daly(save_s: float, mtbf_s: float) -> float:
    """Daly's equation 37: better than Young's where a save is not short against the time between failures. Seconds."""
    if save_s >= 2 * mtbf_s:
        return mtbf_s
    part = save_s / (2 * mtbf_s)
    return find_young(save_s, mtbf_s) * (1 + math.sqrt(part) / 3 + part / 9) - save_s


def estimate_mtbf(failures: int, observed_s: float, prior_s: float) -> float:
    """Mean time between failures, in seconds: what was seen, and one failure in `prior_s` to begin with.

    The mean of a gamma distribution of the rate with that prior, inverted: no division by zero before the first failure, and one
    failure in the first hour does not make it an hour.
    """
    return (prior_s + max(0.0, observed_s)) / (1 + max(0, failures))


def find_interval(save_s: float, failures: int, observed_s: float, settings: Interval) -> Advice:
    """The interval within the settings' bounds. `save_s` is how long the job stands still for a save; what is no number counts as 0."""
    save = save_s if math.isfinite(save_s) and save_s > 0 else 0.0
    observed = observed_s if math.isfinite(observed_s) else 0.0
    mtbf = estimate_mtbf(failures, observed, settings.mtbf_h * 3600)
    best = find_daly(save, mtbf)
    floor = max(settings.least_s, settings.least_saves * save)
    seconds = max(min(best, settings.most_s), floor)
    bound = ""
    if seconds > best:
        reason = "the shortest of the settings" if floor == settings.least_s else f"{settings.least_saves:g} saves"
        bound = f", raised to {reason}"
    elif seconds < best:
        bound = ", cut to the longest of the settings"
    text = (
        f"a checkpoint every {seconds:.0f} s: a save takes {save:.3g} s and failures are {mtbf / 3600:.3g} h apart "
        f"({failures} in {observed / 3600:.3g} h), for which Daly gives {best:.0f} s{bound}"
    )
    return Advice(seconds=seconds, text=text)
