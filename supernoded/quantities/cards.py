"""Cards, jobs and their ranks."""

from __future__ import annotations

from supernoded.quantities.shape import Quantity, celsius, counter, share, text

CARD = (
    Quantity("card.health", "flags"),
    celsius("card.temperature", -40.0, 150.0, 50.0),  # the highest of its sensors
    celsius("card.temperature.mean", -40.0, 150.0, 50.0),
    celsius("card.temperature.median", -40.0, 150.0, 50.0),
    Quantity("card.throttled", "1", 0.0, 1.0),  # 1 = it clocks lower because it is hot
    Quantity("card.power", "W", 0.0, 3000.0),
    share("card.utilisation"),
    Quantity("card.memory_used", "B", 0.0, 1e13),
    Quantity("card.memory_total", "B", 0.0, 1e13),
    Quantity("card.present", "1", 0.0, 1.0),  # 0 = it was on the bus and is not
    Quantity("card.isolated", "1", 0.0, 1.0),  # 1 = this daemon has taken it away from whatever uses cards
    Quantity("card.proven", "1", 0.0, 1.0),  # 1 = it has passed a test since then, with the serial number that is in the slot now
    counter("card.errors_corrected"),
    counter("card.errors_uncorrected"),
    text("card.chip"),
    text("card.serial"),
    Quantity("card.power_cap", "W", 0.0, 3000.0),
)
# Of `job/<id>` and of its ranks, `job/<id>/rank7`.
JOB = (
    text("job.state", "absent", "starting", "running", "saving", "waiting", "silent", "aborted", "stopping", "stopped"),
    Quantity("job.world_size", "1", 0.0, 1e7),
    Quantity("job.ranks", "1", 0.0, 1e7),  # that this node's daemon hears
    Quantity("job.step", "1", 0.0, 1e15),  # the newest that all of them have done
    Quantity("job.step_time", "s", 0.0, 1e6),  # p95 of the last steps
    Quantity("job.save_time", "s", 0.0, 1e6),  # worst of the last saves, from the stall's begin to durable
    Quantity("job.stall_time", "s", 0.0, 1e6),  # worst of the last saves: how long the steps stood still
    Quantity("job.saved_step", "1", 0.0, 1e15),  # newest that is whole in shared memory
    Quantity("job.durable_step", "1", 0.0, 1e15),  # newest whose manifest is whole and verified on durable storage
    Quantity("job.durable_age", "s", 0.0, 1e9),  # since that step was taken
    text("job.request", "none", "asked", "agreed", "saving", "saved", "durable", "withdrawn", "late", "failed"),
    text("job.phase"),  # what the job says it does beside steps, such as `evaluation`; empty = steps
    text("checkpoint.trouble"),  # of a job: what is wrong with the tiers of its checkpoints, as the vault says; empty = nothing
    text("job.trouble"),  # what is wrong with the tiers of its checkpoints, as the vault says, or with its plan; empty = nothing
    Quantity("rank.step", "1", 0.0, 1e15),
    Quantity("rank.step_time", "s", 0.0, 1e6),
    Quantity("rank.beat_age", "s", 0.0, 1e9),
    text("rank.card"),  # subject of the card it runs on
    text("job.plan"),  # how its ranks are grouped: `tp=8 pp=1 dp=3 ep=1`
    Quantity("job.launcher", "1", 0.0, 1.0),  # 1 = what starts its ranks is connected to this node's daemon
    Quantity("job.incarnation", "1", 0.0, 1e9),  # which start of the job it is, as the launcher's node counts them
    text("rank.state", "running", "saving", "waiting", "phase", "silent", "stopped", "gone"),
)
