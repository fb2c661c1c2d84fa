"""The process: rounds in a thread, so that a mount that hangs is noticed; what changes is logged once and told to the daemon."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from supernoded.clock import Clock
from supernoded.errors import SettingsError
from supernoded.job.protocol import Durable, VaultTrouble
from supernoded.job.vault.building import Work
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.link import Links
from supernoded.job.vault.names import PEER
from supernoded.job.vault.peers.peering import Peering
from supernoded.job.vault.records import Whole
from supernoded.job.vault.rounds import Outcome
from supernoded.job.vault.status import Newest, Packing, Status, write_status
from supernoded.settings import Settings, read_secret

MOST_TEXT = 1500  # characters of a trouble: the daemon takes 2000
LOOK_S = 0.5  # seconds between two looks whether a round still moves


class Vault:
    """One vault as it runs."""

    def __init__(self, settings: Settings, files: SystemFiles, work: Work, clock: Clock, log: logging.Logger, said: list[str]) -> None:
        self._settings, self._files, self._work, self._clock, self._log, self._said = settings, files, work, clock, log, said
        self._links = Links(settings.runtime / settings.job.socket, _read_tokens(settings, log), clock)
        self._peering = Peering(settings, clock, log)
        self._troubles: dict[str, str] = {}
        self._newest: dict[str, Newest] = {}
        self._room = (0, 0)  # limit, used
        self._written = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop`. A round that hangs then is left behind."""
        executor = ThreadPoolExecutor(1, "vault")
        root = self._work.tiers[0].root
        with contextlib.suppress(OSError):  # the first round tells
            self._files.make_folder(root)
        self._peering.start()
        try:
            while not stop.is_set():
                self._files.moved = time.monotonic()
                round_ = asyncio.get_running_loop().run_in_executor(executor, self._work.rounds.run)
                if not await self._watch(round_, stop):
                    return
                self._take(round_.result())
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), self._settings.vault.poll_s)
        finally:
            executor.shutdown(wait=False, cancel_futures=True)
            await self._peering.close()
            await self._links.close()

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
            pid=os.getpid(),
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
            said=self._said,
        )
        with contextlib.suppress(OSError):
            write_status(self._work.tiers[0].root, status)

    def _find_packing(self) -> Packing | None:
        if self._settings.vault.compress == "none" or self._work.storing is None or not self._files.copy_s:
            return None
        before, after = self._work.storing.packed
        share = 100.0 * self._files.cpu_s / self._files.copy_s
        return Packing(before=before, after=after, cpu_percent=share, machine_percent=share / (os.cpu_count() or 1))


def _read_tokens(settings: Settings, log: logging.Logger) -> dict[str, str]:
    """The secret of each job that has one; without it the daemon refuses us, and the vault works on alone."""
    tokens: dict[str, str] = {}
    for job, path in settings.job.tokens.items():
        try:
            tokens[job] = read_secret(path)
        except SettingsError as error:
            log.warning("job %s: %s", job, error)
    return tokens
