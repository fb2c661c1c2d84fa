"""The table, in the widths and columns of several generations."""

from __future__ import annotations

import pytest

from supernoded_ascend.npu_table import Mapped, parse_mapping, parse_table

WIDE = """\
WARN: something else first
+----------------------------------------------------------------------------------------------------------+
| npu-smi 26.0.rc1                            Version: 26.0.rc1                                            |
+---------------------------+---------------+--------------------------------------------------------------+
| NPU   Name                | Health        | Power(W)             Temp(C)         Hugepages-Usage(page)   |
| Chip  Phy-ID              | Bus-Id        | AICore(%)            Memory-Usage(MB) HBM-Usage(MB)          |
+===========================+===============+==============================================================+
| 5     Ascend910           | OK            | 170.5                37              0    / 0                |
| 0     10                  | 0000:9D:00.0  | 12                   0    / 0        58072/ 65536            |
+----------------------------------------------------------------------------------------------------------+
| 5     Ascend910           | Alarm         | -                    36              0    / 0                |
| 1     11                  | 0000:9F:00.0  | 0                    0    / 0        2886 / 65536            |
+===========================+===============+==============================================================+
+---------------------------+---------------+--------------------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)                |
+===========================+===============+==============================================================+
| 5       0                 | 1534604       |                          | 54963                             |
+===========================+===============+==============================================================+
"""
NO_PHYSICAL = """\
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B4               | OK            | 88.2        30                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          26838/ 32768         |
"""
SMALL = """\
| NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
| 0       310B9 rev 2           | Alarm           | 0.0          65                15    / 15            |
| 0       0                     | NA              | 3            3628 / 15609                            |
"""


def test_two_chips_in_a_wide_table() -> None:
    table = parse_table(WIDE)
    assert [(chip.npu, chip.chip, chip.name, chip.physical) for chip in table.chips] == [(5, 0, "Ascend910", 10), (5, 1, "Ascend910", 11)]
    assert table.chips[0].values == {
        "health": "OK",
        "power(w)": "170.5",
        "temp(c)": "37",
        "hugepages-usage(page)": "0    / 0",
        "chip": "0",
        "phy-id": "10",
        "bus-id": "0000:9D:00.0",
        "aicore(%)": "12",
        "memory-usage(mb)": "0    / 0",
        "hbm-usage(mb)": "58072/ 65536",
    }
    assert table.chips[1].values["power(w)"] == "-"
    assert table.strange == ()


def test_no_column_of_physical_numbers() -> None:
    (chip,) = parse_table(NO_PHYSICAL).chips
    assert (chip.npu, chip.chip, chip.physical, chip.values["bus-id"]) == (0, 0, None, "0000:C1:00.0")


def test_a_small_module() -> None:
    (chip,) = parse_table(SMALL).chips
    assert (chip.name, chip.physical, chip.values["health"], chip.values["bus-id"]) == ("310B9 rev 2", None, "Alarm", "NA")
    assert chip.values["memory-usage(mb)"] == "3628 / 15609"


def test_windows_line_ends_make_no_difference() -> None:
    assert parse_table(WIDE.replace("\n", "\r\n")) == parse_table(WIDE)


def test_a_cell_with_a_word_too_few_costs_its_own_values() -> None:
    (chip,) = parse_table(NO_PHYSICAL.replace("88.2        30 ", "            30 ")).chips
    assert "temp(c)" not in chip.values
    assert chip.values["hbm-usage(mb)"] == "26838/ 32768"


@pytest.mark.parametrize("bad", ["| 0     910B4  driver is not ready |", "rubbish", "| x | y | z |"])
def test_a_line_that_is_no_row_is_told(bad: str) -> None:
    head, rows = NO_PHYSICAL.split("+===", 1)
    table = parse_table(f"{head}{bad}\n+==={rows}")
    assert len(table.chips) == 1
    assert len(table.strange) == 1


def test_half_a_chip_is_none() -> None:
    lines = NO_PHYSICAL.splitlines()
    assert parse_table("\n".join(lines[:-1])).chips == ()
    table = parse_table("\n".join([*lines[:3], lines[3], "| ??? | a | b |", *lines[3:]]))
    assert (len(table.chips), len(table.strange)) == (1, 1)


@pytest.mark.parametrize("text", ["", "npu-smi: error", NO_PHYSICAL.splitlines()[0]])
def test_no_table(text: str) -> None:
    assert parse_table(text).chips == ()


def test_mapping() -> None:
    logical = (
        "\tNPU ID                         Chip ID                        Chip Logic ID                  Chip Name\n"
        "\t0                              0                              0                              Ascend 910B\n"
        "\t0                              1                              -                              Mcu\n"
        "\t3                              0                              1                              Ascend 910B\n"
    )
    assert parse_mapping(logical) == (Mapped(0, 0, 0), Mapped(3, 0, 1))
    physical = (
        "NPU ID                         Chip ID                        Chip Logic ID     Chip Phy-ID                    Chip Name\n"
        "4                              1                              1                 9                              Ascend910\n"
    )
    assert parse_mapping(physical) == (Mapped(4, 1, 9),)
    assert parse_mapping("no devices found") == ()
