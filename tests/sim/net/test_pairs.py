"""Unmodified libraries talk to themselves in virtual time, and the same seed gives the same run in any process.

As a script, `test_pairs.py NAME SEED` plays one pair and prints its digest.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from functools import partial

import pytest
from aiohttp import ClientConnectorError, ClientSession, ClientTimeout, TCPConnector, UnixConnector, web
from pymodbus.client import AsyncModbusTcpClient
from pymodbus.exceptions import ModbusException
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice
from pysnmp.carrier.asyncio.dgram.udp import UdpAsyncioTransport  # type: ignore[import-untyped]  # the library has no types
from pysnmp.entity import config, engine  # type: ignore[import-untyped]  # the library has no types
from pysnmp.entity.rfc3413 import cmdrsp, context  # type: ignore[import-untyped]  # the library has no types
from pysnmp.hlapi.v3arch.asyncio import (  # type: ignore[import-untyped]  # the library has no types
    CommunityData,
    ContextData,
    ObjectIdentity,
    ObjectType,
    SnmpEngine,
    UdpTransportTarget,
    get_cmd,
)

from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net

SYS_DESCR = (1, 3, 6, 1, 2, 1, 1, 1, 0)


async def started() -> None:
    await asyncio.sleep(0.5)


# pymodbus: Modbus TCP


async def modbus_server() -> None:
    device = SimDevice(1, simdata=[SimData(0, count=100, values=17, datatype=DataType.REGISTERS)])
    await ModbusTcpServer(device, address=("0.0.0.0", 502)).serve_forever()


async def modbus_client(loop: SimLoop, rounds: int = 20) -> None:
    client = AsyncModbusTcpClient("cdu0", port=502, timeout=1, retries=1, reconnect_delay=0.5, reconnect_delay_max=2)
    assert await client.connect()
    for number in range(rounds):
        await client.write_register(3, number, device_id=1)
        answer = await client.read_holding_registers(2, count=2, device_id=1)
        loop.trace("client", f"{loop.time():.6f}", *answer.registers)
        await asyncio.sleep(1)
    client.close()


async def modbus(loop: SimLoop) -> None:
    loop.spawn("cdu0", modbus_server)
    await started()
    assert await loop.spawn("n0", partial(modbus_client, loop)).ended == 0


# aiohttp: over TCP, and over a unix socket


async def http_server(unix: bool) -> None:
    async def greet(request: web.Request) -> web.Response:
        return web.json_response({"path": request.path, "remote": request.remote, "body": await request.text()})

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", greet)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.UnixSite(runner, "/run/admin.sock") if unix else web.TCPSite(runner, "0.0.0.0", 8080)
    await site.start()
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


async def http_client(loop: SimLoop, unix: bool) -> None:
    connector = UnixConnector("/run/admin.sock") if unix else TCPConnector()
    async with ClientSession(connector=connector, timeout=ClientTimeout(total=5)) as session:
        for number in range(20):
            async with session.post(f"http://bmc0:8080/redfish/{number}", data=b"x" * 200 * number) as answer:
                body = await answer.json()
                assert len(body["body"]) == 200 * number
                loop.trace("client", answer.status, body["path"], str(body["remote"]), answer.headers["Date"])
            await asyncio.sleep(7)


async def http(loop: SimLoop, unix: bool) -> None:
    loop.spawn("bmc0", partial(http_server, unix))
    await started()
    assert await loop.spawn("ctl", partial(http_client, loop, unix), host="bmc0" if unix else None).ended == 0


# pysnmp: over UDP


async def snmp_agent() -> None:
    agent = engine.SnmpEngine()
    config.add_transport(agent, config.SNMP_UDP_DOMAIN, UdpAsyncioTransport().open_server_mode(("0.0.0.0", 161)))
    config.add_v1_system(agent, "area", "public")
    config.add_vacm_user(agent, 2, "area", "noAuthNoPriv", (1, 3, 6), (1, 3, 6))
    cmdrsp.GetCommandResponder(agent, context.SnmpContext(agent))
    try:
        await asyncio.Event().wait()
    finally:
        agent.close_dispatcher()


async def snmp_manager(loop: SimLoop, rounds: int = 10) -> None:
    manager = SnmpEngine()
    target = await UdpTransportTarget.create(("pdu0", 161), timeout=1, retries=2)
    for _ in range(rounds):
        trouble, status, _, bound = await get_cmd(
            manager, CommunityData("public"), target, ContextData(), ObjectType(ObjectIdentity(SYS_DESCR))
        )
        loop.trace("manager", f"{loop.time():.6f}", str(trouble), str(status), *(value.prettyPrint() for _, value in bound))
        await asyncio.sleep(1)
    manager.close_dispatcher()


async def snmp(loop: SimLoop) -> None:
    loop.spawn("pdu0", snmp_agent)
    await started()
    assert await loop.spawn("n0", partial(snmp_manager, loop)).ended == 0


PAIRS: dict[str, Callable[[SimLoop], Coroutine[None, None, None]]] = {
    "modbus": modbus,
    "http-tcp": partial(http, unix=False),
    "http-unix": partial(http, unix=True),
    "snmp": snmp,
}


def run(name: str, seed: int, **settings: float) -> SimLoop:
    loop = SimLoop(seed)
    Net(loop, **settings)  # type: ignore[arg-type]  # loss and fragment are floats
    play(loop, PAIRS[name](loop))
    assert loop.failures == []
    return loop


def lines(loop: SimLoop) -> list[str]:
    return [entry.what for entry in loop.entries]


def test_pymodbus_reads_what_it_wrote() -> None:
    assert [line.split()[1:] for line in lines(run("modbus", 1))] == [["17", str(number)] for number in range(20)]


def test_pymodbus_survives_streams_that_come_in_pieces() -> None:
    assert len(lines(run("modbus", 1, fragment=1.0))) == 20


def test_aiohttp_over_tcp_sees_its_caller_and_a_virtual_date() -> None:
    first, *_, last = lines(run("http-tcp", 1))
    assert first == "200 /redfish/0 10.0.0.2 Fri, 15 Jan 2027 08:00:00 GMT"
    assert last == "200 /redfish/19 10.0.0.2 Fri, 15 Jan 2027 08:02:13 GMT"


def test_aiohttp_over_a_unix_socket() -> None:
    assert len(lines(run("http-unix", 1))) == 20


def test_pysnmp_gets_its_answers() -> None:
    answers = [line.split(maxsplit=3) for line in lines(run("snmp", 1))]
    assert len(answers) == 10
    assert all(answer[1:3] == ["None", "0"] and "PySNMP" in answer[3] for answer in answers)


def test_pysnmp_repeats_what_was_lost_by_its_own_timeout() -> None:
    answers = [line.split()[:3] for line in lines(run("snmp", 3, loss=0.3))]
    assert sum(answer[1:] == ["None", "0"] for answer in answers) >= 6
    assert 10.5 < float(answers[-1][0]) < 60


def test_pymodbus_times_out_over_a_cut_and_comes_back_after_it() -> None:
    loop = SimLoop(1)
    net = Net(loop)
    results: list[str] = []

    async def client() -> None:
        client = AsyncModbusTcpClient("cdu0", port=502, timeout=1, retries=0, reconnect_delay=0.5, reconnect_delay_max=1)
        await client.connect()
        for _ in range(10):
            try:
                answer = await client.read_holding_registers(0, count=1, device_id=1)
                results.append(str(answer.registers))
            except ModbusException:
                results.append("failed")
            await asyncio.sleep(1)
        client.close()

    async def main() -> None:
        loop.spawn("cdu0", modbus_server)
        await started()
        loop.at(3, net.partition, "n0", "cdu0")
        loop.at(6, net.heal, "n0", "cdu0")
        await loop.spawn("n0", client).ended

    play(loop, main())
    assert set(results) == {"failed", "[17]"}
    assert (results[0], results[-1]) == ("[17]", "[17]")


def test_pymodbus_reconnects_to_a_server_that_was_killed_and_started_again() -> None:
    loop = SimLoop(1)
    Net(loop)

    async def main() -> None:
        server = loop.spawn("cdu0", modbus_server)
        await started()
        client = AsyncModbusTcpClient("cdu0", port=502, timeout=1, retries=0, reconnect_delay=0.5, reconnect_delay_max=1)
        await client.connect()
        loop.kill(server)
        await started()
        assert not client.connected
        loop.spawn("cdu0", modbus_server)
        await asyncio.sleep(3)
        assert (await client.read_holding_registers(0, count=1, device_id=1)).registers == [17]
        client.close()

    play(loop, main())


@pytest.mark.parametrize("unix", [False, True])
def test_aiohttp_says_when_nobody_listens(unix: bool) -> None:
    loop = SimLoop(1)
    Net(loop)

    async def main() -> None:
        connector = UnixConnector("/run/admin.sock") if unix else TCPConnector()
        async with ClientSession(connector=connector) as session:
            with pytest.raises(ClientConnectorError):
                await session.get("http://bmc0/")

    play(loop, main())


@pytest.mark.parametrize("name", PAIRS)
def test_a_second_run_in_the_same_process_is_the_same(name: str) -> None:
    assert run(name, 7).digest() == run(name, 7).digest()


@pytest.mark.parametrize("name", PAIRS)
def test_the_digest_is_the_same_in_any_process_and_another_for_another_seed(name: str) -> None:
    def digest(seed: int, hash_seed: int) -> str:
        command = [sys.executable, __file__, name, str(seed)]
        environment = os.environ | {"PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout

    one, two, other = digest(7, 1), digest(7, 4242), digest(8, 1)
    assert len(one.strip()) == 16
    assert one == two != other


if __name__ == "__main__":
    print(run(sys.argv[1], int(sys.argv[2])).digest())  # noqa: T201 - what the script is for
