from __future__ import annotations

import asyncio
import grp
import logging
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from supernoded.admin.listening import LONGEST_PATH, listen_unix, open_socket
from supernoded.errors import SettingsError

LOG = logging.getLogger("supernoded.admin")


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with open_socket(tmp_path / "admin.sock", "", LOG) as line:
        yield line


def test_the_folder_is_made_and_the_socket_is_for_its_group_only(tmp_path: Path) -> None:
    path = tmp_path / "made/here/admin.sock"
    with open_socket(path, "", LOG):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660


def test_the_socket_is_closed_to_others_before_its_mode_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bind that obeyed the umask alone would leave it open to all for a moment."""
    seen: list[int] = []
    path = tmp_path / "admin.sock"
    chmod = Path.chmod

    def spy(self: Path, mode: int) -> None:
        seen.append(stat.S_IMODE(self.stat().st_mode))
        chmod(self, mode)

    monkeypatch.setattr(Path, "chmod", spy)
    old = os.umask(0)
    try:
        open_socket(path, "", LOG).close()
    finally:
        os.umask(old)
    assert seen == [0o600]


def test_it_belongs_to_the_group_of_the_settings(tmp_path: Path) -> None:
    group = grp.getgrgid(os.getgroups()[-1] if os.getgroups() else os.getgid())
    path = tmp_path / "admin.sock"
    with open_socket(path, group.gr_name, LOG):
        assert path.stat().st_gid == group.gr_gid


def test_a_group_that_does_not_exist_leaves_it_closed_and_is_named_with_the_remedy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "admin.sock"
    with open_socket(path, "nobodys-group", LOG):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "no group 'nobodys-group' on this machine; make it with `sudo groupadd --system nobodys-group`" in caplog.text


def test_a_group_that_the_daemon_may_not_give_it_to_leaves_it_closed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    path = tmp_path / "admin.sock"
    with open_socket(path, "root", LOG):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "not in the group 'root'" in caplog.text


def test_a_stale_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "admin.sock"
    open_socket(path, "", LOG).close()
    with open_socket(path, "", LOG), socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(path))
        assert caller.getpeername() == str(path)


def test_a_socket_that_answers_is_never_taken(listener: socket.socket, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="another daemon answers there"):
        open_socket(tmp_path / "admin.sock", "", LOG)
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(tmp_path / "admin.sock"))


def test_a_full_queue_counts_as_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "admin.sock"
    with socket.socket(socket.AF_UNIX) as hung, socket.socket(socket.AF_UNIX) as first:
        hung.bind(str(path))
        hung.listen(0)
        first.connect(str(path))
        with pytest.raises(SettingsError, match="another daemon answers there"):
            open_socket(path, "", LOG)


def test_something_else_than_a_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "admin.sock"
    path.write_text("precious")
    with pytest.raises(SettingsError, match="something else than a socket"):
        open_socket(path, "", LOG)
    assert path.read_text() == "precious"


def test_a_path_too_long_for_a_socket_says_how_long_it_may_be(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=f"a socket's may have {LONGEST_PATH}"):
        open_socket(tmp_path / ("x" * 120), "", LOG)


async def test_the_file_goes_with_the_listener_but_not_a_successors(tmp_path: Path) -> None:
    path = tmp_path / "admin.sock"
    async with listen_unix(path, "", LOG, asyncio.Protocol):
        assert path.exists()
    assert not path.exists()
    async with listen_unix(path, "", LOG, asyncio.Protocol):
        path.unlink()
        path.write_text("a successor's")
    assert path.exists()
