"""Rings out of links, and drawn: one line a hop, the broken ones marked. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.ctl.printing import Sheet, Table
from supernoded.ctl.wording import NONE, say_count, say_value
from supernoded.messages import Answer, Link
from supernoded.model import Reading, State

SENDING, RECEIVING = "port0", "port1"  # of every card: to the next, from the one before (L11)
WHOLE = 16  # hops up to which a ring is drawn whole; of a longer one runs of good hops are drawn as one line
ARROWS = {"up": "──▶", "down": "─X─", "astray": "─?▶", "unknown": "···"}


class SeenHop(msgspec.Struct, frozen=True, kw_only=True):
    """One hop. `state` is up, down, astray (it leads to `leads_to`) or unknown; `latency` in us."""

    a: str
    b: str
    state: str
    leads_to: str = ""
    latency: float | None = None
    text: str = ""  # the worst that a rule says of its sending port, where one raises it

    @property
    def member(self) -> str:
        """The card that sends."""
        return self.a.rpartition("/")[0]


class SeenRing(msgspec.Struct, frozen=True, kw_only=True):
    """One ring. `name` is empty where it is in no described one; `around` are the rings that its first member or its node is in."""

    name: str = ""
    mode: str = ""
    raised: bool = False
    said: tuple[str, ...] = ()  # what rules say of the whole
    closed: bool = False  # every hop is up and the last leads to the first
    hops: tuple[SeenHop, ...] = ()
    around: tuple[str, ...] = ()


class Rings(Answer, frozen=True, kw_only=True):
    """All rings that the daemon sees something of."""

    rings: tuple[SeenRing, ...] = ()


def trace_rings(links: Sequence[Link], latencies: Sequence[Reading]) -> list[SeenRing]:
    """Follow the sending ports, by the described cable or else by what the device sees, until the first member comes again."""
    ports = _close_gaps({link.subject: link for link in links})
    measured = {one.subject: one.value for one in latencies if one.state is State.GOOD and isinstance(one.value, int | float)}
    todo = dict.fromkeys(port for port in sorted(ports, key=_sort_key) if port.endswith(f"/{SENDING}"))
    entered = {_owner(target) for port in todo if (target := _find_target(ports[port]))}
    rings: list[SeenRing] = []
    for start in sorted(todo, key=lambda port: _owner(port) in entered):  # an open chain from its beginning
        hops = list(_follow(start, ports, measured, todo)) if start in todo else []
        if hops:
            closed = _owner(hops[-1].b) == hops[0].member and all(hop.state == "up" for hop in hops)
            rings.append(SeenRing(hops=tuple(hops), closed=closed))
    return sorted(rings, key=lambda ring: _sort_key(ring.hops[0].a))


def _close_gaps(ports: dict[str, Link]) -> dict[str, Link]:
    """Where one sending port of a node leads nowhere, and one receiving port is led to by none, the two belong together."""
    targets = {target for link in ports.values() if (target := _find_target(link))}
    gaps: dict[str, dict[str, list[str]]] = {}
    for port, link in ports.items():
        name = port.rpartition("/")[2]
        if name in (SENDING, RECEIVING) and not _find_target(link) and port not in targets:
            gaps.setdefault(port.partition("/")[0], {SENDING: [], RECEIVING: []})[name].append(port)
    pairs = ((gap[SENDING][0], gap[RECEIVING][0]) for gap in gaps.values() if len(gap[SENDING]) == len(gap[RECEIVING]) == 1)
    return ports | {one: msgspec.structs.replace(ports[one], peer=other) for one, other in pairs}


def _follow(start: str, ports: Mapping[str, Link], measured: Mapping[str, float], todo: dict[str, None]) -> Iterator[SeenHop]:
    port = start
    while port in todo:
        del todo[port]
        link = ports[port]
        target = _find_target(link)
        if not target:
            return
        yield _see_hop(link, target, ports.get(target), measured)
        port = f"{_owner(target)}/{SENDING}"


def _see_hop(link: Link, target: str, other: Link | None, measured: Mapping[str, float]) -> SeenHop:
    states = {link.state, other.state if other is not None else "unknown"}
    state = "down" if "down" in states else "up" if "up" in states else "unknown"
    astray = link.neighbour if state == "up" and link.neighbour not in ("", target) else ""
    cable = "cable/" + "--".join(sorted((link.subject, target)))
    return SeenHop(
        a=link.subject,
        b=target,
        state="astray" if astray else state,
        leads_to=astray,
        latency=measured.get(link.subject, measured.get(cable)),
        text=link.text if link.kinds else "",
    )


def _find_target(link: Link) -> str:
    return link.peer or link.neighbour


def _owner(port: str) -> str:
    return port.rpartition("/")[0]


def _sort_key(subject: str) -> tuple[tuple[str, int], ...]:
    """`card10` after `card9`."""
    parts = (part.rstrip("0123456789") for part in subject.split("/"))
    return tuple((stem, int(part[len(stem) :] or -1)) for stem, part in zip(parts, subject.split("/"), strict=True))


def render_rings(told: Rings) -> Sheet:
    """Lay out all rings."""
    if not told.rings:
        return ["No ring is seen: no port named port0 has a described cable or a neighbour, and no ring is described."]
    return [line for number, ring in enumerate(told.rings) for line in (*([""] if number else []), *_draw(ring))]


def _draw(ring: SeenRing) -> Iterator[str | Table]:
    bad = sum(hop.state != "up" for hop in ring.hops)
    facts = [say_count(len(ring.hops), "hop")] if ring.hops else []
    facts += [f"{bad} not up"] if bad else []
    facts += [f"mode {ring.mode}"] if ring.mode else []
    yield f"{ring.name or 'a ring that is not described'}: {', '.join(facts) or 'no link of its own is seen'}"
    yield from (f"  {text}" for text in ring.said)
    if ring.hops:
        yield Table((), list(_list_rows(ring)))


def _list_rows(ring: SeenRing) -> Iterator[tuple[str, ...]]:
    last, skipped = len(ring.hops) - 1, 0
    for number, hop in enumerate(ring.hops):
        if len(ring.hops) > WHOLE and 0 < number < last and hop.state == "up" and not hop.text:
            skipped += 1
            continue
        if skipped:
            yield "│", f"... {say_count(skipped, 'good hop')}", "", "", "", ""
            skipped = 0
        corner = "┌" if number == 0 else "└" if number == last else "│"
        yield corner, hop.a, ARROWS[hop.state], hop.b, _say_latency(hop), _say_state(hop)
    if ring.hops and not ring.closed and ring.hops[-1].b.rpartition("/")[0] != ring.hops[0].member:
        yield "", "", "", "the ring is open here", "", ""


def _say_latency(hop: SeenHop) -> str:
    return NONE if hop.latency is None else say_value(round(hop.latency, 2), "us")


def _say_state(hop: SeenHop) -> str:
    words = {"down": "BROKEN", "astray": f"WRONG: leads to {hop.leads_to}", "unknown": "not seen", "up": ""}[hop.state]
    return f"{words} {hop.text}".strip()
