"""The tier as the vault's process runs it: one service for peers, one pusher a peer, and a look at shared memory for both.

It looks for itself: the vault's rounds stand still while a durable tier hangs, which is when a second copy is wanted most.
"""

from __future__ import annotations

import asyncio
import logging
import os

from supernoded.clock import Clock
from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Tier, list_jobs, read_catalogue
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.names import PEER, SHARED
from supernoded.job.vault.peers.pushing import Pusher
from supernoded.job.vault.peers.serving import Service
from supernoded.job.vault.peers.store import Store
from supernoded.settings import Settings, read_secret

MB = 1_000_000
SWEEP_S = 60.0  # seconds between two looks at what may go (ours)


class Peering:
    """Nothing at all where the settings name no peer."""

    def __init__(self, settings: Settings, clock: Clock, log: logging.Logger) -> None:
        table, vault = settings.vault.peer, settings.vault
        self._files, self._clock, self._poll_s = SystemFiles(), clock, vault.poll_s
        self._shared = Tier(name=SHARED, root=vault.shared.resolve(), committed=False)
        self._tasks: list[asyncio.Task[None]] = []
        self._trouble, self._swept = "", ""
        self._service: Service | None = None
        self._pushers: list[Pusher] = []
        self._store: Store | None = None
        if table.secret is None or not table.is_used:
            return
        secret = read_secret(table.secret)
        pen = Pen(node=settings.node, pid=os.getpid(), level=None, headroom=0)
        tier = Tier(name=PEER, root=table.folder.resolve(), committed=False)
        self._store = Store(self._files, tier, pen, table.most_mb * MB, vault.forget_h * 3600, clock)
        if table.listen:
            self._service = Service(self._store, self._files, self._shared, secret, table.listen, table.most_connections, vault.hang_s, log)
        self._pushers = [
            Pusher(address, settings.node, secret, self._files, vault.hang_s, vault.retry_s, clock, log) for address in table.push
        ]

    @property
    def troubles(self) -> list[str]:
        """A sentence each; none when all is well."""
        service = self._service.trouble if self._service is not None else ""
        return [text for text in (self._trouble, self._swept, service, *(pusher.trouble for pusher in self._pushers)) if text]

    def describe(self) -> dict[str, str]:
        """What each peer has of us."""
        return {pusher.address: pusher.state for pusher in self._pushers}

    def start(self) -> None:
        """On the running loop."""
        works = [self._service.run()] if self._service is not None else []
        works += [self._sweep(self._store)] if self._store is not None else []
        works += [self._look(), *(pusher.run() for pusher in self._pushers)] if self._pushers else []
        self._tasks = [asyncio.create_task(work, name=f"peers {number}") for number, work in enumerate(works)]

    async def close(self) -> None:
        """End all of it."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _sweep(self, store: Store) -> None:
        """What peers have left, and what a restore has brought, goes in its time also where nobody pushes."""
        while True:
            try:
                store.open()
                store.clear()
                self._swept = ""
            except OSError as error:
                self._swept = f"{store.tier.root}: {error}"
            await self._clock.sleep(SWEEP_S)

    async def _look(self) -> None:
        while True:
            try:
                found = {job: read_catalogue(self._files, self._shared, job).parts for job in list_jobs(self._files, self._shared.root)}
                self._trouble = ""
                for pusher in self._pushers:
                    pusher.offer(found)
            except (OSError, VaultError) as error:
                self._trouble = f"{self._shared.root}: {error}"
            await self._clock.sleep(self._poll_s)
