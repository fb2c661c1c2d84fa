"""The daemon at rest: 8 cards, all plugins, default periods, an external broker (design section 14).

CPU time is the daemon's own; that of its tools is apart. "Start" runs from the start of the process to READY=1 at its notify socket.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from benchmarks.measuring import CARDS, Row, make_infiniband, make_parser, make_row, mosquitto, scratch, show
from supernoded.ctl.client import AdminClient
from supernoded.messages import Status

MOST_CPU_PERCENT, MOST_RSS_MB, MOST_START_S = 2.0, 120.0, 2.5
STARTS = 3
SETTLE = 10.0  # seconds until it is at rest: by then it has its broker, and has read everything once
PATIENCE = 30.0

SETTINGS = """\
node = "n0"
state = "{folder}/state"
runtime = "{folder}/run"
[admin]
group = ""
operators = ""
[mqtt]
host = "127.0.0.1"
port = {port}
[[nodes]]
name = "n0"
cards = {cards}
[plugins.fabric]
infiniband = "{tree}"
[plugins.fabric.subjects]
{subjects}
"""


def write_settings(folder: Path, tree: Path, port: int) -> Path:
    """Settings for one fresh daemon."""
    folder.mkdir()
    subjects = "\n".join(f'"mlx5_{card}/1" = "n0/card{card}/port0"' for card in range(CARDS))
    file = folder / "supernoded.toml"
    file.write_text(SETTINGS.format(folder=folder, port=port, cards=CARDS, tree=tree, subjects=subjects))
    return file


@contextmanager
def run_daemon(config: Path) -> Iterator[tuple[psutil.Process, float]]:
    """A daemon that is ready, and how many seconds that took."""
    notify = config.with_name("notify")
    log = config.with_name("log").open("w")
    with log, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.bind(str(notify))
        line.settimeout(PATIENCE)
        environment = os.environ | {"NOTIFY_SOCKET": str(notify)}
        begin = time.monotonic()
        command = [sys.executable, "-m", "supernoded", "--config", str(config)]
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            try:
                while not line.recv(4096).startswith(b"READY=1"):
                    continue
            except TimeoutError:
                raise SystemExit(f"the daemon was not ready within {PATIENCE:g} s:\n{config.with_name('log').read_text()}") from None
            yield psutil.Process(process.pid), time.monotonic() - begin
        finally:
            process.terminate()
            process.wait()


def measure_rest(process: psutil.Process, socket_file: Path, seconds: float) -> list[Row]:
    """CPU, memory and wake-ups over a window."""
    time.sleep(SETTLE)
    before, switches, begin = process.cpu_times(), process.num_ctx_switches().voluntary, time.monotonic()
    time.sleep(seconds)
    after, elapsed = process.cpu_times(), time.monotonic() - begin
    own = after.user + after.system - before.user - before.system
    tools = after.children_user + after.children_system - before.children_user - before.children_system
    woken = process.num_ctx_switches().voluntary - switches
    told = AdminClient([socket_file], PATIENCE).get("status", Status).answer
    known = f"{sum(told.readings.values())} readings by {len(told.sensors)} sensors, {len(told.failing_sensors)} of them failing"
    return [
        make_row("CPU, of one core", 100 * own / elapsed, "%", MOST_CPU_PERCENT, f"over {elapsed:.0f} s, {known}"),
        make_row("CPU of its tools, of one core", 100 * tools / elapsed, "%"),
        make_row("wake-ups of its main thread a second", woken / elapsed, "1/s"),
        make_row("resident memory", process.memory_info().rss / 1e6, "MB", MOST_RSS_MB),
    ]


def main() -> None:
    """Measure and print; the exit code says nothing about the budgets."""
    parser = make_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="length of the window (default %(default)g)")
    asked = parser.parse_args()
    with scratch() as folder, mosquitto(folder) as port:
        make_infiniband(folder / "infiniband")
        starts = []
        for number in range(STARTS):
            with run_daemon(write_settings(folder / f"start{number}", folder / "infiniband", port)) as (process, took):
                starts.append(took)
                if number == STARTS - 1:
                    rows = measure_rest(process, folder / f"start{number}" / "run" / "admin.sock", asked.seconds)
    rows.append(make_row("start to READY", statistics.median(starts), "s", MOST_START_S, f"median of {STARTS} first starts"))
    show(rows, as_json=asked.json)


if __name__ == "__main__":
    main()
