"""Recordings of InfiniBand ports: trees, bare counters, `ibstat` and `ibstatus`, and those of other people."""

from __future__ import annotations

from pathlib import Path

from supernoded.parts import Source
from supernoded.plugin import Reading, State
from supernoded.quantities import find_fault
from supernoded_fabric.infiniband import parse_tree
from supernoded_fabric.naming import Naming
from supernoded_fabric.recorded import read_sysfs_infiniband


def replay(text: str) -> dict[tuple[str, str], Reading]:
    found = list(read_sysfs_infiniband(Source(name="x", data=text.encode(), at=7.0)))
    return {(reading.subject, reading.quantity): reading for reading in found}


def test_a_recording_is_read_like_a_tree() -> None:
    base = "mlx5_0/ports/1"
    port = {f"{base}/state": "4: ACTIVE", f"{base}/counters/symbol_error": "3", f"{base}/counters/link_downed": "255"}
    files = port | {"mlx5_0/fw_ver": "28.41", "mlx5_0/ports/1/gids/0": "fe80::1"}
    text = "".join(f"/sys/class/infiniband/{path}\t{value}\n" for path, value in files.items())
    expected = parse_tree(files.items(), 7.0, Naming("n0", {}).port)
    assert replay(text) == {(reading.subject, reading.quantity): reading for reading in expected}


def test_bare_counters_are_those_of_one_port() -> None:
    found = replay("# pasted\nlink_downed 255   *8-bit\nsymbol_error: 7 # seven\nport_rcv_data\t5\nhello 5\nstate: 4: ACTIVE\n\n")
    assert {(subject, quantity): reading.value for (subject, quantity), reading in found.items()} == {
        ("n0/nic/unnamed/port1", "link.state"): 1.0,
        ("n0/nic/unnamed/port1", "link.downed"): None,
        ("n0/nic/unnamed/port1", "link.symbol_errors"): 7.0,
        ("n0/nic/unnamed/port1", "link.bits"): 160.0,
    }


def test_a_read_that_failed_is_that_counter_alone() -> None:
    line = (
        'failed to read file "/sys/class/infiniband/mlx5_3/ports/2/counters/symbol_error": invalid argument\n[1.2] mlx5_core 0000:05: err\n'
    )
    (((subject, quantity), reading),) = replay(line).items()
    assert (subject, quantity, reading.state) == ("n0/nic/mlx5_3/port2", "link.symbol_errors", State.UNKNOWN)
    assert reading.note == "symbol_error: invalid argument"


IBSTAT = """\
CA 'mlx5_4'
    CA type: MT0000
    Number of ports: 1
    Port 1:
        State: Down
        Physical state: Polling
        Rate: 10
        Base lid: 12
        Link layer: InfiniBand
CA 'mlx5_5'
    Port 1:
        State: Active
        Physical state: LinkUp
        Rate: 200
        Base lid: 65535
"""
IBSTATUS = """\
Infiniband device 'mlx5_6' port 1 status:
\tbase lid:\t 0xffff
\tstate:\t\t 1: DOWN
\tphys state:\t 3: Disabled
\trate:\t\t 10 Gb/sec (4X SDR)
"""


def test_ibstat_and_ibstatus_are_read_too() -> None:
    found = {key: reading.value for key, reading in (replay(IBSTAT) | replay(IBSTATUS)).items()}
    assert [found[f"n0/nic/mlx5_{number}/port1", "link.state"] for number in (4, 5, 6)] == [0.0, 1.0, 0.0]
    assert [found[f"n0/nic/mlx5_{number}/port1", "link.phys_state"] for number in (4, 5, 6)] == ["polling", "linkup", "disabled"]
    assert [found[f"n0/nic/mlx5_{number}/port1", "link.enabled"] for number in (4, 5, 6)] == [1.0, 1.0, 0.0]
    assert found["n0/nic/mlx5_5/port1", "link.speed"] == 200.0


# --- recordings of other people ---------------------------------------------------------------------------------------------------


def recorded(folder: Path, name: str) -> dict[tuple[str, str], Reading]:
    return replay((folder / "ib" / name).read_text())


def test_a_recorded_healthy_node(recordings: Path) -> None:
    found = recorded(recordings, "gpud_h100_sysfs_flat.tsv")
    ports = {subject for subject, _ in found}
    assert len(ports) == 9
    assert {found[subject, "link.state"].value for subject in ports} == {1.0}
    unknown = {key: reading.note for key, reading in found.items() if reading.state is State.UNKNOWN}
    assert ("n0/nic/mlx5_1/port1", "link.downed") in unknown
    assert sum(quantity.endswith("excessive_buffer_overrun_errors") for _, quantity in unknown) == 8
    assert all(note.startswith("saturated, cannot measure") for note in unknown.values())
    assert all(find_fault(reading) is None for reading in found.values() if reading.state is State.GOOD)


def test_recorded_saturated_counters(recordings: Path) -> None:
    found = recorded(recordings, "gpud_pr943_saturated_counters.txt")
    unknown = {quantity for (_, quantity), reading in found.items() if reading.state is State.UNKNOWN}
    assert unknown == {"link.waits", "link.downed", "link.discards", "x.infiniband.excessive_buffer_overrun_errors"}
    assert len(found) == 21


def test_recorded_bad_values(recordings: Path) -> None:
    found = recorded(recordings, "sysfs_bad_values.txt")
    assert {(subject, quantity): reading.state for (subject, quantity), reading in found.items()} == {
        ("n0/nic/unnamed/port1", "x.infiniband.excessive_buffer_overrun_errors"): State.UNKNOWN,
        ("n0/nic/unnamed/port1", "link.downed"): State.UNKNOWN,
        ("n0/nic/mlx5_0/port1", "x.infiniband.VL15_dropped"): State.UNKNOWN,
    }


def test_a_recorded_port_that_polls(recordings: Path) -> None:
    found = recorded(recordings, "ibstat_polling.txt")
    assert found["n0/nic/mlx5_10/port1", "link.state"].value == 0.0
    assert found["n0/nic/mlx5_10/port1", "link.phys_state"].value == "polling"
    assert found["n0/nic/mlx5_10/port1", "link.speed"].state is State.UNKNOWN
