"""What codes ask for: ours, the site's, and files that are none."""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import PluginError
from supernoded_isolation.health.codes import LEVELS, RANKS, build_table, normalise, read_levels

OURS = build_table()


def write(folder: Path, text: str, name: str = "codes.json") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


@pytest.mark.parametrize(
    ("code", "level"),
    [
        ("A4025021", "ignore"),
        ("a4025021", "ignore"),
        ("0x8C03A000", "reset"),
        ("8C084E00", "reset-when-free"),
        ("XID79", "lost"),
        ("xid48", "reset"),
        ("XID13", "ignore"),
        ("XID9999", "unknown"),
        ("", "unknown"),
    ],
)
def test_our_table(code: str, level: str) -> None:
    assert OURS.level(code) == level


def test_levels_rise_from_nothing_to_gone() -> None:
    order = ["ignore", "restart-request", "restart", "unknown", "reset", "separate", "lost"]
    assert [level for level in LEVELS if level in order] == order
    assert all(OURS.levels[code] in RANKS for code in OURS.levels)


def test_the_worst_comes_first_and_what_is_not_handled_is_none() -> None:
    found = OURS.judge({"A4025021", "8C084E00", "8C03A000", "FFFF0001"})
    assert list(found.items()) == [("8C03A000", "reset"), ("FFFF0001", "unknown"), ("8C084E00", "reset-when-free")]


def test_a_word_counts_only_where_no_code_explains_it() -> None:
    assert OURS.judge({"alarm", "A4025021"}) == {}
    assert OURS.judge({"alarm"}) == {"alarm": "unknown"}
    assert OURS.judge({"ok"}) == {}
    assert OURS.judge(set()) == {}


def test_a_chip_on_which_an_alarm_is_normal() -> None:
    assert OURS.judge({"alarm"}, "310b4") == {}
    assert OURS.judge({"alarm"}, "Ascend310B4") == {}
    assert OURS.judge({"alarm"}, "910b4") == {"alarm": "unknown"}
    assert OURS.judge({"alarm", "8C03A000"}, "310b4") == {"8C03A000": "reset"}
    assert build_table("", {"910*": ("0x8C03A000",)}).judge({"8C03A000"}, "910B4") == {}


def test_the_site_wins_and_a_code_of_two_levels_is_the_worst(tmp_path: Path) -> None:
    levels = {
        "NotHandleFaultCodes": ["8C03A000"],
        "RestartNPUCodes": ["A4025021", "0XAB"],
        "SeparateNPUCodes": ["ab"],
        "sub-health": ["XID48", "AB"],
    }
    table = build_table(write(tmp_path, json.dumps(levels)))
    assert {code: table.level(code) for code in ("8C03A000", "A4025021", "AB", "XID48", "XID62")} == {
        "8C03A000": "ignore",
        "A4025021": "reset",
        "AB": "separate",
        "XID48": "sub-health",
        "XID62": "reset",
    }


def test_a_table_in_toml(tmp_path: Path) -> None:
    assert read_levels(write(tmp_path, 'separate = ["AB"]', "codes.toml")) == {"ab": "separate"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"BestCodes": ["AB"]}', "'BestCodes' is no level; use one of ignore, sub-health"),
        ('{"separate": "AB"}', r"Expected `array`, got `str` - at `\$\[...\]`; write"),
        ('{"separate": [7]}', "Expected `str`, got `int`"),
        ("{", "truncated"),
        ("[" * 100_000, "write"),
        (" " * (2**20 + 1), "larger than 1048576 bytes"),
    ],
)
def test_a_file_that_is_no_table_is_named(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=why) as raised:
        build_table(write(tmp_path, text))
    assert str(raised.value).startswith(f"fault_codes: {tmp_path}/codes.json: ")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="cannot be read"):
        build_table(str(tmp_path / "none.json"))
    with pytest.raises(PluginError, match="cannot be read"):
        build_table("a\0b")


@given(st.frozensets(st.text(max_size=12), max_size=6), st.text(max_size=8))
def test_any_flags_are_judged(flags: frozenset[str], chip: str) -> None:
    found = OURS.judge(flags, chip)
    assert set(found) <= flags
    assert list(found.values()) == sorted(found.values(), key=lambda level: -RANKS[level])


def test_the_published_table(recordings: Path) -> None:
    table = build_table(str(recordings / "ascend" / "mindcluster_faultCode.json"))
    assert list(table.judge({"A4025021", "8C03A000", "8C084E00"}).values()) == ["reset", "reset-when-free"]
    assert table.level("817F8002") == "separate"
    assert table.level("81A3880C") == "sub-health"
    assert table.level("XID48") == "reset"
    assert all(table.levels[code] == level for code, level in OURS.levels.items() if code.startswith(("a402", "8c0")))


@pytest.mark.parametrize(
    ("xid", "level"),
    [(13, "ignore"), (32, "restart"), (63, "ignore"), (92, "sub-health"), (95, "reset"), (105, "restart"), (119, "reset"), (151, "reboot")],
)
def test_xids_as_the_catalog_has_them(xid: int, level: str) -> None:
    assert OURS.level(f"XID{xid}") == level


def test_no_code_of_ours_has_two_levels() -> None:
    text = (importlib.resources.files("supernoded_isolation.health") / "codes.toml").read_text()
    codes = [code for codes in msgspec.toml.decode(text)["levels"].values() for code in codes]
    assert len({normalise(code) for code in codes}) == len(codes) == len(OURS.levels)
