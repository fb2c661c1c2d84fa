"""The daemon's command line: run, or judge the configuration and exit."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from supernoded import __version__
from supernoded.building import collect_parts, open_nodes
from supernoded.checking import find_problems
from supernoded.cluster.roles.seats import FixedSeats
from supernoded.errors import SupernodedError
from supernoded.ports import Ports, system_ports
from supernoded.process import run_process
from supernoded.registry import settings_types
from supernoded.settings import Settings, default_settings, read_settings
from supernoded.settings.reliance import list_unplaced

DEFAULT_CONFIG = Path("/etc/supernoded/supernoded.toml")
THREADS = 32  # a file system that hangs holds one each
BAD_SETTINGS = 78  # EX_CONFIG of sysexits(3): the unit does not restart on it

_PRIORITIES = {"ERROR": 3, "WARNING": 4, "INFO": 6, "DEBUG": 7}  # syslog(3); sd-daemon(3) reads `<n>` at a line's beginning


def main() -> None:
    """The console script."""
    code = run(sys.argv[1:], os.environ)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a thread that hangs in a dead file system would keep the interpreter for ever


def run(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """The exit code: 0 ok, 1 no or failed, 78 bad settings at a start."""
    options = _parse(arguments)
    log = _make_log(environment)
    ports = system_ports(environment, log)
    if options.check:
        return check(options.config, environment, ports)
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(THREADS, "hop"))
    try:
        return loop.run_until_complete(run_process(lambda: _load(options.config, environment, log), ports, log))
    except SupernodedError as error:
        log.error("%s", error)
        return BAD_SETTINGS


def check(config: Path | None, environment: Mapping[str, str], ports: Ports) -> int:
    """Print everything that is wrong with a configuration, else what to mind; 1 when something is wrong."""
    path = config if config is not None or not DEFAULT_CONFIG.exists() else DEFAULT_CONFIG
    name = str(path) if path is not None else f"defaults (there is no {DEFAULT_CONFIG})"
    found = ports.plugins(default_settings(environment, "here"))
    problems = find_problems(path, environment, plugins=[one.name for one in found], tables=settings_types(found))
    said = [str(problem) for problem in problems] or _find_plugin_problems(path, environment, ports)
    for sentence in said:
        print(sentence)
    if said:
        print(f"{name}: {len(said)} problem{'s' if len(said) > 1 else ''}")
        return 1
    settings = _read(path, environment)
    for sentence in list_unplaced(settings):
        print(f"{name}: mind: {sentence}")
    print(f"{name}: sound, for node {settings.node} in mode {settings.mode.value} with {len(found)} plugins")
    return 0


def _find_plugin_problems(path: Path | None, environment: Mapping[str, str], ports: Ports) -> list[str]:
    """What only shows when the plugins hand in their parts."""
    settings = _read(path, environment)
    try:
        node_for = open_nodes(settings, ports, FixedSeats(settings.node, settings.list_seats()))
        parts, _ = collect_parts(settings, ports, node_for, logging.getLogger("supernoded"))
    except SupernodedError as error:
        return [str(error)]
    left_out = [
        f"plugin {one.name} would be left out: {one.trouble}"
        for one in parts.plugins
        if one.trouble and one.name not in settings.plugins_off
    ]
    return left_out + [str(problem) for problem in find_problems(path, environment, policies=parts.policies)]


def _read(path: Path | None, environment: Mapping[str, str]) -> Settings:
    return read_settings(path, environment) if path is not None else default_settings(environment)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="supernoded", description="Watch this node of an AI-training supernode and act within limits.")
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help=f"settings (default: {DEFAULT_CONFIG}, or none if there is no such file)"
    )
    parser.add_argument("--check", action="store_true", help="judge the configuration, say all that is wrong with it, and exit")
    parser.add_argument("--version", action="version", version=f"supernoded {__version__}")
    return parser.parse_args(arguments)


def _load(config: Path | None, environment: Mapping[str, str], log: logging.Logger) -> Settings:
    """Raises SettingsError. A file that was named must be there; the default one need not."""
    if config is None and not DEFAULT_CONFIG.exists():
        log.info("there is no %s: running on defaults, which observe and write to no device", DEFAULT_CONFIG)
        return default_settings(environment)
    return read_settings(config or DEFAULT_CONFIG, environment)


class _ForJournald(logging.Formatter):
    """A line as journald takes it: it adds the time itself."""

    def format(self, record: logging.LogRecord) -> str:
        return f"<{_PRIORITIES.get(record.levelname, 6)}>{super().format(record)}"


def _make_log(environment: Mapping[str, str]) -> logging.Logger:
    under_systemd = "JOURNAL_STREAM" in environment
    handler = logging.StreamHandler()
    handler.setFormatter(_ForJournald("%(message)s") if under_systemd else logging.Formatter("%(asctime)s %(levelname)-7s %(message)s"))
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    root.addHandler(handler)
    log = logging.getLogger("supernoded")
    log.setLevel(logging.INFO)
    return log


if __name__ == "__main__":
    main()
