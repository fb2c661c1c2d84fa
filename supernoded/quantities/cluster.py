"""Nodes as the holder of the role `fleet` sees them. Subjects: `n0`."""

from __future__ import annotations

from supernoded.quantities.shape import Quantity, text

CLUSTER = (
    Quantity("node.beat_age", "s", 0.0, 1e9),  # since its daemon's last beat was heard; UNKNOWN while our own link is in doubt
    Quantity("node.reachable", "1", 0.0, 1.0),  # the second view: 1 = the machine answers a probe past the broker, 0 = it does not
    Quantity("node.powered", "1", 0.0, 1.0),  # another second view: its BMC says that it is on
    Quantity("node.clock_offset", "s", -1e10, 1e10),  # its clock minus ours, by its beats
    text("node.life"),  # of the daemon that beats there; empty = none was heard
    text("node.rival"),  # the life of another daemon that calls itself the same; empty = none
    Quantity("fleet.heard", "1", 0.0, 1e6),  # of the topology's nodes, how many beat; subject `fleet`
    Quantity("fleet.gone", "flags"),  # nodes, by two views; UNKNOWN while half of the site or less is heard; subject `fleet`
    Quantity("fleet.breakers", "flags"),  # those that have tripped; subject `fleet`
)
