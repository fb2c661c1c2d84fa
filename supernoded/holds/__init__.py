"""Holds: what keeps cards and nodes out of service. Known to every node, durable on each, and once lifted, lifted for good.

Each node keeps all of them in its own journal, so that neither the broker, nor the database, nor a restart makes one forgotten. Who has
placed or lifted one tells it to the others; copies of one hold are merged, in whatever order they come. Times are Unix seconds.
"""

from supernoded.holds.keeping import Holds
from supernoded.holds.merging import KEPT, HoldError, find_end, find_flaw, is_within, merge, tidy

__all__ = ["KEPT", "HoldError", "Holds", "find_end", "find_flaw", "is_within", "merge", "tidy"]
