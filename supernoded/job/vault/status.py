"""The vault's status file: what `supernoded-vault status` shows, with a daemon or without one. It lies in the root of shared memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from supernoded.errors import VaultError
from supernoded.job.vault.records import decode, encode

FILE = "status.json"
LATE_S = 10.0  # seconds after which a status is of the past, whoever has its process number now: it is written every second or so (ours)
CLAIMED_RATIO, CLAIMED_CPU = 3.2, 15.0  # C12: doubted, so what is measured stands beside


class Newest(msgspec.Struct, frozen=True, kw_only=True):
    """The newest durable step of a job."""

    step: int
    taken: float
    seconds: float
    size: int


class Packing(msgspec.Struct, frozen=True, kw_only=True):
    """What packing gave and cost since the start. `cpu_percent` is of one core, while it copied; `machine_percent` of all."""

    before: int
    after: int
    cpu_percent: float
    machine_percent: float

    def describe(self) -> str:
        """In one sentence, beside what the documents claim."""
        ratio = self.before / self.after if self.after else 1.0
        return (
            f"zstd packed {self.before} bytes {ratio:.2f}:1 at {self.machine_percent:.1f} % of the machine's processors "
            f"({self.cpu_percent:.0f} % of one); the documents say {CLAIMED_RATIO}:1 at less than {CLAIMED_CPU:g} % (C12)"
        )


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """As of `at`, Unix seconds."""

    at: float
    pid: int
    node: str
    shared: str
    durable: str
    limit: int
    used: int
    durables: Mapping[str, Newest] = {}
    troubles: Mapping[str, str] = {}
    daemon: Mapping[str, str] = {}
    peers: Mapping[str, str] = {}
    packing: Packing | None = None
    said: Sequence[str] = ()


def write_status(folder: Path, status: Status) -> None:
    """Replace the file. Raises OSError."""
    draft = folder / f".{FILE}.{os.getpid()}.tmp"
    draft.write_bytes(encode(status))
    draft.replace(folder / FILE)


def read_status(folder: Path) -> Status:
    """Raises VaultError when there is none."""
    try:
        return decode(Status, (folder / FILE).read_bytes())
    except OSError as error:
        raise VaultError(f"{folder / FILE}: {error.strerror}; no vault has run with these settings") from error


def show_status(status: Status, now: float) -> list[str]:
    """Lines for a person."""
    age = max(0.0, now - status.at)
    alive = "NOT RUNNING" if not Path(f"/proc/{status.pid}").exists() else "running" if age <= LATE_S else "NOT WRITING THIS ANY MORE"
    lines = [
        f"vault of {status.node}: {alive} (process {status.pid}), as of {age:.0f} s ago",
        f"shared   {status.shared}: {f'{status.used} of {status.limit} bytes' if status.limit else 'not looked at yet'}",
        f"durable  {status.durable or 'none: checkpoints end with the node'}",
    ]
    lines += [
        f"job {job}: step {one.step} durable {one.seconds:.1f} s after it was saved, {one.size} bytes, saved {now - one.taken:.0f} s ago"
        for job, one in sorted(status.durables.items())
    ]
    lines += [f"daemon, for {job}: {state}" for job, state in sorted(status.daemon.items())]
    lines += [f"peer     {address}: {state}" for address, state in sorted(status.peers.items())]
    lines += [f"trouble, {tier}: {text}" for tier, text in sorted(status.troubles.items())]
    lines += [status.packing.describe()] if status.packing is not None else []
    return [*lines, *status.said]
