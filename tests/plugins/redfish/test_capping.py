"""A node is capped by its BMC, card by card, and what stood before comes back."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

import supernoded_redfish
from supernoded.errors import NotHeldError, WireError
from supernoded.model import Action, Effect, Sight, State, Step
from supernoded.plugin import Actuator, Node, Sensor
from supernoded.testing import MemoryHttp, MemoryWires
from supernoded_redfish.settings import RedfishSettings

URL = "https://bmc1"
SYSTEM = "redfish/v1/Systems/HGX"
SETTINGS = msgspec.convert({"bmcs": {"peer": {"url": URL, "node": "n1", "monitor": False, "caps": True}}}, RedfishSettings)


def link(path: str) -> dict[str, str]:
    return {"@odata.id": f"/{path}"}


def name_metrics(identity: str) -> str:
    return f"{SYSTEM}/Processors/{identity}/EnvironmentMetrics"


def show_card(watts: float, cap: float | None = None, tag: str = "") -> dict[str, object]:
    limit = {
        "SetPoint": 600.0 if cap is None else cap,
        "AllowableMin": 100,
        "AllowableMax": 600,
        "ControlMode": "Automatic" if cap else "Disabled",
    }
    return {"PowerLimitWatts": limit, "PowerWatts": {"Reading": watts}, **({"@odata.etag": tag} if tag else {})}


class Bmc(MemoryHttp):
    """Follows what it is told; a card in `refusing` does not."""

    def __init__(self) -> None:
        super().__init__(URL, MemoryWires()._pen)
        self.refusing: dict[str, str] = {}

    async def order(
        self, scope: str, method: str, path: str, body: Mapping[str, object], within: float = 5.0, match: str = ""
    ) -> Mapping[str, object]:
        await super().order(scope, method, path, body, within, match)
        if path in self.refusing and match != "*":
            raise WireError(f"{URL}/{path}: {self.refusing[path]}")
        shown, told = self.answers[path], body["PowerLimitWatts"]
        assert isinstance(shown, dict)
        assert isinstance(told, dict)
        shown["PowerLimitWatts"].update(told)
        mode, cap = shown["PowerLimitWatts"]["ControlMode"], shown["PowerLimitWatts"]["SetPoint"]
        shown["PowerWatts"] = {"Reading": 512.0 if mode == "Disabled" else min(512.0, cap)}
        return {}


@pytest.fixture
def bmc(supernoded_wires: MemoryWires) -> Bmc:
    http = Bmc()
    http._pen = supernoded_wires._pen
    supernoded_wires._services[URL] = http
    processors = {"CPU_0": "CPU", "GPU_10": "GPU", "GPU_2": "GPU", "FPGA_0": "FPGA"}
    http.answers["redfish/v1/Systems"] = {"Members": [link(SYSTEM)]}
    http.answers[SYSTEM] = {"Processors": link(f"{SYSTEM}/Processors")}
    http.answers[f"{SYSTEM}/Processors"] = {"Members": [link(f"{SYSTEM}/Processors/{one}") for one in processors]}
    for one, kind in processors.items():
        http.answers[f"{SYSTEM}/Processors/{one}"] = {"ProcessorType": kind, "EnvironmentMetrics": link(name_metrics(one))}
        http.answers[name_metrics(one)] = show_card(512.0)
    return http


@pytest.fixture
def cap(supernoded_node: Node, bmc: Bmc) -> Actuator:
    del bmc
    (actuator,) = supernoded_redfish.supernoded_actuators(SETTINGS, supernoded_node)
    return actuator


def order(amount: float | None, name: str = "cap") -> Action:
    step = Step(name=name, kind="power.cap", target="n1", reason="a test", amount=amount)
    return Action(id=f"i/{name}", step=step, incident="i", scope="power/site", epoch=1, issued=0.0, deadline=10.0)


async def observe(actuator: Actuator, amount: float | None) -> Sight:
    return await actuator.observe(order(amount))


def list_orders(bmc: Bmc) -> list[tuple[str, object]]:
    found = [(path.split("/")[-2], body["PowerLimitWatts"]) for _, _, path, body in bmc.orders]
    bmc.orders.clear()
    return found


async def test_every_card_is_capped_and_no_other_processor(cap: Actuator, bmc: Bmc) -> None:
    assert (sorted(cap.kinds), list(cap.targets)) == (["power.cap"], ["n1"])
    assert (await observe(cap, 300.0)).effect is Effect.ABSENT
    await cap.apply(order(300.0))
    assert {(scope, method) for scope, method, _, _ in bmc.orders} == {("power/site", "PATCH")}
    limit = {"SetPoint": 300.0, "ControlMode": "Automatic"}
    assert list_orders(bmc) == [("GPU_2", limit), ("GPU_10", limit)]
    sight = await observe(cap, 300.0)
    assert (sight.effect, sight.text) == (Effect.PRESENT, "2 cards hold at most 300 W")
    await cap.apply(order(300.0))
    assert list_orders(bmc) == []  # nothing is written that stands


async def test_a_cap_below_what_a_card_can_be_held_at_is_told_as_what_it_is(cap: Actuator, bmc: Bmc) -> None:
    await cap.apply(order(50.0))
    assert [limit for _, limit in list_orders(bmc)] == [{"SetPoint": 100.0, "ControlMode": "Automatic"}] * 2
    sight = await observe(cap, 50.0)
    assert (sight.effect, sight.text) == (Effect.PRESENT, "2 cards hold at most 100 W, as low as they can be held; 50 W was asked for")


async def test_a_card_that_goes_on_drawing_is_not_capped_yet(cap: Actuator, bmc: Bmc) -> None:
    await cap.apply(order(300.0))
    bmc.answers[name_metrics("GPU_10")] = show_card(480.0, cap=300.0)
    sight = await observe(cap, 300.0)
    assert (sight.effect, sight.text) == (Effect.UNKNOWN, "n1/card1: its limit is 300 W, and it still draws 480 W")


async def test_what_stood_before_comes_back_over_a_restart_and_a_second_cap(cap: Actuator, bmc: Bmc, supernoded_node: Node) -> None:
    bmc.answers[name_metrics("GPU_10")] = show_card(450.0, cap=450.0)
    await cap.apply(order(300.0))
    await cap.apply(order(200.0, "again"))
    list_orders(bmc)
    (later,) = supernoded_redfish.supernoded_actuators(SETTINGS, supernoded_node)
    assert (await observe(later, None)).effect is Effect.ABSENT
    await later.apply(order(None))
    assert list_orders(bmc) == [("GPU_2", {"ControlMode": "Disabled"}), ("GPU_10", {"SetPoint": 450.0, "ControlMode": "Automatic"})]
    assert (await observe(later, None)).effect is Effect.PRESENT
    await later.apply(order(None))
    assert list_orders(bmc) == []


async def test_a_card_that_is_not_shown_is_not_told_as_lifted(cap: Actuator, bmc: Bmc) -> None:
    await cap.apply(order(300.0))
    shown = bmc.answers[name_metrics("GPU_2")]
    bmc.answers[name_metrics("GPU_2")] = {"PowerWatts": {"Reading": 90.0}}  # as while its driver starts
    await cap.apply(order(None))
    sight = await observe(cap, None)
    assert (sight.effect, "n1/card0: capped by us and not shown now" in sight.text) == (Effect.UNKNOWN, True)
    bmc.answers[name_metrics("GPU_2")] = shown
    assert (await observe(cap, None)).effect is Effect.ABSENT
    await cap.apply(order(None))
    assert (await observe(cap, None)).effect is Effect.PRESENT


async def test_a_limit_of_somebody_else_is_not_lifted(cap: Actuator, bmc: Bmc) -> None:
    bmc.answers[name_metrics("GPU_2")] = show_card(250.0, cap=250.0)
    await cap.apply(order(300.0))
    assert [card for card, _ in list_orders(bmc)] == ["GPU_10"]
    bmc.answers[name_metrics("GPU_10")] = show_card(200.0, cap=200.0)  # lowered by another since
    assert (await observe(cap, None)).effect is Effect.PRESENT
    await cap.apply(order(None))
    assert list_orders(bmc) == []
    sight = await observe(cap, None)
    assert (sight.effect, "limits stand that this daemon has not set: n1/card0 250 W" in sight.text) == (Effect.UNKNOWN, True)


async def test_without_any_limit_there_is_nothing_to_lift(cap: Actuator) -> None:
    assert (await observe(cap, None)).effect is Effect.PRESENT


async def test_one_card_that_refuses_does_not_keep_the_others(cap: Actuator, bmc: Bmc) -> None:
    bmc.refusing[name_metrics("GPU_2")] = "400 Bad Request"
    with pytest.raises(WireError, match=r"1 of 2 limits were not set: n1/card0: .*400 Bad Request"):
        await cap.apply(order(300.0))
    sight = await observe(cap, 300.0)
    assert (sight.effect, sight.text) == (Effect.ABSENT, "n1/card0: its limit is none")


async def test_a_tag_goes_with_the_order(cap: Actuator, bmc: Bmc) -> None:
    bmc.answers[name_metrics("GPU_2")] = show_card(512.0, tag='W/"7"')
    await cap.apply(order(300.0))
    assert bmc.matches == ['W/"7"', ""]


async def test_a_tag_that_never_stands_still_keeps_nobody_from_capping(cap: Actuator, bmc: Bmc) -> None:
    bmc.answers[name_metrics("GPU_2")] = show_card(512.0, tag='W/"7"')
    bmc.refusing[name_metrics("GPU_2")] = "412 Precondition Failed"
    await cap.apply(order(300.0))
    assert bmc.matches == ['W/"7"', "*", ""]
    assert (await observe(cap, 300.0)).effect is Effect.PRESENT


async def test_nothing_is_written_without_leave_nor_before_it_is_remembered(cap: Actuator, bmc: Bmc, supernoded_wires: MemoryWires) -> None:
    supernoded_wires.refusals["power/site"] = "the lease is over"
    with pytest.raises(NotHeldError):
        await cap.apply(order(300.0))
    assert bmc.orders == []


async def test_a_record_that_is_none_stops_a_cap(cap: Actuator, bmc: Bmc, supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    supernoded_wires.tree(str(supernoded_node.state.absolute())).files["caps/n1.json"] = "[]"
    with pytest.raises(WireError, match="is no record of limits"):
        await cap.apply(order(300.0))
    assert bmc.orders == []


async def test_the_sensor_tells_limits_and_power(supernoded_node: Node, bmc: Bmc) -> None:
    bmc.answers[name_metrics("GPU_10")] = show_card(300.0, cap=300.0)
    (sensor,) = supernoded_redfish.supernoded_sensors(SETTINGS, supernoded_node)
    assert (sensor.name, sensor.period) == ("redfish.peer.caps", 30.0)
    assert await read(sensor) == {
        ("n1/card0", "card.power_cap"): 600.0,
        ("n1/card0", "card.power"): 512.0,
        ("n1/card1", "card.power_cap"): 300.0,
        ("n1/card1", "card.power"): 300.0,
    }
    bmc.answers[name_metrics("GPU_2")] = {
        "PowerLimitWatts": {"SetPoint": None, "ControlMode": "Disabled"},
        "PowerWatts": {"Reading": "N/A"},
    }
    assert [(await read(sensor))["n1/card0", quantity] for quantity in ("card.power_cap", "card.power")] == [None, None]


async def read(sensor: Sensor) -> dict[tuple[str, str], object]:
    readings = await sensor.read()
    assert all((reading.value is None) is (reading.state is State.UNKNOWN) for reading in readings)
    return {(reading.subject, reading.quantity): reading.value for reading in readings}


async def test_cards_by_name(supernoded_node: Node, bmc: Bmc) -> None:
    del bmc
    raw = {"bmcs": {"own": {"url": URL, "monitor": False, "caps": True, "cards": {"GPU_10": "n0/card5"}}}}
    (sensor,) = supernoded_redfish.supernoded_sensors(msgspec.convert(raw, RedfishSettings), supernoded_node)
    assert {subject for subject, _ in await read(sensor)} == {"n0/card5"}


async def test_a_bmc_without_accelerators_says_what_it_has(cap: Actuator, bmc: Bmc) -> None:
    for one in ("GPU_10", "GPU_2"):
        del bmc.answers[f"{SYSTEM}/Processors/{one}"]
        bmc.answers[f"{SYSTEM}/Processors/{one}"] = {"ProcessorType": "CPU"}
    with pytest.raises(WireError, match=r"no accelerator with EnvironmentMetrics; its processors are CPU_0 \(CPU\)"):
        await observe(cap, 300.0)


async def test_what_moved_is_found_again(cap: Actuator, bmc: Bmc) -> None:
    assert (await observe(cap, 300.0)).effect is Effect.ABSENT
    bmc.answers[f"{SYSTEM}/Processors/GPU_2"] = {"ProcessorType": "GPU", "EnvironmentMetrics": link("redfish/v1/new")}
    bmc.answers["redfish/v1/new"] = show_card(90.0, cap=300.0)
    bmc.answers[name_metrics("GPU_2")] = WireError("404")
    with pytest.raises(WireError):
        await observe(cap, 300.0)
    assert (await observe(cap, 300.0)).text == "n1/card1: its limit is none"
