"""The site's programs as real processes: well, failing, noisy, hanging, and killed with their daemon."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from supernoded.cards.hooks import Occasion, SiteHooks
from supernoded.errors import WireError
from supernoded.settings import Hooks
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires

OCCASION = Occasion("n0/card3", "SN3", "no beat; {node} $(reboot)\n'x'")


def make_hooks(script: str, *arguments: str, within_s: float = 10.0) -> SiteHooks:
    words = (sys.executable, "-c", script, *arguments)
    return SiteHooks(Hooks(isolate=words, release=words, test=words, within_s=within_s, test_s=5.0), SystemWires(Pen(lambda _: None)))


async def test_blanks_are_filled_in_and_a_reason_is_one_argument_that_no_shell_reads() -> None:
    hooks = make_hooks("import sys; print('|'.join(sys.argv[1:]))", "{card}", "{slot}/{node}", "{serial}", "{reason}", "--", "{other}")
    assert await hooks.call("isolate", OCCASION) == "n0/card3|3/n0|SN3|no beat; {node} $(reboot) 'x'|--|{other}"


async def test_a_failing_program_says_its_code_and_its_last_words() -> None:
    hooks = make_hooks("import sys; print('working'); print('  device\\tis busy  \\n\\n', file=sys.stderr); sys.exit(7)", "{card}")
    with pytest.raises(WireError, match=r"\[hooks\] isolate: .* n0/card3 ended with code 7: device is busy$"):
        await hooks.call("isolate", OCCASION)
    killed = make_hooks("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(WireError, match="was ended by signal 9"):
        await killed.call("isolate", OCCASION)


async def test_one_that_never_stops_talking_is_read_and_thrown_away() -> None:
    hooks = make_hooks("import sys; [sys.stdout.write('x' * 65536) for _ in range(100)]; print(); print('end')")
    said = await hooks.call("isolate", OCCASION)
    assert 0 < len(said) <= 300


async def test_one_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    script = "import subprocess, sys; c = subprocess.Popen(['sleep', '600']); open(sys.argv[1], 'w').write(str(c.pid)); c.wait()"
    hooks = make_hooks(script, str(tmp_path / "pid"), within_s=1.0)
    with pytest.raises(WireError, match="did not end and was killed within 1 s"):
        await hooks.call("isolate", OCCASION)
    child = int((tmp_path / "pid").read_text())
    async with asyncio.timeout(10.0):
        while _lives(child):
            await asyncio.sleep(0.01)


async def test_another_card_waits_for_its_turn_and_loses_no_time_of_its_own(tmp_path: Path) -> None:
    script = f"import os, sys, time; p = {str(tmp_path / 'on')!r}; os.mkdir(p); time.sleep(0.4); os.rmdir(p); print(sys.argv[1])"
    hooks = make_hooks(script, "{card}", within_s=2.0)
    cards = [f"n0/card{number}" for number in range(6)]
    said = await asyncio.gather(*(hooks.call("isolate", Occasion(card)) for card in cards))
    assert said == cards  # `mkdir` fails when two run at once


async def test_one_that_is_not_there_is_named() -> None:
    hooks = SiteHooks(Hooks(isolate=("/nowhere/cardctl", "{card}"), release=("x",)), SystemWires(Pen(lambda _: None)))
    with pytest.raises(WireError, match="/nowhere/cardctl n0/card3: cannot be started: No such file"):
        await hooks.call("isolate", OCCASION)


FENCE = """
import asyncio, logging, sys
from pathlib import Path
from supernoded.cards.fence import Fence
from supernoded.cards.hooks import SiteHooks
from supernoded.clock import SystemClock
from supernoded.holds import Holds
from supernoded.journal.writer import open_journal
from supernoded.model import Hold
from supernoded.settings import Hooks
from supernoded.supervisor import Health
from supernoded.topology import Topology
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires

async def main(folder, tool):
    clock, wires = SystemClock(), SystemWires(Pen(lambda _: None))
    journal = open_journal(folder / "journal.db", clock)
    holds = Holds("n0", journal, clock, lambda _: True)
    await holds.take_up()
    hooks = SiteHooks(Hooks(isolate=("sh", tool, "{card}"), release=("true",)), wires)
    fence = Fence("n0", Topology.empty("n0", cards=4), state=wires.tree(str(folder)), runtime=wires.tree(str(folder / "run")),
                  hooks=hooks, holds=holds, clock=clock, health=Health(clock, logging.getLogger()), serial_of=lambda _: "")
    await holds.place(Hold(id="h1", subject="n0/card3", serial="", reason="r", owner="p", placed=1.0))
    known = await fence.find("n0/card3")
    print("fenced" if known else "open", len(holds.standing()), flush=True)
    await fence.isolate("n0/card3", "p", "r")
    print("fenced" if await fence.find("n0/card3") else "open", flush=True)
    await journal.close()

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


async def _start(folder: Path, tool: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", FENCE, str(folder), str(tool), stdout=asyncio.subprocess.PIPE)


async def test_a_daemon_that_is_killed_between_program_and_record_asks_again(tmp_path: Path) -> None:
    done, tool = tmp_path / "done", tmp_path / "tool.sh"
    tool.write_text(f'echo "$1" >> {done}; [ $(wc -l < {done}) -gt 1 ] || kill -9 $PPID\n')  # the first run kills whoever called it
    first = await _start(tmp_path, tool)
    said, _ = await first.communicate()
    assert (first.returncode, said) == (-signal.SIGKILL, b"open 1\n")
    assert not (tmp_path / "fence.json").exists()
    second = await _start(tmp_path, tool)
    said, _ = await second.communicate()
    assert (second.returncode, said) == (0, b"open 1\nfenced\n")
    assert done.read_text() == "n0/card3\n" * 2
    assert '"usable": false' in (tmp_path / "run" / "cards.json").read_text()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
