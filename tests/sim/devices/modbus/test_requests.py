"""Function codes, by the letter of the standard: the examples of its §6 are those of a bank that holds what they say."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.devices.modbus.requests import BitTable, Code, RefusalError, WordTable, respond


class Plain:
    """65,536 of each."""

    def __init__(self) -> None:
        self.words: dict[int, int] = {}
        self.bits: dict[int, bool] = {}

    def read_bits(self, table: BitTable, address: int, count: int) -> list[bool]:
        return [self.bits.get(place, False) for place in range(address, address + count)]

    def read_words(self, table: WordTable, address: int, count: int) -> list[int]:
        return [self.words.get(place, 0) for place in range(address, address + count)]

    def write_bits(self, address: int, bits: Sequence[bool]) -> None:
        self.bits |= {address + place: bit for place, bit in enumerate(bits)}

    def write_words(self, address: int, words: Sequence[int]) -> None:
        if address == 0xDEAD:
            raise RefusalError(Code.BUSY)
        self.words |= {address + place: word for place, word in enumerate(words)}

    def identify(self) -> dict[int, bytes]:
        return {0: b"Supernode", 1: b"T", 2: b"1", 5: b"model", 0x80: b"serial"}


def ask(request: str, bank: Plain | None = None) -> str:
    answer = respond(bank or Plain(), bytes.fromhex(request))
    assert answer is not None
    return answer.hex(" ")


def test_bits_are_packed_from_the_lowest() -> None:
    bank = Plain()
    bank.bits = {19 + place: bool(0xCD >> place & 1) for place in range(8)} | {27: True}
    assert ask("01 0013 000a", bank) == "01 02 cd 01"
    assert ask("02 0013 0008", bank) == "02 01 cd"


def test_words_are_big_endian() -> None:
    bank = Plain()
    bank.words = {0x6B: 0x022B, 0x6D: 0x0064}
    assert ask("03 006b 0003", bank) == "03 06 02 2b 00 00 00 64"
    assert ask("04 006d 0001", bank) == "04 02 00 64"


def test_writes_are_acknowledged_as_the_standard_has_it() -> None:
    bank = Plain()
    assert ask("05 00ac ff00", bank) == "05 00 ac ff 00"
    assert ask("06 0001 0003", bank) == "06 00 01 00 03"
    assert ask("0f 0013 000a 02 cd01", bank) == "0f 00 13 00 0a"
    assert ask("10 0010 0002 04 000a 0102", bank) == "10 00 10 00 02"
    assert bank.bits[0xAC]
    assert [bank.bits[19 + place] for place in range(10)] == [True, False, True, True, False, False, True, True, True, False]
    assert bank.words == {1: 3, 0x10: 10, 0x11: 0x102}


def test_mask_write_and_write_before_read() -> None:
    bank = Plain()
    bank.words = {4: 0x12}
    assert ask("16 0004 00f2 0025", bank) == "16 00 04 00 f2 00 25"
    assert bank.words[4] == 0x17
    assert ask("17 0004 0002 0005 0001 02 00ff", bank) == "17 04 00 17 00 ff"


def test_identification() -> None:
    assert ask("2b 0e 01 00").startswith("2b 0e 01 83 00 00 03 00 09 53")
    assert bytes.fromhex(ask("2b 0e 03 00")).endswith(b"\x80\x06serial")
    assert bytes.fromhex(ask("2b 0e 04 05")).endswith(b"\x01\x05\x05model")
    assert ask("2b 0e 04 77") == "ab 02"
    assert ask("2b 0e 09 00") == "ab 03"
    assert ask("2b 0d 01 00") == "ab 01"


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("63", "e3 01"),  # no such function
        ("81", "81 01"),
        ("03 0000 0000", "83 03"),  # quantity
        ("03 0000 007e", "83 03"),
        ("01 0000 07d1", "81 03"),
        ("0f 0000 0009 01 ff", "8f 03"),  # count of bytes
        ("10 0000 0001 02 00", "90 03"),
        ("05 0000 1234", "85 03"),
        ("03 00", "83 03"),
        ("03 ffff 0002", "83 02"),  # beyond the end
        ("06 dead 0001", "86 06"),
        ("16 00", "96 03"),
        ("17 0000 0001 0000 0001 02", "97 03"),
    ],
)
def test_refusals(request_: str, answer: str) -> None:
    assert ask(request_) == answer


@given(st.binary(max_size=260))
def test_any_request_gets_a_well_formed_answer(pdu: bytes) -> None:
    answer = respond(Plain(), pdu)
    if not pdu:
        assert answer is None
    else:
        assert answer is not None
        assert 2 <= len(answer) <= 253
        assert answer[0] == pdu[0] or (answer[0] == pdu[0] | 0x80 and answer[1] in set(Code) and len(answer) == 2)
