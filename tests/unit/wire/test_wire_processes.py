"""All processes at one look, out of /proc: what is not understood costs only itself."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from supernoded.wire import processes
from supernoded.wire.processes import Processes, parse_stat


def make_stat(pid: int, name: str, ticks: int = 0, started: int = 7, pages: int = 3) -> bytes:
    """One line as proc_pid_stat(5) describes it."""
    return f"{pid} ({name}) S 1 1 1 0 -1 4194560 10 0 0 0 {ticks} 0 0 0 20 0 1 0 {started} 8192 {pages} 1844674407370955\n".encode()


def write(folder: Path, pid: int, stat: bytes, words: str = "") -> None:
    """One process."""
    (folder / str(pid)).mkdir(exist_ok=True)
    (folder / str(pid) / "stat").write_bytes(stat)
    (folder / str(pid) / "cmdline").write_text(words)


def test_the_share_of_a_core_is_over_the_time_since_the_last_look(tmp_path: Path) -> None:
    times = iter([100.0, 110.0, 120.0])
    ticks = int(processes.TICKS)
    write(tmp_path, 4711, make_stat(4711, "backup", 50 * ticks))
    looking = Processes(tmp_path, lambda: next(times))
    assert [one.cpu_percent for one in looking.look()] == [0.0]
    write(tmp_path, 4711, make_stat(4711, "backup", 70 * ticks))
    assert [(one.pid, one.name, one.parent, one.cpu_percent, one.memory) for one in looking.look()] == [
        (4711, "backup", 1, 200.0, 3 * processes.PAGE)
    ]
    write(tmp_path, 4711, make_stat(4711, "other", 90 * ticks, started=9))
    assert [one.cpu_percent for one in looking.look()] == [0.0]  # another one under the same number


def test_a_name_that_the_kernel_cuts_is_read_in_full(tmp_path: Path) -> None:
    write(tmp_path, 1, make_stat(1, "a-very-long-nam"), "/usr/bin/a-very-long-name\0--fast\0")
    write(tmp_path, 2, make_stat(2, "python (deleted"), "something else\0")
    looking = Processes(tmp_path)
    assert {one.name for one in looking.look()} == {"a-very-long-name", "python (deleted"}
    (tmp_path / "1" / "cmdline").write_text("")
    assert {one.name for one in looking.look()} == {"a-very-long-name", "python (deleted"}


@pytest.mark.parametrize("data", [b"", b"12", b"12 (sh", b"x (sh) S 1", b"12 (sh) S 1 1", make_stat(3, "sh").replace(b" 3 ", b" many ")])
def test_what_is_no_process_is_left_out(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, 12, data)
    (tmp_path / "meminfo").write_text("")
    (tmp_path / "13").mkdir()
    assert parse_stat(data) is None
    assert Processes(tmp_path).look() == []


def test_names_may_have_brackets_and_strange_bytes() -> None:
    stat = parse_stat(make_stat(5, "(sd-pam) x").replace(b"x)", b"\xff)"))
    assert stat is not None
    assert (stat.pid, stat.name) == (5, "(sd-pam) \N{REPLACEMENT CHARACTER}")


def test_this_very_process_as_psutil_sees_it() -> None:
    mine = next(one for one in Processes().look() if one.pid == os.getpid())
    assert (mine.name, mine.parent) == (psutil.Process().name(), os.getppid())
    assert mine.memory == pytest.approx(psutil.Process().memory_info().rss, rel=0.2)
