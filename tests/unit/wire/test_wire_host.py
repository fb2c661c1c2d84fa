"""The machine: shares that make sense, a kernel log that never blocks, disks that cost only themselves."""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from supernoded.errors import WireError
from supernoded.wire import host as wire_host
from supernoded.wire.host import SystemHost, parse_records


async def test_this_machine_shows_itself() -> None:
    host = SystemHost()
    first, second = await host.look(), await host.look()
    assert first.cpu_percent is None  # a share needs two looks
    assert second.cpu_percent is None or 0.0 <= second.cpu_percent <= 100.0
    assert first.load is not None
    assert first.load >= 0.0
    assert first.memory_available is not None
    assert first.memory_available > 0
    assert first.memory_percent is not None
    assert 0.0 < first.memory_percent <= 100.0
    assert "/" in [disk.mount for disk in await host.disks()]
    assert len(await host.top(3)) == 3
    assert len(host.boot_id()) == 36


def test_processor_share_between_two_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    times = namedtuple("times", "user system idle iowait guest guest_nice")  # noqa: PYI024 - as psutil makes it
    looks = iter([times(10, 5, 80, 5, 2, 0), times(40, 5, 90, 5, 20, 0), times(40, 5, 90, 5, 20, 0)])
    monkeypatch.setattr(psutil, "cpu_times", lambda: next(looks))
    share = wire_host._CpuShare()
    assert share.measure() is None
    assert share.measure() == pytest.approx(75.0)  # 10 of 40 idle; guests are inside user
    assert share.measure() is None  # no time has passed


async def test_a_disk_that_cannot_be_measured_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    part = namedtuple("part", "device mountpoint fstype")  # noqa: PYI024 - as psutil makes it
    parts = [
        part("/dev/a", "/", "ext4"),
        part("/dev/b", "/data", "xfs"),
        part("/dev/b", "/bind", "xfs"),
        part("/dev/l", "/snap", "squashfs"),
    ]
    real = psutil.disk_usage

    def disk_usage(mount: str) -> object:
        if mount == "/data":
            raise OSError(5, "Input/output error")
        return real("/")

    monkeypatch.setattr(psutil, "disk_partitions", lambda all: parts)  # noqa: A006 - psutil's word
    monkeypatch.setattr(psutil, "disk_usage", disk_usage)
    root, data = await SystemHost().disks()
    assert (root.mount, root.error) == ("/", "")
    assert root.free is not None
    assert (data.mount, data.used_percent, data.free, data.error) == ("/data", None, None, "/data: Input/output error")


def test_records_of_the_kernel_log() -> None:
    text = "3,100,5,-;mlx5_core: bad; very\n SUBSYSTEM=pci\n DEVICE=+pci:0\n30,101,6,-;systemd: fine\ngarbage\n;\n"
    assert parse_records(text) == ["<3>mlx5_core: bad; very", "<6>systemd: fine"]


async def test_kernel_lines_since_the_last_call(tmp_path: Path) -> None:
    log = tmp_path / "kmsg"
    os.mkfifo(log)
    host = SystemHost(log)
    keep_open = os.open(log, os.O_RDWR)
    os.write(keep_open, b"6,1,1,-;before\n")
    assert await host.kernel_lines() == []
    os.write(keep_open, b"3,2,2,-;first\n4,3,3,-;second\n")
    assert await host.kernel_lines() == ["<3>first", "<4>second"]
    assert await host.kernel_lines() == []
    host.close()
    os.close(keep_open)


async def test_a_flood_keeps_the_newest_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_host, "MOST_LINES", 3)
    log = tmp_path / "kmsg"
    os.mkfifo(log)
    host = SystemHost(log)
    keep_open = os.open(log, os.O_RDWR)
    await host.kernel_lines()
    os.write(keep_open, b"".join(b"3,%d,2,-;line %d\n" % (n, n) for n in range(100)))
    assert await host.kernel_lines() == ["<3>line 97", "<3>line 98", "<3>line 99"]
    host.close()
    os.close(keep_open)


async def test_a_ring_that_overtook_us_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = tmp_path / "kmsg"
    log.touch()
    host = SystemHost(log)
    answers: Iterator[bytes | OSError] = iter([BlockingIOError(), BrokenPipeError(32, "Broken pipe"), b"3,9,9,-;left\n", BlockingIOError()])

    def read(handle: int, most: int) -> bytes:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(os, "read", read)
    assert await host.kernel_lines() == []
    assert await host.kernel_lines() == ["<3>left"]
    host.close()


async def test_a_log_that_may_not_be_read_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = SystemHost(tmp_path / "none")
    with pytest.raises(WireError, match=r"none: No such file or directory; set kernel_log = false"):
        await host.kernel_lines()
    (tmp_path / "none").touch()
    assert await host.kernel_lines() == []  # it is opened anew
    host.close()
