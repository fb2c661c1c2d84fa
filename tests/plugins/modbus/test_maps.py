"""Register maps as files: ours are whole and in the vocabulary, bad ones are refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import PluginError
from supernoded.quantities import FOREIGN, VOCABULARY
from supernoded_modbus.maps import RegisterMap, load_map, read_map
from supernoded_modbus.places import lay_out, list_polled, make_blocks
from tests.plugins.modbus.test_kinds import NAMES

HEAD = 'text = "t"\nrows = [\n'
GOOD = '{name = "a", address = 1},'


def make(rows: str, more: str = "") -> RegisterMap:
    return read_map(f"{more}\n{HEAD}{rows}\n]\n".encode(), "t.toml")


@pytest.mark.parametrize("name", NAMES)
def test_what_ours_give_is_in_the_vocabulary(name: str) -> None:
    for row in load_map(name).rows:
        if row.quantity and not row.quantity.startswith(FOREIGN):
            quantity = VOCABULARY[row.quantity]
            assert row.unit == quantity.unit, row.name
            assert quantity.words is None or set(row.words) <= quantity.words, row.name


@pytest.mark.parametrize("name", NAMES)
def test_ours_say_which_device_it_is(name: str) -> None:
    found = load_map(name)
    assert found.models
    assert {"model", "serial"} <= {row.name for row in found.rows}


@pytest.mark.parametrize("name", ["dcd", "plc", "rpu"])
def test_nothing_that_a_loop_writes_is_kept_in_eeprom(name: str) -> None:
    rows = {row.name: row for row in load_map(name).rows if row.writable}
    turned = ("control", "heartbeat", "setpoint_asked", "valve_set", "pump_set", "branch_valve")
    assert {rows[one].storage for one in turned} == {"ram"}
    assert rows["heartbeat"].write_s == 0.0
    assert all(row.write_s <= 1.1 for row in rows.values() if row.storage == "ram")  # what a loop's second has room for


@pytest.mark.parametrize("name", ["ups", "pdu"])
def test_the_polls_of_a_feed_have_answers_of_different_shapes(name: str) -> None:
    """Where two blocks of one unit are equally long, an answer that is said twice could pass for another one's."""
    found = load_map(name)
    polled = [place for place in list_polled(lay_out(found, "x/1")) if place.number < 0]
    periods = {place.row.refresh_s for place in polled}
    blocks = [block for period in periods for block in make_blocks([p for p in polled if p.row.refresh_s == period], found)]
    shapes = [(block.table, block.size) for block in blocks]
    assert len(shapes) == len(set(shapes))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ('{name = "a", address = 1, adress = 2},', "adress"),
        ('{name = "a", address = 1}, {name = "a", address = 2},', "one name"),
        ('{name = "a", address = 1, scale = 0.0},', "scale 0"),
        ('{name = "a", address = 70000},', "65535"),
        ('{name = "a", address = 1, table = "coil"},', "bits"),
        ('{name = "a", address = 1, kind = "bits"},', "bits"),
        ('{name = "a", address = 1, table = "input", writable = true},', "input cannot be written"),
        ('{name = "a", address = 1, clock = "b"},', "no row b"),
        ('{name = "a", address = 1, confirm = "b"},', "no row b"),
        ('{name = "a", address = 1, gather = true},', "gathered"),
        ('{name = "a", address = 1, kind = "u128"},', "u128"),
        ("{address = 1},", "name"),
    ],
)
def test_a_bad_row_is_named(rows: str, reason: str) -> None:
    with pytest.raises(PluginError, match=reason) as caught:
        make(rows)
    assert "t.toml" in str(caught.value)


def test_a_probe_needs_its_rows() -> None:
    with pytest.raises(PluginError, match="a probe needs the rows b and a"):
        make(GOOD, 'probes = [{low = "b", high = "a", least = 1.0, most = 2.0}]')


def test_an_address_before_the_first_of_the_manual_is_refused() -> None:
    with pytest.raises(PluginError, match="address 0 with base 1"):
        make('{name = "a", address = 0},', "base = 1")
    assert lay_out(make('{name = "a", address = 1},', "base = 1"), "x/1")[0].address == 0


@given(st.binary(max_size=200))
def test_any_file_is_a_map_or_an_error_that_names_it(data: bytes) -> None:
    with pytest.raises(PluginError, match=r"t\.toml"):
        read_map(data, "t.toml")


def test_a_value_must_fit_in_one_read() -> None:
    with pytest.raises(PluginError, match="length 8, and one read takes at most 4"):
        make('{name = "a", address = 1, kind = "text", length = 8},', "most = 4")


def test_a_sites_own_map_wins(tmp_path: Path) -> None:
    (tmp_path / "pdu.toml").write_text(f"{HEAD}{GOOD}\n]\n")
    assert load_map("pdu", str(tmp_path)).text == "t"
    assert load_map("ups", str(tmp_path)).text == load_map("ups").text


def test_a_map_that_is_not_there_says_which_are() -> None:
    with pytest.raises(PluginError, match="no register map acme: ours are dcd, pdu, plc, rpu, ups"):
        load_map("acme")


def test_a_map_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "pdu.toml").mkdir()
    assert load_map("pdu", str(tmp_path)).text == load_map("pdu").text
    (tmp_path / "ups.toml").write_text("rows = 1")
    with pytest.raises(PluginError, match=r"ups\.toml"):
        load_map("ups", str(tmp_path))


def test_the_rack_cooling_unit_is_as_publicly_known(recordings: Path) -> None:
    facts = json.loads((recordings / "rackmon" / "rpu_facts.json").read_text())["ORV3_RPU"]
    known = {int(address): fact for address, fact in facts["read"].items() if isinstance(fact, list) and len(fact) == 3}
    rows = [place for place in lay_out(load_map("rpu"), "cdu/0") if place.address in known]
    assert len(rows) >= 8
    for place in rows:
        _, scale, kind = known[place.address]
        assert (place.row.scale, place.row.kind) == (scale, kind), place
    assert {"6565", "6566"} <= facts["sticky"].keys()
    assert {6565, 6566} <= {place.address for place in lay_out(load_map("rpu"), "cdu/0")}
