"""What the collective library's log says of a rank. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from supernoded.plugin import View
from supernoded_isolation.evidence.ranks import Job
from supernoded_isolation.evidence.words import PEERS, Evidence

ERROR = "comm.last_error"
LOG_WATCHES: Mapping[str, float] = {ERROR: 30.0}
# `remote rank 7`, `dstRank[7]`, `peer_rank:7`, `rank=7`; never our own (`localRank`, `my rank`).
_NAMED = re.compile(
    r"(?P<whose>remote|dst|peer|to|from)?[ _]?rank(?: ?id)?[ \[\(=:#]{1,2}(?P<rank>\d{1,7})(?!\d)", re.IGNORECASE | re.ASCII
)


def find_named(text: str) -> int | None:
    """The rank that a line names as the other end; None when it names none."""
    found = next((one for one in _NAMED.finditer(text[:2_000]) if one["whose"]), None)
    return int(found["rank"]) if found is not None else None


def read_log(seen: View, job: Job, number: int, since: float) -> Iterator[Evidence]:
    """Whether a node on which other ranks of the job run has logged an error that names this rank, since the job came to a stand."""
    nodes = {rank.card.partition("/")[0] for rank in job.ranks if rank.card and not rank.subject.endswith(f"/rank{number}")}
    for node in sorted(nodes):
        reading = seen.good(ERROR, node)
        if reading is not None and reading.at >= since and isinstance(reading.value, str) and find_named(reading.value) == number:
            yield Evidence(PEERS, reading.at, f"the collective library on {node} names rank {number}")
