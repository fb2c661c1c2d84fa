"""The daemon as a process: start, watchdog, stop, whatever hangs or is gone beside it; two of them; settings it cannot use."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from supernoded.messages import Modes, ReadingFilter, Readings, Status
from supernoded.model import Mode, State
from tests.protocol.mosquitto import Mosquitto
from tests.system.daemons import NOBODY, Daemon, install, write_port

WATCHDOG = 2.0  # seconds
MNT_DETACH = 2
# One reads a pipe that nobody writes, one runs a tool that does not end, one does not let itself be cancelled.
STUCK = """
import asyncio
from dataclasses import dataclass
from pathlib import Path
from supernoded.plugin import NODE, Node, hookimpl

@dataclass
class Stuck:
    name: str
    node: Node
    reading: asyncio.Future | None = None
    scope, period, timeout = NODE, 0.2, 0.3

    async def read(self):
        match self.name:
            case "file":
                self.reading = self.reading or asyncio.ensure_future(asyncio.to_thread((self.node.state / "pipe").read_text))
                await asyncio.shield(self.reading)
            case "tool":
                await self.node.wires.command(("sleep", "infinity")).run(within=60.0)
            case "deaf":
                while True:
                    try:
                        await asyncio.Event().wait()
                    except asyncio.CancelledError:
                        pass
        return []

@hookimpl
def supernoded_sensors(settings, node):
    return [Stuck(name, node) for name in ("file", "tool", "deaf")]
