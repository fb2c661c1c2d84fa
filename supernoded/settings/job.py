"""The table `[job]`: how training jobs speak to the daemon, and how long they may be silent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from supernoded.tables import Table, about


class Job(Table, frozen=True, kw_only=True):
    """The training jobs on this node."""

    socket: Annotated[Path, about("unix socket for their ranks, in the runtime folder")] = Path("job.sock")
    group: Annotated[str, about("group whose members may connect; empty = this daemon's user alone")] = ""
    tokens: Annotated[Mapping[str, Path], about("file with the secret of each job; a job that is not named needs none")] = {}
    silent_s: Annotated[
        float,
        about("a rank is silent when it says nothing for so long, and for three p95 of its steps", unit="s", source="ours", ge=1, le=3600),
    ] = 15.0
    most_peers: Annotated[int, about("ranks, launchers and vaults at once", source="ours", ge=1, le=65_536)] = 1024
    lines_per_s: Annotated[int, about("lines of one peer, over ten seconds", unit="per second", source="ours", ge=1, le=100_000)] = 200
    deadline_s: Annotated[float, about("time for a save that names none", unit="s", source="ours", ge=1, le=86_400)] = 120.0
