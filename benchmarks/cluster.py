"""How the cluster grows: one holder of `fleet` and `spares` beside 64 to 4,096 nodes, the hand-over of a role, and an isolation.

The nodes are MQTT clients in this process, each with a connection of its own, that say what a node's daemon says: a beat a second, and
every 5 s a digest of what role-scoped parts watch. The broker is one mosquitto on loopback; the holder is a whole daemon. Machines
answer the second view or do not, as a port that refuses and one that never answers. Times run from the last beat of a node, or from the
moment its link was back, to the holder's event on the broker. The clients' own lag stands beside the rest: they must not be what is
measured. Budgets are of design section 14.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

from benchmarks.handover import measure_handover
from benchmarks.isolation import measure_isolation
from benchmarks.measuring import Row, make_parser, show
from benchmarks.sizes import measure_size

SIZES = (64, 256, 1024, 4096)


def measure_fleet(sizes: Sequence[int]) -> Iterator[Row]:
    """Every size, one after the other."""
    for count in sizes:
        yield from asyncio.run(measure_size(count))


def main() -> None:
    """Measure and print; the exit code says nothing about the budgets."""
    parser = make_parser(__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of nodes (default %(default)s)")
    parser.add_argument("--case", choices=["fleet", "handover", "isolation"], help="only this one")
    asked = parser.parse_args()
    cases: dict[str, Callable[[], Iterator[Row]]] = {
        "fleet": lambda: measure_fleet([int(size) for size in asked.sizes.split(",")]),
        "handover": measure_handover,
        "isolation": measure_isolation,
    }
    rows = [row for name, case in cases.items() if asked.case in (None, name) for row in case()]
    show(rows, as_json=asked.json)


if __name__ == "__main__":
    main()
