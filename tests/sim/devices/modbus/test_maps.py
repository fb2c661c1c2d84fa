"""Maps as data: those that come along, and those that cannot be."""

import pytest

from sim_hardware.devices.modbus.layout import lay_out
from sim_hardware.devices.modbus.maps import MapError, list_maps, load_map, read_map
from tests.sim.devices.modbus.samples import HEAD, make_map


def test_the_maps_that_come_along() -> None:
    assert list_maps() == ("dcd", "pdu", "plc", "rpu", "ups")


@pytest.mark.parametrize("name", list_maps())
def test_each_can_be_laid_out_for_a_big_device(name: str) -> None:
    layout = lay_out(load_map(name), "cdu/0", range(1, 65))
    assert layout.fields
    assert "serial" in layout.names


def test_the_public_addresses_of_the_rpu() -> None:
    fields = lay_out(load_map("rpu"), "cdu/0").names
    flow, outlet, tach = fields["flow"], fields["outlet_temperature"], fields["pump_tach.3"]
    assert (flow.address, flow.spec.kind, flow.spec.scale) == (36864, "u16", 0.1)
    assert (outlet.address, outlet.spec.kind, outlet.spec.scale) == (36865, "s16", 0.1)
    assert tach.address == 36877
    assert fields["stored_pump_duty.0"].address == 41987
    assert fields["target_temperature"].address == 37918


def test_an_unknown_map_is_refused_with_those_there_are() -> None:
    with pytest.raises(MapError, match="xdu: no register map of this name; there are dcd, pdu, plc, rpu, ups"):
        load_map("xdu")


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('registers = [{name = "a", address = 1, colour = "red"}]', "colour"),
        ('registers = [{name = "a", address = 70000}]', "65535"),
        ('registers = [{name = "a", address = 1, kind = "u8"}]', "u8"),
        ('registers = [{name = "a", address = 1, storage = "tape"}]', "tape"),
        ("registers = [", "test"),
        ("", "registers"),
    ],
)
def test_a_file_that_is_no_map_says_where(body: str, fault: str) -> None:
    with pytest.raises(MapError, match=fault):
        read_map((HEAD + body).encode(), "test")


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('[{name = "a", address = 1}, {name = "b", address = 0, kind = "u32"}]', "b: holding 1 is taken already"),
        ('[{name = "a", address = 65535, kind = "u32"}]', "a: holding 65536 is beyond 65535"),
        ('[{name = "a", address = 1, scale = 0.0}]', "a: scale 0"),
        ('[{name = "a", address = 1, sentinel = -1.0}]', "a: sentinel -1 is no u16, which is 0 to 65535"),
        ('[{name = "a", address = 1, table = "input", keep = true}]', "a: an input register cannot be written"),
        ('[{name = "a", address = 1, write = [{order = "Explode"}]}]', "a: no order Explode; there are AddLoad"),
        ('[{name = "a", address = 1, write = [{order = "Beat", set = {pdu = "x"}}]}]', "a: Beat has no pdu; it has cdu"),
        ('[{name = "a", address = 1, kind = "text", length = 4, flags = ["x"]}]', "a: a text has neither writes nor words nor flags"),
    ],
)
def test_a_map_that_cannot_be_is_refused(body: str, fault: str) -> None:
    with pytest.raises(MapError, match=fault):
        lay_out(make_map(f"registers = {body}"), "cdu/0")


def test_two_bits_at_one_address_are_refused() -> None:
    body = 'registers = []\nbits = [{name = "a", address = 1}, {name = "b", address = 0, count = 2}]'
    with pytest.raises(MapError, match="b: coil 1 is taken already"):
        lay_out(make_map(body), "cdu/0")


def test_a_map_is_read_once() -> None:
    assert load_map("rpu") is load_map("rpu")
