"""The command line of the reflex process: run, or show the arithmetic and exit."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from logging.handlers import QueueHandler, QueueListener
from pathlib import Path
from queue import SimpleQueue

from supernoded import __version__
from supernoded.errors import SupernodedError
from supernoded.notify import Notifier
from supernoded.reflex.arithmetic import explain
from supernoded.reflex.fitting import list_conflicts
from supernoded.reflex.living import run
from supernoded.settings import Settings, read_settings
from supernoded.tables import format_key

DEFAULT_CONFIG = Path("/etc/supernoded/supernoded.toml")
BAD_SETTINGS = 78  # EX_CONFIG of sysexits(3): the unit does not restart on it


def main() -> None:
    """The console script."""
    sys.exit(start(sys.argv[1:], os.environ))


def start(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """The exit code: 0 stopped, or nothing to do; 1 failed; 78 settings that cannot work."""
    options = _parse(arguments)
    queue: SimpleQueue[logging.LogRecord] = SimpleQueue()
    listener = QueueListener(queue, _make_handler(environment))  # whoever reads our log may hang; we do not
    log = logging.getLogger("supernoded.reflex")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(QueueHandler(queue))
    listener.start()
    try:
        return _run(options, environment, log)
    finally:
        listener.stop()


def _run(options: argparse.Namespace, environment: Mapping[str, str], log: logging.Logger) -> int:
    try:
        settings = read_settings(options.config, environment)
    except SupernodedError as error:
        log.error("%s", error)
        return BAD_SETTINGS
    if not settings.reflex.lines:
        log.info("%s has no [[reflex.lines]]: there is nothing to do", options.config)
        return 0
    conflicts = list(list_conflicts(settings))
    for conflict in conflicts:
        log.error("%s: %s %s; %s", options.config, format_key(conflict.key), conflict.fault, conflict.remedy)
    if conflicts:
        return BAD_SETTINGS
    for sentence in explain(settings.reflex):
        log.info("at worst on %s", sentence)
    return 0 if options.check else _live(settings, environment, log)


def _live(settings: Settings, environment: Mapping[str, str], log: logging.Logger) -> int:
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: stopping.append(number))
    notifier = Notifier(environment, os.getpid(), log)
    try:
        run(settings.reflex, notifier, log, lambda: bool(stopping), time.monotonic)
    except SupernodedError as error:
        log.error("%s", error)
        return 1
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="supernoded-reflex", description="Fire the armed shed of the PDUs when both feeds are flagged.")
    parser.add_argument("--config", type=Path, metavar="FILE", default=DEFAULT_CONFIG, help="settings (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="show the arithmetic of each line, or what is wrong with it, and exit")
    parser.add_argument("--version", action="version", version=f"supernoded-reflex {__version__}")
    return parser.parse_args(arguments)


def _make_handler(environment: Mapping[str, str]) -> logging.Handler:
    handler = logging.StreamHandler()
    under_systemd = "JOURNAL_STREAM" in environment
    handler.setFormatter(logging.Formatter("%(message)s" if under_systemd else "%(asctime)s %(levelname)-7s %(message)s"))
    return handler


if __name__ == "__main__":
    main()
