"""Links of the cards: up, off, none at all, and counters of several drivers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import Reading, State
from supernoded.quantities import find_fault
from supernoded_nvidia.nvlink import LINKS_UP, parse_errors, parse_status


def name(number: int, uuid: str) -> str:
    return f"n0/card{number}" if uuid != "GPU-b" else "n0/card9"


def by_subject(readings: list[Reading]) -> dict[tuple[str, str], Reading]:
    assert all(find_fault(reading) is None for reading in readings if reading.state is State.GOOD)
    assert len({(reading.subject, reading.quantity) for reading in readings}) == len(readings)
    return {(reading.subject, reading.quantity): reading for reading in readings}


def status(text: str) -> dict[tuple[str, str], Reading]:
    return by_subject(list(parse_status(text, name, 7.0)))


def errors(text: str) -> dict[tuple[str, str], Reading]:
    return by_subject(list(parse_errors(text, name, 7.0)))


def test_links_that_are_up_and_one_that_is_not() -> None:
    found = status("GPU 3: NVIDIA A9 (UUID: GPU-a)\r\n\t Link 0: 26.562 GB/s\r\n\t Link 1: <inactive>\r\n\t Link 2: N/A\r\n")
    assert found["n0/card3/nvlink0", "link.state"].value == 1.0
    assert found["n0/card3/nvlink0", "link.speed"].value == 212.496
    assert (found["n0/card3/nvlink1", "link.state"].value, found["n0/card3/nvlink1", "link.state"].note) == (0.0, "inactive")
    assert found["n0/card3/nvlink1", "link.speed"].note == "the link is inactive"
    assert found["n0/card3/nvlink2", "link.state"].state is State.UNKNOWN
    assert found["n0/card3", LINKS_UP].value == 1.0


def test_a_card_without_links_has_no_link_that_is_down() -> None:
    found = status(
        "GPU 0: P (UUID: GPU-a)\nNVML: Unable to retrieve NVLink information as all links are inActive\nGPU 1: P (UUID: GPU-b)\n"
    )
    assert {key: reading.value for key, reading in found.items()} == {("n0/card0", LINKS_UP): 0.0}


def test_a_card_is_found_by_its_uuid() -> None:
    assert ("n0/card9/nvlink4", "link.state") in status("GPU 0: H (UUID: GPU-b)\n\t Link 4: 25 GB/s\n")


def test_counters_of_the_years_before() -> None:
    found = errors("GPU 0: H (UUID: GPU-a)\n\t Link 0: Replay Errors: 4\n\t Link 0: Recovery Errors: 1\n\t Link 0: CRC Errors: N/A\n")
    assert {key[1]: reading.value for key, reading in found.items()} == {
        "link.retransmits": 4.0,
        "link.recoveries": 1.0,
        "link.receive_errors": None,
    }
    assert found["n0/card0/nvlink0", "link.receive_errors"].note == "the tool says 'N/A'"


def test_two_counters_of_one_quantity_are_added_up() -> None:
    found = errors("GPU 0: H\n Link 0: CRC Flit Errors: 3\n Link 0: CRC Data Errors: 4\n Link 1: CRC Flit Errors: 1\n")
    assert found["n0/card0/nvlink0", "link.receive_errors"].value == 7.0
    assert found["n0/card0/nvlink1", "link.receive_errors"].value == 1.0


def test_counters_and_rates_of_today() -> None:
    text = """GPU 0: B (UUID: GPU-a)
         Link 0: Tx packets: 88
         Link 0: Rx Errors: 2
         Link 0: Total link recovery events: 5
         Link 0: Link recovery failed events: 1
         Link 0: Effective Errors: 0
         Link 0: Effective BER: 15e-255
         Link 0: Symbol Errors: 6
         Link 0: Symbol BER: 2e-12
         Link 0: FEC Errors - 0: 36140749276
         Link 0: FEC Errors - 1: 12
    """
    assert {key[1]: reading.value for key, reading in errors(text).items()} == {
        "link.receive_errors": 2.0,
        "link.recoveries": 5.0,
        "x.nvidia.recoveries_failed": 1.0,
        "link.effective_errors": 0.0,
        "link.ber.post_fec": 0.0,
        "link.symbol_errors": 6.0,
        "x.nvidia.symbol_ber": 2e-12,
    }


def test_a_rate_that_is_none_is_not_zero() -> None:
    found = errors("GPU 0: B\n Link 0: Effective BER: N/A\n")
    assert found["n0/card0/nvlink0", "link.ber.post_fec"].state is State.UNKNOWN


def test_lines_of_no_card_are_nobodys() -> None:
    assert status("\t Link 0: 25 GB/s\n") == {}
    assert errors("\t Link 0: CRC Errors: 3\n") == {}


@given(st.text(alphabet="GPUUID: Link0123456789()<>-.eErrosCB/s\n\t", max_size=200))
def test_nothing_raises_for_text(text: str) -> None:
    for parse in (parse_status, parse_errors):
        for reading in parse(text, name, 7.0):
            assert (reading.value is None) == (reading.state is State.UNKNOWN)
