"""Outlets through the actuator that the plugin hands over."""

from __future__ import annotations

import asyncio

import pytest

import supernoded_nut
from supernoded.model import Action, Effect, Step
from supernoded.plugin import Actuator, Node, WireError
from supernoded.testing import ManualClock, MemoryWires
from supernoded_nut.settings import NutSettings, ServerSettings
from supernoded_nut.words import RefusalError
from tests.plugins.nut.upsd import Upsd

SETTINGS = NutSettings(servers={"u": ServerSettings(user="admin", password_file="/s/nut", insecure=True)})


def order(kind: str, target: str = "pdu/A1/outlet7") -> Action:
    step = Step(name="x", kind=kind, target=target, reason="a test")
    return Action(id="i/x", step=step, incident="i", scope="feed/A", epoch=1, issued=0.0, deadline=10.0)


@pytest.fixture
def actuator(node: Node, supernoded_wires: MemoryWires) -> Actuator:
    supernoded_wires.tree("/s").files["nut"] = "secret"
    (actuator,) = supernoded_nut.supernoded_actuators(SETTINGS, node)
    return actuator


async def apply(actuator: Actuator, action: Action, clock: ManualClock) -> None:
    applying = asyncio.create_task(actuator.apply(action))
    while not applying.done():
        await clock.advance(0.05)
    await applying


async def test_off_and_on_again(actuator: Actuator, upsd: Upsd, supernoded_clock: ManualClock) -> None:
    pdu = {"outlet.7.status": "on", "outlet.7.realpower": "80"}
    upsd.devices["pdu-a1"] = pdu

    def switch(word: str, watts: str) -> str:
        pdu.update({"outlet.7.status": word, "outlet.7.realpower": watts})
        return "SUCCESS"

    upsd.commands |= {"outlet.7.load.off": lambda: switch("off", "0"), "outlet.7.load.on": lambda: switch("on", "75")}
    assert (await actuator.observe(order("power.off"))).effect is Effect.ABSENT
    await apply(actuator, order("power.off"), supernoded_clock)
    assert (await actuator.observe(order("power.off"))).effect is Effect.PRESENT
    assert (await actuator.observe(order("power.on"))).effect is Effect.ABSENT
    await apply(actuator, order("power.on"), supernoded_clock)
    assert (await actuator.observe(order("outlet.on"))).text == "on, and current flows"


async def test_a_word_against_the_meter_is_no_effect(actuator: Actuator, upsd: Upsd) -> None:
    upsd.devices["pdu-a1"] = {"outlet.7.status": "off", "outlet.7.realpower": "80"}
    assert (await actuator.observe(order("power.off"))).effect is Effect.UNKNOWN


async def test_a_driver_without_the_command_says_so(actuator: Actuator, upsd: Upsd, supernoded_clock: ManualClock) -> None:
    with pytest.raises(RefusalError, match=r"INSTCMD pdu-a1 outlet\.7\.load\.off was refused: CMD-NOT-SUPPORTED"):
        await apply(actuator, order("power.off"), supernoded_clock)


async def test_what_is_not_seen_is_unknown(actuator: Actuator, upsd: Upsd) -> None:
    assert (await actuator.observe(order("power.off", "pdu/A1/outlet8"))).text == "the PDU shows no such outlet"
    upsd.devices["pdu-a1"] = {"outlet.7.status": "toggling"}
    assert (await actuator.observe(order("power.off"))).effect is Effect.UNKNOWN
    upsd.devices["pdu-a1"] = "DATA-STALE"
    with pytest.raises(WireError, match="DATA-STALE"):
        await actuator.observe(order("power.off"))
    upsd.devices["pdu-a1"] = {"ups.status": "WAIT", "outlet.7.status": "off"}
    with pytest.raises(WireError, match="only just started"):
        await actuator.observe(order("power.off"))
