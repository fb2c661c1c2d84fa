"""What a link monitor answers, whole, half and garbage."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_redfish.monitor import find_link, name_port, parse_monitor, parse_ports, read_rate
from supernoded_redfish.paths import list_members

PATH = "redfish/v1/Managers/1/Oem/Any/LinkHealthMonitor"
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = ("Enabled", "Status", "Readings", "IntervalSeconds", "Ports", "Port", "BitErrorRate", "ReadingTime", "@odata.id", "State")
SHAPED = st.recursive(JSON, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner), max_leaves=12)


def port(**more: object) -> dict[str, object]:
    path = "/redfish/v1/Chassis/1/NetworkAdapters/Card3/Ports/1"
    return {"Port": {"@odata.id": path}, "ReadingTime": "2026-01-01T00:00:05Z", "BitErrorRate": 2e-13, **more}


@pytest.mark.parametrize(
    ("body", "enabled"),
    [
        ({"Enabled": True}, True),
        ({"Enabled": False, "Status": {"State": "Enabled"}}, False),
        ({"Status": {"State": "Disabled"}}, False),
        ({"Enabled": "yes", "Status": {"State": "Enabled"}}, True),
        ({"Enabled": 1}, None),
        ({"Status": {"State": ["Enabled"]}}, None),
        ({}, None),
    ],
)
def test_on_and_off_and_not_told(body: dict[str, object], enabled: bool | None) -> None:
    monitor = parse_monitor(body, PATH)
    assert monitor.enabled is enabled
    assert (monitor.note != "") == (enabled is None)
    assert (monitor.readings, monitor.interval) == (f"{PATH}/Readings", 5.0)


def test_the_monitor_says_where_its_readings_are_and_how_often() -> None:
    monitor = parse_monitor({"Enabled": True, "IntervalSeconds": 30, "Readings": {"@odata.id": "/redfish/v1/r"}}, PATH)
    assert (monitor.readings, monitor.interval) == ("/redfish/v1/r", 30.0)


def test_every_rate_of_every_port() -> None:
    rates = list(parse_ports({"Ports": [port(PreFecBitErrorRate=1e-8), "junk", {}, port(Port="eth7", BitErrorRate=None)]}))
    assert [(rate.port, rate.quantity, rate.value) for rate in rates] == [
        ("Card3/1", "link.ber.post_fec", 2e-13),
        ("Card3/1", "link.ber.pre_fec", 1e-8),
        ("eth7", "link.ber.post_fec", None),
    ]
    assert rates[2].note == "BitErrorRate is missing, no number"


@pytest.mark.parametrize(("value", "rate"), [(0, 0.0), ("1.5E-13", 1.5e-13), ("15E-255", 0.0), (1e-12, 1e-12)])
def test_numbers_and_numbers_as_texts(value: object, rate: float) -> None:
    assert read_rate(value) == (rate, "")


@pytest.mark.parametrize("value", [None, "N/A", "", "-", True, -1e-12, math.nan, math.inf, "nan", [1], {}, 10**400])
def test_what_is_no_rate_is_never_zero(value: object) -> None:
    rate, note = read_rate(value)
    assert rate is None
    assert note


def test_names_of_ports_are_fit_for_subjects() -> None:
    assert name_port({"@odata.id": "/a/NetworkAdapters/NIC 0/Ports/1#"}) == "NIC_0/1_"
    assert name_port("eth0") == "eth0"
    assert name_port({"@odata.id": 3}) == ""


def test_the_monitor_is_found_in_whoevers_part() -> None:
    link = {"@odata.id": "/redfish/v1/m"}
    assert find_link({"Acme": {"Other": link, "Deep": {"RoCELinkHealthMonitor": link}}}) == "/redfish/v1/m"
    assert find_link({"Acme": {"Other": link}}) == ""
    assert list_members({"Members": [link, 3, {}]}) == ["/redfish/v1/m"]


@given(JSON | SHAPED)
def test_no_answer_makes_it_raise(body: Any) -> None:
    body = body if isinstance(body, dict) else {"Enabled": body, "Status": body, "Ports": [body], "Members": body, "Readings": body}
    monitor = parse_monitor(body, PATH)
    assert monitor.interval > 0
    assert all(rate.value is None or 0 <= rate.value < math.inf for rate in parse_ports(body))
    assert all(list_members(body))
    assert isinstance(find_link(body), str)
