"""What the settings say of roles, where a database leases them."""

from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.settings import Settings
from supernoded.settings.reading import parse_settings

DATABASE = '[journal]\ndatabase = "postgresql://supernoded@db/site"\n'
NODES = '[[nodes]]\nname = "n0"\ncards = 1\nfeeds = ["A"]\n[[nodes]]\nname = "n1"\ncards = 1\n[[loops]]\nname = "cdu0"\n'


def read(text: str) -> Settings:
    found = parse_settings(f'node = "n0"\n{text}', "test.toml", Path("/nowhere"), {})
    assert isinstance(found, Settings), found
    return found


def find_faults(text: str) -> list[str]:
    found = parse_settings(f'node = "n0"\n{text}', "test.toml", Path("/nowhere"), {})
    return [] if isinstance(found, Settings) else [f"{problem.fault}; {problem.remedy}" for problem in found]


def test_roles_are_leased_where_there_is_a_database_and_more_than_one_node() -> None:
    assert read(DATABASE + NODES).leases_roles
    assert not read(NODES).leases_roles
    alone = read(DATABASE + '[[nodes]]\nname = "n0"\ncards = 1\n')
    assert not alone.leases_roles
    assert alone.list_seats() == {"fleet": "n0", "spares": "n0"}


def test_the_role_that_judges_all_feeds_has_the_name_that_its_policy_gives_it() -> None:
    named = read('[plugins.power]\nsite = "hall2"\n' + DATABASE + NODES)
    assert named.power_role == "power/hall2"
    assert named.list_roles() == ["cdu/0", "feed/A", "fleet", "power/hall2", "spares"]


@pytest.mark.parametrize(
    ("candidates", "fault"),
    [
        ('"cdu/*" = ["n7"]', "n7 is no node of the topology, which has n0, n1; name nodes of the topology"),
        ("fleet = []", "names nobody; name the nodes that may have the role, the first first"),
        ('fleet = ["n1", "n0"]', None),
    ],
)
def test_candidates_are_nodes(candidates: str, fault: str | None) -> None:
    assert find_faults(f"[seats.candidates]\n{candidates}\n" + DATABASE + NODES) == ([] if fault is None else [fault])
