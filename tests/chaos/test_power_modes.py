"""Whole daemons that may not act on power, and one whose policy leaves `act` in the middle of an outage (safety rule 3)."""

from __future__ import annotations

import asyncio

import aiohttp
import msgspec
import pytest

from supernoded.messages import ModeChange, ModeChanged, encode
from supernoded.model import Mode
from tests.chaos.power_play import Record, Scene, Stand, play_storm
from tests.chaos.power_storm import Storm, Strike

FROM_S, FOR_S = 40.0, 60.0
OUTAGE = Storm(
    seed=7,
    rack="single-path-2x8",
    strikes=tuple(Strike(FROM_S, FOR_S, "power.input_sag", f"utility/{name}", {"depth": 1.0}) for name in "AB"),
)


@pytest.mark.parametrize("mode", ["observe", "advise"])
def test_not_one_order_reaches_the_plant_unless_it_may_act(mode: str) -> None:
    record = play_storm(OUTAGE, settings=f'mode = "{mode}"\n', calm_s=20.0)
    assert record.ours == []
    assert {incident.kind for incident in record.incidents} >= {"power.outage"}
    assert {deed.action.step.kind for deed in record.deeds} == ({"notify"} if mode == "advise" else set())
    assert record.failures == []


async def change_mode(stand: Stand, mode: Mode) -> ModeChanged:
    """What `supernodectl mode MODE --policy power` asks of the daemon of the first node."""
    answers: list[bytes] = []

    async def request() -> None:
        connector, wanted = aiohttp.UnixConnector(f"{stand.folder}/n0/run/admin.sock"), encode(ModeChange(mode=mode))
        async with aiohttp.ClientSession(connector=connector) as http, http.put("http://n0/v1/modes/power", data=wanted) as answer:
            answers.append(await answer.read())

    await stand.loop.spawn(f"operator-{mode.value}", request, host="n0").ended
    return msgspec.json.decode(answers[0], type=ModeChanged)


def leave_act(at: float, back_at: float | None, seen: dict[str, object]) -> Scene:
    async def scene(stand: Stand) -> None:
        await asyncio.sleep(at)
        seen["armed before"] = [stand.world.truth(f"pdu/{pdu}", "pdu.armed") for pdu in ("A1", "B1")]
        seen["text"] = (await change_mode(stand, Mode.OBSERVE)).text
        seen["at"] = stand.loop.time()
        seen["armed"] = [stand.world.truth(f"pdu/{pdu}", "pdu.armed") for pdu in ("A1", "B1")]
        if back_at is not None:
            await asyncio.sleep(back_at - stand.loop.time())
            seen["caps"] = [stand.world.truth(f"{node}/card0", "card.cap") for node in ("n0", "n1")]
            await change_mode(stand, Mode.ACT)

    return scene


def list_after(record: Record, at: object) -> set[str]:
    assert isinstance(at, float)
    return {type(order.order).__name__ for order in record.ours if order.at > at}


def test_leaving_act_at_rest_disarms_both_pdus_before_it_says_done() -> None:
    seen: dict[str, object] = {}
    record = play_storm(msgspec.structs.replace(OUTAGE, strikes=()), calm_s=60.0, scene=leave_act(40.0, None, seen))
    assert (seen["armed before"], seen["armed"]) == ([1.0, 1.0], [0.0, 0.0])
    assert str(seen["text"]).count("handed back, and the device shows it") == 2
    assert list_after(record, seen["at"]) == set()


def test_leaving_act_in_an_outage_disarms_and_says_which_caps_stand_and_they_are_lifted_once_it_acts_again() -> None:
    seen: dict[str, object] = {}
    record = play_storm(OUTAGE, calm_s=60.0, scene=leave_act(FROM_S + 20.0, FROM_S + FOR_S + 150.0, seen))
    assert seen["armed"] == [0.0, 0.0]
    assert "left as it is till power acts again" in str(seen["text"])
    assert "power.cap on n0, power.cap on n1" in str(seen["text"])
    assert seen["caps"] == [350.0, 350.0]  # long after the mains were back: nothing is written outside `act`
    assert [record.truth[f"{node}/card0", "card.cap"] for node in ("n0", "n1")] == [None, None]
    assert {incident.kind: incident.closed is not None for incident in record.incidents}["power.outage"]
