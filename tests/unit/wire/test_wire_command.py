"""Programs: bounded in time and output, alone, and silent about nothing."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.wire import Pen
from supernoded.wire import command as wire_command
from supernoded.wire.command import ToolCommand

HELD = Pen(lambda scope: None)


def python(code: str, pen: Pen = HELD) -> ToolCommand:
    return ToolCommand([sys.executable, "-c", code], pen)


async def test_code_output_and_arguments() -> None:
    command = python("import sys; print(sys.argv[1:]); print('oops', file=sys.stderr); sys.exit(3)")
    answer = await command.run("-i", "0; rm *")
    assert (answer.code, answer.out, answer.err, answer.truncated) == (3, "['-i', '0; rm *']\n", "oops\n", False)


async def test_environment_and_input() -> None:
    answer = await python("import os, sys; print(os.environ['LC_ALL'], repr(sys.stdin.read()), 'NOTIFY_SOCKET' in os.environ)").run()
    assert answer.out == "C '' False\n"


async def test_what_is_not_installed_is_named() -> None:
    with pytest.raises(WireError, match=r"hccn_tool_x -g: cannot be started: No such file or directory; is hccn_tool_x installed"):
        await ToolCommand(["hccn_tool_x"], HELD).run("-g")


async def test_an_argument_with_a_zero_byte_is_an_error_of_the_wire() -> None:
    with pytest.raises(WireError, match="null byte"):
        await python("").run("a\0b")


async def test_no_program_is_refused() -> None:
    with pytest.raises(WireError, match="name of its program"):
        ToolCommand([], HELD)


async def test_output_is_capped_and_the_program_still_ends() -> None:
    answer = await python("print('x' * 3_000_000)").run(within=30.0)
    assert (answer.code, len(answer.out), answer.truncated) == (0, wire_command.MOST_OUTPUT, True)


async def test_a_hung_program_is_killed_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(WireError, match=r"did not end and was killed within 2 s"):
        await ToolCommand(["sh", "-c", f"sleep 600 & echo $$ $! > {pids}; wait"], HELD).run(within=2.0)
    group, child = (int(pid) for pid in pids.read_text().split())
    await until_dead(group)
    await until_dead(child)


async def until_dead(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    dead, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(handle, dead.set)
    await dead.wait()
    loop.remove_reader(handle)
    os.close(handle)


def runs(pid: int) -> bool:
    """Whether it does: one that has ended and is not yet buried by its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_after_a_kill_it_can_run_again(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    command = ToolCommand(["sh", "-c", f"test -e {flag} || sleep 600"], HELD)
    with pytest.raises(WireError, match="killed"):
        await command.run(within=0.3)
    flag.touch()
    assert (await command.run(within=30.0)).code == 0


async def test_a_killed_program_that_does_not_end_is_not_joined_by_a_second() -> None:
    command = python("")
    await command.run(within=30.0)
    assert command._last is not None
    command._last.exited.clear()  # as if the kernel held it in a device
    with pytest.raises(WireError, match=r"was killed and has not ended yet; no second one is begun"):
        await command.run()


async def test_never_two_at_a_time(tmp_path: Path) -> None:
    code = f"""
import os, time
os.close(os.open({str(tmp_path / "lock")!r}, os.O_CREAT | os.O_EXCL))
time.sleep(0.05)
os.unlink({str(tmp_path / "lock")!r})
"""
    command = python(code)
    answers = await asyncio.gather(*(command.run(within=60.0) for _ in range(4)))
    assert [answer.code for answer in answers] == [0, 0, 0, 0]


async def test_a_child_that_keeps_the_pipes_does_not_hang_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_command, "GRACE", 0.1)
    code = "import subprocess, sys; print('done', flush=True); subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
    answer = await python(code).run(within=60.0)
    assert (answer.code, answer.out) == (0, "done\n")


async def test_the_pen_is_asked_before_an_order_starts(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = python(f"open({str(mark)!r}, 'w')", Pen(lambda scope: "observing"))
    with pytest.raises(NotHeldError, match="node: nothing was written, observing"):
        await command.order("node")
    assert not mark.exists()
    assert (await command.run(within=30.0)).code == 0  # what changes nothing asks nobody


async def test_cancelling_kills(tmp_path: Path) -> None:
    pipe = tmp_path / "pid"
    os.mkfifo(pipe)
    run = asyncio.create_task(ToolCommand(["sh", "-c", f"echo $$ > {pipe}; exec sleep 600"], HELD).run(within=60.0))
    pid = int(await asyncio.to_thread(pipe.read_text))
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    await until_dead(pid)
    assert not runs(pid)
