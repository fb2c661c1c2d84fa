"""`hccl.log`: what the collective library writes, from what happened to the job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from sim_hardware.devices.tools.words import EPOCH
from sim_hardware.plant.words import Happening

PROCESS = 40_000  # of the first rank

_LINES = {  # kind -> level, module, text
    "rank.silent": ("WARNING", "heartbeat", "no heartbeat from {subject}"),
    "rank.recovered": ("INFO", "heartbeat", "heartbeat from {subject} again"),
    "job.hung": ("ERROR", "collective", "wait for remote notify, {text}"),
    "comm.timeout": ("ERROR", "transport", "send timeout, {text}"),
    "job.recovered": ("INFO", "collective", "remote notify came, {text}"),
    "job.lost": ("ERROR", "communicator", "communicator destroyed, {text}"),
    "job.aborted": ("ERROR", "communicator", "communicator aborted, {text}"),
    "job.stopped": ("INFO", "communicator", "communicator destroyed, {text}"),
    "job.restoring": ("INFO", "communicator", "communicator init, {text}"),
    "job.resumed": ("INFO", "communicator", "communicator ready, {text}"),
    "job.replica_dropped": ("WARNING", "topology", "rank table shrunk, {text}"),
    "job.remapped": ("INFO", "topology", "rank table changed, {text}"),
    "ring.broken": ("ERROR", "topology", "ring cannot be closed, {text}"),
    "ring.closed": ("INFO", "topology", "ring closed, {text}"),
    "ring.mode_changed": ("WARNING", "algorithm", "algorithm changed, {text}"),
    "link.down": ("WARNING", "transport", "link down on {subject}"),
    "link.up": ("INFO", "transport", "link up on {subject}"),
}


def write_log(happenings: Iterable[Happening], epoch: float = EPOCH) -> Iterator[str]:
    """A line, without its end, for each happening of which the library knows."""
    for news in happenings:
        entry = _LINES.get(news.kind)
        if entry is not None:
            level, module, text = entry
            at = datetime.fromtimestamp(epoch + news.at, tz=UTC)
            stamp = f"{at:%Y-%m-%d-%H:%M:%S}.{at.microsecond // 1000:03d}.{at.microsecond % 1000:03d}"
            words = text.format(subject=news.subject, text=news.text.rstrip("."))
            yield f"[{level}] HCCL({PROCESS},python3):{stamp} [{module}.cc:1][{PROCESS}] {words}"
