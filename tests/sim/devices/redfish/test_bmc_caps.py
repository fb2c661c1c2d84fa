"""The power limit of cards by a node's BMC: what may be written, and that the plant's cards then draw no more."""

from __future__ import annotations

from typing import Any

import pytest

from sim_hardware.devices.redfish import RedfishDevice, make_bmc
from sim_hardware.devices.redfish.bmc_caps import find_bounds
from sim_hardware.plant.cards.orders import CapCard
from sim_hardware.plant.words import Order
from sim_hardware.rack import Rack, generate_rack
from sim_hardware.world import World
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.redfish.clients import BASIC, ask, explain, get

CARD3 = "/redfish/v1/Systems/1/Processors/Card3"
METRICS = f"{CARD3}/EnvironmentMetrics"
LIMIT = "PowerLimitWatts"


@pytest.fixture
def panel() -> FakePanel:
    return FakePanel(values={("n0/card3", "card.cap"): None, ("n0/card3", "card.power"): 512.25})


@pytest.fixture
def bmc(panel: FakePanel) -> RedfishDevice:
    return make_bmc(panel, "n0")


def test_a_card_links_to_its_power_and_its_limit(bmc: RedfishDevice, panel: FakePanel) -> None:
    assert get(bmc, CARD3)["EnvironmentMetrics"] == {"@odata.id": METRICS}
    shown = get(bmc, METRICS)
    assert shown["PowerWatts"] == {"DataSourceUri": "/redfish/v1/Chassis/1/Sensors/Card3Power", "Reading": 512.25}
    assert get(bmc, shown["PowerWatts"]["DataSourceUri"])["Reading"] == 512.25
    assert shown[LIMIT] == {"SetPoint": 600.0, "AllowableMin": 94, "AllowableMax": 600.0, "ControlMode": "Disabled"}
    panel.values["n0/card3", "card.cap"] = 300.0
    assert (get(bmc, METRICS)[LIMIT]["SetPoint"], get(bmc, METRICS)[LIMIT]["ControlMode"]) == (300.0, "Automatic")


@pytest.mark.parametrize(
    ("limit", "watts"),
    [
        ({"SetPoint": 300}, 300.0),
        ({"SetPoint": 94, "ControlMode": "Automatic"}, 94.0),
        ({"ControlMode": "Disabled"}, None),
        ({"SetPoint": 300, "ControlMode": "Disabled"}, None),
    ],
)
def test_a_limit_is_an_order_to_the_card(bmc: RedfishDevice, panel: FakePanel, limit: dict[str, object], watts: float | None) -> None:
    assert ask(bmc, "PATCH", METRICS, {LIMIT: limit}).status == 204
    assert panel.orders == [CapCard("n0/card3", watts)]


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({LIMIT: {"SetPoint": 93}}, "PropertyValueOutOfRange"),
        ({LIMIT: {"SetPoint": 601}}, "PropertyValueOutOfRange"),
        ({LIMIT: {"SetPoint": "300"}}, "PropertyValueTypeError"),
        ({LIMIT: {"ControlMode": "Manual"}}, "PropertyValueNotInList"),
        ({LIMIT: {"ControlMode": "Automatic"}}, "PropertyMissing"),
        ({LIMIT: {"AllowableMax": 900}}, "PropertyNotWritable"),
        ({LIMIT: 300}, "PropertyValueTypeError"),
        ({"PowerWatts": 300}, "PropertyNotWritable"),
    ],
)
def test_what_is_no_limit_is_refused(bmc: RedfishDevice, panel: FakePanel, body: Any, key: str) -> None:
    status, told, _ = explain(ask(bmc, "PATCH", METRICS, body))
    assert (status, told, panel.orders) == (400, key, [])


def test_an_old_tag_writes_nothing(bmc: RedfishDevice, panel: FakePanel) -> None:
    tag = ask(bmc, "GET", METRICS).headers["ETag"]
    headers = {**BASIC, "If-Match": tag}
    panel.values["n0/card3", "card.cap"] = 400.0
    assert ask(bmc, "PATCH", METRICS, {LIMIT: {"SetPoint": 300}}, headers).status == 412
    assert panel.orders == []
    headers["If-Match"] = ask(bmc, "GET", METRICS).headers["ETag"]
    assert ask(bmc, "PATCH", METRICS, {LIMIT: {"SetPoint": 300}}, headers).status == 204


class Plant:
    """The plant as a panel, turned by hand."""

    def __init__(self, rack: Rack) -> None:
        self.rack, self.time = rack, 0.0
        self.world = World(rack, 1, self.now)

    def now(self) -> float:
        return self.time

    def sense(self, subject: str, quantity: str) -> Any:
        return self.world.sense(subject, quantity)

    def order(self, order: Order) -> None:
        self.world.order(order)


def test_a_card_that_is_capped_draws_no_more() -> None:
    plant = Plant(generate_rack(1, 8))
    bmc = make_bmc(plant, "n0")
    plant.time = 90.0
    before = get(bmc, METRICS)["PowerWatts"]["Reading"]
    assert before > 320.0
    assert ask(bmc, "PATCH", METRICS, {LIMIT: {"SetPoint": 300}}).status == 204
    plant.time = 92.0
    assert get(bmc, METRICS)["PowerWatts"]["Reading"] < 306.0
    assert get(bmc, METRICS.replace("Card3", "Card4"))["PowerWatts"]["Reading"] > 320.0
    assert ask(bmc, "PATCH", METRICS, {LIMIT: {"ControlMode": "Disabled"}}).status == 204
    plant.time = 94.0
    assert get(bmc, METRICS)["PowerWatts"]["Reading"] > 320.0


def test_the_lowest_limit_is_one_that_the_plant_takes() -> None:
    plant = Plant(generate_rack(1, 8))
    bmc = make_bmc(plant, "n0")
    low, high = find_bounds(bmc.board)
    for watts in (low, high):
        assert ask(bmc, "PATCH", METRICS, {LIMIT: {"SetPoint": watts}}).status == 204
