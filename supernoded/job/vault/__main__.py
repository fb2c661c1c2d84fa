"""The command line of the vault: run it, ask it, restore by it."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from supernoded import __version__
from supernoded.clock import SystemClock
from supernoded.errors import SettingsError, SupernodedError
from supernoded.job.vault import commands
from supernoded.job.vault.priority import yield_priority
from supernoded.job.vault.running import Machine, Vault
from supernoded.settings import Settings, default_settings, read_settings

DEFAULT_CONFIG = Path("/etc/supernoded/supernoded.toml")
BAD_SETTINGS = 78  # EX_CONFIG of sysexits(3): the unit does not restart on it


def main() -> None:
    """The console script."""
    code = run(sys.argv[1:], os.environ)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(code)  # a thread that hangs in a dead mount would keep the interpreter for ever


def run(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """The exit code: 0 well, 1 not, 78 bad settings."""
    options = _parse(arguments)
    try:
        if options.command == "init":
            return _say(commands.init(options.folder))
        settings = _read(options.config, environment)
        return _serve(settings) if options.command == "run" else _say(_ask(options, settings))
    except SettingsError as error:
        sys.stderr.write(f"supernoded-vault: {error}\n")
        return BAD_SETTINGS
    except (SupernodedError, OSError) as error:
        sys.stderr.write(f"supernoded-vault: {error}\n")
        return 1


def _ask(options: argparse.Namespace, settings: Settings) -> commands.Said:
    match options.command:
        case "status":
            return commands.status(settings)
        case "list":
            return commands.show(settings, options.job)
        case "verify":
            return commands.verify(settings, options.job)
        case "restore":
            return commands.bring(settings, options.job, options.step, options.to)
        case "snapshot":
            return commands.snapshot(settings, options.step)
        case _:
            return commands.advise(settings, options.save_s, options.failures, options.hours)


def _say(said: commands.Said) -> int:
    lines, code = said
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return code


def _serve(settings: Settings) -> int:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)-7s %(message)s")
    log = logging.getLogger("supernoded.vault")
    log.setLevel(logging.INFO)
    said = yield_priority()
    for sentence in said:
        log.warning("the vault %s", sentence)
    vault = Vault(settings, Machine(SystemClock(), log, said=said))
    where = settings.vault.durable or "nowhere: checkpoints end with the node (vault.durable is not set)"
    log.info("the vault of %s watches %s and makes durable in %s", settings.node, settings.vault.shared, where)
    asyncio.run(_live(vault))
    log.info("stopped")
    return 0


async def _live(vault: Vault) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await vault.run(stop)


def _read(config: Path | None, environment: Mapping[str, str]) -> Settings:
    if config is None and not DEFAULT_CONFIG.exists():
        return default_settings(environment)
    return read_settings(config or DEFAULT_CONFIG, environment)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="supernoded-vault", description="Make checkpoints in shared memory durable, and bring them back.")
    parser.add_argument("--version", action="version", version=f"supernoded {__version__}")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--config", type=Path, metavar="FILE", help=f"settings (default: {DEFAULT_CONFIG}, or none if there is no such file)"
    )
    each = parser.add_subparsers(dest="command", required=True)
    each.add_parser("run", parents=[common], help="watch shared memory until a signal")
    each.add_parser("init", help="give a mounted folder to the vault").add_argument("folder", type=Path)
    each.add_parser("status", parents=[common], help="how the running vault is doing; 1 when a tier is in trouble")
    each.add_parser("list", parents=[common], help="what each tier has").add_argument("job", nargs="?", default="")
    each.add_parser("verify", parents=[common], help="hash every part; 1 when one does not hold").add_argument("job")
    back = each.add_parser("restore", parents=[common], help="bring the newest whole step back")
    back.add_argument("job")
    back.add_argument("--step", type=int, help="this step and no other")
    back.add_argument("--to", type=Path, required=True, metavar="DIR", help="folder for the parts")
    taken = each.add_parser("snapshot", parents=[common], help="of the memory pool: sync, take, verify, publish")
    taken.add_argument("--step", type=int, required=True)
    often = each.add_parser("interval", parents=[common], help="how often a checkpoint is worth its time")
    often.add_argument("--save-s", type=float, required=True, help="how long the job stands still for one")
    often.add_argument("--failures", type=int, default=0, help="failures seen")
    often.add_argument("--hours", type=float, default=0.0, help="hours in which they were seen")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
