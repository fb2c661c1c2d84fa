from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import SettingsError
from supernoded.topology import Authority, Cable, CoolantLoop, Feed, Pdu, RingLevel, Supernode, Topology, Ups, read_topology

SITE = """\
[[nodes]]
name = "n0"
cards = 8
feeds = ["A", "B"]
loop = "cdu0"
[[nodes]]
name = "n1"
cards = 8
feeds = ["A", "B"]
[[rings]]
name = "backplane-n0"
level = "backplane"
order = ["n0/card0", "n0/card1", "n0/card2", "n0/card3", "n0/card4", "n0/card5", "n0/card6", "n0/card7"]
[[rings]]
name = "all"
level = "cluster"
order = ["n0", "n1"]
[[cards]]
card = "n0/card3"
serial = "SN0003"
[[cards]]
card = "n0/card4"
serial = "SN0004"
[[cables]]
a = "n0/card0/port0"
b = "n0/card1/port1"
length_m = 1.5
[[cables]]
a = "n0/card1/port0"
b = "switch/s1/port12"
[[ups]]
name = "A"
rated_va = 200000
wire = "nut://127.0.0.1:3493/ups-a"
[[feeds]]
name = "B"
[[pdus]]
name = "A1"
feed = "A"
wire = "serial:///dev/ttyUSB0?baud=115200"
outlets = [{number = 7, load = "n0/fan*", sheddable = true}, {number = 8, load = "n0"}]
[[pdus]]
name = "B1"
feed = "B"
[[pdus.outlets]]
number = 1
load = "aux/corridor-lights"
sheddable = true
[[loops]]
name = "cdu0"
wire = "modbus://127.0.0.1:1502?map=rpu"
authority = "setpoint"
[[switches]]
name = "s1"
[[spares]]
card = "n1/card7"
"""


def test_a_whole_site_is_read() -> None:
    site = read_topology(SITE, "site.toml")

    assert [node.name for node in site.nodes] == ["n0", "n1"]
    assert [ring.level for ring in site.rings] == [RingLevel.BACKPLANE, RingLevel.CLUSTER]
    assert site.loops[0].authority is Authority.SETPOINT
    assert [outlet.sheddable for outlet in site.pdus[0].outlets] == [True, False]
    assert site.serial("n0/card3") == "SN0003"
    assert site.serial("n0/card5") == ""
    assert [site.list_cards(node.name) for node in site.nodes] == [node.list_cards() for node in site.nodes]
    assert site.list_cards("elsewhere") == ()
    assert site.peer("n0/card1/port1") == "n0/card0/port0"
    assert site.peer("n0/card1/port0") == "switch/s1/port12"
    assert site.peer("n0/card2/port0") == ""


def test_name_and_cards_are_enough() -> None:
    assert read_topology('[[nodes]]\nname = "n0"\ncards = 2', "small") == Topology.empty("n0", cards=2)


def test_subjects_of_a_small_node() -> None:
    assert Topology.empty("n0", cards=1).subjects() == ("n0", "n0/card0", "n0/card0/port0", "n0/card0/port1")


def test_subjects_of_everything_else() -> None:
    subjects = set(read_topology(SITE, "site.toml").subjects())

    assert {"ups/A", "pdu/A1", "pdu/A1/outlet7", "cdu/0", "switch/s1", "switch/s1/port12"} <= subjects


@pytest.mark.parametrize(
    ("subject", "things"),
    [
        ("n0/card0/port0", ("cable/n0/card0/port0--n0/card1/port1", "n0/card0", "cdu/0", "pdu/A1", "feed/A", "feed/B", "n0")),
        ("n0/card3", ("cdu/0", "pdu/A1", "feed/A", "feed/B", "n0")),
        ("n1/card3", ("feed/A", "feed/B", "n1")),
        ("n0", ("cdu/0", "pdu/A1", "feed/A", "feed/B")),
        ("pdu/A1/outlet7", ("pdu/A1", "feed/A")),
        ("ups/A", ("feed/A",)),
        ("switch/s1/port12", ("cable/n0/card1/port0--switch/s1/port12", "switch/s1")),
        ("n1/fan2", ("feed/A", "feed/B", "n1")),  # not described: what its node shares, and the node
        ("n1/nic/mlx5_0", ("feed/A", "feed/B", "n1")),
        ("n1/card3/memory", ("n1/card3", "feed/A", "feed/B", "n1")),
        ("cdu/0/pump1", ("cdu/0",)),
        ("elsewhere/card0", ()),
    ],
)
def test_shared_things_nearest_first(subject: str, things: tuple[str, ...]) -> None:
    assert read_topology(SITE, "site.toml").shared(subject) == things


