"""Orders and TLS with Debian's upsd: let in, tracked to the driver's own word, refused, failed, sealed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import supernoded_nut
from supernoded.model import Action, Effect, Step
from supernoded.plugin import Actuator, Node, WireError
from supernoded.wire.system import SystemWires
from supernoded_nut import server
from supernoded_nut.place import Place
from supernoded_nut.server import NutServer, open_server
from supernoded_nut.settings import NutSettings, ServerSettings
from supernoded_nut.words import RefusalError
from tests.protocol.certificates import Pair, issue
from tests.protocol.megatec import Megatec
from tests.protocol.nss import NAME, PASSWORD, make_database
from tests.protocol.nut_driver import NAME as OURS
from tests.protocol.nut_driver import Strip
from tests.protocol.nut_site import linked, make_node, make_sensors, read, wait_for
from tests.protocol.upsd import PATIENCE, Upsd

STRIP = {
    "device.type": "pdu",
    "ups.status": "",
    **{f"outlet.{number}.status": "on" for number in (1, 7, 8)},
    **{f"outlet.{number}.realpower": "75.0" for number in (1, 7, 8)},
}


def let_in(upsd: Upsd, folder: Path, ca_file: str = "") -> NutSettings:
    """Settings with the login of upsd.users; without an authority the password may go in the clear."""
    (folder / "secret").write_text("secret\n")
    login = ServerSettings(user="admin", password_file=str(folder / "secret"), ca_file=ca_file, insecure=not ca_file)
    return NutSettings(servers={f"127.0.0.1:{upsd.port}": login})


def open_client(upsd: Upsd, node: Node, settings: NutSettings) -> NutServer:
    return open_server(Place("127.0.0.1", upsd.port), settings, node)


async def test_orders_are_let_in_tracked_and_refused(upsd: Upsd, wires: SystemWires, supernoded_node: Node, tmp_path: Path) -> None:
    upsd.add("A", "a.dev", "ups.status: OL\nups.id: old\n")
    await upsd.start()
    node = make_node(supernoded_node, wires, upsd, "A")
    await wait_for(make_sensors(node)["A"], linked("ok"))
    client = open_client(upsd, node, let_in(upsd, tmp_path))
    await wires.stream(f"tcp://127.0.0.1:{upsd.port}").close()  # the sensor has opened it without a login
    assert await client.list_devices() == {"A": "Description unavailable"}
    assert (await client.list_settings("A"))["ups.id"] == "old"
    commands = await client.list_commands("A")
    assert "load.off" in commands
    await client.set_variable("feed/A", "A", "ups.id", "row 7, west")
    async with asyncio.timeout(PATIENCE):
        while await client.get_variable("A", "ups.id") != "row 7, west":
            await asyncio.sleep(0.02)
    with pytest.raises(RefusalError, match="CMD-NOT-SUPPORTED"):
        await client.command("feed/A", "A", "outlet.1.load.off")
    with pytest.raises(RefusalError, match="VAR-NOT-SUPPORTED"):
        await client.set_variable("feed/A", "A", "ups.colour", "red")
    (tmp_path / "secret").write_text("wrong\n")
    await wires.stream(f"tcp://127.0.0.1:{upsd.port}").close()
    with pytest.raises(RefusalError, match="ACCESS-DENIED; look at user and password_file"):
        await client.set_variable("feed/A", "A", "ups.id", "new")
    other = make_sensors(make_node(supernoded_node, wires, upsd, "B"))["B"]
    with pytest.raises(WireError, match="UNKNOWN-UPS; the server has A: correct the name"):
        await other.read()


async def test_a_driver_says_that_it_has_done_it(
    upsd: Upsd, wires: SystemWires, supernoded_node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of NUT's own, which waits a second to see whether the UPS objects; with endless patience here only its word ends the waiting."""
    monkeypatch.setattr(server, "TRACKED_WITHIN", 1e6)
    ups = Megatec()
    with ups.serve() as path:
        upsd.add_driven("A", "blazer_ser", f"port = {path}\n protocol = megatec\n")
        await upsd.start()
        client = open_client(upsd, make_node(supernoded_node, wires, upsd, "A"), let_in(upsd, tmp_path))
        async with asyncio.timeout(PATIENCE):
            while "load.off" not in await client.list_commands("A"):
                await asyncio.sleep(0.02)
            await client.command("feed/A", "A", "test.battery.start.quick")
            await client.command("feed/A", "A", "load.off")
            assert ups.orders == ["T", "S00R0000"]
        await upsd.stop()


