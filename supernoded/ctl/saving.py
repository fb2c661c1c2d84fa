"""A checkpoint of the jobs that run on a card, before it is taken away from them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from urllib.parse import quote

import click

from supernoded.ctl.client import AdminClient
from supernoded.errors import AdminError
from supernoded.messages import CheckpointAsk, CheckpointFilter, Requested, RequestRow

LOOK_EVERY = 0.5  # seconds
FULFILLED = "durable"
OVER = frozenset({"durable", "withdrawn", "failed"})


def save_first(client: AdminClient, ranks: Sequence[str], reason: str) -> None:
    """Have each job saved that one of these ranks belongs to. Raises AdminError when it is not, and says what stands."""
    for job in dict.fromkeys(rank.split("/")[1] for rank in ranks if rank.count("/") >= 2):
        try:
            _save(client, job, reason)
        except AdminError as error:
            raise AdminError(f"the card is held, and not fenced: {error}; --now fences it without a checkpoint") from error


def _save(client: AdminClient, job: str, reason: str) -> None:
    path = f"jobs/{quote(job, safe='')}/checkpoint"
    asked = client.post(path, Requested, CheckpointAsk(reason=reason)).answer
    now, one = asked.now, asked.request
    while one is not None and not _is_saved(one):
        if one.stage in OVER or now >= one.hard:
            raise AdminError(f"job {job} was not saved: {one.text}")
        time.sleep(LOOK_EVERY)
        found = client.get(path, Requested, CheckpointFilter(request=one.id)).answer
        now, one = found.now, found.request
    click.echo(f"job {job} is saved", err=True)


def _is_saved(one: RequestRow) -> bool:
    return one.stage in (FULFILLED, one.wanted)
