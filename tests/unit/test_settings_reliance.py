"""Which nodes carry the broker, the database and copies of checkpoints, by the settings alone (safety rule 6)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import msgspec
import pytest

from supernoded.__main__ import check
from supernoded.ports import system_ports
from supernoded.settings import Settings
from supernoded.settings.reliance import list_relied_on, list_unplaced

SITE = {
    "nodes": [
        {"name": "n0", "cards": 1},
        {"name": "n1", "cards": 1, "address": "10.0.0.11:22"},
        {"name": "n2", "cards": 1, "address": "[fd00::2]:22"},
    ],
    "pdus": [{"name": "A1", "feed": "A", "outlets": [{"number": 1, "load": "n1"}]}],
}


def make(**tables: Any) -> Settings:
    return msgspec.convert({"node": "n0", "topology": SITE, **tables}, Settings, strict=False)


@pytest.mark.parametrize(
    ("tables", "nodes"),
    [
        ({}, ()),
        ({"mqtt": {"host": "n1"}}, ("n1",)),
        ({"mqtt": {"host": "N1.example"}}, ("n1",)),
        ({"mqtt": {"host": "n11"}}, ()),
        ({"mqtt": {"host": "10.0.0.11"}}, ("n1",)),
        ({"mqtt": {"host": "fd00::2"}}, ("n2",)),
        ({"journal": {"database": "postgresql://u@n2:5432/supernoded"}}, ("n2",)),
        ({"journal": {"database": "postgresql://n9:5432,n1:5433/s"}}, ("n1",)),
        ({"journal": {"database": "postgresql:///s?host=n2,n1"}}, ("n2", "n1")),
        ({"journal": {"database": "postgresql://[fd00::2]:5432/s"}}, ("n2",)),
        ({"mqtt": {"host": "n1"}, "vault": {"peer": {"push": ["10.0.0.11:7474", "[fd00::2]:7474"]}}}, ("n1", "n2")),
    ],
)
def test_nodes_are_known_by_name_and_by_address(tables: dict[str, Any], nodes: tuple[str, ...]) -> None:
    assert list_relied_on(make(**tables)) == nodes


def test_what_no_node_is_known_to_carry_is_told_till_the_site_has_said_what_stays_on() -> None:
    far: dict[str, Any] = {
        "mqtt": {"host": "broker"},
        "journal": {"database": "postgresql://db/s"},
        "vault": {"durable": Path("/mnt/checkpoints")},
    }
    told = list_unplaced(make(**far))
    assert [one.partition(": ")[0] for one in told] == ["mqtt.host = broker", "journal.database = db", "vault.durable = /mnt/checkpoints"]
    assert "plugins.power.never_off" in told[0]
    assert list_unplaced(make(**far, plugins={"power": {"never_off": ["n1"]}})) == []
    assert list_unplaced(make(mqtt={"host": "localhost"}, journal={"database": "postgresql://n1/s"})) == []
    assert (
        list_unplaced(msgspec.convert({"node": "n0", "topology": {"nodes": [{"name": "n0", "cards": 1}]}, **far}, Settings, strict=False))
        == []
    )


def test_the_check_says_so_and_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = '[[nodes]]\nname = "n0"\ncards = 1\n[[nodes]]\nname = "n1"\ncards = 1\n'
    (tmp_path / "site.toml").write_text(
        nodes + '[[feeds]]\nname = "A"\n[[pdus]]\nname = "A1"\nfeed = "A"\noutlets = [{number = 1, load = "n1"}]\n'
    )
    file = tmp_path / "supernoded.toml"
    file.write_text(f'node = "n0"\ntopology = "site.toml"\nstate = "{tmp_path}"\nruntime = "{tmp_path}"\nmqtt.host = "broker"\n')
    assert check(file, {}, system_ports({}, logging.getLogger("check"))) == 0
    minded, sound = capsys.readouterr().out.splitlines()
    assert ("mind: mqtt.host = broker: whether a node" in minded, "sound, for node n0" in sound) == (True, True)