"""


async def read_on(daemon: Daemon) -> None:
    """Wait until the host has been read twice more."""
    load = ReadingFilter(quantity="host.load")
    first = (await daemon.until("readings", Readings, lambda told: told.readings, load)).readings[0].at
    second = (await daemon.until("readings", Readings, lambda told: told.readings[0].at > first, load)).readings[0].at
    await daemon.until("readings", Readings, lambda told: told.readings[0].at > second, load)


async def test_it_tells_the_service_manager_all_its_life(tmp_path: Path) -> None:
    async with Daemon(tmp_path, environment={"WATCHDOG_USEC": f"{WATCHDOG * 1e6:.0f}"}) as daemon:
        await daemon.start()
        assert (await daemon.status()).ready
        assert await daemon.told.wait("^STATUS=well; no open incident$")
        for _ in range(3):
            since = len(daemon.told.heard)
            await daemon.told.wait("^WATCHDOG=1$", since, within=WATCHDOG)
            await daemon.told.wait("^STATUS=", since)
        assert await daemon.stop() == 0
        assert daemon.told.heard[-1].startswith("STOPPING=1\n")
        assert not daemon.socket.exists()
        assert daemon.log.heard[-1].endswith("stopped")
        assert daemon.log.count("Traceback|ERROR") == 0


async def test_what_hangs_holds_up_neither_start_nor_others_nor_stop(tmp_path: Path) -> None:
    tree, path = tmp_path / "infiniband", install(tmp_path / "plugins", "stuck", "acme_stuck", STUCK)
    write_port(tree, "mlx5_0")
    os.mkfifo(write_port(tree, "mlx5_1") / "counters" / "link_downed")
    (tmp_path / "state").mkdir()
    os.mkfifo(tmp_path / "state" / "pipe")
    fabric = f'[plugins.fabric]\ninfiniband = "{tree}"\nperiod_s = 0.2\n[plugins.host]\nperiod_s = 0.5\n'
    async with Daemon(tmp_path, NOBODY + fabric, environment={"PYTHONPATH": path}) as daemon:
        await daemon.start()

        for name in ("file", "tool", "deaf"):
            await daemon.log.wait(f"WARNING sensor {name}: .* gave no answer within 0.3 s")
        await read_on(daemon)
        links = await daemon.ask("readings", Readings, ReadingFilter(subject="n0/nic/*", quantity="link.*"))
        states = {(reading.subject, reading.quantity): (reading.state, reading.note) for reading in links.readings}
        assert states["n0/nic/mlx5_0/port1", "link.symbol_errors"][0] is State.GOOD
        assert states["n0/nic/mlx5_1/port1", "link.symbol_errors"][0] is State.GOOD
        assert "not a regular file" in states["n0/nic/mlx5_1/port1", "link.downed"][1]
        await daemon.log.once("sensor file: ")  # a state is logged once, not at every read
        assert await daemon.stop() == 0


@pytest.fixture
def dead_tree(tmp_path: Path) -> Iterator[Path]:
    """A file system that answers nothing at all, as a network one does whose server is gone."""
    if os.getuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("only root can mount a file system that hangs, and /dev/fuse must be there: run this test as root")
    folder, libc = tmp_path / "dead", ctypes.CDLL(None, use_errno=True)
    folder.mkdir()
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    try:
        options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
        assert libc.mount(b"dead", os.fsencode(folder), b"fuse", 0, options) == 0, os.strerror(ctypes.get_errno())
        try:
            yield folder
        finally:
            assert libc.umount2(os.fsencode(folder), MNT_DETACH) == 0, os.strerror(ctypes.get_errno())
    finally:
        os.close(device)


async def test_a_dead_file_system_costs_only_the_sensors_that_look_into_it(tmp_path: Path, dead_tree: Path) -> None:
    fabric = f'[plugins.fabric]\ninfiniband = "{dead_tree}/infiniband"\nperiod_s = 0.2\n[plugins.host]\nperiod_s = 0.5\n'
    async with Daemon(tmp_path, NOBODY + fabric) as daemon:
        await daemon.start()
        await daemon.log.wait("WARNING sensor fabric.infiniband: .* hangs")
        await read_on(daemon)
        failing = {one.name for one in (await daemon.status()).failing_sensors}
        assert "fabric.infiniband" in failing
        asking = {"infiniband", "infiniband_own", "kernel", "lldp", "mlxlink"}  # which HCAs there are
        assert failing <= {f"fabric.{name}" for name in asking}
        assert await daemon.stop() == 0


async def test_it_stops_while_the_broker_is_gone(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path)
    await broker.start()
    async with Daemon(tmp_path / "n0", f'[mqtt]\nhost = "127.0.0.1"\nport = {broker.port}\n') as daemon:
        await daemon.start()
        await daemon.log.wait("connected to the broker as n0")
        await broker.kill()
        await daemon.log.wait("no link to the broker")
        assert (await daemon.status()).ready
        assert await daemon.stop() == 0


async def test_the_second_daemon_of_one_name_on_a_broker_is_told(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path)
    await broker.start()
    mqtt = f'[mqtt]\nhost = "127.0.0.1"\nport = {broker.port}\n'
    async with Daemon(tmp_path / "first", mqtt) as first, Daemon(tmp_path / "second", mqtt) as second:
        await first.start()
        await first.log.wait("connected to the broker as n0")
        await second.start()
        await second.log.wait("another daemon calls itself n0")
        told = await second.until("status", Status, lambda told: told.session and "another daemon calls itself n0" in told.session.reason)
        assert told.session is not None
        assert not told.session.connected
        kept = (await first.status()).session
        assert kept is not None
        assert kept.connected
        assert await second.stop() == 0
    await broker.kill()


@pytest.mark.parametrize("shared", ["runtime", "state"])
async def test_the_second_daemon_in_one_folder_refuses(tmp_path: Path, shared: str) -> None:
    async with Daemon(tmp_path / "first") as first, Daemon(tmp_path / "second", **{shared: getattr(first, shared)}) as second:
        await first.start()
        await second.launch()
        assert await second.wait() == 1
        await second.log.once("ERROR .*another daemon")
        assert second.log.count("Traceback") == 0
        assert (await first.status()).ready
        assert await first.stop() == 0
        await second.start()  # the folder is free again
        assert await second.stop() == 0


@pytest.mark.parametrize(
    ("keys", "tables", "says"),
    [
        ('mode = "sleep"', NOBODY, 'supernoded.toml, line 4: mode = "sleep"'),
        ("", "[plugins.fabric]\nperiod = 1.0\n", "plugins.fabric"),
        ("", "[mqtt]\nhots = 1\n", "mqtt.hots"),
    ],
)
async def test_settings_that_cannot_be_used(tmp_path: Path, keys: str, tables: str, says: str) -> None:
    async with Daemon(tmp_path, tables, keys) as daemon:
        await daemon.launch("--check")
        assert await daemon.wait() == 1
        assert says in "\n".join(daemon.log.heard)
        told = len(daemon.log.heard)
        await daemon.launch()
        assert await daemon.wait() == 78
        assert says in "\n".join(daemon.log.heard[told:])
        assert daemon.log.count("Traceback") == 0
        assert daemon.told.heard == []


async def test_plugins_that_are_left_out_are_named_once_in_the_log(tmp_path: Path) -> None:
    leaving = install(tmp_path / "site", "leaving", "leaving_acme", "raise SystemExit(3)\n")
    install(tmp_path / "site", "unwanted", "absent_acme")
    async with Daemon(tmp_path / "n0", keys='plugins_off = ["unwanted"]', environment={"PYTHONPATH": leaving}) as daemon:
        await daemon.start()
        assert await daemon.stop() == 0
        await daemon.log.once("WARNING plugin leaving is left out: cannot be imported: SystemExit: 3")
        assert daemon.log.count("unwanted is left out") == 0


async def test_sound_settings_are_said_to_be_so(tmp_path: Path) -> None:
    async with Daemon(tmp_path) as daemon:
        await daemon.launch("--check")
        assert await daemon.wait() == 0
        assert "sound, for node n0 in mode observe" in daemon.log.heard[-1]
        assert not daemon.journal.exists()


async def test_a_word_of_an_operator_outlives_the_daemon(tmp_path: Path) -> None:
    async with Daemon(tmp_path) as daemon:
        await daemon.start()
        command = ("-m", "supernoded.ctl", "--socket", str(daemon.socket), "mode", "act", "--policy", "link_ber", "--yes")
        asked = await asyncio.create_subprocess_exec(sys.executable, *command, stdin=asyncio.subprocess.DEVNULL)
        assert await asked.wait() == 0
        daemon.signal(signal.SIGKILL)
        await daemon.wait()
        await daemon.start()
        modes = {one.policy: one for one in (await daemon.ask("modes", Modes)).policies}
        assert modes["link_ber"].mode is Mode.ACT
        assert modes["link_ber"].said_by not in {"default", "settings"}
        assert await daemon.stop() == 0
    with closing(sqlite3.connect(daemon.journal)) as journal:
        assert journal.execute("SELECT uid, verb, detail FROM requests WHERE pid = ?", (asked.pid,)).fetchall() == [
            (os.getuid(), "PUT /v1/modes/link_ber", '{"mode":"act"}')
        ]
