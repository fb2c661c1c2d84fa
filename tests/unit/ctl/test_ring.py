"""`supernodectl ring`: rings out of links, drawn with the broken hop marked; the plugins' verbs below it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from supernoded.ctl.main import program
from supernoded.ctl.printing import Table
from supernoded.ctl.ring_drawing import Rings, SeenRing, render_rings, trace_rings
from supernoded.errors import AdminError, NotFoundError
from supernoded.messages import Diagnosed, Link, Links, ReadingFilter, Readings
from supernoded.model import Level, Reading, Severity, Verdict
from tests.unit.admin.fake_desk import NOW, FakeDesk, serving


def make_links(cards: int = 4, *, described: bool = True, down: Sequence[int] = (), node: str = "n0") -> list[Link]:
    """A ring of cards; the hops that begin at `down` have no link."""
    links = []
    for number in range(cards):
        for port, other in (("port0", (number + 1) % cards), ("port1", (number - 1) % cards)):
            far = f"{node}/card{other}/{'port1' if port == 'port0' else 'port0'}"
            is_down = (number if port == "port0" else other) in down
            links.append(
                Link(
                    subject=f"{node}/card{number}/{port}",
                    peer=far if described else "",
                    neighbour="" if is_down else far,
                    state="down" if is_down else "up",
                )
            )
    return links


def read(subject: str, latency: float) -> Reading:
    return Reading(subject=subject, quantity="hop.latency", value=latency, unit="us", at=NOW)


@pytest.mark.parametrize("described", [True, False])
def test_a_good_ring_is_one_closed_ring(described: bool) -> None:
    (ring,) = trace_rings(make_links(described=described), [read("n0/card1/port0", 1.7)])
    assert ring.closed
    assert [hop.member for hop in ring.hops] == [f"n0/card{number}" for number in range(4)]
    assert [hop.latency for hop in ring.hops] == [None, 1.7, None, None]


def test_latency_may_be_that_of_the_cable() -> None:
    (ring,) = trace_rings(make_links(), [read("cable/n0/card0/port1--n0/card3/port0", 2.6)])
    assert ring.hops[3].latency == 2.6


@pytest.mark.parametrize("described", [True, False])
def test_a_broken_hop_is_marked(described: bool) -> None:
    (ring,) = trace_rings(make_links(described=described, down=[2]), [])
    broken = [(hop.a, hop.b) for hop in ring.hops if hop.state == "down"]
    assert (ring.closed, broken, len(ring.hops)) == (False, [("n0/card2/port0", "n0/card3/port1")], 4)


def test_a_cable_that_leads_elsewhere_is_marked() -> None:
    links = make_links()
    links[0] = msgspec.structs.replace(links[0], neighbour="n0/card2/port1")
    (ring,) = trace_rings(links, [])
    assert (ring.closed, ring.hops[0].state, ring.hops[0].leads_to) == (False, "astray", "n0/card2/port1")


def test_rings_of_several_nodes_are_apart_and_in_order() -> None:
    rings = trace_rings([*make_links(12, node="n1"), *make_links(2)], [])
    assert [(ring.hops[0].member, len(ring.hops)) for ring in rings] == [("n0/card0", 2), ("n1/card0", 12)]
    assert rings[1].hops[10].member == "n1/card10"


def draw(ring: SeenRing) -> list[tuple[str, ...]]:
    return [row for part in render_rings(Rings(now=NOW, rings=(ring,))) if isinstance(part, Table) for row in part.rows]


def test_long_rings_show_what_matters() -> None:
    (ring,) = trace_rings(make_links(100, down=[40]), [])
    rows = draw(ring)
    assert [row[1] for row in rows] == [
        "n0/card0/port0",
        "... 39 good hops",
        "n0/card40/port0",
        "... 58 good hops",
        "n0/card99/port0",
    ]
    assert rows[2][2:] == ("─X─", "n0/card41/port1", "-", "BROKEN")


class RingDesk(FakeDesk):
    """A daemon with a broken ring."""

    async def links(self) -> Links:
        return Links(now=NOW, links=tuple(make_links(down=[2])))

    async def readings(self, wanted: ReadingFilter) -> Readings:
        return Readings(now=NOW, readings=(read("n0/card0/port0", 1.74),))

    async def diagnose(self, subject: str) -> Diagnosed:
        if subject == "ring/backplane-n0":
            said = Verdict(kind="ring.broken", subject=subject, level=Level.RAISED, text="it is broken", at=NOW, severity=Severity.CRITICAL)
            mode = Reading(subject=subject, quantity="ring.mode", value="allreduce", unit="text", at=NOW)
            return Diagnosed(now=NOW, subject=subject, verdicts=(said,), readings=(mode,))
        related = {"n0/card0": ("ring/backplane-n0", "ring/cluster", "n0"), "n0": ("ring/cluster",), "ring/cluster": ()}
        if subject not in related:
            raise NotFoundError(f"nothing is known of {subject!r}")
        return Diagnosed(now=NOW, subject=subject, related=related[subject])


def run(folder: Path, desk: FakeDesk, *arguments: str) -> Result:
    with serving(folder / "s", desk):
        return CliRunner().invoke(program, arguments, env={"SUPERNODED_SOCKET": str(folder / "s")}, prog_name="supernodectl")


def test_people_see_the_ring(tmp_path: Path) -> None:
    result = run(tmp_path, RingDesk(), "ring")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "ring/backplane-n0: 4 hops, 1 not up, mode allreduce",
        "  it is broken",
        "┌  n0/card0/port0  ──▶  n0/card1/port1  1.74 us",
        "│  n0/card1/port0  ──▶  n0/card2/port1  -",
        "│  n0/card2/port0  ─X─  n0/card3/port1  -        BROKEN",
        "└  n0/card3/port0  ──▶  n0/card0/port1  -",
        "",
        "ring/cluster: no link of its own is seen",
    ]


def test_programs_get_the_rings(tmp_path: Path) -> None:
    before, after = run(tmp_path, RingDesk(), "-o", "json", "ring"), run(tmp_path, RingDesk(), "ring", "-o", "json")
    assert before.stdout == after.stdout
    told = msgspec.json.decode(after.stdout, type=Rings)
    assert [(ring.name, ring.raised, ring.closed) for ring in told.rings] == [
        ("ring/backplane-n0", True, False),
        ("ring/cluster", False, False),
    ]


def test_ports_that_nobody_described_are_drawn_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = RingDesk()

    async def diagnose(subject: str) -> Diagnosed:
        raise AdminError(f"there is no {subject}")

    monkeypatch.setattr(desk, "diagnose", diagnose)
    assert run(tmp_path, desk, "ring").stdout.startswith("a ring that is not described: 4 hops, 1 not up")


def test_no_ring_at_all() -> None:
    assert render_rings(Rings(now=NOW)) == [
        "No ring is seen: no port named port0 has a described cable or a neighbour, and no ring is described."
    ]


def test_without_a_daemon_it_is_unreachable(tmp_path: Path) -> None:
    result = CliRunner().invoke(program, ["ring"], env={"SUPERNODED_SOCKET": str(tmp_path / "none")})
    assert result.exit_code == 3
