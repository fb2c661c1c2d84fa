"""Which devices are taken up, in which scope, and which URLs are none."""

from __future__ import annotations

import pytest

import supernoded_nut
from supernoded.plugin import Node, PluginError, WireError
from supernoded_nut.place import Place, parse_place, parse_server
from supernoded_nut.settings import NutSettings


def test_what_the_topology_reaches_over_nut(node: Node) -> None:
    sensors = supernoded_nut.supernoded_sensors(NutSettings(poll_s=0.5), node)
    assert [(sensor.name, sensor.scope, sensor.period) for sensor in sensors] == [
        ("nut.ups/A", "feed/A", 0.5),
        ("nut.pdu/A1", "feed/A", 0.5),
    ]
    (actuator,) = supernoded_nut.supernoded_actuators(NutSettings(), node)
    assert (actuator.targets, "power.off" in actuator.kinds) == (("pdu/A1/outlet*",), True)


def test_a_view_reads_and_takes_no_orders(node: Node) -> None:
    settings = NutSettings(views={"pdu/B1": "nut://v/pdu-b1", "ups/A": "nut://v/again"})
    names = {sensor.name: sensor.scope for sensor in supernoded_nut.supernoded_sensors(settings, node)}
    assert names == {"nut.ups/A": "feed/A", "nut.pdu/A1": "feed/A", "nut.view.pdu/B1": "feed/B", "nut.view.ups/A": "feed/A"}
    assert len(supernoded_nut.supernoded_actuators(settings, node)) == 1


def test_a_view_of_nothing_is_refused(node: Node) -> None:
    with pytest.raises(PluginError, match=r"\[plugins\.nut\.views\] 'ups/C': the topology has ups/A, ups/B, pdu/A1, pdu/B1"):
        supernoded_nut.supernoded_sensors(NutSettings(views={"ups/C": "nut://v/c"}), node)
    with pytest.raises(WireError, match="write nut://host/name"):
        supernoded_nut.supernoded_sensors(NutSettings(views={"ups/A": "snmp://v"}), node)


@pytest.mark.parametrize(
    ("url", "place", "server"),
    [
        ("nut://Rack7.example./ups-a", Place("rack7.example", 3493, "ups-a"), "tcp://rack7.example:3493"),
        ("nut://10.0.0.1:13493/a.b", Place("10.0.0.1", 13493, "a.b"), "tcp://10.0.0.1:13493"),
        ("nut://[::1]/ups", Place("::1", 3493, "ups"), "tcp://[::1]:3493"),
    ],
)
def test_places(url: str, place: Place, server: str) -> None:
    assert parse_place(url) == place
    assert place.server == server


@pytest.mark.parametrize(
    "url", ["nut://h", "nut://h/", "nut:///a", "nut://h:0/a", "nut://h:x/a", "nut://h/a b", "nut://h/a?b=1", "tcp://h/a", ""]
)
def test_what_is_no_place(url: str) -> None:
    with pytest.raises(WireError, match="write nut://host/name"):
        parse_place(url)


def test_a_login_in_a_url_is_not_repeated() -> None:
    with pytest.raises(WireError, match="holds a login") as caught:
        parse_place("nut://admin:secret@h/a")
    assert "secret" not in str(caught.value)


def test_a_server_has_no_path() -> None:
    assert parse_server("h:1") == Place("h", 1)
    with pytest.raises(WireError, match="write host or host:3493"):
        parse_server("h/ups")
