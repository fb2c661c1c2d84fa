"""The SNMP plugin over real sockets: against Debian's snmpd, and against the simulator's UPS and PDU."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

import pytest

import supernoded_snmp
from sim_hardware.devices.snmp import Communities, make_pdu_agent, make_ups_agent
from sim_hardware.plant.power.orders import SwitchOutlet
from sim_hardware.plant.words import Order, Value
from supernoded.clock import SystemClock
from supernoded.limits import Limits
from supernoded.model import Action, Effect, Reading, Step
from supernoded.plugin import Actuator, Node, Sensor, WireError
from supernoded.testing import MemoryHost
from supernoded.topology import Topology
from supernoded.topology.site import Outlet, Pdu, Ups
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_snmp.settings import SnmpSettings
from tests.sim.devices.redfish.clients import LivePanel

READ, WRITE = "look", "touch"
MIB, APC2 = "1.3.6.1.2.1.33.1", "1.3.6.1.4.1.318.1.1.26"
ROWS = f"""
override {MIB}.1.2.0 octet_str "Override 9"
override {MIB}.2.1.0 integer 2
override {MIB}.2.3.0 integer 12
override {MIB}.2.4.0 integer 98
override {MIB}.3.1.0 counter 4294967290
override {MIB}.3.2.0 integer 2
override {MIB}.3.3.1.3.1 integer 231
override {MIB}.3.3.1.3.2 integer 228
override {MIB}.4.1.0 uinteger 5
override {APC2}.2.1.8.1 octet_str "R2"
override {APC2}.2.1.9.1 octet_str "S2"
override {APC2}.9.2.3.1.5.7 integer 2
override {APC2}.9.2.3.1.5.8 integer 1
override -rw {APC2}.9.2.4.1.5.7 integer 1
"""
AUTH, PRIV = "sign it here", "hide it here"  # passphrases
USERS = f"""
createUser boss SHA-256 "{AUTH}" AES "{PRIV}"
createUser old SHA "{AUTH}" AES "{PRIV}"
createUser plain SHA-256 "{AUTH}"
rwuser boss priv
rwuser old priv
rouser plain auth
"""
PATIENCE = 20.0  # seconds for a peer to be there; nothing is judged by it


class Parts:
    """The plugin's own for one site."""

    def __init__(self, folder: Path, *, ups: str = "", pdu: str = "", refusals: Mapping[str, str] | None = None) -> None:
        for name, secret in (("read", READ), ("write", WRITE), ("auth", AUTH), ("priv", PRIV), ("wrong", "not this one")):
            (folder / name).write_text(f"{secret}\n")
        outlets = tuple(Outlet(number=number, load="n0/fan*", sheddable=True) for number in (1, 7, 8))
        site = Topology(
            ups=(Ups(name="A", wire=ups),) if ups else (),
            pdus=(Pdu(name="A1", feed="A", wire=pdu, outlets=outlets),) if pdu else (),
        )
        self.wires = SystemWires(Pen((refusals or {}).get))
        node = Node("n0", site, Limits(), self.wires, SystemClock(), MemoryHost(), folder)
        settings = SnmpSettings(community_file=str(folder / "read"), write_community_file=str(folder / "write"))
        self.sensors: list[Sensor] = list(supernoded_snmp.supernoded_sensors(settings, node))
        self.actuators: list[Actuator] = list(supernoded_snmp.supernoded_actuators(settings, node))

    async def read(self, name: str) -> dict[str, Reading]:
        (sensor,) = (sensor for sensor in self.sensors if sensor.name == name)
        return {f"{reading.subject} {reading.quantity}": reading for reading in await sensor.read()}

    def find(self, kind: str) -> Actuator:
        (actuator,) = (actuator for actuator in self.actuators if kind in actuator.kinds)
        return actuator

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.wires.close()
        await asyncio.sleep(0)  # a socket is closed in the loop's next turn


def order(kind: str, target: str = "pdu/A1/outlet7") -> Action:
    step = Step(name="s", kind=kind, target=target, reason="a test")
    return Action(id="i/s", step=step, incident="i", scope="feed/A", epoch=1, issued=0.0, deadline=10.0)


