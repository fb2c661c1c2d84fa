"""The replay formats, on inputs of our own and on recordings by other people."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from supernoded.parts import Source
from supernoded.plugin import Reading
from supernoded_nvidia.nvlink import LINKS_UP
from supernoded_nvidia.recorded import read_kernel_log, read_nvidia_smi


def source(data: bytes) -> Source:
    return Source(name="x", data=data, at=7.0)


def smi(data: bytes) -> dict[tuple[str, str], Reading]:
    return {(reading.subject, reading.quantity): reading for reading in read_nvidia_smi(source(data))}


def test_a_document_and_a_fault_line_in_one_file() -> None:
    body = '<nvidia_smi_log><gpu id="0:2:0.0"><serial>A</serial></gpu><gpu id="0:1:0.0"><serial>B</serial></gpu></nvidia_smi_log>'
    found = smi(f"Unable to determine the device handle for GPU0000:02:00.0: Unknown Error\n{body}".encode())
    assert found["n0/card0", "card.serial"].value == "B"
    assert found["n0/card1", "card.present"].value == 0.0
    assert {reading.at for reading in found.values()} == {7.0}


@given(st.binary(max_size=300))
def test_nothing_raises_for_bytes(data: bytes) -> None:
    assert all(reading.subject.startswith("n0/") for reading in read_nvidia_smi(source(b"<nvidia_smi_log>GPU 0:1:0.0\n" + data)))
    assert list(read_kernel_log(source(data))) == []


def test_links_of_a_healthy_card(recordings: Path) -> None:
    found = smi((recordings / "nvidia" / "azure_good_nvlink_status.txt").read_bytes())
    assert found["n0/card7", LINKS_UP].value == 12.0
    assert {reading.value for (_, quantity), reading in found.items() if quantity == "link.speed"} == {200.0}


def test_eight_cards_of_a_text_with_only_their_pages(recordings: Path) -> None:
    found = smi((recordings / "nvidia" / "azure_orig_nvsmi8_output.txt").read_bytes())
    assert {(subject, reading.value) for (subject, quantity), reading in found.items() if quantity == "card.health"} == {
        (f"n0/card{slot}", frozenset()) for slot in range(8)
    }
    assert {quantity for _, quantity in found} == {"card.present", "card.health"}


def test_fault_lines(recordings: Path) -> None:
    found = smi((recordings / "nvidia" / "nvidia_smi_fault_lines.txt").read_bytes())
    lost = {subject for (subject, quantity), reading in found.items() if quantity == "card.present" and reading.value == 0.0}
    assert lost == {"n0/gpu/0000:a1:00.0", "n0/gpu/0000:02:00.0"}
    assert {subject for subject, _ in found} - lost == {"n0/card2"}
    assert found["n0/card2", LINKS_UP].value == 0.0


def test_kernel_lines(recordings: Path) -> None:
    found = list(read_kernel_log(source((recordings / "logs" / "kernel_lines.txt").read_bytes())))
    assert sorted((reading.subject, reading.quantity) for reading in found) == [
        (f"n0/gpu/{bus}", quantity) for bus in ("0000:a1:00.0", "0000:b3:00.0") for quantity in ("card.health", "card.present")
    ]
    assert list(read_kernel_log(source((recordings / "logs" / "azure_0flap_syslog").read_bytes()))) == []
