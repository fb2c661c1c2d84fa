"""The bench itself: cables are cut the way they are meant to be, and nothing else is."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from supernoded.cluster.topics import Beat
from tests.system.cluster.networks import EVERYTHING, SITE, Network, Place, Port, find
from tests.system.cluster.peers import Broker
from tests.system.cluster.site import NODES, Site

CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 0.4)"


async def reaches(place: Place, port: Port) -> bool:
    command = (*place.enter, sys.executable, "-c", CONNECT, SITE, str(port.number))
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    return await process.wait() == 0


@pytest.mark.parametrize("ways", ["both", "in", "out"])
async def test_a_cut_takes_one_node_and_one_service(tmp_path: Path, network: Network, ways: str) -> None:
    one, other = Port(1883), Port(1884)
    listeners = [f"listener {port.number} {SITE}\nallow_anonymous true" for port in (one, other)]
    broker = Broker(tmp_path / "broker", network.enter, "\n".join(listeners))
    with network.place(0) as near, network.place(1) as far:
        try:
            await broker.start()
            assert await reaches(near, one)
            near.cut(one, ways)
            assert [await reaches(*pair) for pair in ((near, one), (far, one), (near, other))] == [False, True, True]
            near.cut(EVERYTHING, ways)
            near.heal(one)
            assert [await reaches(*pair) for pair in ((near, one), (far, one), (near, other))] == [False, True, False]
            near.heal()
            assert [await reaches(*pair) for pair in ((near, one), (near, other))] == [True, True]
        finally:
            await broker.kill()


def test_namespaces_go_away_after_a_failure(network: Network) -> None:
    def list_spaces() -> list[str]:
        out = subprocess.run([find("ip"), "netns", "list"], capture_output=True, text=True, check=True).stdout
        return [line.split()[0] for line in out.splitlines() if line.startswith(network.space)]

    class ExpectedError(Exception):
        pass

    def fail() -> None:
        with network.place(7):
            assert f"{network.space}-7" in list_spaces()
            raise ExpectedError

    with pytest.raises(ExpectedError):
        fail()
    assert f"{network.space}-7" not in list_spaces()


async def test_all_three_are_heard(site: Site) -> None:
    for name in NODES:
        await site.ear.wait(f"node/{name}/beat", Beat, lambda beat: beat.node)
