"""A rank that dies in mid-save, and durable tiers that fill up and go away: no save is lost, and the losses stay the same."""

from __future__ import annotations

import resource
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from supernoded.job.vault.names import name_step
from supernoded.messages import JobRow
from tests.system.daemons import NOBODY, Daemon
from tests.system.training.held_saves import Hold
from tests.system.training.launched import WORLD, Launched, expect_undisturbed
from tests.system.training.site import Tiers, Vault, ask_to_save, until_job

SMALL = 8192  # bytes, less than a part and more than any record


@dataclass
class Node:
    """A daemon and a vault that run."""

    daemon: Daemon
    vault: Vault
    tiers: Tiers

    async def save(self) -> int:
        """A checkpoint by hand, from asked to durable: its step."""
        async with ask_to_save(self.daemon.socket) as asked:
            code, told = await asked.end()
        assert code == 0, told
        step = (await self.until(lambda _: True)).durable_step
        assert step is not None
        return step

    async def until(self, fits: Callable[[JobRow], object]) -> JobRow:
        return await until_job(self.daemon.socket, fits)

    async def find_saved(self, after: int) -> int:
        """The newest step that is whole in shared memory, once it is a newer one than that."""
        return (await self.until(lambda job: (job.saved_step or 0) > after)).saved_step or 0

    def list_shared(self, step: int) -> list[str]:
        return sorted(part.name for part in (self.tiers.shared / "train" / name_step(step)).iterdir())


@pytest.fixture
async def node(tmp_path: Path, shared: Path) -> AsyncIterator[Node]:
    home = tmp_path / "n0"
    tiers = Tiers(shared / "tier", tmp_path / "disk", home / "run" / "job.sock")
    async with Daemon(home, NOBODY + tiers.describe()) as daemon, AsyncExitStack() as stack:
        await daemon.start()
        vault = Vault(daemon.file)
        await stack.enter_async_context(vault.running())
        yield Node(daemon, vault, tiers)


async def test_a_rank_killed_in_mid_save_comes_back_to_the_step_before(node: Node, container: Path, tmp_path: Path) -> None:
    hold, at = Hold(), tmp_path / "hold"
    environment = {**node.tiers.environment, "TRAIN_HOLD": str(at)}
    async with hold.serve(at), Launched(container, environment, script="held.py") as training:
        await training.until_step(5)
        whole = await node.save()
        await training.go_on()
        hold.held.add(2)
        async with ask_to_save(node.daemon.socket) as asked:
            assert await hold.standing.get() == 2
            await training.kill_rank(2)
            assert await training.hear_ranks("begins", start=2) == {f"begins after step {whole}"}
            code, told = await asked.end()
        assert (code, "rank 2" in told) == (1, True), told
        torn = training.turns[0]
        await training.until_step(torn + 10)
        assert await node.save() > torn
    await expect_undisturbed(training, whole)


async def test_a_full_durable_tier_is_filled_when_there_is_room(node: Node, container: Path) -> None:
    """Full by the limit of the size of its files, which is the same for a user without rights."""
    async with Launched(container, node.tiers.environment) as training:
        await training.until_step(5)
        first = await node.save()
        resource.prlimit(node.vault.pid, resource.RLIMIT_FSIZE, (SMALL, resource.RLIM_INFINITY))
        async with ask_to_save(node.daemon.socket) as asked:
            await node.vault.log.wait("durable: .*File too large; the copy in shared memory stays")
            saved = await node.find_saved(first)
            job = await node.until(lambda job: any("File too large" in trouble for trouble in job.troubles))
            assert job.durable_step == first
            await training.go_on()  # nobody waits for the tier
            assert node.list_shared(saved) == [f"rank-{rank:05d}" for rank in range(WORLD)]

            resource.prlimit(node.vault.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert (await asked.end())[0] == 0
        await node.vault.log.wait("durable: well again")
        assert (await node.until(lambda _: True)).durable_step == saved
    await expect_undisturbed(training)


async def test_an_unmounted_durable_tier_is_caught_up_with(node: Node, container: Path, tmp_path: Path) -> None:
    """Meanwhile ranks that die come back from shared memory."""
    async with Launched(container, node.tiers.environment) as training:
        await training.until_step(5)
        first = await node.save()
        mounted = node.tiers.durable.rename(tmp_path / "elsewhere")
        node.tiers.durable.mkdir()  # what was below the mount
        async with ask_to_save(node.daemon.socket) as asked:
            await node.vault.log.wait("durable: .*it is not mounted")
            saved = await node.find_saved(first)
            assert list(node.tiers.durable.iterdir()) == []  # nothing is written below a mount
            await training.go_on()
            await training.kill_rank(3)
            assert await training.hear_ranks("begins", start=2) == {f"begins after step {saved}"}

            node.tiers.durable.rmdir()
            mounted.rename(node.tiers.durable)
            assert (await asked.end())[0] == 0
        assert (await node.until(lambda _: True)).durable_step == saved
        await training.until_step(training.turns[0] + 10)
    await expect_undisturbed(training, saved)
