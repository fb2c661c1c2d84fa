"""The daemon's side of jobs on the simulated loop: its socket is none of the machine's, and its deadlines are in virtual time."""

from __future__ import annotations

import asyncio
import logging
import socket
from pathlib import Path

from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from supernoded.job.jobs import open_jobs
from supernoded.job.protocol import Agreed, Hello, Request, Welcome, decode_daemon, encode
from supernoded.limits import Limits
from supernoded.settings import Settings, parse_settings
from supernoded.testing import MemoryHost, MemoryWires
from supernoded.wire import Node


def test_a_request_passes_its_deadline_in_virtual_time_and_a_real_socket_of_that_name_stays(tmp_path: Path) -> None:
    settings = parse_settings('node = "n0"', "test", tmp_path, {"STATE_DIRECTORY": "/state", "RUNTIME_DIRECTORY": str(tmp_path)})
    assert isinstance(settings, Settings)
    with socket.socket(socket.AF_UNIX) as real:
        real.bind(str(settings.job.socket))
        loop = SimLoop(1)
        Net(loop)
        stages = play(loop, ask_and_wait(loop, settings))
        assert loop.failures == []
        assert settings.job.socket.is_socket()
    assert stages == ["asked", "agreed", "late", "failed"]


async def ask_and_wait(loop: SimLoop, settings: Settings) -> list[str]:
    clock = SimClock(loop, "n0")
    node = Node("n0", settings.topology, Limits(), MemoryWires(), clock, MemoryHost(), settings.state)
    jobs = open_jobs(settings, clock, logging.getLogger("test"), node)
    stages: list[str] = []

    def look() -> None:
        row = jobs.desk.find_request("train")
        stages.append(row.stage if row is not None else "none")

    life = asyncio.create_task(jobs.run())
    await jobs.listening.wait()
    reader, writer = await asyncio.open_unix_connection(settings.job.socket)
    writer.write(encode(Hello(v=1, job="train", kind="rank", rank=0, world=1)))
    assert isinstance(decode_daemon(await reader.readline()), Welcome)
    jobs.desk.ask("train", "sag", deadline_s=60.0)
    look()
    request = decode_daemon(await reader.readline())
    assert isinstance(request, Request)
    writer.write(encode(Agreed(request=request.id, number=request.number, step=5)))
    for seconds in (1.0, 60.0, 60.0):
        await clock.sleep(seconds)
        look()
    life.cancel()
    await asyncio.wait({life})
    writer.close()
    return stages
