"""A rack on disk: whose folder it is, the clock, the logs, the trees and the broker. The whole of it is in tests/system."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from sim_hardware.drives import broker as brokers
from sim_hardware.drives.broker import serve_broker
from sim_hardware.drives.folder import CONTROL, ENDPOINTS, ServeError, occupy, write_whole
from sim_hardware.drives.nodes import FEW, Trees, append_line
from sim_hardware.drives.pacing import STRIDE, PlantClock
from sim_hardware.drives.serving import serve_rack
from sim_hardware.plant.job.orders import SilenceRank, StopJob
from sim_hardware.rack import Rack, generate_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World

PATIENCE = 20.0  # s for what must come
LOOK = 0.02  # s between two looks at what tells nothing by itself


def test_a_folder_has_one_rack_at_a_time_and_the_second_one_is_told_whose_it_is(tmp_path: Path) -> None:
    with occupy(tmp_path / "here", ["n0"]), pytest.raises(ServeError, match=f"here: a rack is served there by process {os.getpid()}"):
        occupy(tmp_path / "here", ["n0"]).__enter__()
    with occupy(tmp_path / "here", ["n0"]) as again:
        assert again == tmp_path / "here"


def test_a_folder_with_somebody_elses_files_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ServeError, match="is not empty, and no rack was served there before"):
        occupy(tmp_path, ["n0"]).__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_what_a_killed_run_left_goes_and_the_daemons_own_files_stay(tmp_path: Path) -> None:
    with occupy(tmp_path / "here", ["n0"]) as folder:
        pass
    left = [ENDPOINTS, CONTROL, "n0/sys/net/eth0/mtu", "n0/bin/npu-smi", "n0/tools.sock", "n0/hccl.log", "n0/train.log", "keys/n0.key"]
    for name in (*left, "n0/journal.db"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    with occupy(folder, ["n0"]):
        assert [name for name in left if (folder / name).exists()] == []
        assert (folder / "n0/journal.db").exists()


def test_a_folder_too_deep_for_sockets_is_refused_before_it_is_made(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    with pytest.raises(ServeError, match="more than the 107 bytes of a socket's path"):
        occupy(deep, ["n0"]).__enter__()
    assert not deep.exists()


@pytest.mark.parametrize("node", ["../n0", "", ".", "n 0", "/etc"])
def test_a_node_whose_name_is_no_folders_is_refused(tmp_path: Path, node: str) -> None:
    with pytest.raises(ServeError, match="cannot be the name of a folder"):
        occupy(tmp_path / "here", ["n1", node]).__enter__()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServeError, match="file/here: Not a directory"):
        occupy(tmp_path / "file" / "here", ["n0"]).__enter__()


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", "old")
    with (tmp_path / "file").open() as reader:
        write_whole(tmp_path / "file", "new and longer")
        assert reader.read() == "old"
    assert (tmp_path / "file").read_text() == "new and longer"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_plants_clock_goes_as_the_walls_and_never_leaps() -> None:
    wall = 100.0
    clock = PlantClock(lambda: wall)
    assert clock() == 0.0
    wall += 1.5
    assert (clock(), clock.lost) == (1.5, 0.0)
    wall += 3600.0
    assert (clock(), clock.lost) == (1.5 + STRIDE, 3600.0 - STRIDE)
    wall += 0.5
    assert clock() == 2.0 + STRIDE


def test_a_nodes_logs_are_files_beside_its_tree(tmp_path: Path) -> None:
    rig = _make_rig(generate_rack(2, 8), tmp_path)
    for name in rig.trees:
        (tmp_path / name).mkdir()
    rig.logs.followers.append(partial(append_line, tmp_path))
    rig.world.order(SilenceRank("train", 8, silent=True))
    rig.world.order(StopJob("train"))
    for name in rig.trees:
        assert (tmp_path / name / "hccl.log").read_text() == rig.logs.read(name, "hccl.log")
        assert (tmp_path / name / "train.log").read_text() == rig.logs.read(name, "train.log")
    assert "no heartbeat from job/train/rank8" in rig.logs.read("n0", "hccl.log")
    assert "WARNING job.stopped: job/train" in rig.logs.read("n1", "train.log")


def test_a_log_that_cannot_be_written_does_not_stop_the_plant(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    append_line(tmp_path, "n9", "hccl.log", "a line\n")
    assert "n9/hccl.log: cannot be written: No such file or directory" in caplog.text


async def test_of_many_trees_those_of_running_daemons_come_first_and_all_have_their_turn(tmp_path: Path) -> None:
    rig = _make_rig(generate_rack(FEW + 3, 1), tmp_path)
    trees = Trees(rig, tmp_path)
    trees.make_first()
    made = [name for name in rig.trees if (tmp_path / name / "sys").exists()]
    assert made == list(rig.trees)[:FEW]
    asked = f"n{FEW + 2}"  # the last of all
    (tmp_path / asked / "run").mkdir(parents=True)
    keeping = asyncio.create_task(trees.keep())
    await _until((tmp_path / asked / "sys" / "infiniband").exists)
    assert not (tmp_path / f"n{FEW + 1}" / "sys").exists()  # one turn at a time: those before it had none yet
    keeping.cancel()


@pytest.mark.parametrize("installed", [True, False])
async def test_the_broker_comes_back_on_its_port_when_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    if not installed:
        monkeypatch.setattr(brokers, "_find_mosquitto", lambda: None)
    monkeypatch.setattr(brokers, "AGAIN", 0.05)
    async with serve_broker(tmp_path) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for pid in _find_children(str(tmp_path)):
            os.kill(pid, signal.SIGKILL)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""  # it is gone
        writer.close()
        await _until(lambda: _accepts(port))
    assert not _accepts(port)
    assert (tmp_path / "mosquitto.conf").exists() is installed


async def test_a_broker_that_does_not_start_is_named_with_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brokers, "CONFIG", "no_such_option {port}{host}{user}\n")
    monkeypatch.setattr(brokers, "STARTS_WITHIN", 0.5)
    with pytest.raises(ServeError, match=r"the broker does not listen on 127\.0\.0\.1:\d+ after 0\.5 s: .*no_such_option"):
        async with serve_broker(tmp_path):
            pass


async def test_everything_listens_when_the_endpoints_appear_and_nothing_afterwards(tmp_path: Path) -> None:
    async with serve_rack(generate_rack(1, 2), tmp_path / "d") as served:
        told = json.loads((served.folder / ENDPOINTS).read_text())
        assert told == served.endpoints
        assert all(_accepts(port) for port in _list_tcp_ports(told))
        assert {path.stat().st_mode & 0o777 for path in (served.folder, served.folder / CONTROL)} == {0o700, 0o600}
        links = [served.folder / line.name for line in served.rig.lines.values()]
        assert all(link.is_symlink() for link in links)
    assert not any(_accepts(port) for port in _list_tcp_ports(told))
    assert not any(path.exists() for path in (served.folder / ENDPOINTS, served.folder / CONTROL, served.folder / "n0" / "sys"))
    assert not any(link.is_symlink() for link in links)


async def test_without_enough_descriptors_the_rack_is_refused_with_the_number_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (100, 200))
    with pytest.raises(ServeError, match=r"this rack needs \d+ open files and the limit is 200: raise it with `ulimit -Hn \d+`"):
        async with serve_rack(generate_rack(1, 1), tmp_path / "d"):
            pass


async def test_a_file_system_that_says_no_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> dict[str, str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sim_hardware.drives.serving.serve_nodes", fail)
    with pytest.raises(ServeError, match="No space left on device"):
        async with serve_rack(generate_rack(1, 1), tmp_path / "d"):
            pass
    async with _occupied(tmp_path / "d"):
        pass  # it was given back


@asynccontextmanager
async def _occupied(folder: Path) -> AsyncIterator[None]:
    with occupy(folder, ["n0"]):
        yield


def _make_rig(rack: Rack, folder: Path) -> Rig:
    return Rig(World(rack, 0, lambda: 0.0), folder)


def _accepts(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def _list_tcp_ports(endpoints: dict[str, str]) -> list[int]:
    urls = [url for url in endpoints.values() if url.startswith(("nut:", "http:", "modbus:", "mqtt:"))]
    return [int(url.partition("127.0.0.1:")[2].partition("/")[0].partition("?")[0]) for url in urls]


def _find_children(word: str) -> list[int]:
    """Our own child processes whose command line has this word."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_text()
        except OSError:
            continue
        if parent == os.getpid() and word in command:
            found.append(int(folder.name))
    return found


async def _until(holds: object) -> None:
    assert callable(holds)
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(LOOK)
