"""`make demo`: the real daemon on a simulated rack, in a folder of its own that is removed at the end."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from demo.page import say
from demo.play import play
from demo.stage import DemoError, Stage
from supernoded.admin.listening import LONGEST_PATH

NEXT = """\
   README.md           a plugin in ten lines, and how to install the daemon as a service
   docs/simulator.md   the rack: `supernode-sim serve rack-1x8` keeps one to play with
   docs/scenarios.md   scenarios, and how to write one
   docs/words.md       what the words mean
   docs/safety.md      what the daemon will never do, and how to hold it back
   make test           the tests"""


def run(folder: Path) -> None:
    """Show all of it, and end what was started. Raises DemoError with the last lines of what ran."""
    stage = Stage(folder)
    try:
        play(stage)
    except (DemoError, OSError) as error:
        stage.stop()
        raise DemoError("\n".join([f"{error}.", *(child.tell_tail() for child in stage.children)])) from error
    finally:
        stage.stop()


def main() -> int:
    """The exit code: 0 when all that was to be shown was shown, 1 otherwise."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))  # unwinds, and so leaves nothing behind
    began = time.monotonic()
    say("supernoded in a minute: the daemon on a simulated rack. After $ stands what you would type, and below it what came of that.")
    folder = Path(tempfile.mkdtemp(prefix="supernoded-demo-", dir=find_short_folder()))
    try:
        run(folder)
    except (DemoError, OSError) as error:
        print(f"\nThe demo failed: {error}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted: daemon and rack are stopped.", file=sys.stderr, flush=True)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    say(f"Done in {time.monotonic() - began:.0f} s; {folder} is removed.")
    print(NEXT, flush=True)
    return 0


def find_short_folder() -> str | None:
    """Where a socket's path is short enough: the usual temporary folder, else /tmp."""
    longest = Path(tempfile.gettempdir()) / "supernoded-demo-12345678/rack/n0/run/admin.sock"
    return None if len(os.fsencode(longest)) <= LONGEST_PATH else "/tmp"  # noqa: S108 - mkdtemp makes a private folder in it


if __name__ == "__main__":
    sys.exit(main())
