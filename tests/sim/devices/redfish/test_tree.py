"""Whatever the plant shows, every resource that is referred to is there, and is JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.devices.redfish import RedfishDevice, make_bmc, make_cdu, make_pdu
from sim_hardware.plant.words import PlantError, Value
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.redfish.clients import FuzzPanel, ask, crawl

NUMBERS = st.floats() | st.sampled_from([0.0, 1.0, -1.0, 65535.0, 1e308])
WORDS = st.text(max_size=8) | st.sampled_from(["on", "off", "booting", "running", "auto", FuzzPanel.MISSING])
VALUES: st.SearchStrategy[Value] = st.none() | NUMBERS | WORDS | st.frozensets(st.text(max_size=8), max_size=3)
SHOWN = st.lists(VALUES, min_size=1, max_size=40).map(tuple)


def make_all(panel: FakePanel) -> tuple[RedfishDevice, ...]:
    return make_pdu(panel, "A1"), make_pdu(panel, "B1", "cray"), make_cdu(panel, "cdu/0"), make_bmc(panel, "n0")


@settings(max_examples=60, deadline=None)
@given(SHOWN)
def test_every_reference_leads_somewhere(shown: tuple[Value, ...]) -> None:
    for device in make_all(FuzzPanel(shown=shown)):
        for path, body in crawl(device).items():
            assert body["@odata.id"] == path
            assert body["@odata.type"].startswith("#")
            json.dumps(body, allow_nan=False)


def test_without_any_sensor_it_is_all_there_too() -> None:
    sizes = [len(crawl(device)) for device in make_all(FakePanel())]
    assert sizes == [34, 34, 35, 172]


def test_collections_count_their_members() -> None:
    for device in make_all(FakePanel()):
        collections = [body for body in crawl(device).values() if "Members" in body]
        assert len(collections) > 3
        assert all(body["Members@odata.count"] == len(body["Members"]) for body in collections)


def test_actions_name_targets_that_take_post_alone() -> None:
    for device in make_all(FakePanel()):
        targets = [
            action["target"]
            for body in crawl(device).values()
            for action in [*body.get("Actions", {}).values(), *body.get("Actions", {}).get("Oem", {}).values()]
            if "target" in action
        ]
        assert targets
        for target in targets:
            assert ask(device, "GET", target).headers["Allow"] == "POST"
            assert ask(device, "POST", target, {"Nonsense": 1}).status == 400


def test_what_the_rack_does_not_have_cannot_be_made() -> None:
    with pytest.raises(PlantError, match=r"no PDU Z9; there are A1, B1"):
        make_pdu(FakePanel(), "Z9")
    with pytest.raises(PlantError, match=r"no CDU cdu/9; there are cdu/0"):
        make_cdu(FakePanel(), "cdu/9")
    with pytest.raises(PlantError, match=r"no node n9; there are n0"):
        make_bmc(FakePanel(), "n9")
