"""`dsmbandwidth`, `dsm_sync_all`, `dsm_snapshot`: the memory pool from the command line (D4, C9 to C11)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.arguments import UsageError, parse
from sim_hardware.devices.tools.gauges import read_number, read_text
from sim_hardware.devices.tools.words import Run, ToolState
from sim_hardware.plant.pool.orders import DropSnapshot, Snapshot, SyncPool
from sim_hardware.plant.words import OrderError

_UNITS = {"MB": 1e6, "GB": 1e9, "TB": 1e12}


class Listed(msgspec.Struct, frozen=True):
    """A snapshot as the pool lists it."""

    name: str
    at: float
    whole: bool
    atomic: bool
    compress: str
    source_bytes: int
    bytes: int


def dsmbandwidth(argv: Sequence[str], panel: Panel, node: str, _state: ToolState) -> Run:
    """`-t read -s 128GB -d dsm_pool`. Codes: 0, 1 no pool, 2 usage."""
    try:
        options = parse(argv, frozenset({"-t", "-s", "-d"}), frozenset())
        size = _read_size(options)
    except UsageError as error:
        return Run(2, err=f"dsmbandwidth: wrong argument: {error}\nusage: dsmbandwidth -t read -s SIZE -d POOL\n", seconds=0.01)
    rate = read_number(panel, f"pool/{node}", "pool.read_bandwidth")
    pool = options.get("-d", "dsm_pool")
    if rate is None or rate <= 0.0 or pool != "dsm_pool":
        return Run(1, err=f"dsmbandwidth: cannot open pool {pool}\n", seconds=0.2)
    taken = float(size[1]) * _UNITS[size[2]] / (rate * 1e9)
    lines = [f"Pool: {pool}", "Test: read", f"Size: {size[0]}", f"Time: {taken:.4f} s", f"Bandwidth: {rate / 1000.0:.3f} TB/s"]
    return Run(0, "\n".join(lines) + "\n", seconds=0.5 + taken)


def _read_size(options: dict[str, str]) -> re.Match[str]:
    """The amount to read, and its unit. Raises UsageError for another test than reading too."""
    text, test = options.get("-s", "128GB"), options.get("-t", "nothing")
    size = re.fullmatch(r"([1-9][0-9]{0,5})(MB|GB|TB)", text)
    if test != "read" or size is None:
        raise UsageError(f"-t {test} -s {text}")
    return size


def dsm_sync_all(argv: Sequence[str], panel: Panel, _node: str, _state: ToolState) -> Run:
    """Brings the HBM of all cards into the pool and ends when it is there. Codes: 0, 1 cannot, 2 usage."""
    if argv:
        return Run(2, err=f"dsm_sync_all: wrong argument: {argv[0]}\nusage: dsm_sync_all\n", seconds=0.01)
    try:
        panel.order(SyncPool())
    except OrderError as error:
        return Run(1, err=f"dsm_sync_all: {error}\n", seconds=0.1)
    return Run(0, f"dsm_sync_all: {len(panel.rack.list_cards())} cards synchronised\n", seconds=_measure_wait(panel))


def dsm_snapshot(argv: Sequence[str], panel: Panel, node: str, _state: ToolState) -> Run:
    """`--name X [--atomic] [--compress zstd]`, `--list`, `--verify X`, `--delete X`. Codes: 0, 1 cannot or torn, 2 usage."""
    try:
        options = _parse_snapshot(argv)
    except UsageError as error:
        usage = "usage: dsm_snapshot --name NAME [--atomic] [--compress zstd] | --list | --verify NAME | --delete NAME"
        return Run(2, err=f"dsm_snapshot: wrong argument: {error}\n{usage}\n", seconds=0.01)
    if "--name" in options:
        return _take(options, panel, node)
    if "--delete" in options:
        return _drop(options["--delete"], panel)
    listed = _read_snapshots(panel)
    if "--list" in options:
        return Run(0, "".join(f"{one.name} {one.bytes} {one.compress}\n" for one in listed), seconds=0.1)
    return _verify(options["--verify"], listed)


def _parse_snapshot(argv: Sequence[str]) -> dict[str, str]:
    options = parse(argv, frozenset({"--name", "--compress", "--verify", "--delete"}), frozenset({"--atomic", "--list"}))
    if len(options.keys() & {"--name", "--list", "--verify", "--delete"}) != 1:
        raise UsageError("give one of --name, --list, --verify and --delete")
    return options


def _take(options: dict[str, str], panel: Panel, node: str) -> Run:
    """Where the kernel does not allow an atomic one, the tool warns and goes on: that is the trap."""
    order = Snapshot(options["--name"], atomic="--atomic" in options, compress=options.get("--compress", "zstd"))
    try:
        panel.order(order)
    except OrderError as error:
        return Run(1, err=f"dsm_snapshot: {error}\n", seconds=0.1)
    ignored = order.atomic and read_number(panel, f"pool/{node}", "pool.atomic") != 1.0
    warning = "dsm_snapshot: warning: dsm_snapshot_atomic is 0, --atomic has no effect\n" if ignored else ""
    return Run(0, f"Snapshot {order.name} done\n", warning, _measure_wait(panel))


def _drop(name: str, panel: Panel) -> Run:
    try:
        panel.order(DropSnapshot(name))
    except OrderError as error:
        return Run(1, err=f"dsm_snapshot: {error}\n", seconds=0.1)
    return Run(0, f"Snapshot {name} removed\n", seconds=0.5)


def _measure_wait(panel: Panel) -> float:
    """Until the pool has done what it was told."""
    until = read_number(panel, "pool", "pool.until")
    return 0.5 if until is None else max(0.1, until - panel.now())


def _read_snapshots(panel: Panel) -> list[Listed]:
    """A list that cannot be read is empty."""
    try:
        return msgspec.json.decode(read_text(panel, "pool", "pool.snapshots", "[]"), type=list[Listed])
    except msgspec.DecodeError:
        return []


def _verify(name: str, listed: list[Listed]) -> Run:
    found = next((one for one in listed if one.name == name), None)
    if found is None:
        return Run(1, err=f"dsm_snapshot: no snapshot {name}\n", seconds=0.1)
    seconds = 0.5 + found.bytes / 20e9
    if not found.whole:
        return Run(1, err=f"dsm_snapshot: snapshot {name}: checksum mismatch\n", seconds=seconds)
    return Run(0, f"Snapshot {name}: {found.bytes} of {found.source_bytes} bytes, checksum OK\n", seconds=seconds)
