"""InfiniBand trees: live, recorded, saturated, broken and garbage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.parts import Source
from supernoded.plugin import Reading, State, WireError
from supernoded.quantities import find_fault
from supernoded_fabric.counters import COUNTERS
from supernoded_fabric.infiniband import parse_tree
from supernoded_fabric.naming import Naming
from supernoded_fabric.recorded import read_sysfs_infiniband

ACTIVE = {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "200 Gb/sec (4X HDR)"}
Texts = dict[str, str | WireError]


def port(device: str = "mlx5_0", /, **counters: str | WireError) -> Texts:
    base = f"{device}/ports/1"
    return {f"{base}/{name}": text for name, text in ACTIVE.items()} | {f"{base}/counters/{name}": text for name, text in counters.items()}


def read(files: Texts, **subjects: str) -> dict[tuple[str, str], Reading]:
    found = parse_tree(files.items(), 7.0, Naming("n0", {name.replace("__", "/"): subject for name, subject in subjects.items()}).port)
    assert len({(reading.subject, reading.quantity) for reading in found}) == len(found)
    assert {reading.at for reading in found} <= {7.0}
    return {(reading.subject, reading.quantity): reading for reading in found}


def replay(text: str) -> dict[tuple[str, str], Reading]:
    found = list(read_sysfs_infiniband(Source(name="x", data=text.encode(), at=7.0)))
    return {(reading.subject, reading.quantity): reading for reading in found}


PORT = "n0/nic/mlx5_0/port1"


def test_a_healthy_port() -> None:
    found = read(port(symbol_error="3", port_rcv_data="1000", port_xmit_data="2000", link_downed="2"))
    values = {quantity: reading.value for (_, quantity), reading in found.items()}
    assert values == {
        "link.state": 1.0,
        "link.phys_state": "linkup",
        "link.enabled": 1.0,
        "link.width": 4.0,
        "link.speed": 200.0,
        "link.symbol_errors": 3.0,
        "link.bits": 32_000.0,  # words of four octets
        "x.infiniband.sent_bits": 64_000.0,
        "link.downed": 2.0,
    }
    assert all(find_fault(reading) is None for reading in found.values())
    assert all(reading.state is State.GOOD for reading in found.values())


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("symbol_error", 16),
        ("link_error_recovery", 8),
        ("link_downed", 8),
        ("port_rcv_errors", 16),
        ("port_xmit_discards", 16),
        ("local_link_integrity_errors", 4),
        ("excessive_buffer_overrun_errors", 4),
        ("port_xmit_wait", 32),
        ("port_rcv_data", 64),
        ("port_rcv_packets", 64),
    ],
)
def test_a_counter_at_its_ceiling_measures_nothing(name: str, bits: int) -> None:
    quantity = COUNTERS[name].quantity
    full = read(port(**{name: str(2**bits - 1)}))[PORT, quantity]
    assert (full.value, full.state) == (None, State.UNKNOWN)
    assert full.note == f"saturated, cannot measure ({2**bits - 1} is the ceiling of {bits} bits; reset it)"
    below = read(port(**{name: str(2**bits - 2)}))[PORT, quantity]
    assert below.state is State.GOOD


def test_one_unreadable_counter_costs_only_itself() -> None:
    bad: Texts = {
        "VL15_dropped": WireError("VL15_dropped: Invalid argument"),
        "link_downed": "N/A (no PMA)",
        "port_rcv_errors": "",
        "port_xmit_wait": "-1",
        "port_xmit_discards": "9" * 400,
        "symbol_error": "5",
    }
    found = read(port(**bad) | port("mlx5_1", symbol_error="6"))
    notes = {quantity: reading.note for (subject, quantity), reading in found.items() if reading.state is State.UNKNOWN}
    assert notes == {
        "x.infiniband.VL15_dropped": "VL15_dropped: Invalid argument",
        "link.downed": "no number: 'N/A (no PMA)'",
        "link.receive_errors": "no number: ''",
        "link.waits": "no number: '-1'",
        "link.discards": f"no number: '{'9' * 80}...'",
    }
    assert found[PORT, "link.symbol_errors"].value == 5.0
    assert found["n0/nic/mlx5_1/port1", "link.symbol_errors"].value == 6.0


def test_a_port_that_is_down_has_no_speed() -> None:
    files = port(symbol_error="0") | {"mlx5_0/ports/1/state": "1: DOWN", "mlx5_0/ports/1/phys_state": "2: Polling"}
    found = read(files)
    assert (found[PORT, "link.state"].value, found[PORT, "link.state"].note) == (0.0, "DOWN, Polling")
    assert (found[PORT, "link.speed"].value, found[PORT, "link.speed"].note) == (None, "the link is DOWN")


@pytest.mark.parametrize(
    "files",
    [
        {"mlx5_0/ports/1/state": "1: DOWN", "mlx5_0/ports/1/phys_state": "3: Disabled"},
        {"mlx5_0/ports/1/state": "1: DOWN", "mlx5_0/ports/1/lid": "0xffff"},
    ],
)
def test_ports_not_in_use_give_state_facts_only(files: Texts) -> None:
    found = read(port(symbol_error="15", port_rcv_data="1") | files)
    assert {quantity for _, quantity in found} == {"link.state", "link.phys_state", "link.enabled"}
    assert found[PORT, "link.state"].value == 0.0


def test_ports_that_are_off_or_not_taken_on_can_be_told() -> None:
    off = read(port() | {"mlx5_0/ports/1/state": "1: DOWN", "mlx5_0/ports/1/phys_state": "3: Disabled", "mlx5_0/ports/1/lid": "0xffff"})
    assert off[PORT, "link.state"].note == "DOWN, Disabled, no subnet manager has taken it on (base lid 0xffff)"
    assert (off[PORT, "link.enabled"].value, off[PORT, "link.enabled"].note) == (0.0, "disabled")
    polling = read(port() | {"mlx5_0/ports/1/state": "1: DOWN", "mlx5_0/ports/1/phys_state": "2: Polling", "mlx5_0/ports/1/lid": "0x1"})
    assert (polling[PORT, "link.state"].note, polling[PORT, "link.enabled"].value) == ("DOWN, Polling", 1.0)


def test_congestion_and_retries_have_their_names() -> None:
    names = {"np_ecn_marked_roce_packets": "1", "np_cnp_sent": "2", "rp_cnp_handled": "3", "packet_seq_err": "4", "roce_adp_retrans": "5"}
    found = read({f"mlx5_0/ports/1/hw_counters/{name}": text for name, text in names.items()})
    assert {quantity: reading.value for (_, quantity), reading in found.items()} == {
        "link.ecn_marked": 1.0,
        "link.cnp_sent": 2.0,
        "link.cnp_received": 3.0,
        "link.retransmits": 4.0,
        "x.infiniband.roce_adp_retrans": 5.0,
    }


def test_a_bond_gives_state_facts_only() -> None:
    assert {quantity for _, quantity in read(port("mlx5_bond_0", symbol_error="1"))} == {"link.state", "link.phys_state", "link.enabled"}


def test_facts_that_cannot_be_read() -> None:
    found = read({"mlx5_0/ports/1/state": WireError("state: Input/output error"), "mlx5_0/ports/1/rate": "fast"})
    assert found[PORT, "link.state"].note == "state: Input/output error"
    assert found[PORT, "link.speed"].note == "not understood: 'fast'"
    assert {reading.state for reading in found.values()} == {State.UNKNOWN}


def test_subjects_are_mapped() -> None:
    assert ("n0/card0/port0", "link.state") in read(port(), mlx5_0__1="n0/card0/port0")


@given(st.binary(max_size=400))
def test_garbage_never_raises(data: bytes) -> None:
    assert {reading.at for reading in read_sysfs_infiniband(Source(name="x", data=data, at=7.0))} <= {7.0}


NAMES = st.sampled_from(
    ["mlx5_0/ports/1/counters/", "/ports/", "state", "rate", "lid", "link_downed", "symbol_error", "\t", ":", " ", "4: "]
)


@given(st.lists(st.one_of(NAMES, st.text(max_size=6), st.integers().map(str)), max_size=30).map("".join))
def test_near_garbage_never_raises_nor_makes_a_bad_reading(text: str) -> None:
    for reading in replay(text).values():
        assert (reading.value is None) == (reading.state is State.UNKNOWN)
        assert reading.note or reading.state is State.GOOD
        assert len(reading.note) < 200
