"""Asking jobs for a checkpoint, with a deadline that says how long there is. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Case, Job, Record, Step, ask_to_save
from supernoded_power.jobs import time_save
from supernoded_power.mains import Feed
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


def ask_again(jobs: Sequence[Job], record: Record, reason: str, limits: Mapping[str, tuple[float, str]], case: Case) -> Iterator[Step]:
    """Another try of each save of this round that came to nothing: its storage may have been full for a while."""
    for job in jobs:
        tries = [deed for deed in record.list_round() if deed.target == job.subject and deed.verb.startswith("save")]
        under_way = any(deed.outcome is None for deed in tries)
        over = any(deed.done for deed in tries) or job.is_saved_since(case.incident.opened, case.seen.now) or job.is_asked
        next_one = len(tries) if under_way else len(tries) + 1
        if tries and next_one > 1 and next_one <= MOST_TRIES and (under_way or not over):
            yield from ask_to_save([job], record.name(f"save{next_one}", ""), reason, limits)