@asynccontextmanager
async def run_strip(strip: Strip, upsd: Upsd, node: Node, settings: NutSettings) -> AsyncIterator[Actuator]:
    """The actuator of a PDU behind upsd, once its outlets are seen."""
    upsd.add_driven("A1", OURS, "port = none")
    async with strip.serve(upsd.folder, "A1"):
        await upsd.start()
        (actuator,) = supernoded_nut.supernoded_actuators(settings, node)
        async with asyncio.timeout(PATIENCE):
            while (await look(actuator, "power.on", 7)) is not Effect.PRESENT:
                await asyncio.sleep(0.02)
            yield actuator


async def look(actuator: Actuator, kind: str, outlet: int) -> Effect | None:
    """What is seen of an order; None while nothing can be."""
    try:
        return (await actuator.observe(order(kind, outlet))).effect
    except WireError:
        return None


def order(kind: str, outlet: int) -> Action:
    step = Step(name="x", kind=kind, target=f"pdu/A1/outlet{outlet}", reason="a test")
    return Action(id="i/x", step=step, incident="i", scope="feed/A", epoch=1, issued=0.0, deadline=10.0)


async def wait_until(actuator: Actuator, kind: str, outlet: int) -> None:
    while await look(actuator, kind, outlet) is not Effect.PRESENT:
        await asyncio.sleep(0.02)


async def test_outlets_are_switched_and_seen_so(upsd: Upsd, wires: SystemWires, supernoded_node: Node, tmp_path: Path) -> None:
    strip = Strip(dict(STRIP), stuck=frozenset({8}))
    node = make_node(supernoded_node, wires, upsd, "A1", pdus=["A1"], outlets=(1, 7, 8))
    async with run_strip(strip, upsd, node, let_in(upsd, tmp_path)) as actuator:
        await actuator.apply(order("power.off", 7))
        await wait_until(actuator, "power.off", 7)
        assert await look(actuator, "power.on", 1) is Effect.PRESENT
        with pytest.raises(RefusalError, match=r"outlet\.8\.load\.off was refused: FAILED; its driver could not do it"):
            await actuator.apply(order("power.off", 8))
        assert await look(actuator, "power.off", 8) is Effect.ABSENT
        strip.mute = True  # it does what it is told and never says so: what counts is what is seen
        await actuator.apply(order("power.on", 7))
        await wait_until(actuator, "power.on", 7)
    assert strip.heard == ["outlet.7.load.off", "outlet.8.load.off", "outlet.7.load.on"]


@pytest.fixture
def authority(tmp_path: Path, upsd: Upsd) -> Pair:
    """Who has signed the certificate that upsd shows."""
    authority = issue(tmp_path, "authority")
    database = tmp_path / "certificates"
    make_database(database, issue(tmp_path, "localhost", authority), authority)
    upsd.settings = f'CERTPATH {database}\nCERTIDENT "{NAME}" "{PASSWORD}"\n'
    return authority


async def test_login_and_orders_are_sealed(upsd: Upsd, wires: SystemWires, supernoded_node: Node, tmp_path: Path, authority: Pair) -> None:
    upsd.add("A", "a.dev", "ups.status: OL\nups.id: old\n")
    await upsd.start()
    node = make_node(supernoded_node, wires, upsd, "A")
    settings = let_in(upsd, tmp_path, authority.certificate_file)
    client = open_client(upsd, node, settings)
    await wait_for(make_sensors(node, settings)["A"], linked("ok"))
    await client.set_variable("feed/A", "A", "ups.id", "sealed")
    async with asyncio.timeout(PATIENCE):
        while await client.get_variable("A", "ups.id") != "sealed":
            await asyncio.sleep(0.02)
    assert "SSL handshake done successfully" in upsd.log("upsd")


async def test_a_certificate_of_somebody_else_gets_no_login(
    upsd: Upsd, wires: SystemWires, supernoded_node: Node, tmp_path: Path, authority: Pair
) -> None:
    upsd.add("A", "a.dev", "ups.status: OL\n")
    await upsd.start()
    node = make_node(supernoded_node, wires, upsd, "A")
    other = issue(tmp_path, "other")
    assert other.certificate_file != authority.certificate_file
    found = await read(make_sensors(node, let_in(upsd, tmp_path, other.certificate_file))["A"])
    assert (found["ups.link"].value, found["ups.status"].value) == ("silent", None)
    assert "TLS failed" in found["ups.status"].note
