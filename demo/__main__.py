"""`make demo`: the real daemon on this machine's own sensors and on a scratch InfiniBand tree, one of whose links is made to err.

It takes a free port on loopback and a folder of its own, which it removes at the end, and writes nowhere else.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from demo.child import Child
from demo.observer import DemoError, Observer
from demo.page import head, tell
from demo.play import SETTLE, play
from demo.tree import LINK, PEER, PORTS, Tree
from supernoded.admin.listening import LONGEST_PATH

SETTINGS = """\
node = "demo"                   # there is no `mode`: it is `observe`, which writes to no device
state = {state}
runtime = {runtime}
[admin]
group = ""                      # nobody else may look
[incidents]
clear_after_s = {settle}               # 60 by default
{kernel_log}[plugins.link_ber]
clear_s = {settle}                     # 60 by default
[plugins.fabric]
infiniband = {tree}
period_s = 0.5                  # 5 by default
subjects = {{ "mlx5_0/1" = "{link}", "mlx5_1/1" = "{peer}" }}
[[nodes]]
name = "demo"
cards = 2
[[cables]]
a = "{link}"
b = "{peer}"
"""

NO_KERNEL_LOG = """\
[plugins.host]
kernel_log = false              # it takes CAP_SYSLOG, which this user has not
"""

NEXT = """\
   README.md        a plugin in ten lines, and how to install the daemon as a service
   docs/words.md    what the words mean
   docs/safety.md   what the daemon will never do, and how to hold it back
   make test        the tests"""


TAIL = "The daemon's last lines:"


def run(folder: Path, runtime: Path) -> None:
    """Make the tree and the settings, run the daemon, show it, stop it. Raises DemoError."""
    config, infiniband = folder / "supernoded.toml", folder / "sys/class/infiniband"
    paths = {"state": folder / "state", "runtime": runtime, "tree": infiniband}
    quoted = {name: json.dumps(str(path)) for name, path in paths.items()}
    config.write_text(SETTINGS.format(**quoted, kernel_log=find_kernel_log(), settle=SETTLE, link=LINK, peer=PEER))
    head("1. The daemon starts, with the sensors of this machine and a scratch InfiniBand tree of two ports.")
    tell("settings", str(config))
    tell("tree", f"{infiniband} ({', '.join(f'{device} is {subject}' for device, subject in PORTS.items())})")
    tree = Tree(infiniband)
    tree.start()
    try:
        run_daemon(config, folder, runtime, tree)
    finally:
        foreign = tree.end()
    if foreign:
        raise DemoError(f"somebody else wrote into the scratch tree, which nothing may do in mode observe: {foreign[0]}")
    tell("tree", "each file in it is as this demo wrote it: in mode observe nothing is written to a device")


def find_kernel_log() -> str:
    """What the settings say of the kernel log: nothing where this user may read it."""
    try:
        os.close(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        return NO_KERNEL_LOG
    return ""


def run_daemon(config: Path, folder: Path, runtime: Path, tree: Tree) -> None:
    """From its start to its end, whatever happens in between. Raises DemoError with its last lines."""
    child = Child(config, folder / "daemon.log")
    try:
        play(Observer(child, runtime / "admin.sock", folder / "state/journal.db"), tree)
        head("7. SIGTERM to the daemon.")
        code = child.stop()
        tell("daemon", f"it ended with code {code}")
    except (DemoError, OSError) as error:
        child.stop()
        raise DemoError("\n".join([f"{error}. {TAIL}", *(f"   {line}" for line in child.tail or ["(none)"])])) from error
    finally:
        child.stop()
    if code:
        raise DemoError(f"the daemon ended with code {code} after SIGTERM, not 0")


def main() -> int:
    """The exit code: 0 when all that was to be shown was shown, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m demo", description="Show the daemon at work, in about half a minute.")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave journal, settings, tree and log in DIR, a new or an empty folder")
    keep: Path | None = parser.parse_args().keep
    if keep is not None and keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        parser.error(f"--keep {keep}: it is there and is no empty folder; name another")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))  # unwinds, and so leaves nothing behind
    return perform(keep)


def perform(keep: Path | None) -> int:
    """All of it, in a folder of its own. The exit code."""
    began = time.monotonic()
    head("supernoded in half a minute: a link goes bad, and what the daemon makes of it.")
    runtime = Path(tempfile.mkdtemp(prefix="supernoded-demo-", dir=find_short_folder()))
    try:
        folder = runtime if keep is None else keep.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        run(folder, runtime)
    except (DemoError, OSError) as error:
        print(f"\nThe demo failed: {error}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted: the daemon is stopped.", file=sys.stderr, flush=True)
        return 1
    finally:
        shutil.rmtree(runtime, ignore_errors=True)
    left = f"{runtime} is removed; `python -m demo --keep DIR` leaves all of it in DIR." if keep is None else f"All of it is in {keep}."
    head(f"Done in {time.monotonic() - began:.0f} s. {left}")
    print(NEXT, flush=True)
    return 0


def find_short_folder() -> str | None:
    """Where a socket's path is short enough: the usual temporary folder, else /tmp."""
    longest = Path(tempfile.gettempdir()) / "supernoded-demo-12345678/admin.sock"
    return None if len(os.fsencode(longest)) <= LONGEST_PATH else "/tmp"  # noqa: S108 - mkdtemp makes a private folder in it


if __name__ == "__main__":
    sys.exit(main())
