"""What the benchmarks share: rows with a budget beside each figure, a scratch rack of InfiniBand ports, load, and a broker."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from supernoded import __version__

Row = dict[str, str | float | int | bool | None]

CARDS = 8
BROKER_START = 10.0  # seconds until it must listen

# The counters of an mlx5 port, by Documentation/ABI/stable/sysfs-class-infiniband of the kernel.
COUNTERS = (
    *("VL15_dropped", "excessive_buffer_overrun_errors", "link_downed", "link_error_recovery", "local_link_integrity_errors"),
    *("multicast_rcv_packets", "multicast_xmit_packets", "port_rcv_constraint_errors", "port_rcv_data", "port_rcv_errors"),
    *("port_rcv_packets", "port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors", "port_xmit_constraint_errors"),
    *("port_xmit_data", "port_xmit_discards", "port_xmit_packets", "port_xmit_wait", "symbol_error"),
    *("unicast_rcv_packets", "unicast_xmit_packets"),
)
HARDWARE_COUNTERS = ("duplicate_request", "local_ack_timeout_err", "np_cnp_sent", "out_of_buffer", "out_of_sequence", "packet_seq_err")
FACTS = {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "200 Gb/sec (4X HDR)", "lid": "0x1", "link_layer": "InfiniBand"}


def make_parser(words: str | None) -> ArgumentParser:
    """The options that every benchmark has."""
    parser = ArgumentParser(description=words)
    parser.add_argument("--json", action="store_true", help="print rows for a program")
    return parser


def make_row(what: str, value: float, unit: str, budget: float | None = None, note: str = "") -> Row:
    """One figure; a budget is the most it may be."""
    return {
        "what": what,
        "value": value,
        "unit": unit,
        "budget": budget,
        "within": None if budget is None else value <= budget,
        "note": note,
    }


def show(rows: Sequence[Row], *, as_json: bool) -> None:
    """Print the rows, for a program or for people."""
    machine: Row = {"cores": os.cpu_count() or 1, "version": __version__, "python": platform.python_version()}
    if as_json:
        print(json.dumps([row | machine for row in rows], indent=2))
        return
    print(f"{'what':44s} {'value':>10s} {'unit':6s} {'budget':>8s}  within")
    for row in rows:
        budget = "" if row["budget"] is None else f"{row['budget']:g}"
        within = {None: "", True: "yes", False: "NO"}[row["within"] if isinstance(row["within"], bool) else None]
        print(f"{row['what']:44s} {row['value']:10.3f} {row['unit']:6s} {budget:>8s}  {within:6s} {row['note']}".rstrip())
    print("supernoded {version}, {cores} cores, Python {python}".format(**machine))


def find_percentile(values: Sequence[float], percent: int) -> float:
    """The value that so many percent do not exceed."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def make_infiniband(tree: Path, cards: int = CARDS) -> None:
    """A tree as sysfs shows it, with one port a card."""
    for card in range(cards):
        port = tree / f"mlx5_{card}" / "ports" / "1"
        for folder, names in (("counters", COUNTERS), ("hw_counters", HARDWARE_COUNTERS)):
            (port / folder).mkdir(parents=True)
            for name in names:
                (port / folder / name).write_text("0\n")
        for name, text in FACTS.items():
            (port / name).write_text(f"{text}\n")


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on a real disk that goes away again; TMPDIR chooses the disk."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        yield Path(name)


@contextmanager
def mosquitto(folder: Path) -> Iterator[int]:
    """A broker of our own on loopback; gives its port."""
    program = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        raise SystemExit("mosquitto is not installed (Debian: apt-get install mosquitto)")
    port = find_free_port()
    config = folder / "mosquitto.conf"
    config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nuser root\n")
    process = subprocess.Popen([program, "-c", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until(lambda: _listens(port), "mosquitto does not listen")
        yield port
    finally:
        process.terminate()
        process.wait()


@contextmanager
def cpu_load(processes: int) -> Iterator[None]:
    """So many processes that compute without a pause."""
    context = multiprocessing.get_context("spawn")
    spinning = [context.Process(target=_spin, daemon=True) for _ in range(processes)]
    for process in spinning:
        process.start()
    try:
        yield
    finally:
        for process in spinning:
            process.terminate()
            process.join()


def find_free_port() -> int:
    """A port that nobody has just now."""
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return int(line.getsockname()[1])


def _spin() -> None:
    """Compute for as long as the parent lives."""
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(1_000_000))


def _listens(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def _wait_until(true: Callable[[], bool], complaint: str) -> None:
    end = time.monotonic() + BROKER_START
    while not true():
        if time.monotonic() > end:
            raise SystemExit(f"{complaint} within {BROKER_START:g} s")
        time.sleep(0.02)
