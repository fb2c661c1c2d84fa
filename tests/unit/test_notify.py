"""What reaches systemd's socket, and that nothing here can hurt the daemon."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.notify import STATUS_LENGTH, Notifier, find_watchdog_period

LOG = logging.getLogger("supernoded.notify")


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind(str(tmp_path / "notify"))
        bound.settimeout(5)
        yield bound


def make(address: str, **environment: str) -> Notifier:
    return Notifier({"NOTIFY_SOCKET": address, **environment}, 7, LOG, lambda: 12_345_678)


def hear(manager: socket.socket) -> list[str]:
    return manager.recv(4096).decode().split("\n")


def test_every_message_of_a_life_arrives(manager: socket.socket) -> None:
    notifier = make(manager.getsockname())
    notifier.extend(12.5)
    notifier.ready("3 sensors")
    notifier.alive()
    notifier.status("degraded: fabric")
    notifier.reloading()
    notifier.stopping("on request")
    assert [hear(manager) for _ in range(6)] == [
        ["EXTEND_TIMEOUT_USEC=12500000"],
        ["READY=1", "STATUS=3 sensors"],
        ["WATCHDOG=1"],
        ["STATUS=degraded: fabric"],
        ["RELOADING=1", "MONOTONIC_USEC=12345"],
        ["STOPPING=1", "STATUS=on request"],
    ]


def test_abstract_socket_is_reached(tmp_path: Path) -> None:
    name = f"supernoded-{tmp_path.name}-{id(tmp_path)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind("\0" + name)
        bound.settimeout(5)
        make("@" + name).alive()
        assert hear(bound) == ["WATCHDOG=1"]


@given(st.text())
def test_a_status_can_add_no_assignment_of_its_own(text: str) -> None:
    """A newline in a status would be read as a further assignment, such as STOPPING=1."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind("")  # an abstract name of the kernel's choice
        bound.settimeout(5)
        make("@" + bound.getsockname()[1:].decode()).status(text)
        lines = hear(bound)
    assert len(lines) == 1
    assert lines[0].startswith("STATUS=")
    assert len(lines[0]) <= len("STATUS=") + STATUS_LENGTH


@pytest.mark.parametrize("address", ["", "@", "vsock:2:1234", "relative/path"])
def test_without_a_socket_it_does_nothing(address: str, caplog: pytest.LogCaptureFixture) -> None:
    make(address).ready("up")
    assert not caplog.records


def test_a_lost_socket_is_told_once_and_its_return_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    notifier = make(str(tmp_path / "later"))
    notifier.alive()
    notifier.alive()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind(str(tmp_path / "later"))
        notifier.alive()
        notifier.alive()
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "later" in caplog.text


def test_a_full_socket_does_not_block(tmp_path: Path) -> None:
    """Nobody reads: the sender's buffer fills, and what does not fit is dropped."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind(str(tmp_path / "full"))
        notifier = make(str(tmp_path / "full"))
        for _ in range(2000):  # net.unix.max_dgram_qlen is 10 by default, 512 at most here
            notifier.status("x" * STATUS_LENGTH)
        assert notifier._failing


@pytest.mark.parametrize(
    ("environment", "period"),
    [
        ({"WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "7"}, 5.0),
        ({"WATCHDOG_USEC": "10000000"}, 5.0),
        ({"WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "8"}, None),  # meant for another process
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "-5"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "²"}, None),
        ({}, None),
    ],
)
def test_watchdog_period(environment: dict[str, str], period: float | None) -> None:
    assert find_watchdog_period(environment, 7) == period
    assert Notifier(environment, 7, LOG).watchdog_period == period
