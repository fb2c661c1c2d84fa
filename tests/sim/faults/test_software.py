"""Where no drive lets daemons run there is none to be killed."""

from __future__ import annotations

import pytest

from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.faults.kind import FaultError
from tests.sim.faults.cases import make_rig, run


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("daemon.killed", "n0"),
        ("broker.lost", "broker"),
        ("broker.stale", "broker"),
        ("database.lost", "database"),
        ("vault.killed", "n0"),
        ("daemon.paused", "n0"),
        ("node.twin", "n0"),
        ("node.dead", "n0"),
        ("node.clock", "n0"),
        ("net.partition", "network"),
    ],
)
def test_it_is_refused_and_not_seen(name: str, target: str) -> None:
    rig, kind = make_rig(lambda: 0.0), CATALOGUE[name]
    rig.software = None
    with pytest.raises(FaultError, match="no daemon and no broker is in play"):
        kind.begin(rig, target, kind.parameters())
    assert run(kind.shows(rig, target, kind.parameters())) is None


def test_where_checkpoints_are_no_files_no_storage_can_be_full() -> None:
    rig, kind = make_rig(lambda: 0.0), CATALOGUE["storage.full"]
    rig.stores = None
    with pytest.raises(FaultError, match="checkpoints are no files here; take a rack with `vault = true`"):
        kind.begin(rig, "storage", kind.parameters())
    assert run(kind.shows(rig, "storage", kind.parameters())) is None
