"""The keys, addresses and roles that a simulated site's daemons get."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from sim_hardware.drives.doors import serve_door
from sim_hardware.drives.keys import MADE_AT, make_key, write_keys
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.serving import serve_rack
from sim_hardware.drives.settings import TOPOLOGY, write_settings
from sim_hardware.rack import generate_rack
from supernoded.cluster.commands.keys import read_keys
from supernoded.settings import Keys, read_settings

RACK = generate_rack(2, 2)
NOW = MADE_AT + 4e7


def read_table(table: dict[str, Any]) -> Keys:
    return Keys(**{name: Path(file) for name, file in table.items()})


def test_nodes_believe_each_other_and_nobody_from_another_site(tmp_path: Path) -> None:
    mine, other = (read_keys(read_table(write_keys(RACK, node, tmp_path, 7)), node) for node in ("n0", "n1"))
    (tmp_path / "else").mkdir()
    strange = read_keys(read_table(write_keys(RACK, "n1", tmp_path / "else", 8)), "n1")
    assert mine.authority
    assert other.own
    assert strange.own
    assert mine.authority.identify(other.own.certificate).name == "n1"
    assert mine.find_trouble(NOW) == ""
    assert mine.fingerprint != other.fingerprint != strange.fingerprint
    assert strange.authority != mine.authority


def test_the_same_seed_makes_the_same_files_that_only_their_owner_reads(tmp_path: Path) -> None:
    texts = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        files = [Path(file) for file in write_keys(RACK, "n0", tmp_path / name, 7).values()]
        texts.append([file.read_text() for file in files])
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert texts[0] == texts[1]
    assert make_key(7, "n0") != make_key(8, "n0")


def test_a_lone_node_needs_no_keys(tmp_path: Path) -> None:
    assert write_keys(generate_rack(1, 2), "n0", tmp_path) == {}


def test_roles_are_seated_or_leased_never_both(tmp_path: Path) -> None:
    places = Places(tmp_path, ("broker", 1883), "/sys/class")
    fixed = msgspec.toml.decode(write_settings(RACK, "n1", places))
    leased = msgspec.toml.decode(write_settings(RACK, "n1", places, 'journal.database = "postgresql://database/fleet"'))
    assert (fixed["roles"]["fleet"], fixed["roles"]["spares"]) == ("n0", "n0")
    assert (leased["roles"], leased["journal"]) == ({}, {"database": "postgresql://database/fleet"})


def test_the_fence_is_named_and_the_settings_are_taken(tmp_path: Path) -> None:
    (tmp_path / TOPOLOGY).write_text(tomli_w.dumps({"nodes": [{"name": "n0", "cards": 2}, {"name": "n1", "cards": 2}]}))
    places = Places(tmp_path, ("broker", 1883), "/sys/class")
    (tmp_path / "n1.toml").write_text(write_settings(RACK, "n1", places, 'journal.database = "postgresql://database/fleet"'))
    settings = read_settings(tmp_path / "n1.toml", {})
    assert settings.hooks.isolate == ("cardctl", "isolate", "{card}")
    assert settings.hooks.test == ("cardctl", "test", "{card}")
    assert settings.keys.key_file == tmp_path / "keys" / "n1.key"
    assert settings.leases_roles


async def test_a_door_says_what_it_is_and_closes() -> None:
    async with serve_door("127.0.0.1") as address:
        host, _, port = address.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        assert await reader.read() == b"SSH-2.0-simulated\r\n"
        writer.close()


async def test_a_served_rack_tells_where_its_machines_answer(tmp_path: Path) -> None:
    async with serve_rack(RACK, tmp_path / "d", seed=7) as served:
        site = msgspec.toml.decode((served.folder / TOPOLOGY).read_text())
        for node in site["nodes"]:
            host, _, port = node["address"].partition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            assert (await reader.read()).startswith(b"SSH-")
            writer.close()
        assert (served.folder / "keys" / "n1.crt").exists()
        assert (served.folder / "n0" / "bin" / "cardctl").exists()
