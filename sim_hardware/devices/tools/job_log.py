"""`train.log`: what the job's own program writes: of its checkpoints, of which the collective library knows nothing, and of its ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from sim_hardware.devices.tools.words import EPOCH
from sim_hardware.plant.words import Happening

_LEVELS = {
    "checkpoint.requested": "INFO",
    "checkpoint.withdrawn": "INFO",
    "checkpoint.begun": "INFO",
    "checkpoint.committed": "INFO",
    "checkpoint.failed": "ERROR",
    "job.restoring": "INFO",
    "job.resumed": "INFO",
    "job.stopped": "WARNING",
    "job.aborted": "ERROR",
    "job.lost": "ERROR",
}


def write_job_log(happenings: Iterable[Happening], epoch: float = EPOCH) -> Iterator[str]:
    """A line, without its end, for each happening that the program tells of: `time level what: text`."""
    for news in happenings:
        level = _LEVELS.get(news.kind)
        if level is not None:
            at = datetime.fromtimestamp(epoch + news.at, tz=UTC)
            yield f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d} {level} {news.kind}: {news.text.rstrip('.')}"
