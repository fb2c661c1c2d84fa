"""The document, the text and the table: drivers of several years, cards in trouble, and garbage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import Reading, State
from supernoded.quantities import find_fault
from supernoded_nvidia.cards import LOST, MARGIN, read_sheet
from supernoded_nvidia.document import DEEPEST, LARGEST, Document, Sheet, parse_table, parse_text, parse_xml
from supernoded_nvidia.values import add_up, is_no_value, measure

MIB = 2.0**20
HEAD = '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n'

HOPPER = """
<product_name>NVIDIA H9 SXM</product_name><serial>1650000000042</serial><uuid>GPU-0042</uuid>
<gpu_recovery_action>None</gpu_recovery_action><pci><pci_bus_id>00000000:A1:00.0</pci_bus_id></pci>
<fb_memory_usage><total>81559 MiB</total><reserved>551 MiB</reserved><used>4 MiB</used></fb_memory_usage>
<utilization><gpu_util>97 %</gpu_util><memory_util>3 %</memory_util></utilization>
<ecc_errors><volatile><dram_correctable>9</dram_correctable></volatile>
<aggregate><sram_correctable>2</sram_correctable><sram_uncorrectable_parity>0</sram_uncorrectable_parity>
<sram_uncorrectable_secded>1</sram_uncorrectable_secded><dram_correctable>5</dram_correctable><dram_uncorrectable>0</dram_uncorrectable>
<sram_threshold_exceeded>No</sram_threshold_exceeded></aggregate></ecc_errors>
<remapped_rows><remapped_row_pending>No</remapped_row_pending><remapped_row_failure>No</remapped_row_failure></remapped_rows>
<temperature><gpu_temp>61 C</gpu_temp><gpu_temp_tlimit>26 C</gpu_temp_tlimit></temperature>
<gpu_power_readings><average_power_draw>N/A</average_power_draw><instant_power_draw>641.25 W</instant_power_draw></gpu_power_readings>
"""
VOLTA = """
<product_name>Tesla V1</product_name><serial>[N/A]</serial>
<fb_memory_usage><total>16160 MiB</total><used>0 MiB</used></fb_memory_usage>
<ecc_errors><aggregate><single_bit><device_memory>3</device_memory><total>3</total></single_bit>
<double_bit><total>N/A</total></double_bit></aggregate></ecc_errors>
<retired_pages><pending_retirement>Yes</pending_retirement></retired_pages>
<temperature><gpu_temp>Unknown Error</gpu_temp><gpu_temp_tlimit></gpu_temp_tlimit></temperature>
<power_readings><power_draw>[Unknown Error]</power_draw></power_readings>
"""


def document(*cards: tuple[str, str]) -> str:
    return HEAD + "<nvidia_smi_log>" + "".join(f'<gpu id="{bus}">{body}</gpu>' for bus, body in cards) + "</nvidia_smi_log>"


def read(sheet: Sheet) -> dict[str, Reading]:
    readings = list(read_sheet(sheet, "n0/card0", 7.0))
    assert all(find_fault(reading) is None for reading in readings if reading.state is State.GOOD)
    assert len({reading.quantity for reading in readings}) == len(readings)
    return {reading.quantity: reading for reading in readings}


def read_one(body: str) -> dict[str, Reading]:
    (sheet,) = parse_xml(document(("00000000:A1:00.0", body))).sheets
    assert sheet.bus == "0000:a1:00.0"
    return read(sheet)


def test_a_card_of_today() -> None:
    found = read_one(HOPPER)
    assert {quantity: reading.value for quantity, reading in found.items()} == {
        "card.present": 1.0,
        "card.health": frozenset(),
        "card.temperature": 61.0,
        MARGIN: 26.0,
        "card.power": 641.25,
        "card.utilisation": 97.0,
        "card.memory_used": 4 * MIB,
        "card.memory_total": 81559 * MIB,
        "card.serial": "1650000000042",
        "card.chip": "nvidia h9 sxm",
        "card.errors_corrected": 7.0,
        "card.errors_uncorrected": 1.0,
    }
    assert {reading.at for reading in found.values()} == {7.0}


def test_an_old_card_with_values_that_are_none() -> None:
    found = read_one(VOLTA)
    assert found["card.errors_corrected"].value == 3.0
    assert found["card.health"].value == frozenset({"retirement-pending"})
    missing = {quantity: reading.note for quantity, reading in found.items() if reading.value is None}
    assert missing == {
        "card.temperature": "the tool says 'Unknown Error'",
        MARGIN: "the tool leaves it blank",
        "card.power": "the tool says 'Unknown Error'",
        "card.serial": "the tool says 'N/A'",
        "card.errors_uncorrected": "the tool says 'N/A'",
    }
    assert "card.utilisation" not in found


@pytest.mark.parametrize(
    ("body", "flags"),
    [
        ("<gpu_recovery_action>Drain and Reset</gpu_recovery_action>", {"recovery-drain-and-reset"}),
        ("<gpu_recovery_action>N/A</gpu_recovery_action>", None),
        ("<utilization><gpu_util>[GPU requires reset]</gpu_util></utilization>", {"reset-required"}),
        ("<remapped_rows><remapped_row_pending>Yes</remapped_row_pending></remapped_rows>", {"remap-pending"}),
        ("<remapped_rows><remapped_row_failure>Yes</remapped_row_failure></remapped_rows>", {"remap-failed"}),
        ("<remapped_rows>N/A</remapped_rows>", None),
    ],
)
def test_what_the_driver_complains_of(body: str, flags: set[str] | None) -> None:
    assert read_one(body)["card.health"].value == (None if flags is None else frozenset(flags))


def test_a_card_whose_values_say_that_it_is_lost() -> None:
    found = read_one("<serial>GPU is lost</serial><temperature><gpu_temp>GPU is lost</gpu_temp></temperature>")
    assert found["card.present"].value == 0.0
    assert found["card.health"].value == frozenset({LOST})
    assert (found["card.temperature"].value, found["card.serial"].value) == (None, None)


@pytest.mark.parametrize("text", ["0", "N/A", "Unknown Error", ""])
def test_a_serial_number_that_is_none(text: str) -> None:
    assert read_one(f"<serial>{text}</serial>")["card.serial"].state is State.UNKNOWN


def test_the_margin_may_be_negative() -> None:
    assert read_one("<temperature><gpu_temp_tlimit>-3 C</gpu_temp_tlimit></temperature>")[MARGIN].value == -3.0


def test_two_cards_and_a_warning_before_them() -> None:
    text = "WARNING: infoROM is corrupted at gpu 0000:02:00.0\n" + document(("00000000:02:00.0", VOLTA), ("00000001:00:00.0", HOPPER))
    assert [sheet.bus for sheet in parse_xml(text).sheets] == ["0000:02:00.0", "0001:00:00.0"]


def test_a_document_that_was_cut_short_keeps_whole_cards_and_says_so() -> None:
    found = parse_xml(document(("00000000:02:00.0", VOLTA), ("00000000:A1:00.0", HOPPER))[:-400])
    assert [sheet.bus for sheet in found.sheets] == ["0000:02:00.0"]
    assert found.trouble.startswith("no whole document of nvidia-smi")


BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><nvidia_smi_log><gpu id="0:1:0.0"><serial>&b;</serial></gpu></nvidia_smi_log>'
OUTSIDE = (
    '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><nvidia_smi_log><gpu id="0:1:0.0"><serial>&a;</serial></gpu></nvidia_smi_log>'
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BOMB, "it declares the entity 'a'"),
        (OUTSIDE, "it declares the entity 'a'"),
        ("<a>" * (DEEPEST + 1), "elements within elements, 32 deep"),
        ("<nvidia_smi_log></nvidia_smi_log>", "a document without a card"),
        ("", "no element found"),
        ("No devices were found", "syntax error"),
        ("x" * (LARGEST + 1), "at most 8388608 are read"),
    ],
)
def test_what_no_tool_writes_is_refused(text: str, why: str) -> None:
    found = parse_xml(text)
    assert found.sheets == ()
    assert why in found.trouble


TEXT = """
==============NVSMI LOG==============

