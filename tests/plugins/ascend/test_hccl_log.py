"""Lines of the library's log."""

from __future__ import annotations

import pytest

from supernoded_ascend.hccl_log import Told, find_mode, is_error, is_timeout, name_rings, take_in

HEAD = "HCCL(4711,python3):2026-01-01-00:00:01.123.456 [task_exception.cc:1][4711]"


@pytest.mark.parametrize(
    ("line", "error", "timeout"),
    [
        (f"[ERROR] {HEAD} wait for remote notify, rank 3 is silent", True, True),
        (f"[ERROR] {HEAD} errNo[0x0000000005010006] get socket timeout", True, True),
        (f"[ERROR] {HEAD} the wait timed out after 600 s", True, True),
        ("EI0006: 2026-01-01 00:00:01 Getting socket times out. Reason: Remote Rank did not send the data", True, True),
        ("        EI0002: the wait execution of the Notify register times out", True, True),
        (f"[ERROR] {HEAD} ring cannot be closed", True, False),
        (f"[INFO] {HEAD} HCCL_CONNECT_TIMEOUT is set to 120 s", False, False),
        (f"[WARNING] {HEAD} time out, one more try", False, False),
        (f"[EVENT] {HEAD} entry-timeout[600]", False, False),
        (f"[ERROR] {HEAD} EI0004: rank table", True, False),
        ("", False, False),
        ("Traceback: timeout", False, False),
    ],
)
def test_errors_and_time_outs(line: str, error: bool, timeout: bool) -> None:
    assert (is_error(line), is_timeout(line)) == (error, timeout)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("algorithm changed, ring/backplane0 ran as sar_ring and runs as star", ("backplane0", "star")),
        ("ring/r-1 ran as allreduce and runs as sar_ring.", ("r-1", "sar_ring")),
        ("fall back to AllReduce", ("", "allreduce")),
        ("fell back to the star on ring/a.", ("a", "star")),
        ("degraded to all_reduce", ("", "allreduce")),
        ("starting all reduce", None),
        ("runs as usual", None),
    ],
)
def test_modes(words: str, found: tuple[str, str] | None) -> None:
    assert find_mode(f"[WARNING] {HEAD} {words}") == found


def test_lines_add_up() -> None:
    first = take_in(Told(), [f"[ERROR] {HEAD} timeout 1", f"[INFO] {HEAD} fine", f"[WARNING] {HEAD} ring/a runs as star"])
    told = take_in(
        first, [f"[ERROR] {HEAD} timeout 2", f"[WARNING] {HEAD} ring/a runs as sar_ring", f"[WARNING] {HEAD} falls back to star"]
    )
    assert (told.timeouts, told.last_error) == (2, f"[ERROR] {HEAD} timeout 2")
    assert name_rings(told, {"a", "b"}, "b") == [("a", "sar_ring"), ("b", "star")]
    assert name_rings(told, {"a"}, "") == [("a", "sar_ring")]
