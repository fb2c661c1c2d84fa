"""What is known of a job as readings: `job.*` of `job/<id>`, `rank.*` of `job/<id>/rank7`."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.job import ranks
from supernoded.job.training import Training
from supernoded.model import Reading, Value
from supernoded.reading import make_reading

_UNITS = {
    "job.step_time": "s",
    "job.save_time": "s",
    "job.stall_time": "s",
    "job.durable_age": "s",
    "rank.step_time": "s",
    "rank.beat_age": "s",
}
_TEXTS = frozenset({"job.state", "job.request", "job.phase", "job.trouble", "checkpoint.trouble", "job.plan", "rank.state", "rank.card"})


def name_job(name: str) -> str:
    """The subject of a job."""
    return f"job/{name}"


def read_job(job: Training, now: float, wall: float, silent_s: float) -> list[Reading]:
    """The job as a whole. What has not been yet is UNKNOWN."""
    here, kept = job.here, job.kept
    step = ranks.find_step(here)
    values: dict[str, Value] = {
        "job.state": job.judge(now, silent_s),
        "job.world_size": float(kept.world) if kept.world else None,
        "job.ranks": float(len(here)),
        "job.step": float(step) if step is not None else None,
        "job.step_time": job.step_time,
        "job.save_time": job.save_time,
        "job.stall_time": job.worst_stall,
        "job.saved_step": float(kept.saved_step) if kept.saved_step >= 0 else None,
        "job.durable_step": float(kept.durable_step) if kept.durable_step >= 0 else None,
        "job.durable_age": max(0.0, wall - kept.taken) if kept.durable_step >= 0 else None,
        "job.request": job.request.stage if job.request is not None else "none",
        "job.phase": next((rank.phase for rank in here if rank.phase), ""),
        "job.trouble": "; ".join(job.list_troubles()),
        "checkpoint.trouble": "; ".join(job.list_tier_troubles()),
        "job.plan": kept.plan or None,
        "job.launcher": float(job.launcher),
        "job.incarnation": float(kept.starts.incarnation),
    }
    return _make(name_job(job.name), values, now)


def read_ranks(job: Training, now: float, silent_s: float) -> list[Reading]:
    """Each of its ranks on this node."""
    states = job.judge_ranks(now, silent_s)
    readings: list[Reading] = []
    for number, rank in sorted(job.ranks.items()):
        values: dict[str, Value] = {
            "rank.state": states[number],
            "rank.step": float(rank.step) if rank.step >= 0 else None,
            "rank.step_time": ranks.find_p95(rank.times),
            "rank.beat_age": now - rank.heard,
            "rank.card": rank.card or None,
        }
        readings += _make(f"{name_job(job.name)}/rank{number}", values, now)
    return readings


def _make(subject: str, values: Mapping[str, Value], now: float) -> list[Reading]:
    return [
        make_reading(subject, name, value, "text" if name in _TEXTS else _UNITS.get(name, "1"), now, "" if value is not None else "not yet")
        for name, value in values.items()
    ]
