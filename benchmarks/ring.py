"""A ring of 8,192 cards verified and diagnosed: verdict, findings and the fewest moves (design section 14: at most 50 ms).

The time is that of one whole answer from links to moves; reading the topology's cables into a plan happens once and is shown apart.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial

from benchmarks.measuring import Row, make_parser, make_row, show
from supernoded.topology import Cable, Ring, RingLevel, Supernode, Topology
from supernoded_ring.plan import Plan, build_plans
from supernoded_ring.verify import verify

CARDS, NODES = 8192, 1024  # R9
MOST_MS = 50.0
SHUFFLED = 2000  # ends that change places where everything is wrong


def make_site() -> Topology:
    """One closed ring over all cards, every cable described."""
    nodes = tuple(Supernode(name=f"n{number}", cards=CARDS // NODES) for number in range(NODES))
    order = tuple(card for node in nodes for card in node.list_cards())
    cables = tuple(Cable(a=f"{one}/port0", b=f"{two}/port1") for one, two in zip(order, (*order[1:], order[0]), strict=True))
    return Topology(nodes=nodes, rings=(Ring(name="all", level=RingLevel.BACKPLANE, order=order),), cables=cables)


def swap(mates: Mapping[str, str], one: str, two: str) -> dict[str, str]:
    """The ends in two ports change places."""
    changed = dict(mates)
    if mates[one] != two:
        changed |= {one: mates[two], mates[two]: one, two: mates[one], mates[one]: two}
    return changed


def make_cases(plan: Plan) -> dict[str, tuple[str, dict[str, str]]]:
    """What is looked at: the verdict that is due, and the links."""
    hops, good = plan.hops, {port: mate for hop in plan.hops for port, mate in ((hop.a, hop.b), (hop.b, hop.a))}
    lost = (hops[4000].a, hops[4000].b)
    chance, shuffled = random.Random(1), good
    for _ in range(SHUFFLED):
        shuffled = swap(shuffled, *chance.sample(list(good), 2))
    return {
        "healthy": ("closed", good),
        "broken": ("broken", {port: mate for port, mate in good.items() if port not in lost}),
        "ports swapped at a card": ("miswired", swap(good, hops[10].b, hops[11].a)),
        "exchanged": ("split", swap(good, hops[10].b, hops[4000].b)),
        "reversed": ("miswired", swap(good, hops[10].b, hops[4000].a)),
        f"split by {SHUFFLED} exchanges": ("split", shuffled),
    }


def measure(work: Callable[[], object], rounds: int) -> float:
    """Milliseconds of one call, the median of several."""
    took = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        took.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(took)


def main() -> None:
    """Measure and print; the exit code says nothing about the budget."""
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="calls a figure is the median of (default %(default)d)")
    asked = parser.parse_args()
    site = make_site()
    plans = build_plans(site)
    rows: list[Row] = [make_row("plan from topology", measure(lambda: build_plans(site), asked.rounds), "ms", None, f"{CARDS} cards")]
    for name, (verdict, mates) in make_cases(plans[0]).items():
        report = verify(plans, mates)
        assert report.verdict == verdict, f"{name}: {report.verdict} instead of {verdict}"
        took = measure(partial(verify, plans, mates), asked.rounds)
        rows.append(make_row(f"ring verified, {name}", took, "ms", MOST_MS, f"{len(report.findings)} findings, {len(report.moves)} moves"))
    show(rows, as_json=asked.json)


if __name__ == "__main__":
    main()
