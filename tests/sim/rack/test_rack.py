"""Racks as data: generated, shipped, and in files that are like others or wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.rack import SHIPPED, RackError, generate_rack, load_rack, write_rack, write_topology
from sim_hardware.rack.checking import find_faults
from supernoded.topology import read_topology

SMALL = [name for name in SHIPPED if name != "pod-1024x8"]
SIZES = (st.integers(1, 60), st.integers(1, 16))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_rack_holds_together(name: str) -> None:
    assert list(find_faults(load_rack(name))) == []


@pytest.mark.parametrize("name", SMALL)
def test_a_daemon_reads_a_shipped_rack_as_its_topology(name: str) -> None:
    rack = load_rack(name)
    site = read_topology(write_topology(rack), name)
    assert [card for node in site.nodes for card in node.list_cards()] == list(rack.list_cards())
    assert [pdu.name for pdu in site.pdus] == [pdu.name for pdu in rack.pdus]
    assert [loop.subject for loop in site.loops] == [loop.subject for loop in rack.loops]


@settings(max_examples=30)
@given(*SIZES)
def test_a_generated_rack_holds_together(nodes: int, cards: int) -> None:
    rack = generate_rack(nodes, cards)
    assert list(find_faults(rack)) == []
    assert len(rack.list_cards()) == nodes * cards == len({card.serial for card in rack.cards})
    outlets = [outlet.load for pdu in rack.pdus for outlet in pdu.outlets]
    assert all(outlets.count(load) == 2 for load in outlets), "each load has a cord to each feed"
    assert all(sum(outlet.load == node.name for outlet in pdu.outlets) <= 1 for node in rack.nodes for pdu in rack.pdus)
    full = nodes * (cards * 600.0 + 1800.0)
    assert all(ups.rated_va is not None and ups.rated_va * 0.9 >= full for ups in rack.ups)
    assert len(rack.spares) == (cards if nodes >= 4 else 0)


@settings(max_examples=10)
@given(*SIZES)
def test_a_daemon_reads_a_generated_rack(nodes: int, cards: int) -> None:
    rack = generate_rack(nodes, cards)
    assert len(read_topology(write_topology(rack), "generated").cables) == len(rack.cables)


@settings(max_examples=10)
@given(*SIZES)
def test_a_rack_comes_back_from_its_file(tmp_path_factory: pytest.TempPathFactory, nodes: int, cards: int) -> None:
    file = tmp_path_factory.mktemp("racks") / "one.toml"
    rack = generate_rack(nodes, cards, text="one that was written")
    file.write_text(write_rack(rack))
    assert load_rack(str(file)) == rack


def write(folder: Path, text: str, name: str = "mine.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_any_size_has_a_name() -> None:
    assert load_rack("rack-3x5") == generate_rack(3, 5)
    assert load_rack("pod-3x5") == generate_rack(3, 5)


def test_a_file_says_only_what_is_different(tmp_path: Path) -> None:
    rack = load_rack(write(tmp_path, 'like = "rack-2x4"\n[sim.power]\ngenerator = false\n[sim.power.ups]\nminutes = 3.0\n'))
    like = generate_rack(2, 4)
    assert (rack.sim.power.generator, rack.sim.power.ups.minutes, rack.sim.power.ups.kind) == (False, 3.0, "online")
    assert (rack.nodes, rack.cables, rack.sim.job) == (like.nodes, like.cables, like.sim.job)


def test_a_rack_need_not_have_a_job(tmp_path: Path) -> None:
    rack = load_rack(write(tmp_path, 'like = "rack-1x4"\n[sim]\njob = false\n'))
    assert rack.sim.job is None
    assert load_rack(write(tmp_path, write_rack(rack), "again.toml")) == rack
    back = load_rack(write(tmp_path, f'like = "{tmp_path}/mine.toml"\n[sim.job]\nstep_s = 3.0\n', "back.toml"))
    assert back.sim.job is not None
    assert (back.sim.job.name, back.sim.job.step_s) == ("train", 3.0)


def test_a_list_is_taken_whole(tmp_path: Path) -> None:
    rack = load_rack(write(tmp_path, 'like = "rack-1x4"\nswitches = []\npdus = []\n'))
    assert (rack.switches, rack.pdus, len(rack.ups)) == ((), (), 2)


def test_likeness_goes_on_from_file_to_file(tmp_path: Path) -> None:
    first = write(tmp_path, 'like = "rack-1x4"\n[sim.power]\nvolts = 240.0\nhertz = 60.0\n', "first.toml")
    rack = load_rack(write(tmp_path, f'like = "{first}"\n[sim.power]\nvolts = 277.0\n'))
    assert (rack.sim.power.volts, rack.sim.power.hertz) == (277.0, 60.0)


def test_a_loop_of_likeness_is_told(tmp_path: Path) -> None:
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    one.write_text(f'like = "{two}"\n')
    two.write_text(f'like = "{one}"\n')
    with pytest.raises(RackError, match=r"one\.toml: is like itself \(.*one\.toml -> .*two\.toml -> .*one\.toml\)"):
        load_rack(str(one))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[a]\nnodes = }", r"mine\.toml: .*line 2"),
        ('like = "rack-1x4"\nnodez = []\n', r"mine\.toml: .*nodez"),
        ('like = "rack-1x4"\n[sim.power]\nvolts = -1.0\n', r"mine\.toml: .*>.*0.*\$\.sim\.power\.volts"),
        ('like = "rack-0x4"\n', r"rack-0x4: no rack of this name; there are rack-1x8"),
        ('like = "rack-1x4"\n[[nodes]]\nname = "n0"\ncards = 4\nloop = "west"\n', r"mine\.toml: node n0: no loop 'west'; there are cdu0"),
        (
            'like = "rack-1x4"\n[[nodes]]\nname = "n0"\ncards = 4\nfeeds = ["Q"]\n[[feeds]]\nname = "C"\n',
            r"node n0: no feed 'Q'; there are A, B, C",
        ),
        ('like = "rack-1x4"\n[[pdus]]\nname = "P"\nfeed = "Z"\n', r"PDU P: no feed 'Z'"),
        (
            'like = "rack-1x4"\n[[pdus]]\nname = "P"\nfeed = "A"\noutlets = [{number = 1, load = "n7"}]\n',
            r"outlet 1 of PDU P: no load 'n7'",
        ),
        ('like = "rack-1x4"\n[[spares]]\ncard = "n0/card9"\n', r"a spare: no card 'n0/card9'; there are n0/card0"),
        ('like = "rack-1x4"\n[[cables]]\na = "n0/card0/port0"\nb = "n8/card0/port1"\n', r"no port 'n8/card0'"),
        ('like = "rack-1x4"\n[[rings]]\nname = "r"\nlevel = "cluster"\norder = ["n0", "n5"]\n', r"ring r: no node 'n5'"),
        ('like = "rack-1x4"\n[[ups]]\nname = "A"\n[[ups]]\nname = "A"\n', r"feed 'A' is there 2 times"),
        ('like = "rack-1x4"\n[sim.loops.east]\nplant = "brisk"\n', r"\[sim\.loops\]: no loop 'east'"),
    ],
)
def test_a_wrong_file_is_refused_by_name_and_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(RackError, match=told):
        load_rack(write(tmp_path, text))


@pytest.mark.parametrize("name", ["", "rack", "rack-0x8", "rack-1x65", "rack-1x8x2", "/nowhere/mine.toml"])
def test_a_rack_that_is_not_there(name: str) -> None:
    with pytest.raises(RackError):
        load_rack(name)


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(RackError) as refused:
        load_rack(write(tmp_path, 'like = "rack-1x4"\n[[spares]]\ncard = "x"\n[[spares]]\ncard = "y"\n'))
    assert len(str(refused.value).splitlines()) == 2
