"""Back from the peers: what no tier of this node has of a step comes into its own peer folder, and is restored from there."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Held, Tier, read_part
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen, check_space
from supernoded.job.vault.peers.carrying import receive_part
from supernoded.job.vault.peers.channel import dial
from supernoded.job.vault.peers.store import open_folder, prepare
from supernoded.job.vault.peers.words import Ask, Parts, Ready, Want
from supernoded.job.vault.records import Saved, check_saved
from supernoded.job.vault.verifying import verify_part

Offers = dict[int, dict[int, list[tuple[str, Saved]]]]  # step -> rank -> who has it


class Fetcher:
    """For one job. What went wrong is in `passed`, a sentence each."""

    def __init__(self, files: Files, tiers: Sequence[Tier], tier: Tier, job: str, pen: Pen, secret: str, patience: float) -> None:
        self._files, self._tiers, self._tier, self._job, self._pen = files, tiers, tier, job, pen
        self._secret, self._patience = secret, patience
        self._offers: Offers = {}
        self.passed: list[str] = []

    async def ask(self, peers: Sequence[str]) -> None:
        """What each peer has of the job."""
        for address in peers:
            try:
                async with dial(address, self._pen.node, self._secret, self._patience) as channel:
                    await channel.say(Ask(job=self._job))
                    parts = (await channel.hear(Parts)).parts
                for saved in parts:
                    check_saved(saved, saved.step, saved.rank)
                    self._offers.setdefault(saved.step, {}).setdefault(saved.rank, []).append((address, saved))
            except (OSError, VaultError) as error:
                self.passed.append(f"the peer {address} is passed over: {error}")

    def list_steps(self, above: int) -> list[int]:
        """Steps above one that could be put together with the peers' help, the newest first."""
        return [step for step in sorted(self._offers, reverse=True) if step > above and self._find_wanted(step) is not None]

    async def fetch(self, step: int) -> None:
        """What of a step is not here."""
        open_folder(self._files, self._tier.root)
        for rank, offers in (self._find_wanted(step) or {}).items():
            for address, saved in offers:
                try:
                    await self._bring(address, step, rank, saved)
                    break
                except (OSError, VaultError) as error:
                    self.passed.append(f"rank {rank} of step {step} from the peer {address}: {error}")

    def _find_wanted(self, step: int) -> dict[int, list[tuple[str, Saved]]] | None:
        """Ranks that no tier here has whole, with who offers them; None when the step cannot become whole by that."""
        offers = self._offers.get(step, {})
        worlds = {(saved.world, saved.run): None for each in offers.values() for _, saved in each}
        for world, run in worlds:
            missing = [rank for rank in range(world) if not self._is_here(step, rank, world, run)]
            fitting = {rank: [one for one in offers.get(rank, []) if (one[1].world, one[1].run) == (world, run)] for rank in missing}
            if missing and all(fitting.values()):
                return fitting
        return None

    def _is_here(self, step: int, rank: int, world: int, run: str) -> bool:
        for tier in self._tiers:
            held: Held = read_part(self._files, tier, self._job, step, rank)
            if held.saved is not None and (held.saved.world, held.saved.run) == (world, run) and not verify_part(self._files, held):
                return True
        return False

    async def _bring(self, address: str, step: int, rank: int, saved: Saved) -> None:
        missing = check_space(self._files, self._tier.root, saved.size, 0)
        if missing:
            raise VaultError(missing)
        async with dial(address, self._pen.node, self._secret, self._patience) as channel:
            await channel.say(Want(job=self._job, step=step, rank=rank))
            told = (await channel.hear(Ready)).saved
            if told is None or told != saved:
                raise VaultError("it has another part of that rank by now")
            await receive_part(channel, self._files, prepare(self._files, self._tier, self._job, saved), saved, self._pen)
