"""`supernodectl ring verify`, as a cabling crew and as a program see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from supernoded.ctl.main import program
from supernoded_ring.observed import ObservedError, read_observed

TOPOLOGY = """
[[nodes]]
name = "n0"
cards = 4
[[rings]]
name = "backplane-n0"
level = "backplane"
order = ["n0/card0", "n0/card1", "n0/card2", "n0/card3"]
"""
GOOD = [{"a": f"n0/card{number}/port0", "b": f"n0/card{(number + 1) % 4}/port1"} for number in range(4)]
ONE, TWO = "n0/card2/port0", "n0/card2/port1"
SWAPPED = [GOOD[0], {"a": "n0/card1/port0", "b": "n0/card2/port0"}, {"a": "n0/card2/port1", "b": "n0/card3/port1"}, GOOD[3]]


def run(folder: Path, observed: object, *options: str, topology: str = TOPOLOGY, before: tuple[str, ...] = ()) -> Result:
    (folder / "site.toml").write_text(topology)
    body = observed if isinstance(observed, str) else json.dumps(observed)
    (folder / "seen.json").write_text(body)
    arguments = [*before, "ring", "verify", str(folder / "site.toml"), "--observed", str(folder / "seen.json"), *options]
    return CliRunner().invoke(program, arguments, prog_name="supernodectl")


def test_a_closed_ring_exits_0(tmp_path: Path) -> None:
    result = run(tmp_path, GOOD)
    assert (result.exit_code, result.stdout) == (0, "ring backplane-n0  closed\n")


def test_crews_get_numbered_moves(tmp_path: Path) -> None:
    result = run(tmp_path, SWAPPED)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "ring backplane-n0  miswired",
        "",
        "What is wrong:",
        f"  The two cables at n0/card2 are swapped: the one in {ONE} belongs in {TWO}, and the one in {TWO} in {ONE}.",
        "",
        "What to do, 2 cable ends:",
        f"    1. Take the end in {ONE} out and hold it; then move the end in {TWO} to {ONE} (its other end is in n0/card3/port1).",
        "    2. Plug the end from n0/card2/port0 that you hold into n0/card2/port1 (its other end is in n0/card1/port0).",
    ]


def test_programs_get_verdict_findings_and_moves(tmp_path: Path) -> None:
    result = run(tmp_path, SWAPPED, "-o", "json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["verdict"] == "miswired"
    assert [sorted(finding) for finding in told["findings"]] == [["kind", "sentence", "subject"]]
    assert (told["findings"][0]["kind"], told["findings"][0]["subject"]) == ("wrong_port", "n0/card2")
    assert [(move["number"], move["from"], move["to"], move["other_end"], move["ring"]) for move in told["moves"]] == [
        (1, "n0/card2/port1", "n0/card2/port0", "n0/card3/port1", "backplane-n0"),
        (2, "n0/card2/port0", "n0/card2/port1", "n0/card1/port0", "backplane-n0"),
    ]
    assert [(ring["ring"], ring["verdict"]) for ring in told["rings"]] == [("backplane-n0", "miswired")]
    assert run(tmp_path, SWAPPED, before=("-o", "json")).stdout == result.stdout


def test_unknown_ports_and_duplicates_are_findings(tmp_path: Path) -> None:
    result = run(tmp_path, [*GOOD, {"a": "n0/card9/port0", "b": "n7/card0/port0"}, {"a": "n0/card0/port0", "b": "n0/card3/port1"}])
    assert result.exit_code == 1
    assert "Entry 5 names n0/card9/port0, which is no port of the topology." in result.stdout
    assert "n0/card0/port0 leads to n0/card1/port1 by entry 1 and to n0/card3/port1 by entry 6; a port takes one cable." in result.stdout
    assert "No cable has to be moved: correct the list of links." in result.stdout


@pytest.mark.parametrize(
    ("observed", "words"),
    [
        ("", "line 1, column 1: is no JSON"),
        ('[{"a": "x"},\n {"a": }]', "line 2, column 8: is no JSON"),
        ('{"a": 1}', "holds no list"),
        ('[{"a": "n0/card0/port0"}]', "entry 1: b is missing"),
        ('[{"a": "n0/card0/port0", "b": ""}]', 'entry 1: b = "" is no port'),
        ('[{"a": "n0/card0/port0", "b": "y", "c": 1}]', "entry 1: unknown key 'c'"),
        ('[7, {"a": null, "b": "y"}]', "entry 2: a = null is no port"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_slip_of_the_hand(tmp_path: Path, observed: str, words: str) -> None:
    result = run(tmp_path, observed)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


@pytest.mark.parametrize(("topology", "words"), [("[[nodes]\n", "line 1"), ('[[nodes]]\nname = "n0"\ncards = 1\n', "describes no ring")])
def test_a_topology_that_cannot_be_used_is_one_too(tmp_path: Path, topology: str, words: str) -> None:
    result = run(tmp_path, GOOD, topology=topology)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_the_group_has_help_and_lists_the_verb() -> None:
    result = CliRunner().invoke(program, ["ring", "--help"], prog_name="supernodectl")
    assert result.exit_code == 0
    assert "verify" in result.stdout


def test_files_as_windows_writes_them() -> None:
    assert read_observed(b'\xef\xbb\xbf[{"a": " x ", "b": "y"}]\r\n') == [("x", "y")]


@given(st.one_of(st.binary(max_size=200), st.text(alphabet='[]{}:,"ab \n10', max_size=60).map(str.encode)))
def test_garbage_is_told_apart_from_links(data: bytes) -> None:
    try:
        pairs = read_observed(data)
    except ObservedError as error:
        assert str(error)
    else:
        assert all(a and b for a, b in pairs)


def test_of_many_rings_only_those_in_trouble_are_listed(tmp_path: Path) -> None:
    ring = '[[rings]]\nname = "backplane-n{0}"\nlevel = "backplane"\norder = ["n{0}/card0", "n{0}/card1"]\n'
    site = "".join(f'[[nodes]]\nname = "n{number}"\ncards = 2\n{ring.format(number)}' for number in range(20))
    links = [{"a": f"n{node}/card{card}/port0", "b": f"n{node}/card{1 - card}/port1"} for node in range(20) for card in (0, 1)]
    assert run(tmp_path, links, topology=site).stdout == "20 rings  closed\n"
    told = run(tmp_path, links[1:], topology=site).stdout.splitlines()
    assert told[:3] == ["ring backplane-n0  broken", "19 other rings  closed", ""]