@asynccontextmanager
async def serve_snmpd(folder: Path, rows: str = ROWS) -> AsyncIterator[str]:
    """Debian's agent with rows of ours, at host:port."""
    program = shutil.which("snmpd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert program is not None, "snmpd is not installed: `make test` installs it (Debian: apt-get install snmpd)"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    conf = folder / "snmpd.conf"
    conf.write_text(f"rocommunity {READ} 127.0.0.1\nrwcommunity {WRITE} 127.0.0.1\n{USERS}{rows}")
    argv = (program, "-f", "-Lf", str(folder / "snmpd.log"), "-C", "-c", str(conf), "-p", str(folder / "pid"), f"udp:127.0.0.1:{port}")
    process = await asyncio.create_subprocess_exec(*argv, env={**os.environ, "SNMP_PERSISTENT_DIR": str(folder), "MIBS": ""})
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


async def read_when_there(parts: Parts, name: str) -> dict[str, Reading]:
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await parts.read(name)
            if found["ups/A ups.link"].value == "ok":
                return found
            await asyncio.sleep(0.05)  # it is starting


@pytest.mark.parametrize("how", ["version=1", "version=2c", "version=3&user=boss", "version=3&user=old&auth=sha"])
async def test_debians_agent_is_read_and_written(tmp_path: Path, how: str) -> None:
    how = f"{how}&auth_file={tmp_path}/auth&priv_file={tmp_path}/priv"
    async with serve_snmpd(tmp_path) as where:
        async with Parts(tmp_path, ups=f"snmp://{where}?{how}&profile=rfc1628") as parts:
            found = await read_when_there(parts, "snmp.ups/A")
        assert {name: found[f"ups/A ups.{name}"].value for name in ("model", "status", "charge", "runtime", "input_voltage")} == {
            "model": "Override 9",
            "status": frozenset({"ob"}),
            "charge": 98.0,
            "runtime": 720.0,
            "input_voltage": 228.0,
        }
        assert found["ups/A ups.battery_temperature"].value is None
        async with Parts(tmp_path, pdu=f"snmp://{where}?{how}&profile=apc-rpdu2&serial=S2") as parts:
            found = await parts.read("snmp.pdu/A1")
            assert [found[f"pdu/A1/outlet{number} outlet.state"].value for number in (7, 8)] == ["on", "off"]
            switch = parts.find("power.off")
            await switch.apply(order("power.off"))
            sight = await switch.observe(order("power.off"))
            assert (sight.effect, sight.text) == (Effect.ABSENT, "it is on")  # taken, and of no effect: this agent has no relay
            with pytest.raises(WireError, match=r"SET .*\.8 = 2 was refused: (notWritable|noSuchName|noCreation|noAccess); look at write"):
                await switch.apply(order("power.off", "pdu/A1/outlet8"))


async def test_a_user_who_signs_and_does_not_encrypt_reads_and_does_not_write(tmp_path: Path) -> None:
    async with serve_snmpd(tmp_path) as where:
        url = f"snmp://{where}?version=3&user=plain&auth_file={tmp_path}/auth&profile="
        async with Parts(tmp_path, ups=f"{url}rfc1628", pdu=f"{url}apc-rpdu2") as parts:
            assert (await read_when_there(parts, "snmp.ups/A"))["ups/A ups.charge"].value == 98.0
            with pytest.raises(WireError, match=r"refused: (noAccess|authorizationError)"):
                await parts.find("power.off").apply(order("power.off"))


REFUSED = {
    "user=boss&auth_file={}/wrong&priv_file={}/priv": "refused: wrongDigests; look at auth and auth_file",
    "user=boss&auth_file={}/auth&priv_file={}/wrong": "no answer",  # it drops what it cannot decrypt
    "user=nobody&auth_file={}/auth&priv_file={}/priv": "refused: unknownUserNames; look at user",
    "user=plain&auth_file={}/auth&priv_file={}/priv": "refused: unsupportedSecLevels; look at priv_file",
    "user=boss&auth_file={}/read&priv_file={}/priv": "8 characters at least",
}


async def test_a_user_who_is_not_let_in_is_told_why(tmp_path: Path) -> None:
    async with serve_snmpd(tmp_path) as where:
        async with Parts(tmp_path, ups=f"snmp://{where}?profile=rfc1628") as parts:
            await read_when_there(parts, "snmp.ups/A")
        for how, told in REFUSED.items():
            async with Parts(tmp_path, ups=f"snmp://{where}?version=3&profile=rfc1628&{how.format(tmp_path, tmp_path)}") as parts:
                found = await parts.read("snmp.ups/A")
                assert found["ups/A ups.link"].value == "silent"
                assert told in found["ups/A ups.status"].note


async def test_debians_agent_identifies_itself_and_is_no_ups(tmp_path: Path) -> None:
    """Its sysObjectID is that of Linux, so the columns decide."""
    async with serve_snmpd(tmp_path) as where, Parts(tmp_path, ups=f"snmp://{where}", pdu=f"snmp://{where}") as parts:
        assert (await read_when_there(parts, "snmp.ups/A"))["ups/A ups.source"].value == "battery"
        assert (await parts.read("snmp.pdu/A1"))["pdu/A1 pdu.model"].value == "R2"


class Strip(LivePanel):
    """Outlets draw while they are on, unless the contact is welded."""

    welded = False

    def order(self, order: Order) -> None:
        super().order(order)
        if isinstance(order, SwitchOutlet) and not self.welded:
            self.values[f"pdu/{order.pdu}/outlet{order.outlet}", "outlet.power"] = 430.0 if order.on else 0.0


def make_panel() -> Strip:
    values: dict[tuple[str, str], Value] = {
        ("ups/A", "ups.charge"): 87.0,
        ("ups/A", "ups.runtime"): 610.0,
        ("ups/A", "ups.status"): frozenset({"OL", "CHRG"}),
        ("pdu/A1", "pdu.power"): 5320.0,
    }
    for number in range(1, 25):
        values |= {(f"pdu/A1/outlet{number}", "outlet.state"): "on", (f"pdu/A1/outlet{number}", "outlet.power"): 430.0}
    return Strip(values=values)


@asynccontextmanager
async def serve_strip(panel: Strip, folder: Path, more: str = "") -> AsyncIterator[Parts]:
    communities = Communities(read=READ, write=WRITE)
    pdu, ups = make_pdu_agent(panel, "A1", communities=communities), make_ups_agent(panel, "A", communities=communities)
    async with (
        ups.serve("127.0.0.1") as first,
        pdu.serve("127.0.0.1") as second,
        Parts(folder, ups=first, pdu=f"{second}{more}") as parts,
    ):
        yield parts


async def see(actuator: Actuator, action: Action) -> str:
    """Look until something else than ABSENT is seen, as the daemon does."""
    async with asyncio.timeout(PATIENCE):
        while (sight := await actuator.observe(action)).effect is Effect.ABSENT:
            await asyncio.sleep(0.05)
    return str(sight.effect.value)


async def test_the_simulated_ups(tmp_path: Path) -> None:
    async with serve_strip(make_panel(), tmp_path) as parts:
        found = await parts.read("snmp.ups/A")
        assert (found["ups/A ups.status"].value, found["ups/A ups.charge"].value) == (frozenset({"ol"}), 87.0)
        assert found["ups/A ups.input_voltage"].value is None


@pytest.mark.parametrize("profile", ["apc-rpdu", "apc-rpdu2"])
async def test_an_outlet_of_the_simulated_pdu_is_off_when_it_shows_it(tmp_path: Path, profile: str) -> None:
    panel = make_panel()
    async with serve_strip(panel, tmp_path, f"?profile={profile}") as parts:
        switch, off, on = parts.find("outlet.off"), order("outlet.off", "pdu/A1/outlet1"), order("outlet.on", "pdu/A1/outlet1")
        await switch.apply(off)
        assert panel.orders == [SwitchOutlet(pdu="A1", outlet=1, on=False, delay_s=0.1)]
        assert (await switch.observe(off)).effect is Effect.ABSENT  # two seconds later it is not
        assert await see(switch, off) == "present"
        if profile == "apc-rpdu2":
            await switch.apply(on)
            assert await see(switch, on) == "present"


async def test_a_contact_that_is_welded_is_never_done(tmp_path: Path) -> None:
    panel = make_panel()
    panel.welded = True
    async with serve_strip(panel, tmp_path, "?profile=apc-rpdu2") as parts:
        switch, off = parts.find("power.off"), order("power.off", "pdu/A1/outlet1")
        await switch.apply(off)
        assert await see(switch, off) == "unknown"
        assert "current still flows" in (await switch.observe(off)).text


async def test_a_lost_lease_leaves_the_pdu_alone(tmp_path: Path) -> None:
    panel = make_panel()
    pdu = make_pdu_agent(panel, "A1", communities=Communities(read=READ, write=WRITE))
    async with pdu.serve("127.0.0.1") as url, Parts(tmp_path, pdu=url, refusals={"feed/A": "the lease is over"}) as parts:
        with pytest.raises(WireError, match="the lease is over"):
            await parts.find("power.off").apply(order("power.off", "pdu/A1/outlet7"))
        assert panel.orders == []
