"""The tree of the pool's driver: its texts, what it takes, and what it makes of broken sensors."""

from __future__ import annotations

import errno
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.devices.sysfs import SysfsTree
from sim_hardware.plant.pool import Inputs, apply, sense, start, update
from sim_hardware.plant.pool.orders import AllowAtomic, MountPmem, SetReadOnly, SkewWrites, WearBlock
from sim_hardware.plant.words import OrderError, Value
from sim_hardware.rack import generate_rack
from tests.sim.devices.panels import FakePanel

RACK = generate_rack(1, 8)
WEAR = ("pool/n0/pmem/block7", "block.wear")


def show(*orders: AllowAtomic | MountPmem | SetReadOnly | SkewWrites | WearBlock, at: float = 0.0) -> dict[str, str]:
    """The files of a pool after these orders, without their newlines."""
    state = start(RACK, 1)
    for order in orders:
        state = apply(state, order)
    state = update(state, at, Inputs(up=(True,), memory=(60.0 * 2**30,) * 8))

    class Panel(FakePanel):
        def sense(self, subject: str, quantity: str) -> Value:
            return sense(state, subject, quantity) if subject.startswith("pool") else super().sense(subject, quantity)

    rendered = SysfsTree(Panel(RACK), "n0").render()
    return {path.removeprefix("dsm/dsm0/"): str(text).removesuffix("\n") for path, text in rendered.items() if path.startswith("dsm/")}


def make(value: Value) -> tuple[FakePanel, SysfsTree]:
    panel = FakePanel(RACK, {WEAR: value})
    return panel, SysfsTree(panel, "n0")


def test_a_pool_as_it_comes() -> None:
    files = show()
    assert (files["snapshot_atomic"], files["pmem_mounted"]) == ("0", "1")
    assert files["hbm/capacity_bytes"] == str(8 * 96 * 2**30)
    assert files["hbm/used_bytes"] == str(8 * 60 * 2**30)
    assert files["pmem/capacity_bytes"] == str(2 * 2**40)
    blocks = {path.partition("/")[0] for path in files if path.startswith("block")}
    assert len(blocks) == 64
    assert [files[f"block63/{name}"] for name in ("wear_percent", "written_bytes", "read_only", "read_errors")] == ["0"] * 4


def test_what_was_done_to_it() -> None:
    files = show(
        AllowAtomic("n0", on=True),
        MountPmem("n0", mounted=False),
        SetReadOnly("n0", 3, read_only=True),
        WearBlock("n0", 4, 0.756),
        WearBlock("n0", 5, 9.0),
    )
    assert (files["snapshot_atomic"], files["pmem_mounted"], files["pmem/used_bytes"]) == ("1", "0", "0")
    assert (files["block3/read_only"], files["block4/read_only"]) == ("1", "0")
    assert (files["block4/wear_percent"], files["block5/wear_percent"]) == ("75", "255")


def test_every_byte_that_is_written_is_counted() -> None:
    files = show(SkewWrites("n0", 10.0, 0.5, 9), at=60.0)
    written = [int(text) for path, text in files.items() if path.endswith("written_bytes")]
    assert sum(written) == pytest.approx(600e9, rel=1e-9)
    assert int(files["block9/written_bytes"]) == max(written) == pytest.approx(600e9 * (0.5 + 0.5 / 64), rel=1e-9)


def test_orders() -> None:
    panel, tree = make(0.0)
    tree.write("dsm/dsm0/snapshot_atomic", "1\n")
    tree.write("dsm/dsm0/block12/read_only", "1")
    tree.write("dsm/dsm0/block12/read_only", "0\n")
    assert panel.orders == [AllowAtomic("n0", on=True), SetReadOnly("n0", 12, read_only=True), SetReadOnly("n0", 12, read_only=False)]


@pytest.mark.parametrize(
    ("path", "text", "number"),
    [
        ("snapshot_atomic", "2", errno.EINVAL),
        ("snapshot_atomic", "on", errno.EINVAL),
        ("block1/read_only", "-1", errno.EINVAL),
        ("block1/read_only", "", errno.EINVAL),
        ("pmem_mounted", "0", errno.EACCES),
        ("block1/wear_percent", "0", errno.EACCES),
        ("block64/read_only", "1", errno.ENOENT),
        ("block1", "1", errno.EISDIR),
    ],
)
def test_refusals(path: str, text: str, number: int) -> None:
    panel, tree = make(0.0)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        tree.write(f"dsm/dsm0/{path}", text)
    assert caught.value.errno == number
    assert not panel.orders


def test_a_plant_that_will_not() -> None:
    class Panel(FakePanel):
        def order(self, order: object) -> None:
            raise OrderError(f"{order}: the plant will not")

    with pytest.raises(OSError, match="Invalid argument"):
        SysfsTree(Panel(RACK), "n0").write("dsm/dsm0/snapshot_atomic", "1")


@pytest.mark.parametrize(("value", "text"), [(0.999, "99"), (-0.5, "0"), (math.inf, "255"), (-math.inf, "0"), (1e300, "255")])
def test_a_number_beyond_its_register(value: float, text: str) -> None:
    assert make(value)[1].read("dsm/dsm0/block7/wear_percent") == f"{text}\n"


@given(st.one_of(st.none(), st.just(math.nan), st.text(max_size=5), st.frozensets(st.text(max_size=2), max_size=2)))
def test_what_is_no_number_cannot_be_read(value: Value) -> None:
    with pytest.raises(OSError, match="Input/output error"):
        make(value)[1].read("dsm/dsm0/block7/wear_percent")


def test_a_node_without_a_pool_has_no_files() -> None:
    tree = make(0.5)[1]
    assert [path for path in tree.render() if path.startswith("dsm/")] == ["dsm/dsm0/block7/wear_percent"]
