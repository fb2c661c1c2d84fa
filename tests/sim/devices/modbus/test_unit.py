"""Units under small maps: what registers show, what writes do, what wears out."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.devices.modbus.writes import WEAR
from sim_hardware.plant.cooling.orders import Beat, SetTemperature, SetValve
from sim_hardware.plant.words import Order, OrderError, Value
from tests.sim.devices.modbus.samples import make_custom, make_unit, read, refused, write

FLOW = ("cdu/0", "coolant.flow")
VALVE = 'write = [{order = "SetValve", value = "percent", set = {cdu = "{subject}"}}]'


def one(rest: str) -> str:
    return f'registers = [{{name = "a", address = 10, {rest}}}]'


@pytest.mark.parametrize("value", [None, math.nan, "cold", frozenset({"OL"})])
def test_what_is_no_number_is_shown_as_no_value(value: Value) -> None:
    unit, _ = make_custom(one('quantity = "coolant.flow"'), {FLOW: value})
    assert read(unit, 10) == (0xFFFF,)


def test_a_sensor_that_is_not_there_is_shown_as_no_value() -> None:
    unit, _ = make_custom(one('kind = "s16", sentinel = -1.0, quantity = "coolant.flow"'))
    assert read(unit, 10) == (0xFFFF,)


@pytest.mark.parametrize(("value", "raw"), [(-3.0, 0), (1e12, 65534), (math.inf, 65534), (21.96, 220)])
def test_numbers_saturate(value: float, raw: int) -> None:
    unit, _ = make_custom(one('scale = 0.1, quantity = "coolant.flow"'), {FLOW: value})
    assert read(unit, 10) == (raw,)


shown = st.one_of(st.none(), st.floats(), st.integers(), st.text(max_size=40), st.frozensets(st.text(max_size=3)))


@given(shown, st.sampled_from(("dcd", "plc", "rpu", "ups", "pdu")))
def test_any_value_of_any_sensor_can_be_shown(value: Value, name: str) -> None:
    subject = {"ups": "ups/A", "pdu": "pdu/A1"}.get(name, "cdu/0")
    unit, panel = make_unit(name, subject)
    for field in unit.layout.names.values():
        panel.values[field.subject, field.spec.quantity] = value
    for point in unit.layout.points.values():
        panel.values[point.subject, point.spec.quantity] = value
    for (table, address), field in unit.layout.fields.items():
        assert len(read(unit, address, 1, 3 if table == "holding" else 4)) == 1, field.name
    for table, address in unit.layout.points:
        answer = unit.answer(1, struct.pack(">BHH", 1 if table == "coil" else 2, address, 1))
        assert answer is not None
        assert answer[1] == 1


@given(st.binary(max_size=260), st.sampled_from(("dcd", "plc", "rpu", "ups", "pdu")))
def test_any_request_to_any_map_is_answered(pdu: bytes, name: str) -> None:
    unit, _ = make_unit(name, {"ups": "ups/A", "pdu": "pdu/A1"}.get(name, "cdu/0"))
    answer = unit.answer(1, pdu)
    assert (answer is None) == (not pdu)
    assert answer is None or answer[0] & 0x7F == pdu[0] & 0x7F


def test_a_value_is_renewed_only_so_often() -> None:
    unit, panel = make_custom(one('quantity = "coolant.flow", refresh_s = 2.0'), {FLOW: 1.0})
    for at, due in ((0.0, 1), (1.9, 1), (2.0, 2), (3.99, 2), (4.0, 4)):
        panel.time, panel.values[FLOW] = at, 1.0 + math.floor(at)
        panel.values[FLOW] = at if at >= 2.0 else 1.0
        assert read(unit, 10) == (due,), at


def test_a_value_of_two_registers_can_be_torn_by_two_requests_and_not_by_one() -> None:
    unit, panel = make_custom(one('kind = "u32", quantity = "coolant.flow"'), {FLOW: 65535.0})
    high = read(unit, 10)
    panel.values[FLOW] = 65536.0
    assert high + read(unit, 11) == (0, 0)
    assert read(unit, 10, 2) == (1, 0)


def test_a_sticky_bit_stays_until_it_is_cleared() -> None:
    unit, panel = make_custom(one('quantity = "coolant.flow", sticky = true'), {FLOW: 1.0})
    assert read(unit, 10) == (1,)
    panel.values[FLOW] = 0.0
    assert read(unit, 10) == (1,)
    assert write(unit, 10, 0) == b"\x06\x00\x0a\x00\x00"
    assert read(unit, 10) == (0,)


def test_constants() -> None:
    body = """registers = [
        {name = "a", address = 0, constant = 7, scale = 0.1},
        {name = "b", address = 1, kind = "text", length = 2, constant = "ABC"},
    ]"""
    unit, _ = make_custom(body)
    assert read(unit, 0, 3) == (70, 0x4142, 0x4300)


def test_gaps() -> None:
    body = 'registers = [{name = "a", address = 10, constant = 1}]'
    unit, _ = make_custom(body)
    assert unit.answer(1, b"\x03\x00\x0a\x00\x02") == refused(2, 3)
    unit, _ = make_custom('gaps = "zero"\n' + body)
    assert read(unit, 9, 3) == (0, 1, 0)


def test_input_registers_show_holding_registers_where_the_map_says_so() -> None:
    body = 'registers = [{name = "a", address = 10, constant = 1}]'
    unit, _ = make_custom(body)
    assert unit.answer(1, b"\x04\x00\x0a\x00\x01") == refused(2, 4)
    unit, _ = make_custom("mirror = true\n" + body)
    assert read(unit, 10, 1, 4) == (1,)


def test_a_write_gives_its_order_in_the_unit_of_the_order() -> None:
    unit, panel = make_custom(one(f"scale = 0.5, {VALVE}"))
    assert write(unit, 10, 81) == b"\x06\x00\x0a\x00\x51"
    assert panel.orders == [SetValve(cdu="cdu/0", percent=40.5)]
    assert read(unit, 10) == (81,)


def test_a_write_outside_its_bounds_is_refused() -> None:
    unit, panel = make_custom(one(f"low = 0.0, high = 100.0, {VALVE}"))
    assert write(unit, 10, 101) == refused(3)
    assert panel.orders == []
    assert read(unit, 10) == (0,)


def test_a_float_that_is_no_number_is_refused() -> None:
    unit, panel = make_custom(one(f'kind = "f32", {VALVE}'))
    for value in (math.nan, math.inf):
        assert write(unit, 10, *struct.unpack(">HH", struct.pack(">f", value))) == refused(3, 16)
    assert panel.orders == []


def test_a_value_cannot_be_written_in_part_nor_one_that_is_only_read() -> None:
    body = f'registers = [{{name = "a", address = 10, kind = "f32", {VALVE}}}, {{name = "b", address = 12, constant = 1}}]'
    unit, panel = make_custom(body)
    assert write(unit, 10, 1) == refused(2)
    assert write(unit, 11, 1) == refused(2)
    assert write(unit, 12, 1) == refused(2)
    assert write(unit, 10, 0x3F80, 0, 1) == refused(2, 16)
    assert panel.orders == []


def test_of_several_registers_none_is_written_unless_all_can_be() -> None:
    body = f'registers = [{{name = "a", address = 10, {VALVE}}}, {{name = "b", address = 11, keep = true, high = 5.0}}]'
    unit, panel = make_custom(body)
    assert write(unit, 10, 1, 6) == refused(3, 16)
    assert panel.orders == []
    assert write(unit, 10, 1, 5) == b"\x10\x00\x0a\x00\x02"
    assert len(panel.orders) == 1


def test_a_command_word_takes_its_words_and_no_other() -> None:
    unit, panel = make_custom(one('write = [{word = 0x55, order = "Beat", set = {cdu = "{subject}"}}]'))
    assert write(unit, 10, 0x56) == refused(3)
    assert write(unit, 10, 0x55) == b"\x06\x00\x0a\x00\x55"
    assert panel.orders == [Beat(cdu="cdu/0")]


def test_the_plant_may_refuse() -> None:
    unit, panel = make_custom(one(VALVE))

    def refuse(order: Order) -> None:
        raise OrderError(f"{order} is not possible now")

    panel.order = refuse  # type: ignore[method-assign]
    assert write(unit, 10, 1) == refused(4)


def test_idle_orders_are_acknowledged_and_nothing_happens() -> None:
    unit, panel = make_custom(one(VALVE))
    unit.impairment.idle_orders = True
    assert write(unit, 10, 50) == b"\x06\x00\x0a\x00\x32"
    assert panel.orders == []


def test_a_stale_device_shows_what_it_showed() -> None:
    unit, panel = make_custom(one('quantity = "coolant.flow"'), {FLOW: 1.0})
    assert read(unit, 10) == (1,)
    unit.impairment.stale = True
    panel.values[FLOW] = 2.0
    assert read(unit, 10) == (1,)
    unit.impairment.stale = False
    assert read(unit, 10) == (2,)


def test_an_eeprom_wears_out_and_then_acknowledges_what_it_loses() -> None:
    unit, panel = make_custom(one(f'storage = "eeprom", {VALVE}'))
    for number in range(10):
        assert write(unit, 10, number) is not None
    assert unit.writes.wear == {"a": 10}
    unit.writes.wear["a"] = WEAR - 1
    panel.orders.clear()
    assert write(unit, 10, 70) == b"\x06\x00\x0a\x00\x46"  # the last that is kept
    assert write(unit, 10, 80) == b"\x06\x00\x0a\x00\x50"
    assert panel.orders == [SetValve(cdu="cdu/0", percent=70.0)]
    assert read(unit, 10) == (70,)
    assert unit.writes.lost == 1


def test_ram_does_not_wear() -> None:
    unit, _ = make_custom(one(VALVE))
    write(unit, 10, 1)
    assert unit.writes.wear == {}


def test_a_device_is_busy_after_a_write() -> None:
    unit, panel = make_custom(one(f"write_s = 0.02, {VALVE}"))
    assert write(unit, 10, 1) == b"\x06\x00\x0a\x00\x01"
    panel.time = 0.01
    assert write(unit, 10, 2) == refused(6)
    panel.time = 0.021
    assert write(unit, 10, 3) == b"\x06\x00\x0a\x00\x03"
    assert [order.percent for order in panel.orders if isinstance(order, SetValve)] == [1.0, 3.0]


def test_a_plc_loses_what_comes_too_fast() -> None:
    unit, panel = make_unit("plc")
    assert write(unit, 10651, 3220) == b"\x06\x29\x9b\x0c\x94"
    panel.time = 0.5
    assert write(unit, 10651, 3230) == b"\x06\x29\x9b\x0c\x9e"
    (order,) = panel.orders
    assert isinstance(order, SetTemperature)
    assert order.celsius == pytest.approx(22.0)
    assert unit.writes.lost == 1


def test_identification_says_who_it_is() -> None:
    unit, panel = make_unit("rpu", values={("cdu/0", "coolant.serial"): "C-0007"})
    answer = unit.answer(12, b"\x2b\x0e\x04\x80")
    assert answer is not None
    assert answer.endswith(b"\x80\x06C-0007")
    panel.values["cdu/0", "coolant.serial"] = None
    assert unit.answer(12, b"\x2b\x0e\x04\x80") == b"\x2b\x0e\x04\x83\x00\x00\x01\x80\x00"
