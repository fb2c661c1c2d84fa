"""The vault's process as it runs: what drifts is told like any other trouble."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from supernoded.clock import SystemClock
from supernoded.errors import SettingsError
from supernoded.job.vault.drifting import LEAST, ROUNDS
from supernoded.job.vault.names import MARKER
from supernoded.job.vault.running import Machine, Vault
from supernoded.settings import Settings, parse_settings
from tests.unit.job.vault.saving import FAST, save_part

PATIENCE = 60.0  # seconds for what does come
SIZE = LEAST + 1
TEXT = """
node = "n0"
runtime = "{folder}/run"
[vault]
shared = "{folder}/shm"
durable = "{folder}/disk"
compress = "{compress}"
compress_level = 1
headroom_mb = 0
poll_s = 0.05
"""


class Lines(logging.Handler):
    """What is logged, as it comes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.news = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append(record.getMessage())
        self.news.set()

    async def until(self, words: str) -> str:
        async with asyncio.timeout(PATIENCE):
            while not (found := [line for line in self.seen if words in line]):
                await self.news.wait()
                self.news.clear()
        return found[0]


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=FAST) as name:
        for place in ("run", "shm", "disk"):
            (Path(name) / place).mkdir()
        (Path(name) / "disk" / MARKER).touch()
        yield Path(name)


def read(folder: Path, compress: str) -> Settings:
    found = parse_settings(TEXT.format(folder=folder, compress=compress), "n0.toml", folder, {}, "n0")
    assert isinstance(found, Settings), found
    return found


@pytest.mark.parametrize("compress", ["zstd", "none"])
async def test_weights_that_suddenly_do_not_pack_any_more_are_told_where_there_is_packing(folder: Path, compress: str) -> None:
    lines, log = Lines(), logging.getLogger("vault.of.the.test")
    log.addHandler(lines)
    log.setLevel(logging.INFO)
    stop = asyncio.Event()
    life = asyncio.create_task(Vault(read(folder, compress), Machine(SystemClock(), log)).run(stop))
    for step in range(1, 2 * ROUNDS + 1):
        save_part(folder / "shm", step, 0, 1, bytes(SIZE) if step <= ROUNDS else os.urandom(SIZE), taken=float(step))
        await lines.until(f"step {step} of llama is durable")
    if compress == "zstd":
        assert "zstd now packs 1:1, in its first 8 rounds packs " in await lines.until("packing: ")
    stop.set()
    await asyncio.wait_for(life, PATIENCE)
    assert [line for line in lines.seen if "packing" in line and compress == "none"] == []


def test_a_packing_that_is_refused_is_refused_before_anything_runs(folder: Path) -> None:
    settings = read(folder, "none")
    refused = parse_settings(
        TEXT.format(folder=folder, compress="zstd") + '[limits.checkpoint]\ncompress = "gzip"\ncompress_denied = ["zstd"]\n',
        "n0.toml",
        folder,
        {},
        "n0",
    )
    assert isinstance(refused, Settings)
    Vault(settings, Machine(SystemClock(), logging.getLogger("vault.of.the.test")))
    with pytest.raises(SettingsError, match="refused by"):
        Vault(refused, Machine(SystemClock(), logging.getLogger("vault.of.the.test")))
