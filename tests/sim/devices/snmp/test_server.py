"""The agent on the simulated network, in virtual time, and a manager of pysnmp's own."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from pysnmp.hlapi.v3arch.asyncio import (  # type: ignore[import-untyped]  # the library has no types
    CommunityData,
    ContextData,
    Integer32,
    ObjectIdentity,
    ObjectType,
    SnmpEngine,
    UdpTransportTarget,
    get_cmd,
    set_cmd,
)

from sim_hardware.devices.panel import Device, Impairment
from sim_hardware.devices.snmp import SnmpServer, make_pdu_agent, make_ups_agent
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.power.orders import SwitchOutlet
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.snmp.requests import RPDU, RPDU2, decode, encode

Scene = Callable[[SnmpServer, FakePanel, int], Coroutine[None, None, None]]
COMMAND, STATE = f"{RPDU2}.9.2.4.1.5.1", f"{RPDU2}.9.2.3.1.5.1"


class Strip(FakePanel):
    """Its time is the loop's, and its outlets switch at once."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def order(self, order: Any) -> None:
        super().order(order)
        self.values["pdu/A1/outlet1", "outlet.state"] = "on" if order.on else "off"


class Manager(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.heard: asyncio.Queue[bytes] = asyncio.Queue()

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.heard.put_nowait(data)


def run(scene: Scene) -> None:
    loop = SimLoop(1)
    Net(loop)
    plant = Strip(values={("pdu/A1/outlet1", "outlet.state"): "on"})
    server = make_pdu_agent(plant, "A1")

    async def main() -> None:
        async with server.serve("127.0.0.1") as url:
            assert url.startswith("snmp://127.0.0.1:")
            await scene(server, plant, int(url.split(":")[2]))

    play(loop, main())
    assert loop.failures == []


async def open_socket(port: int) -> tuple[asyncio.DatagramTransport, Manager]:
    return await asyncio.get_running_loop().create_datagram_endpoint(Manager, remote_addr=("127.0.0.1", port))


def test_answers_late_garbled_or_not_at_all() -> None:
    async def scene(server: SnmpServer, plant: FakePanel, port: int) -> None:
        transport, manager = await open_socket(port)
        request = encode("get", (STATE, None))
        transport.sendto(request)
        good = await manager.heard.get()
        assert decode(good).value == 2
        server.impairment.delay_s, started = 4.0, plant.now()
        transport.sendto(request)
        assert await manager.heard.get() == good
        assert plant.now() - started == pytest.approx(4.0, abs=0.01)
        server.impairment.delay_s, server.impairment.garbled = 0.0, 1.0
        transport.sendto(request)
        garbled = await manager.heard.get()
        assert sum(one != other for one, other in zip(garbled, good, strict=True)) == 1
        for name in ("silent", "refusing"):
            setattr(server.impairment, name, True)
            transport.sendto(request)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(manager.heard.get(), 60)
            setattr(server.impairment, name, False)
        transport.close()

    run(scene)


def test_they_are_devices_of_the_bench() -> None:
    devices: list[Device] = [make_ups_agent(FakePanel(), "A"), make_pdu_agent(FakePanel(), "A1")]
    assert [(device.name, device.impairment) for device in devices] == [("ups/A/snmp", Impairment()), ("pdu/A1/snmp", Impairment())]


def test_a_delayed_command_runs_on_the_cards_own_timer() -> None:
    async def scene(server: SnmpServer, plant: FakePanel, port: int) -> None:
        transport, manager = await open_socket(port)
        started = plant.now()
        for name, value in ((f"{RPDU}.3.4.1.1.5.1", 30), (COMMAND, 6)):
            transport.sendto(encode("set", (name, value)))
            assert decode(await manager.heard.get()).status == 0
        await asyncio.sleep(started + 29.9 - plant.now())
        assert plant.orders == []
        await asyncio.sleep(0.2)
        assert plant.orders == [SwitchOutlet(pdu="A1", outlet=1, on=False, delay_s=0.1)]
        transport.close()

    run(scene)


def test_what_waits_when_the_server_closes_is_dropped() -> None:
    async def scene(server: SnmpServer, plant: FakePanel, port: int) -> None:
        transport, manager = await open_socket(port)
        async with server.serve("127.0.0.1") as url:
            other, _ = await open_socket(int(url.split(":")[2]))
            server.impairment.delay_s = 5.0
            other.sendto(encode("set", (COMMAND, 2)))
            await asyncio.sleep(1.0)
            other.close()
        await asyncio.sleep(10.0)
        assert (plant.orders, manager.heard.qsize()) == ([], 0)
        transport.close()

    run(scene)


def test_a_manager_of_pysnmp_sees_its_set_after_two_seconds() -> None:
    async def scene(server: SnmpServer, plant: FakePanel, port: int) -> None:
        engine = SnmpEngine()
        target = await UdpTransportTarget.create(("127.0.0.1", port), timeout=1, retries=1)
        who = (engine, CommunityData("private"), target, ContextData())

        async def look() -> int:
            failure, status, _, pairs = await get_cmd(*who, ObjectType(ObjectIdentity(STATE)))
            assert (failure, int(status)) == (None, 0)
            return int(pairs[0][1])

        assert await look() == 2
        failure, status, _, _ = await set_cmd(*who, ObjectType(ObjectIdentity(COMMAND), Integer32(2)))
        assert (failure, int(status)) == (None, 0)
        at = plant.now()
        while await look() == 2:
            await asyncio.sleep(0.05)
        assert 1.5 <= plant.now() - at <= 2.6
        engine.close_dispatcher()

    run(scene)
