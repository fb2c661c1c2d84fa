import asyncio
import math
import subprocess
import sys
from pathlib import Path

import pytest

from sim_hardware.devices.tools import ToolImpairment
from sim_hardware.devices.tools.serving import serve_tools
from sim_hardware.devices.tools.shim import write_shims
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from tests.sim.devices.tools.desks import Desk


async def execute(*argv: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(*argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


LINK = b"0 16 0\nlink status: UP\n"


async def ask_link(path: Path) -> bytes:
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(b"6\nhccn_tool\0n0\0-i\x000\0-link\0-g\0")
    answer = await reader.read()
    writer.close()
    return answer


async def test_shims_are_executables_that_give_code_and_both_texts(tmp_path: Path) -> None:
    shims = {shim.name: str(shim) for shim in write_shims(tmp_path / "bin", tmp_path / "tools.sock", "n0")}
    async with serve_tools(Desk(), tmp_path / "tools.sock"):
        assert await execute(shims["hccn_tool"], "-i", "0", "-link", "-g") == (0, "link status: UP\n", "")
        code, out, err = await execute(shims["hccn_tool"], "-i", "0", "", "ümlaut")
        assert (code, out, err.startswith("hccn_tool: wrong parameter: ")) == (1, "", True)
        code, out, _ = await execute(shims["npu-smi"], "info")
        assert (code, len(out.splitlines()) > 30) == (0, True)


async def test_a_tool_that_hangs_can_be_killed_and_the_others_go_on(tmp_path: Path) -> None:
    shims = {shim.name: str(shim) for shim in write_shims(tmp_path / "bin", tmp_path / "tools.sock", "n0")}
    async with serve_tools(Desk(), tmp_path / "tools.sock") as state:
        state.impairments["npu-smi"] = ToolImpairment(hang=True)
        hung = await asyncio.create_subprocess_exec(shims["npu-smi"], "info", stdout=subprocess.PIPE)
        assert await execute(shims["hccn_tool"], "-i", "0", "-fec", "-g") == (0, "fec mode: rs FEC mode\n", "")
        assert hung.returncode is None
        hung.kill()
        assert await hung.wait() == -9
        state.impairments.clear()
        assert (await execute(shims["npu-smi"], "-v"))[0] == 0


async def test_without_a_server_a_shim_says_so(tmp_path: Path) -> None:
    (shim, *_) = write_shims(tmp_path / "bin", tmp_path / "tools.sock", "n0")
    code, out, err = await execute(str(shim), "info")
    assert (code, out, "no answer from the simulator" in err) == (69, "", True)


async def test_ending_the_server_ends_tools_that_hang(tmp_path: Path) -> None:
    async with serve_tools(Desk(), tmp_path / "tools.sock") as state:
        state.impair("npu-smi").hang = True
        reader, writer = await asyncio.open_unix_connection(tmp_path / "tools.sock")
        writer.write(b"3\nnpu-smi\0n0\0info\0")
        await writer.drain()
        assert await ask_link(tmp_path / "tools.sock") == LINK  # so that the one before has been heard
    assert await reader.read() == b""
    writer.close()


@pytest.mark.parametrize("request_", [b"\n", b"x\n", b"1\nnpu-smi\0", b"99999\n", b"-1\n", b"2\nnpu-smi\0"])
async def test_who_speaks_otherwise_is_hung_up_on(tmp_path: Path, request_: bytes) -> None:
    async with serve_tools(Desk(), tmp_path / "tools.sock"):
        reader, writer = await asyncio.open_unix_connection(tmp_path / "tools.sock")
        writer.write(request_)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()


def test_in_virtual_time_a_tool_takes_the_seconds_it_says() -> None:
    async def ask() -> tuple[bytes, float]:
        async with serve_tools(Desk(), Path("/run/tools.sock")) as state:
            state.impair("hccn_tool").slow_s = 30.0
            since = asyncio.get_running_loop().time()
            return await ask_link(Path("/run/tools.sock")), asyncio.get_running_loop().time() - since

    loop = SimLoop(seed=1)
    Net(loop)
    answer, seconds = play(loop, ask())
    assert loop.failures == []
    assert answer == LINK
    assert math.isclose(seconds, 30.08, abs_tol=0.05)


def test_a_shim_starts_a_bare_interpreter(tmp_path: Path) -> None:
    (shim, *_) = write_shims(tmp_path / "bin", tmp_path / "tools.sock", "n0")
    assert shim.read_text().startswith(f"#!{sys.executable} -IS\nimport os, socket, sys\n")
