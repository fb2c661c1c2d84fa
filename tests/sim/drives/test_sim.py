"""The drive `sim` as scenarios use it."""

from __future__ import annotations

import asyncio

from sim_hardware.drives.sim import Sim
from supernoded.chaos.drive import Setup, Stage


async def look_on(stage: Stage) -> float:
    await asyncio.sleep(10.0)
    return stage.now()


def test_the_same_seed_gives_the_same_trace_with_daemons_and_a_job() -> None:
    """Each play has a folder of its own, in whose name its sockets are."""
    first, again, other = (Sim().play(Setup(rack="rack-1x8", seed=seed, plugins=("host",)), look_on) for seed in (1, 1, 2))
    assert first.result == again.result
    assert first.failures == []
    assert first.trace_hash == again.trace_hash
    assert first.trace_hash != other.trace_hash
