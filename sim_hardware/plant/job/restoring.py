"""What a job comes back to whose checkpoints are files: what lies on its tiers decides, not what was once saved."""

from __future__ import annotations

import msgspec

from sim_hardware.plant.job.orders import NoteStored, ResumeJob
from sim_hardware.plant.job.pacing import tell
from sim_hardware.plant.job.shape import State, Stored
from sim_hardware.plant.words import OrderError

SHARED, DURABLE = "shared", "durable"


def note_stored(state: State, order: NoteStored) -> State:
    """The files have changed."""
    old = state.stored or Stored()
    was, now, before = old.durable, order.durable, old.published
    state = msgspec.structs.replace(state, stored=_read(order))
    if order.published > before:
        state = tell(state, "snapshot.published", f"has a manifest of the snapshot {order.published}")
    if now > was:
        return tell(state, "checkpoint.durable", f"has step {now} whole on durable storage", float(now))
    if now < was:
        return tell(state, "checkpoint.gone", f"had step {was} whole on durable storage, and now step {now}", float(now))
    return state


def _read(order: NoteStored) -> Stored:
    return Stored(
        known=True,
        shared=order.shared,
        durable=order.durable,
        unfinished=order.unfinished,
        drafts=order.drafts,
        published=order.published,
    )


def choose_step(state: State, order: ResumeJob) -> State:
    """The state at the step that is read; steps that were saved once and are on no tier any more are lost. Raises OrderError."""
    stored, saved = state.stored, state.committed_step
    if stored is None or not stored.known:
        return msgspec.structs.replace(state, step=saved)
    step = stored.newest if order.step is None else order.step
    if step > stored.newest:
        raise OrderError(f"job {order.job}: step {step} is on no tier; the newest is step {stored.newest}")
    tier = order.tier or (SHARED if stored.shared >= step else DURABLE)
    state = msgspec.structs.replace(state, step=step, committed_step=step, restored_from=tier)
    if step < saved:
        state = tell(state, "checkpoint.lost", f"comes back to step {step}: step {saved} was saved and is lost", float(saved - step))
    return state
