"""`supernode-sim` as people and programs use it: a rack that is served in a process of its own, real clients, and a real daemon."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pymodbus.client import AsyncModbusSerialClient

from sim_hardware.drives.daemons import run_daemons
from sim_hardware.drives.observer import Observer
from supernoded.cluster.link.mqtt import AiomqttFabric

PATIENCE = 30.0  # s for anything that must come
COMMAND = (sys.executable, "-m", "sim_hardware.command")


class Rack:
    """`supernode-sim serve` as a process; it is up when it is made."""

    def __init__(self, folder: Path, checkout: Path, rack: str = "rack-1x8") -> None:
        self.folder, self.checkout = folder, checkout
        command = (*COMMAND, "-o", "json", "serve", rack, "--dir", str(folder))
        self.process = subprocess.Popen(command, cwd=checkout, stdout=PIPE, stdin=DEVNULL, text=True)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()  # the endpoints, once all listen; nothing when it fails
        assert first, f"it ended with {self.process.wait()}"
        self.told: dict[str, Any] = json.loads(first)
        self.endpoints: dict[str, str] = json.loads((folder / "endpoints.json").read_text())

    def run(self, *words: str, code: int = 0) -> str:
        """Another `supernode-sim`; what it prints, where it must end with this code."""
        command = (*COMMAND, "--dir", str(self.folder), *words)
        done = subprocess.run(command, cwd=self.checkout, capture_output=True, text=True, check=False, timeout=PATIENCE, stdin=DEVNULL)
        assert done.returncode == code, done
        return done.stdout if code == 0 else done.stderr

    def ask(self, *words: str) -> Any:
        return json.loads(self.run("-o", "json", *words))

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Iterator[Rack]:
    """One for all tests that leave it as it was."""
    served = Rack(tmp_path_factory.mktemp("sim") / "d", checkout)
    yield served
    assert served.end(signal.SIGTERM) == 0


async def ask_nut(url: str, question: str) -> str:
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(f"{question}\n".encode())
    answer = await asyncio.wait_for(reader.readline(), PATIENCE)
    writer.close()
    return answer.decode().strip()


async def test_every_endpoint_can_be_reached(rack: Rack) -> None:
    assert rack.told["endpoints"] == rack.endpoints
    schemes = {urlsplit(url).scheme for url in rack.endpoints.values()}
    assert schemes == {"nut", "snmp", "http", "modbus", "serial", "mqtt", "unix", "file"}
    for device, url in rack.endpoints.items():
        place = urlsplit(url)
        if place.scheme in {"nut", "http", "modbus", "mqtt"}:
            assert place.hostname == "127.0.0.1", device
            _, writer = await asyncio.open_connection(place.hostname, place.port)
            writer.close()
        elif place.scheme == "snmp":
            with socket.socket(type=socket.SOCK_DGRAM) as line:
                line.connect((place.hostname, place.port))
                assert line.send(b"") == 0, device
        else:
            assert Path(place.path).exists(), device


async def test_a_nut_client_and_the_truth_agree_on_a_sag(rack: Rack) -> None:
    url = rack.endpoints["ups/A"]
    name = urlsplit(url).path[1:]
    assert await ask_nut(url, f"GET VAR {name} ups.status") == f'VAR {name} ups.status "OL"'
    assert "is in place" in rack.run("inject", "power.input_sag", "utility/A", "depth=1", "--name", "sag")
    assert "OB" in await ask_nut(url, f"GET VAR {name} ups.status")
    (status,) = rack.ask("truth", "ups/A", "ups.status")["values"]
    assert "OB" in status["value"]
    (fault,) = rack.ask("active")["active"]
    assert (fault["name"], fault["manifest"]) == ("sag", True)
    assert "lifted: sag" in rack.run("lift", "sag")
    assert rack.ask("active")["active"] == []


async def test_a_modbus_master_reads_a_pdu_over_the_device_path(rack: Rack) -> None:
    place = urlsplit(rack.endpoints["pdu/A1"])
    facts = {name: int(values[0]) for name, values in parse_qs(place.query).items() if name in {"baud", "unit"}}
    client = AsyncModbusSerialClient(place.path, baudrate=facts["baud"], timeout=PATIENCE)
    assert await client.connect()
    answer = await client.read_input_registers(0, count=1, device_id=facts["unit"])
    client.close()
    assert not answer.isError() or answer.exception_code  # a unit that answers; its map has tests of its own


async def test_a_tool_is_found_by_its_name_and_knows_its_node(rack: Rack) -> None:
    path = f"{urlsplit(rack.endpoints['n0/tools']).path}:{os.environ['PATH']}"
    tool = await asyncio.create_subprocess_exec("npu-smi", "info", env={"PATH": path}, stdout=PIPE, stdin=DEVNULL)
    out, _ = await asyncio.wait_for(tool.communicate(), PATIENCE)
    assert tool.returncode == 0
    assert b"npu-smi" in out


async def test_a_daemon_on_its_settings_is_ready_and_tells_of_an_unplugged_optic(rack: Rack) -> None:
    news = asyncio.Event()
    place = urlsplit(rack.endpoints["broker"])
    fabric = AiomqttFabric(place.hostname or "", place.port or 0, logging.getLogger("test"))
    observer = Observer(fabric, "c0", asyncio.get_running_loop().time, news.set)
    listening = asyncio.create_task(observer.run())
    died: list[str] = []
    async with run_daemons([rack.folder / "n0"], died), asyncio.timeout(PATIENCE):
        await observer.listening.wait()
        rack.run("inject", "link.optics_unplug", "n0/card3/port0", "--for", "30", "--name", "optic")
        while not any(told.kind == "link.down" and told.subject == "n0/card3/port0" for told in observer.told):
            await news.wait()
            news.clear()
        events = await _list_events(rack)
    assert died == []
    listening.cancel()
    rack.run("lift", "--all")
    assert any(event["kind"] == "link.down" and event["subject"] == "n0/card3/port0" for event in events)


async def _list_events(rack: Rack) -> list[Mapping[str, Any]]:
    command = (sys.executable, "-m", "supernoded.ctl", "--socket", str(rack.folder / "n0/run/admin.sock"), "-o", "json", "events")
    asked = await asyncio.create_subprocess_exec(*command, cwd=rack.checkout, stdout=PIPE, stdin=DEVNULL)
    out, _ = await asked.communicate()
    assert asked.returncode == 0
    events: list[Mapping[str, Any]] = json.loads(out)["events"]
    return events


def test_looking_and_the_output_option_on_either_side(rack: Rack) -> None:
    assert rack.run("truth", "ups/B", "ups.status").splitlines() == ["QUANTITY    VALUE", "ups.status  OL"]
    assert rack.ask("sense", "ups/A", "ups.status") == json.loads(rack.run("sense", "ups/A", "ups.status", "-o", "json"))
    assert rack.run("sensors", "ups/A:ups.load").splitlines()[1].split() == ["ups/A", "ups.load", "%"]
    assert rack.run("active").strip() == "No fault is in place."


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("truth", "ups/Q"), 1, "did you mean ups/"),
        (("inject", "power.input_sga", "utility/A"), 1, "did you mean power.input_sag?"),
        (("inject", "power.input_sag", "utility/A", "depth"), 2, "write name=value"),
        (("lift",), 2, "give the NAME of a fault in place, or --all"),
        (("lift", "nothing"), 1, "no such fault is in place"),
        (("serve", "rack-1x8"), 1, "a rack is served there by process"),
        (("-o", "yaml", "active"), 2, "'yaml' is not one of"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(rack: Rack, words: tuple[str, ...], code: int, sentence: str) -> None:
    assert sentence in rack.run(*words, code=code)


def test_without_a_served_rack_it_says_how_to_serve_one(tmp_path: Path, checkout: Path) -> None:
    command = (*COMMAND, "--dir", str(tmp_path), "active")
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 3
    assert f"no rack is served in {tmp_path}" in done.stderr
    assert "supernode-sim serve rack-1x8 --dir" in done.stderr


def test_a_killed_rack_leaves_nothing_in_the_way_and_a_stopped_one_nothing_at_all(tmp_path: Path, checkout: Path) -> None:
    killed = Rack(tmp_path / "d", checkout, "rack-1x1")
    assert killed.end(signal.SIGKILL) == -signal.SIGKILL
    assert (tmp_path / "d/endpoints.json").exists()
    again = Rack(tmp_path / "d", checkout, "rack-1x1")
    assert again.run("truth", "ups/A", "ups.status").split()[-1] == "OL"
    watching = subprocess.Popen((*COMMAND, "--dir", str(tmp_path / "d"), "watch"), cwd=checkout, stdout=PIPE, text=True)
    again.run("inject", "power.input_sag", "utility/A", "--for", "0.2")
    assert watching.stdout is not None
    assert any("utility.restored" in line for line in watching.stdout)
    assert again.end(signal.SIGINT) == 0
    assert watching.stdout.read() is not None  # to its end, which comes with the rack's
    assert watching.wait(PATIENCE) == 0
    watching.stdout.close()
    left = {path.name for path in (tmp_path / "d").rglob("*") if not path.name.endswith((".toml", ".log", ".conf"))}
    assert left == {".supernode-sim", "n0"}
