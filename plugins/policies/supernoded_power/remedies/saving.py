"""Asking jobs for a checkpoint, with a deadline that says how long there is. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Case, Step, View
from supernoded_power.jobs import VOID, Job, time_save
from supernoded_power.mains import Feed
from supernoded_power.remedies.record import Deed
from supernoded_power.reserve import Reserve
from supernoded_power.settings import PowerSettings

MOST_TRIES = 5  # of a save in one round
LONGEST_S = 600.0  # of a deadline, however much reserve there is: a later save is worth less


def find_deadline(job: Job, feeds: Sequence[Feed], reserves: Sequence[Reserve], settings: PowerSettings) -> tuple[float, str]:
    """Seconds till the save must be whole, never less than it takes, and why; with a UPS that is low, as soon as can be."""
    least = time_save(job, settings)
    low = [feed.ups for feed in feeds if feed.row is not None and feed.row.name in {"battery-low", "battery-forced"}]
    if low:
        return least, f"{', '.join(low)} says that it is low: as soon as can be"
    if not reserves:
        return min(2.0 * least, max(LONGEST_S, least)), "nothing is known of the reserve"
    left = reserves[0].seconds - settings.stop_s - settings.margin_s
    return max(least, min(left, LONGEST_S)), reserves[0].text


def ask_to_save(jobs: Sequence[Job], prefix: str, reason: str, limits: Mapping[str, tuple[float, str]]) -> Iterator[Step]:
    """A checkpoint of each job that can give one. `prefix` begins the names, `limits` are deadline and its reason by job."""
    for job in jobs:
        if job.saveable:
            seconds, why = limits[job.subject]
            details = {"deadline": why, "save_time": _tell(job.save_s), "step_time": _tell(job.step_s)}
            name = f"{prefix}{job.subject}"
            yield Step(
                name=name, kind="job.checkpoint", target=job.subject, reason=reason, patience=seconds, amount=seconds, details=details
            )


def ask_again(
    jobs: Sequence[Job], deeds: Sequence[Deed], number: int, reason: str, limits: Mapping[str, tuple[float, str]], case: Case
) -> Iterator[Step]:
    """Another try of each save of this round that came to nothing: its storage may have been full for a while."""
    for job in jobs:
        tries = [deed for deed in deeds if deed.target == job.subject and deed.verb.startswith("save")]
        under_way = any(deed.outcome is None for deed in tries)
        over = any(deed.done for deed in tries) or is_saved_since(job, case.incident.opened, case.seen) or job.is_asked
        next_one = len(tries) if under_way else len(tries) + 1
        if tries and next_one > 1 and next_one <= MOST_TRIES and (under_way or not over):
            yield from ask_to_save([job], f"{number}-save{next_one}-", reason, limits)


def _tell(seconds: float | None) -> str:
    return "not known" if seconds is None else f"{seconds:.1f} s"


def can_withdraw(job: Job) -> bool:
    """Whether a request stands that no rank has agreed to yet (safety rule 11)."""
    return bool(job.requests) and job.requests <= {"asked", *VOID} and "asked" in job.requests


def is_saved_since(job: Job, moment: float, seen: View) -> bool:
    """Whether its newest durable step was taken after a moment."""
    return job.durable_age is not None and seen.now - job.durable_age > moment


def say_silent(jobs: Sequence[Job]) -> str:
    """The jobs of which no checkpoint can be had, as a sentence; empty when there is none."""
    silent = [job.subject for job in jobs if job.runs and not job.saveable]
    return (
        f" No checkpoint can be had of {', '.join(silent)}: a rank is silent, or its state is not known (safety rule 27)." if silent else ""
    )