Attached GPUs                             : 2
GPU 00000000:0B:00.0
    Product Name                          : NVIDIA A9 PCIe
    Serial Number                         : 1320000000007
    GPU Recovery Action                   : None
    FB Memory Usage
        Total                             : 40960 MiB
        Used                              : 12 MiB
    Utilization
        GPU                               : 0 %
    ECC Errors
        Volatile
            DRAM Correctable              : 4
        Aggregate
            SRAM Correctable              : 0
            DRAM Correctable              : 8
    Temperature
        GPU Current Temp                  : 38 C
        GPU T.Limit Temp                  : N/A
    GPU Power Readings
        Average Power Draw                : 36.60 W

GPU 00000000:0C:00.0
    Remapped Rows
        Pending                           : Yes
        Remapping Failure Occurred        : No
"""


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_text_says_the_same_as_the_document(ending: str) -> None:
    one, other = parse_text(TEXT.replace("\n", ending))
    found = {quantity: reading.value for quantity, reading in read(one).items()}
    assert found == {
        "card.present": 1.0,
        "card.health": frozenset(),
        "card.temperature": 38.0,
        MARGIN: None,
        "card.power": 36.6,
        "card.utilisation": 0.0,
        "card.memory_used": 12 * MIB,
        "card.memory_total": 40960 * MIB,
        "card.serial": "1320000000007",
        "card.chip": "nvidia a9 pcie",
        "card.errors_corrected": 8.0,
    }
    assert (other.bus, read(other)["card.health"].value) == ("0000:0c:00.0", frozenset({"remap-pending"}))


TABLE = """
|   0  NVIDIA A9-SXM4-80GB            On | 00000001:00:00.0 Off |                    0 |
| N/A   33C    P0              63W / 400W|      4MiB / 81920MiB |      5%      Default |
|                                        |                      |             Disabled |
+-----------------------------------------+----------------------+----------------------+
|   1  NVIDIA A9-SX...  Off  | 00000002:00:00.0 Off |                 ERR! |
|ERR!  ERR! ERR!    ERR! / ERR! |      0MiB / 81920MiB |    ERR!      Default |
"""


def test_the_table_of_older_recordings() -> None:
    one, other = parse_table(TABLE)
    found = read(one)
    assert (found["card.temperature"].value, found["card.power"].value, found["card.utilisation"].value) == (33.0, 63.0, 5.0)
    assert (found["card.memory_used"].value, found["card.chip"].value) == (4 * MIB, "nvidia a9-sxm4-80gb")
    assert found["card.health"].note == "this driver tells nothing of it"
    broken = read(other)
    assert other.bus == "0002:00:00.0"
    assert (broken["card.temperature"].value, broken["card.temperature"].note) == (None, "the tool says 'ERR!'")
    assert "card.chip" not in broken


@pytest.mark.parametrize("text", ["33 F", "33", "C", "1e999 C", "nan C", "٣ C", "-", "33 C C"])
def test_a_number_in_another_unit_is_none(text: str) -> None:
    assert measure(text, "C") is None


def test_counters_add_up_or_are_not_known() -> None:
    assert add_up(["1", "N/A", "2"]) == (3.0, "")
    assert add_up(["1", "Unknown Error"]) == (None, "the tool says 'Unknown Error'")
    assert add_up(["N/A", "N/A"]) == (None, "the tool says 'N/A'")
    assert add_up(["-1"]) == (None, "the tool says '-1'")


@pytest.mark.parametrize("text", ["N/A", "[N/A]", "", "-", "Not Supported", "GPU requires reset", "Insufficient Permissions", "[x]"])
def test_words_for_no_value(text: str) -> None:
    assert is_no_value(text)
    assert not is_no_value("NVIDIA A9")


ODD = st.text(alphabet=" \n|GPU:0.aN/%<>[]&;!x-", max_size=200)


@given(ODD)
def test_nothing_raises_for_text(text: str) -> None:
    for parse in (parse_text, parse_table):
        assert all(isinstance(sheet, Sheet) for sheet in parse(text))
    assert isinstance(parse_xml(text), Document)


@given(
    st.dictionaries(
        st.sampled_from(["serial", "temperature/gpu_temp", "gpu_recovery_action", "ecc_errors/aggregate/dram_correctable"]), st.text()
    )
)
def test_any_value_is_a_reading_that_can_be(facts: dict[str, str]) -> None:
    for reading in read(Sheet("0000:01:00.0", facts)).values():
        assert (reading.value is None) == (reading.state is State.UNKNOWN)
        assert reading.value is not None or reading.note
