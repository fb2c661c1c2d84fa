"""To one peer: of each job the newest step that all ranks of this node have saved, as soon as it is whole in shared memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from supernoded.clock import Clock
from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Held
from supernoded.job.vault.files import Files
from supernoded.job.vault.peers.carrying import send_part
from supernoded.job.vault.peers.channel import Channel, dial
from supernoded.job.vault.peers.words import Known, Push, Ready, Refused, Stored
from supernoded.job.vault.records import Saved

FIRST_PAUSE = 1.0  # seconds before a peer in trouble is tried again; doubled up to the longest of the settings
ASK_AGAIN_S = 60.0  # seconds after which a peer is asked whether it still has what it took: its memory may have gone meanwhile (ours)
LINGER_S = 10.0  # seconds without news after which we hang up (ours)

Key = tuple[str, int, int, float]  # job, step, rank, taken
Parts = Mapping[str, Sequence[Held]]  # of each job in shared memory


class Pusher:
    """One peer. `trouble` says what is wrong with it; empty when all is well."""

    def __init__(
        self, address: str, node: str, secret: str, files: Files, patience: float, longest: float, clock: Clock, log: logging.Logger
    ) -> None:
        self.address, self._node, self._secret, self._files = address, node, secret, files
        self._patience, self._longest, self._clock, self._log = patience, longest, clock, log
        self._done: set[Key] = set()
        self._parts: Parts = {}
        self._news = asyncio.Event()
        self._asked = clock.now()
        self.trouble = ""
        self.state = "nothing was pushed yet"

    def offer(self, parts: Parts) -> None:
        """What is in shared memory now."""
        self._parts = parts
        if self._clock.now() - self._asked > ASK_AGAIN_S:
            self._done.clear()
        self._done &= {_name(job, one.saved) for job, held in parts.items() for one in held if one.saved is not None}
        if any(self._find_step(job, held) for job, held in parts.items()):
            self._news.set()

    async def run(self) -> None:
        """For ever."""
        pause = FIRST_PAUSE
        while True:
            await self._news.wait()
            try:
                async with dial(self.address, self._node, self._secret, self._patience) as channel:
                    await self._push_all(channel)
                self.trouble, pause = "", FIRST_PAUSE
                continue
            except FileNotFoundError as error:  # it left shared memory in the middle of its push
                self._log.debug("peer %s: %s", self.address, error)
            except (OSError, VaultError) as error:
                self.trouble = f"peer {self.address}: {error}; what is in shared memory here has no second copy there"
            await self._clock.sleep(pause)
            pause = min(2 * pause, self._longest)

    async def _push_all(self, channel: Channel) -> None:
        """Until there is nothing for a while. Raises OSError, VaultError."""
        while True:
            self._news.clear()
            for job, parts in tuple(self._parts.items()):
                if step := self._find_step(job, parts):  # to its end: a peer that had a bit of each of many would have nothing
                    for held, saved in step:
                        await self._push(channel, job, held, saved)
                    self._note(f"has step {step[0][1].step} of {job}, {len(step)} parts")
            self.trouble = ""
            try:
                async with asyncio.timeout(LINGER_S):
                    await self._news.wait()
            except TimeoutError:
                return

    def _note(self, state: str) -> None:
        if state != self.state:
            self._log.info("the peer %s %s", self.address, state)
        self.state = state

    async def _push(self, channel: Channel, job: str, held: Held, saved: Saved) -> None:
        self._asked = self._clock.now()
        await channel.say(Push(job=job, saved=saved))
        answer = await channel.hear_any()
        if isinstance(answer, Ready):
            await send_part(channel, self._files, held, saved)
            answer = await channel.hear_any()
        if isinstance(answer, Refused):
            raise VaultError(f"it refuses rank {saved.rank} of step {saved.step} of {job}: {answer.why[:500]}")
        if not isinstance(answer, Known | Stored):
            raise VaultError(f"it answers {type(answer).__name__} to a part")
        self._done.add(_name(job, saved))

    def _find_step(self, job: str, parts: Sequence[Held]) -> list[tuple[Held, Saved]]:
        """The newest step that has as many parts as any, where something of it is not there yet."""
        by_step: dict[int, list[tuple[Held, Saved]]] = {}
        for one in parts:
            if one.saved is not None and not one.fault:
                by_step.setdefault(one.step, []).append((one, one.saved))
        most = max(map(len, by_step.values()), default=0)
        newest = max((step for step, there in by_step.items() if len(there) == most), default=-1)
        found = sorted(by_step.get(newest, []), key=lambda one: one[0].rank)
        return found if any(_name(job, saved) not in self._done for _, saved in found) else []


def _name(job: str, saved: Saved) -> Key:
    return job, saved.step, saved.rank, saved.taken
