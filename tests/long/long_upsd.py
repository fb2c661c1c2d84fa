"""A sequence that Debian's dummy-ups replays by its own clock: mains, a short break, mains to stay, a break, a low battery."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.training.conftest import container, shared
from tests.system.training.launched import LONG, Launched
from tests.system.training.site import until_job
from tests.system.training.test_upsd import LOW, ON_BATTERY, ON_LINE, is_durable, run_site

__all__ = ["container", "shared"]

STABLE_S = 30  # of mains, which are back to stay then


def write_sequence() -> str:
    def list_lines() -> Iterator[str]:
        for text, seconds in ((ON_LINE, STABLE_S + 15), (ON_BATTERY, 8), (ON_LINE, STABLE_S + 15), (ON_BATTERY, 8), (LOW, 600)):
            yield f"{text}TIMER {seconds}\n"

    return "".join(list_lines())


@pytest.mark.timeout(600)
async def test_a_sequence_by_its_own_clock(container: Path, tmp_path: Path, shared: Path) -> None:
    async with run_site(tmp_path, shared, "rack.seq", write_sequence()) as site, Launched(container, site.tiers.environment) as training:
        await training.until_step(5)
        assert await site.list_power() == set()
        job = await until_job(site.daemon.socket, is_durable, within=3 * LONG)
        assert job.state == "running"
        first = job.durable_step or 0
        await site.daemon.log.wait("power.outage cleared: feed/A has mains", within=2 * LONG)
        assert training.said.count("ends") == 0
        await until_job(site.daemon.socket, lambda job: (job.durable_step or 0) > first, within=3 * LONG)
        (ended,) = await training.hear_ranks("ends")
        last = training.step
        assert ended == f"ends after step {last}"
        job = await until_job(site.daemon.socket, lambda job: job.durable_step == last, within=LONG)
        assert job.state == "stopped"
        assert training.turns == []
