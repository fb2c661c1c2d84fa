"""On the wire, in virtual time: windows and impairments as a client meets them."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Coroutine
from contextlib import suppress

import pytest
from aiohttp import ClientError, ClientSession, ClientTimeout

from sim_hardware.devices.redfish import RedfishDevice, make_bmc
from sim_hardware.devices.redfish.bmc import AWAY_S, STARTING_S
from sim_hardware.devices.redfish.sessions import SESSIONS
from tests.sim.devices.redfish.clients import BASIC, ROOT, LivePanel, run
from tests.sim.devices.redfish.test_bmc import MANAGER, OFF, ON, RESET, SYSTEM
from tests.sim.devices.redfish.test_service import LOGIN

Story = Callable[[RedfishDevice, LivePanel, ClientSession], Coroutine[None, None, None]]


def is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def tell(story: Story) -> None:
    """Play it with a BMC on the host bmc0 and a client somewhere else."""

    async def scene() -> None:
        loop = asyncio.get_running_loop()
        panel = LivePanel(values={("n0", "node.power"): "on", ("n0", "power.available"): 1.0})
        device = make_bmc(panel, "n0")
        async with device.serve("bmc0", 80) as url:
            assert url == "http://bmc0:80"
            async with asyncio.timeout(600), ClientSession(url, headers=BASIC, timeout=ClientTimeout(total=20)) as session:
                begun = loop.time()
                await story(device, panel, session)
                assert loop.time() < begun + 600

    run(scene())


async def get_status(session: ClientSession, path: str) -> int:
    async with session.get(path) as answer:
        await answer.read()
        return answer.status


async def reset(session: ClientSession, kind: str, target: str = RESET) -> None:
    async with session.post(target, json={"ResetType": kind}) as answer:
        assert answer.status == 204


async def read_power(session: ClientSession) -> str:
    async with session.get(SYSTEM) as answer:
        return str((await answer.json())["PowerState"])


def now() -> float:
    return asyncio.get_running_loop().time()


def test_an_answer_has_the_standard_headers() -> None:
    async def story(_device: RedfishDevice, _panel: LivePanel, session: ClientSession) -> None:
        async with session.get(ROOT) as answer:
            assert answer.content_type == "application/json"
            assert answer.headers["OData-Version"] == "4.0"
            assert answer.headers["ETag"] == (await answer.json())["@odata.etag"]
        async with session.head(ROOT) as answer:
            assert (answer.status, await answer.read()) == (200, b"")
        async with session.post(RESET, data=io.BytesIO(b" " * 2**21)) as answer:
            assert answer.status == 413

    tell(story)


def test_a_power_on_right_after_off_is_lost_and_one_that_waits_is_not() -> None:
    async def story(_device: RedfishDevice, panel: LivePanel, session: ClientSession) -> None:
        await reset(session, "ForceOff")
        assert await read_power(session) == "Off"
        assert panel.values["n0", "node.power"] == "on"
        await reset(session, "On")
        await asyncio.sleep(10)
        assert (panel.orders, await read_power(session)) == ([OFF], "Off")
        await reset(session, "On")
        async with session.get(SYSTEM) as answer:
            assert answer.status == 503
            wait = float(answer.headers["Retry-After"])
        await asyncio.sleep(wait)
        assert (panel.orders, await read_power(session)) == ([OFF, ON], "On")

    tell(story)


async def find_back(session: ClientSession) -> float:
    """When the service answers again, asked twice a second."""
    while True:
        try:
            await get_status(session, ROOT)
        except ClientError:
            await asyncio.sleep(0.5)
        else:
            return now()


def test_a_bmc_that_restarts_goes_away_and_forgets_its_sessions() -> None:
    async def story(_device: RedfishDevice, panel: LivePanel, session: ClientSession) -> None:
        async with session.post(SESSIONS, json=LOGIN) as answer:
            token = {"X-Auth-Token": answer.headers["X-Auth-Token"]}
        await reset(session, "ForceRestart", f"{MANAGER}/Actions/Manager.Reset")
        gone = now()
        with pytest.raises(ClientError):
            await get_status(session, ROOT)
        back = await find_back(session)
        assert back - gone == pytest.approx(AWAY_S, abs=1)
        assert await get_status(session, ROOT) == 503
        await asyncio.sleep(STARTING_S)
        assert await get_status(session, MANAGER) == 200
        async with session.get(MANAGER, headers=token) as answer:
            assert answer.status == 401
        assert panel.orders == []

    tell(story)


def test_a_bmc_without_direct_current_is_away() -> None:
    async def story(_device: RedfishDevice, panel: LivePanel, session: ClientSession) -> None:
        assert await get_status(session, ROOT) == 200
        panel.values["n0", "power.available"] = 0.0
        with pytest.raises(ClientError):
            await get_status(session, ROOT)

    tell(story)


def test_one_that_refuses_takes_no_connection_old_or_new() -> None:
    async def story(device: RedfishDevice, _panel: LivePanel, session: ClientSession) -> None:
        assert await get_status(session, ROOT) == 200
        device.impairment.refusing = True
        for _ in range(2):
            with pytest.raises(ClientError):
                await get_status(session, ROOT)
        reader, writer = await asyncio.open_connection("bmc0", 80)
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()
        device.impairment.refusing = False
        assert await get_status(session, ROOT) == 200

    tell(story)


def test_one_that_is_silent_lets_its_caller_wait() -> None:
    async def story(device: RedfishDevice, panel: LivePanel, session: ClientSession) -> None:
        assert await get_status(session, ROOT) == 200
        device.impairment.silent = True
        begun, tasks = now(), len(asyncio.all_tasks())
        with pytest.raises(TimeoutError):
            await reset(session, "ForceOff")
        assert now() - begun == pytest.approx(20, abs=1)
        assert panel.orders == []
        await asyncio.sleep(1)
        assert len(asyncio.all_tasks()) <= tasks
        device.impairment.silent = False
        assert await get_status(session, ROOT) == 200

    tell(story)


def test_one_that_is_slow_takes_its_time() -> None:
    async def story(device: RedfishDevice, _panel: LivePanel, session: ClientSession) -> None:
        device.impairment.delay_s = 7.0
        begun = now()
        assert await get_status(session, ROOT) == 200
        assert 7.0 <= now() - begun < 7.1

    tell(story)


def test_an_order_whose_answer_is_too_late_was_carried_out() -> None:
    async def story(device: RedfishDevice, panel: LivePanel, session: ClientSession) -> None:
        device.impairment.delay_s = 60.0
        with pytest.raises(TimeoutError):
            await reset(session, "ForceRestart")
        assert panel.orders == [OFF, ON]

    tell(story)


@pytest.mark.parametrize(("share", "least", "most"), [(0.0, 0, 0), (0.3, 15, 50), (1.0, 100, 100)])
def test_garbled_answers_are_no_json(share: float, least: int, most: int) -> None:
    async def story(device: RedfishDevice, _panel: LivePanel, session: ClientSession) -> None:
        device.impairment.garbled = share
        answers = []
        for _ in range(100):
            async with session.get(SYSTEM) as answer:
                answers.append(await answer.read())
        broken = [data for data in answers if not is_json(data)]
        assert least <= len(broken) <= most
        cut = [data for data in broken if b"\0" not in data]
        assert least / 4 <= len(cut) <= most * 3 / 4

    tell(story)
