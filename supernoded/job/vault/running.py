"""The process: rounds in a thread, so that a mount that hangs is noticed; what changes is logged once and told to the daemon."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from supernoded.clock import Clock
from supernoded.errors import SettingsError
from supernoded.job.protocol import Durable, VaultTrouble
from supernoded.job.vault.building import Work, build
from supernoded.job.vault.drifting import Drift, Packed
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.link import Links
from supernoded.job.vault.names import PEER
from supernoded.job.vault.peers.peering import Peering
from supernoded.job.vault.pool import Pool, SystemPool
from supernoded.job.vault.records import Whole
from supernoded.job.vault.rounds import Outcome
from supernoded.job.vault.snapshots import Snapshots
from supernoded.job.vault.status import Newest, Packing, Status, write_status
from supernoded.job.vault.threads import Beside, SystemThread
from supernoded.settings import Settings, read_secret

MOST_TEXT = 1500  # characters of a trouble: the daemon takes 2000
LOOK_S = 0.5  # seconds between two looks whether a round still moves


PACKING, SNAPSHOT = "packing", "snapshot"  # what is in trouble, beside the tiers


@dataclass(frozen=True)
class Machine:
    """What the process runs on; a simulated one has others. `said` are sentences about it that the status repeats."""

    clock: Clock
    log: logging.Logger
    files: SystemFiles = field(default_factory=SystemFiles)
    pool: Pool = field(default_factory=SystemPool)
    thread: Callable[[str], Beside] = SystemThread
    pid: int = field(default_factory=os.getpid)
    said: Sequence[str] = ()


class Vault:
    """One vault as it runs. Raises SettingsError for a packing that the limits refuse."""

    def __init__(self, settings: Settings, machine: Machine) -> None:
        self._settings, self._machine = settings, machine
        self._files, self._clock, self._log = machine.files, machine.clock, machine.log
        self._work: Work = build(settings, machine.files, machine.clock, machine.pid)
        self._links = Links(settings.runtime / settings.job.socket, _read_tokens(settings, machine.log), machine.clock)
        self._peering = Peering(settings, machine.clock, machine.log)
        self._troubles: dict[str, str] = {}
        self._newest: dict[str, Newest] = {}
        self._room = (0, 0)  # limit, used
        self._written = 0.0
        self._drift = Drift()

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop`. A round that hangs then is left behind."""
        thread, snapshots = self._machine.thread("vault"), asyncio.create_task(self._take_snapshots(), name="snapshots")
        root = self._work.tiers[0].root
        with contextlib.suppress(OSError):  # the first round tells
            self._files.make_folder(root)
        self._peering.start()
        try:
            while not stop.is_set():
                self._files.moved = time.monotonic()
                round_ = thread.start(self._work.rounds.run)
                if not await self._watch(round_, stop):
                    return
                self._take(round_.result())
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), self._settings.vault.poll_s)
        finally:
            thread.close()
            snapshots.cancel()
            await asyncio.wait([snapshots])
            await self._peering.close()
            await self._links.close()

    async def _take_snapshots(self) -> None:
        """Of the memory pool, where the settings ask for them."""
        vault, work, machine = self._settings.vault, self._work, self._machine
        if not vault.dsm.each or work.durable is None:
            return
        thread = machine.thread("snapshots")
        root, pool = work.durable.root, machine.pool
        try:
            await Snapshots(pool, self._files, vault, work.tiers[0], root, work.pen, self._clock, thread, self._tell_snapshot).run()
        finally:
            thread.close()

    def _tell_snapshot(self, job: str, wrong: Sequence[str]) -> None:
        """At once, also of a job whose first step is just being flushed."""
        self._links.meet(job)
        self._tell_troubles(SNAPSHOT, wrong)

    async def _watch(self, round_: asyncio.Future[Outcome], stop: asyncio.Event) -> bool:
        """Wait for a round, and say when it no longer moves. Whether it has ended."""
        stopping = asyncio.ensure_future(stop.wait())
        waiting: list[asyncio.Future[Any]] = [round_, stopping]
        try:
            while not round_.done():
                await asyncio.wait(waiting, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                self._tell_troubles(PEER, self._peering.troubles)
                silent = time.monotonic() - self._files.moved
                if not round_.done() and silent > self._settings.vault.hang_s:
                    tier = self._work.durable or self._work.tiers[0]
                    self._tell_trouble(tier.name, f"{tier.root} has not answered for {silent:.0f} s: the mount hangs")
                self._write_status()  # a round may take minutes
                if stopping.done() and not round_.done():
                    return False
        finally:
            stopping.cancel()
        return True

    def _take(self, outcome: Outcome) -> None:
        self._links.keep(outcome.jobs)
        for job, whole in outcome.wholes.items():
            self._tell_durable(job, whole)
        for tier, wrong in outcome.troubles.items():
            self._tell_troubles(tier, wrong)
        if outcome.room is not None:
            self._room = (outcome.room.limit, outcome.room.used)
        if self._packs:
            self._drift.note(self._sum_packing())
            self._tell_troubles(PACKING, self._drift.judge())
        self._write_status()

    def _tell_durable(self, job: str, whole: Whole) -> None:
        tier = self._work.durable or self._work.tiers[0]  # nothing becomes whole without a durable one
        seconds = max(0.0, whole.at - whole.taken)
        self._newest[job] = Newest(step=whole.step, taken=whole.taken, seconds=seconds, size=whole.size)
        self._log.info("step %d of %s is durable in %s, %.1f s after it was saved", whole.step, job, tier.root, seconds)
        where = str(tier.root / job)
        told = Durable(step=whole.step, tier=tier.name, where=where, taken=whole.taken, seconds=seconds, size=whole.size)
        self._links.tell_durable(job, told)

    def _tell_troubles(self, tier: str, wrong: Sequence[str]) -> None:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        self._tell_trouble(tier, wrong[0] + more if wrong else "")

    def _tell_trouble(self, tier: str, text: str) -> None:
        """Log and tell on entry and on recovery; in between only the status changes."""
        text = text[:MOST_TEXT]
        was, self._troubles[tier] = self._troubles.get(tier, ""), text
        if bool(was) == bool(text):
            return
        if text:
            self._log.warning("%s: %s", tier, text)
        else:
            self._log.info("%s: well again", tier)
        self._links.tell_trouble(VaultTrouble(tier=tier, text=text))

    def _write_status(self) -> None:
        """At most once a second; shared memory that takes no file is a trouble that the round has told."""
        now = self._clock.wall()
        if 0.0 <= now - self._written < 1.0:
            return
        self._written = now
        limit, used = self._room
        status = Status(
            at=now,
            pid=self._machine.pid,
            node=self._settings.node,
            shared=str(self._work.tiers[0].root),
            durable=str(self._settings.vault.durable or ""),
            limit=limit,
            used=used,
            durables=self._newest,
            peers=self._peering.describe(),
            troubles={tier: text for tier, text in self._troubles.items() if text},
            daemon=self._links.list_states(),
            packing=self._find_packing(),
            said=self._machine.said,
        )
        with contextlib.suppress(OSError):
            write_status(self._work.tiers[0].root, status)

    @property
    def _packs(self) -> bool:
        return self._settings.vault.compress != "none"

    def _sum_packing(self) -> Packed:
        before, after = self._work.storing.packed if self._work.storing is not None else (0, 0)
        return Packed(before=before, after=after, cpu_s=self._files.cpu_s, copy_s=self._files.copy_s)

    def _find_packing(self) -> Packing | None:
        done = self._sum_packing()
        if not self._packs or not done.copy_s:
            return None
        share = 100.0 * done.cpu_s / done.copy_s
        return Packing(before=done.before, after=done.after, cpu_percent=share, machine_percent=share / (os.cpu_count() or 1))


def _read_tokens(settings: Settings, log: logging.Logger) -> dict[str, str]:
    """The secret of each job that has one; without it the daemon refuses us, and the vault works on alone."""
    tokens: dict[str, str] = {}
    for job, path in settings.job.tokens.items():
        try:
            tokens[job] = read_secret(path)
        except SettingsError as error:
            log.warning("job %s: %s", job, error)
    return tokens
