"""What `[reflex]` may say, and what `supernoded --check` finds in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.checking import find_problems
from supernoded.reflex.arithmetic import explain
from supernoded.settings import Settings, load_settings

LINES = """
[[reflex.lines]]
name = "pduA"
device = "/dev/ttyS0"
[[reflex.lines]]
name = "pduB"
device = "/dev/ttyS1"
"""
TRIGGERS = """
[[reflex.triggers]]
feed = "A"
line = "pduA"
contact = "cts"
[[reflex.triggers]]
feed = "B"
line = "pduB"
contact = "dcd"
"""
FRAMES = """
[[reflex.frames]]
line = "pduA"
coil = 1000
[[reflex.frames]]
line = "pduB"
coil = 1000
"""
SITE = """
[[nodes]]
name = "n0"
cards = 8
feeds = ["A", "B"]
[[ups]]
name = "A"
[[ups]]
name = "B"
[[pdus]]
name = "A1"
feed = "A"
wire = "reflex://pduA?unit=1&map=pdu"
outlets = [{number = 1, load = "n0/fan*", sheddable = true}]
[[pdus]]
name = "B1"
feed = "B"
wire = "reflex://pduB?unit=1&map=pdu"
outlets = [{number = 1, load = "n0/fan*", sheddable = true}]
"""


def find(tmp_path: Path, text: str) -> list[tuple[str, str]]:
    file = tmp_path / "supernoded.toml"
    file.write_text(f'node = "n0"\nstate = "{tmp_path}"\nruntime = "{tmp_path}/run"\n' + text)
    return [(problem.key, f"{problem.fault}; {problem.remedy}") for problem in find_problems(file, {})]


def test_a_sound_one(tmp_path: Path) -> None:
    assert find(tmp_path, LINES + TRIGGERS + FRAMES + SITE) == []
    settings = load_settings(tmp_path / "supernoded.toml", {})
    assert isinstance(settings, Settings)
    assert settings.reflex.socket == tmp_path / "run" / "reflex.sock"
    assert settings.reflex.record == tmp_path / "reflex.jsonl"
    assert [trigger.interval_s for trigger in settings.reflex.triggers] == [0.001, 0.001]


def test_the_example_of_the_guide_is_sound_and_its_arithmetic_is_right(tmp_path: Path, checkout: Path) -> None:
    guide = (checkout / "docs" / "reflex.md").read_text(encoding="utf-8")
    example = guide.partition("```toml\n")[2].partition("```")[0]
    nodes = '[[nodes]]\nname = "n0"\ncards = 8\nfeeds = ["A", "B"]\n[[ups]]\nname = "A"\n[[ups]]\nname = "B"\n'
    assert find(tmp_path, example + nodes) == []
    settings = load_settings(tmp_path / "supernoded.toml", {})
    assert isinstance(settings, Settings)
    assert " ".join(guide.split()).count(f"at worst on {explain(settings.reflex)[0]}") == 1


def test_none_at_all(tmp_path: Path) -> None:
    assert find(tmp_path, "") == []


REGISTER = '[[reflex.triggers]]\nfeed = "{}"\nline = "pdu{}"\nregister = 102\n{}\n'


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        (
            LINES + TRIGGERS.partition('[[reflex.triggers]]\nfeed = "B"')[0] + FRAMES,
            "reflex.frames",
            "one feed never sheds (safety rule 5)",
        ),
        (LINES + FRAMES, "reflex.frames", "is sent on 0 feeds"),
        (LINES + TRIGGERS, "reflex.triggers", "fire nothing"),
        (LINES + TRIGGERS.replace('"pduB"', '"pduC"') + FRAMES, "reflex.triggers[1].line", "is no line, there are pduA, pduB"),
        (LINES + TRIGGERS.replace('"B"', '"A"') + FRAMES, "reflex.triggers[1].feed", "has it twice"),
        (LINES.replace("ttyS1", "ttyS0") + TRIGGERS + FRAMES, "reflex.lines[1].device", "has it twice"),
        (LINES + TRIGGERS + FRAMES.replace("coil = 1000", "", 1), "reflex.frames[0]", "a coil or a register, one of them"),
        (LINES + TRIGGERS.replace('contact = "cts"', "") + FRAMES, "reflex.triggers[0]", "is a contact or a register, one of them"),
        (LINES + REGISTER.format("A", "A", "") + FRAMES, "reflex.triggers[0].register", "has no threshold, or two"),
        (LINES + REGISTER.format("A", "A", "above = 1\nbelow = 1") + FRAMES, "reflex.triggers[0].register", "has no threshold, or two"),
        ('[reflex]\nsocket = "' + "s" * 110 + '"' + LINES + TRIGGERS + FRAMES, "reflex.socket", "at most 107 are possible"),
        (LINES.replace("name", "names", 1), "reflex.lines[0].names", "did you mean name?"),
    ],
)
def test_what_cannot_be(tmp_path: Path, text: str, key: str, said: str) -> None:
    found = [sentence for where, sentence in find(tmp_path, text) if where == key]
    assert found, find(tmp_path, text)
    assert said in found[0]


def test_a_line_that_cannot_meet_its_deadline_is_refused_with_the_arithmetic(tmp_path: Path) -> None:
    registers = "".join(REGISTER.format(feed, feed, "above = 0") for feed in "AB")
    slow = LINES.replace('name = "pduB"', 'name = "pduB"\nbaud = 9600\nparity = "E"')
    both = dict(find(tmp_path, slow + registers + FRAMES))
    assert both["reflex.frames[0]"].startswith("cannot be out within 20 ms: 2 x 29.2"), "the slower trigger is on the other line"
    assert "8 bytes at 9600 baud 9.17 ms + silence 4.01 ms" in both["reflex.frames[1]"]
    assert "raise the baud rate" in both["reflex.frames[1]"]
    assert both["reflex.triggers[1]"].startswith("is asked every 10 ms, and its line is busy for longer: look at B ")


@pytest.mark.parametrize(
    ("change", "key", "said"),
    [
        (("reflex://pduB", "reflex://pduX"), "pdus[1].wire", "the reflex has no line pduX, it has pduA, pduB"),
        (("reflex://pduB", "reflex:///pduB"), "pdus[1].wire", "reflex://name"),
        (('feed = "B"\nline', 'feed = "C"\nline'), "reflex.triggers[1].feed", "is no feed of the topology, which has A, B"),
        (('[[reflex.frames]]\nline = "pduB"\ncoil = 1000\n', ""), "pdus[1].wire", "opens every cord of its loads (safety rule 5)"),
    ],
)
def test_what_the_topology_denies(tmp_path: Path, change: tuple[str, str], key: str, said: str) -> None:
    found = find(tmp_path, (LINES + TRIGGERS + FRAMES + SITE).replace(*change))
    assert [where for where, _ in found] == [key]
    assert said in found[0][1]
