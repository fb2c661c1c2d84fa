"""Every node in one row: what the beats say, and what the rules make of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from supernoded.cluster.fleet.muster import LATE, Muster
from supernoded.cluster.topics import NodeTold
from supernoded.model import Level, Verdict

STATES = {"node.gone": "gone", "daemon.gone": "daemon gone", "node.late": "late"}  # kind of a raised verdict -> state, the worst first
ALSO = ("node.rival", "node.clock")  # kinds that are told of a node beside its state
LONGEST = 160  # characters of what is said of a node


def list_nodes(muster: Muster, verdicts: Iterable[Verdict], now: float) -> list[NodeTold]:
    """All nodes of the topology, in its order."""
    raised: dict[str, dict[str, str]] = {}
    for verdict in verdicts:
        if verdict.level is Level.RAISED:
            raised.setdefault(verdict.subject, {})[verdict.kind] = verdict.text
    doubt = muster.find_doubt(now)
    return [_describe(muster, name, raised.get(name, {}), doubt) for name in muster.nodes]


def _describe(muster: Muster, name: str, raised: dict[str, str], doubt: str) -> NodeTold:
    seen = muster.seen[name]
    kind = next((kind for kind in STATES if kind in raised), "")
    if kind:
        state, text = STATES[kind], raised[kind]
    elif doubt or seen.beat is None:
        state, text = "unknown", doubt or "not heard yet"
    else:
        state, text = ("late" if muster.measure_age(name) > LATE else "up"), ""
    also = [raised[kind] for kind in ALSO if kind in raised]
    beat, vitals = seen.beat, seen.vitals
    return NodeTold(
        name=name,
        state=state,
        text="; ".join([*([text] if text else []), *also])[:LONGEST],
        heard=seen.heard if beat is not None else None,
        life=beat.life[:64] if beat is not None else "",
        version=beat.version[:32] if beat is not None else "",
        said=vitals.state[:32] if beat is not None else "",
        power=vitals.power,
        hottest=vitals.hottest,
        step=vitals.step,
        offset=seen.offset,
    )
