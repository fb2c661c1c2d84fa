from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import SettingsError, VaultError
from supernoded.job.vault.building import build, list_tiers
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.status import FILE, Newest, Packing, Status, read_status, show_status, write_status
from supernoded.settings import Settings, parse_settings
from supernoded.testing.clock import ManualClock

STATUS = Status(
    at=100.0,
    pid=os.getpid(),
    node="n0",
    shared="/shm",
    durable="/disk",
    limit=1000,
    used=10,
    durables={"llama": Newest(step=7, taken=90.0, seconds=1.5, size=10)},
    troubles={"durable": "full"},
    daemon={"llama": "connected"},
    packing=Packing(before=300, after=100, cpu_percent=80.0, machine_percent=40.0),
    said=["runs at its disk priority as it is"],
)


def test_what_is_written_is_read_and_shown(tmp_path: Path) -> None:
    write_status(tmp_path, STATUS)
    lines = show_status(read_status(tmp_path), 103.0)

    assert lines[0] == f"vault of n0: running (process {os.getpid()}), as of 3 s ago"
    assert "NOT WRITING THIS ANY MORE" in show_status(STATUS, 200.0)[0]
    assert "job llama: step 7 durable 1.5 s after it was saved, 10 bytes, saved 13 s ago" in lines
    assert "trouble, durable: full" in lines
    assert any("3.00:1 at 40.0 % of the machine's processors" in line and "the documents say 3.2:1" in line for line in lines)
    assert lines[-1] == "runs at its disk priority as it is"


def test_a_status_that_is_not_there_or_is_none(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="no vault has run with these settings"):
        read_status(tmp_path)


@given(data=st.binary(max_size=100))
def test_garbage_is_no_status(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / FILE).write_bytes(data)
    with pytest.raises(VaultError, match="is no Status record"):
        read_status(folder)


def read(text: str) -> Settings | list[str]:
    found = parse_settings(text, "supernoded.toml", Path("/etc"), {}, "n0")
    return found if isinstance(found, Settings) else [str(problem) for problem in found]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('compress = "lz4"', "is refused by policy: 2.1:1 at 40 % of the CPU"),
        ('compress = "gzip"', "is no packing that we have"),
        ('shared = "/shm"\ndurable = "/shm/disk"', "lies in shared memory"),
        ("keep = 1", "must be a whole number from 2 to 10000"),
        ("[vault.interval]\nleast_s = 7200", "is above most_s = 3600"),
        ('[vault.dsm]\ntake = ["dsm_snapshot", "{name}"]', "has no --atomic"),
        ('[vault.dsm]\nverify = ["true"]', "has no {name}"),
        *(
            (f'[vault.dsm]\ntake = ["dsm_snapshot", "{{name}}", "--atomic", {words}]', "refused by policy (C13)")
            for words in ('"lz4"', '"--compress=lz4"', '"--compress", "LZ4"', '"-Clz4"', '"--compress", "Lz4:9"')
        ),
        ('[vault.dsm]\nverify = ["dsm_snapshot", "{name}", "--as=LZ4"]', "refused by policy (C13)"),
        ('[vault.dsm]\nverified = " "', "is empty, so any answer would verify a snapshot"),
        ("[vault.dsm]\nsync = []", "vault.dsm.sync"),
        ("[vault.dsm]\neach = true", "needs a folder to publish in"),
    ],
)
def test_settings_that_cannot_be_are_refused_with_a_remedy(text: str, words: str) -> None:
    found = read(f"[vault]\n{text}\n")
    assert isinstance(found, list)
    assert words in found[0]


def test_a_packing_that_the_limits_refuse_is_not_used(tmp_path: Path) -> None:
    text = f'[vault]\nshared = "{tmp_path}/a"\ndurable = "{tmp_path}/b"\ncompress = "zstd"\n'
    settings = read(text + '[limits.checkpoint]\ncompress = "gzip"\ncompress_denied = ["lz4", "zstd"]\n')
    assert isinstance(settings, Settings)
    with pytest.raises(SettingsError, match=r"refused by limits\.checkpoint\.compress_denied"):
        build(settings, SystemFiles(), ManualClock(), 1)


def test_a_snapshot_is_packed_with_nothing_that_the_limits_refuse(tmp_path: Path) -> None:
    text = f'[vault]\nshared = "{tmp_path}/a"\n[vault.dsm]\ntake = ["t", "{{name}}", "--atomic", "--compress=GZIP"]\n'
    settings = read(text + '[limits.checkpoint]\ncompress_denied = ["gzip"]\n')
    assert isinstance(settings, Settings)
    with pytest.raises(SettingsError, match=r"vault\.dsm\.take packs with gzip"):
        build(settings, SystemFiles(), ManualClock(), 1)


def test_the_tiers_of_the_defaults() -> None:
    settings = read("")
    assert isinstance(settings, Settings)
    assert [(tier.name, str(tier.root), tier.committed) for tier in list_tiers(settings)] == [("shared", "/dev/shm/supernoded", False)]
