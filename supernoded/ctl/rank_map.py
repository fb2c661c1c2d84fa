"""`supernodectl jobs map`: which rank runs on which card, in the forms that launchers read."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import click
import msgspec

from supernoded.ctl.client import AdminClient, Reply
from supernoded.ctl.options import Invocation
from supernoded.ctl.printing import show
from supernoded.errors import AdminError
from supernoded.messages import RankMap
from supernoded.topology import to_hccl, to_hostfile, to_json

FORMS = ("json", "hccl", "hostfile")


def print_map(invocation: Invocation, job: str, form: str, addresses: Path | None) -> None:
    """Ask for the map of a job and print it in one of `FORMS`. Raises AdminError for one that is not whole."""
    reply = fetch_map(invocation.open_client(), job)
    if invocation.as_json:
        show(invocation, reply, lambda told: [told.job])
        return
    click.echo(write_map(reply.answer, form, _read_addresses(addresses)), nl=False)


def fetch_map(client: AdminClient, job: str) -> Reply[RankMap]:
    """What this node's daemon is told. Raises AdminError."""
    return client.get(f"jobs/{quote(job, safe='')}/map", RankMap)


def write_map(told: RankMap, form: str, addresses: dict[str, str]) -> str:
    """The map as a file. Raises AdminError where a rank, a card or an address is not known."""
    if told.faults:
        hint = "ask on a node that hears the digests of all, such as the one that has the role spares; -o json shows what is known"
        raise AdminError(f"job {told.job}: {' '.join(told.faults)} As this node is told; {hint}.")
    cards = {one.rank: one.card for one in told.ranks}
    try:
        if form == "hccl":
            return to_hccl(cards, addresses, told.world)
        return to_hostfile(cards, told.world) if form == "hostfile" else to_json(cards, told.world)
    except ValueError as error:
        raise AdminError(f"job {told.job}: {error}") from error


def _read_addresses(path: Path | None) -> dict[str, str]:
    """Card -> address of its own port. Raises AdminError."""
    if path is None:
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise AdminError(f'{path}: {error}; it is to be JSON, {{"n0/card0": "10.0.0.10", ...}}') from error