@pytest.mark.parametrize(("name", "subject"), [("cdu0", "cdu/0"), ("cdu-12", "cdu/12"), ("west", "cdu/west"), ("cdu", "cdu/cdu")])
def test_subject_of_a_loop(name: str, subject: str) -> None:
    assert CoolantLoop(name=name).subject == subject


@st.composite
def sites(draw: st.DrawFn) -> Topology:
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    names = [f"n{index}" for index in range(len(sizes))]
    ports = [f"{name}/card{slot}/port{side}" for name, size in zip(names, sizes, strict=True) for slot in range(size) for side in (0, 1)]
    order = draw(st.permutations(ports))
    pairs = draw(st.integers(0, len(ports) // 2))
    hangs = [draw(st.sampled_from([(), ("A",), ("A", "B")])) for _ in names]
    loops = [draw(st.sampled_from(["", "cdu0"])) for _ in names]
    return Topology(
        nodes=tuple(Supernode(name=n, cards=s, feeds=f, loop=c) for n, s, f, c in zip(names, sizes, hangs, loops, strict=True)),
        cables=tuple(Cable(a=order[2 * i], b=order[2 * i + 1]) for i in range(pairs)),
        ups=(Ups(name="A"),),
        feeds=(Feed(name="B"),),
        pdus=(Pdu(name="A1", feed="A"),),
        loops=(CoolantLoop(name="cdu0"),),
    )


@given(sites())
def test_two_ends_of_a_cable_share_it_first(site: Topology) -> None:
    for cable in site.cables:
        assert site.shared(cable.a)[0] == site.shared(cable.b)[0] == cable.subject
        assert set(site.members(cable.subject)) == {cable.a, cable.b}


@given(sites())
def test_members_is_the_inverse_of_shared(site: Topology) -> None:
    things = {thing for subject in site.subjects() for thing in site.shared(subject)}

    for thing in things:
        assert set(site.members(thing)) == {subject for subject in site.subjects() if thing in site.shared(subject)}
    assert site.members("nothing") == ()


@given(sites())
def test_nothing_shares_itself_or_a_thing_twice(site: Topology) -> None:
    for subject in site.subjects():
        things = site.shared(subject)
        assert subject not in things
        assert len(set(things)) == len(things)


def test_the_name_of_a_cable_does_not_depend_on_its_direction() -> None:
    assert Cable(a="n1/card0/port0", b="n0/card0/port1").subject == Cable(a="n0/card0/port1", b="n1/card0/port0").subject


def _changed(old: str, new: str) -> str:
    assert SITE.count(old) == 1, old
    return SITE.replace(old, new)


@pytest.mark.parametrize(
    ("text", "key", "line", "says"),
    [
        (_changed('"n0/card7"]', '"n0/card0"]'), 'rings[0].order[7] = "n0/card0"', 13, "not one cycle"),
        (_changed('"n0/card7"]', '"n0/card8"]'), 'rings[0].order[7] = "n0/card8"', 13, "no such card"),
        (_changed('"n0/card7"]', '"n1"]'), 'rings[0].order[7] = "n1"', 13, "is not a card"),
        (_changed('order = ["n0", "n1"]', 'order = ["n0", "n2"]'), 'rings[1].order[1] = "n2"', 17, "no such node"),
        (_changed('order = ["n0", "n1"]', 'order = ["n0"]'), "rings[1].order", 17, "at least two members"),
        (_changed('level = "cluster"', 'level = "site"'), 'rings[1].level = "site"', 16, "one of backplane, cluster"),
        (SITE + '[[rings]]\nname="c"\nlevel="cluster"\norder=["n1","n0"]', 'rings[2].order[0] = "n1"', 60, "is in ring all already"),
        (_changed('card = "n0/card4"', 'card = "n0/card9"'), 'cards[1].card = "n0/card9"', 22, "the nearest is n0/card7"),
        (_changed("SN0004", "SN0003"), 'cards[1].serial = "SN0003"', 23, "two slots have this serial number"),
        (_changed('"SN0004"', '""'), "cards[1].serial", 23, "is empty"),
        (_changed('card = "n0/card4"', 'card = "n0/card3"'), 'cards[1].card = "n0/card3"', 22, "described twice"),
        (_changed('b = "n0/card1/port1"', 'b = "n0/card1/port2"'), 'cables[0].b = "n0/card1/port2"', 26, "no such port"),
        (_changed('b = "n0/card1/port1"', 'b = "n0/card0/port0"'), 'cables[0].b = "n0/card0/port0"', 26, "used by cables[0]"),
        (_changed('b = "switch/s1/port12"', 'b = "n0/card1/port1"'), 'cables[1].b = "n0/card1/port1"', 30, "used by cables[0]"),
        (_changed('b = "switch/s1/port12"', 'b = "switch/s2/port12"'), 'cables[1].b = "switch/s2/port12"', 30, "no such port"),
        (_changed("length_m = 1.5", "length_m = -1"), "cables[0].length_m = -1", 27, "above 0 m"),
        (_changed("length_m", "lenght_m"), "cables[0].lenght_m", 27, "did you mean length_m?"),
        (_changed('loop = "cdu0"', 'loop = "cdu1"'), 'nodes[0].loop = "cdu1"', 5, "the nearest is cdu0"),
        (SITE.replace('feeds = ["A", "B"]', 'feeds = ["A", "Z"]', 1), 'nodes[0].feeds[1] = "Z"', 4, "no such feed"),
        (SITE.replace('feeds = ["A", "B"]', 'feeds = ["A", "A"]', 1), 'nodes[0].feeds[1] = "A"', 4, "named twice"),
        (_changed('feed = "B"', 'feed = "C"'), 'pdus[1].feed = "C"', 44, "no such feed"),
        (_changed('card = "n1/card7"', 'card = "n1/card8"'), 'spares[0].card = "n1/card8"', 56, "describe the card in [[nodes]]"),
        (_changed('card = "n1/card7"', 'card = "n2/crad7"'), 'spares[0].card = "n2/crad7"', 56, "no such card"),
        (_changed('card = "n1/card7"', 'card = "ups/card7"'), 'spares[0].card = "ups/card7"', 56, "no such card"),
        (_changed('name = "n1"', 'name = "n0"'), 'nodes[1].name = "n0"', 7, "the name is taken"),
        (_changed('name = "s1"', 'name = "s/1"'), 'switches[0].name = "s/1"', 54, "is not a name"),
        (SITE + '[[nodes]]\nname="ups"\ncards=0', 'nodes[2].name = "ups"', 58, "word that subjects begin with"),
        (SITE + '[[loops]]\nname="cdu-0"', 'loops[1].name = "cdu-0"', 58, "same subject"),
        (SITE + '[[nodes]]\nname="n2"', "nodes[2].cards", 57, "is missing"),
        (_changed('authority = "setpoint"', 'authority = "all"'), 'loops[0].authority = "all"', 52, "one of setpoint, direct"),
        (_changed('load = "n0"', 'load = "n0/fan2"'), "pdus[0].outlets[0].sheddable = true", 41, "an outlet of n0/fan2 feeds it too"),
        (_changed('load = "n0"', 'load = "n0/*"'), "pdus[0].outlets[0].sheddable = true", 41, "an outlet of n0/* feeds it too"),
        (_changed("modbus://127.0.0.1:1502?map=rpu", "10.0.0.5"), 'loops[0].wire = "10.0.0.5"', 51, "is no URL"),
        (_changed("modbus://127.0.0.1:1502?map=rpu", "nut://127.0.0.1:3493/ups-a"), "loops[0].wire", 51, "another device has this wire"),
        (_changed('name = "A1"', 'name = "A1"\nrestore_s = 12.0'), "pdus[0].restore_s = 12", 39, "nobody has qualified it"),
        (_changed("number = 8", "number = 7"), "pdus[0].outlets[1].number = 7", 41, "there twice"),
        (_changed('load = "n0"', 'load = "n0/card8"'), 'pdus[0].outlets[1].load = "n0/card8"', 41, "feeds nothing that is known"),
        (_changed('load = "n0"', 'load = "n7/fan1"'), 'pdus[0].outlets[1].load = "n7/fan1"', 41, "feeds nothing that is known"),
        (
            _changed('load = "n0"', 'load = "n0/fan*"'),
            "pdus[0].outlets[0].sheddable = true",
            41,
            "an outlet of n0/fan* feeds it too",
        ),
    ],
)
def test_what_is_wrong_is_named_with_key_and_line(text: str, key: str, line: int, says: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read_topology(text, "site.toml")

    first = str(refused.value).splitlines()[0]
    assert first.startswith(f"site.toml, line {line}: {key}")
    assert says in first


@pytest.mark.parametrize(
    "load",
    [
        *("n0", "n*", "n0/card3", "n0/*", "n0/p*", "n0/[bf]*", "n0/bmc", "n0/psu1", "cdu/0", "cdu/0/fan1", "pdu/A1", "ups/A", "switch/s1"),
        *("n0/BMC", "aux/broker", "aux/leak-detection", "aux/database-1", "n0/pump*", "aux/storage", "aux/reflex", "*"),
    ],
)
def test_what_may_never_be_shed(load: str) -> None:
    with pytest.raises(SettingsError, match=r"may never be shed.*safety rule 6") as refused:
        read_topology(_changed("aux/corridor-lights", load), "site.toml")

    assert 'pdus[1].outlets[0].load = "' + load in str(refused.value)


def test_a_long_restore_time_is_taken_once_somebody_has_qualified_it() -> None:
    site = read_topology(_changed('name = "A1"', 'name = "A1"\nrestore_s = 12.0\nqualified = true'), "site.toml")

    assert (site.pdus[0].restore_s, site.pdus[1].restore_s) == (12.0, 10.0)


@pytest.mark.parametrize("load", ["n0/fan*", "n0/fan3", "n1/led*", "aux/display"])
def test_what_may_be_shed(load: str) -> None:
    site = read_topology(_changed("aux/corridor-lights", load), "site.toml")

    assert site.pdus[1].outlets[0].sheddable


def test_all_problems_are_told_at_once() -> None:
    text = _changed('card = "n1/card7"', 'card = "n1/card8"').replace('loop = "cdu0"', 'loop = "cdu1"')

    with pytest.raises(SettingsError) as refused:
        read_topology(text, "site.toml")

    assert len(str(refused.value).splitlines()) == 2


def test_a_syntax_error_names_its_line() -> None:
    with pytest.raises(SettingsError, match=r"site\.toml, line 2: this is not TOML"):
        read_topology('[[nodes]]\nname = "n0\n', "site.toml")


def test_thousands_of_problems_do_not_flood() -> None:
    cables = "".join(f'[[cables]]\na = "n0/card0/port{i}"\nb = "n0/card1/port{i}"\n' for i in range(2, 500))

    with pytest.raises(SettingsError) as refused:
        read_topology('[[nodes]]\nname = "n0"\ncards = 2\n' + cables, "site.toml")

    lines = str(refused.value).splitlines()
    assert len(lines) == 51
    assert lines[-1] == "... and 946 more"


# As a site writes it down first: feed B has no UPS, and the spare is in a node that another file describes.
EXCERPT = SITE.replace('[[feeds]]\nname = "B"\n', "").replace(SITE[SITE.index('[[nodes]]\nname = "n1"') : SITE.index("[[rings]]")], "")
EXCERPT = EXCERPT.replace('[[rings]]\nname = "all"\nlevel = "cluster"\norder = ["n0", "n1"]\n', "")


def test_an_excerpt_of_a_site_is_read() -> None:
    site = read_topology(EXCERPT, "site.toml")

    assert [node.name for node in site.nodes] == ["n0"]
    assert [spare.card for spare in site.spares] == ["n1/card7"]
    assert site.list_feeds() == ("A", "B")
    assert set(site.shared("n0")) >= {"feed/A", "feed/B"}


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('feed = "B"', 'feed = "Z"', "pdus[1].feed"),  # a PDU's feed, which no node and no UPS has
        ('b = "n0/card1/port1"', 'b = "n1/card1/port1"', "cables[0].b"),  # a cable into a node that is not there
        ('card = "n0/card4"', 'card = "n1/card4"', "cards[1].card"),
        ('card = "n1/card7"', 'card = "n0/card9"', "spares[0].card"),
    ],
)
def test_an_excerpt_is_still_checked(old: str, new: str, key: str) -> None:
    assert EXCERPT.count(old) == 1

    with pytest.raises(SettingsError, match=r"there is no such") as refused:
        read_topology(EXCERPT.replace(old, new), "site.toml")

    assert key in str(refused.value)


def test_without_power_tables_the_nodes_word_for_feeds_is_taken() -> None:
    site = read_topology('[[nodes]]\nname = "n0"\ncards = 0\nfeeds = ["A"]\n[[pdus]]\nname = "P"\nfeed = "A"', "site.toml")

    assert site.shared("n0") == ("feed/A",)
