"""`supernoded --check`: all that is wrong with a configuration, by the files, by this machine and by the plugins that are there."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from supernoded.cluster.commands.keys import KeysError, read_keys
from supernoded.page import Page, read_file
from supernoded.reflex.fitting import list_conflicts
from supernoded.settings import Settings, list_files, load_settings, parse_settings
from supernoded.tables import Key, Problem, find_value

_PRIVATE = frozenset({"password_file", "key_file", "database_password_file"})
_PEM = frozenset({"ca_file", "certificate_file", "key_file"})
_MOST_PEM = 1_048_576  # bytes of a certificate file that are looked at


def find_problems(
    path: Path | None,
    environment: Mapping[str, str],
    plugins: Collection[str] | None = None,
    policies: Collection[str] | None = None,
    tables: Mapping[str, type[msgspec.Struct]] = MappingProxyType({}),
) -> list[Problem]:
    """Everything that can be found without starting, in a file or, without one, in the defaults.

    `plugins` and `policies` are the names that exist, None = not known; `tables` the types of the plugins' own tables.
    """
    settings = load_settings(path, environment) if path is not None else parse_settings("", "defaults", Path.cwd(), environment)
    if not isinstance(settings, Settings):
        return settings
    text = read_file(path) if path is not None else ""
    page = Page(str(path or "defaults"), "" if isinstance(text, Problem) else text)
    _check_folder(page, ("state",), settings.state)
    _check_folder(page, ("runtime",), settings.runtime)
    for key, file in list_files(settings):
        _check_file(page, key, file)
    _check_keys(page, settings)
    for conflict in list_conflicts(settings):
        page.report(conflict.key, find_value(page.table, conflict.key), conflict.fault, conflict.remedy)
    for name in sorted(tables.keys() & settings.plugins.keys()):
        page.read(tables[name], settings.plugins[name], ("plugins", name))
    if plugins is not None:
        _check_names(page, [("plugins", name) for name in settings.plugins], plugins, "plugin")
        for index, name in enumerate(settings.plugins_off):
            _check_name(page, ("plugins_off", index), name, plugins, "plugin")
    if policies is not None:
        _check_names(page, [("policies", name) for name in settings.policies], policies, "policy")
    return sorted(page.problems, key=lambda problem: problem.line)


def _check_folder(page: Page, key: Key, folder: Path) -> None:
    """The folder can be written, or made by us in the nearest one that is there."""
    there = next(parent for parent in (folder, *folder.parents) if os.access(parent, os.F_OK))
    if not there.is_dir():
        page.report(key, folder, f"{there} is not a folder", "name another folder")
    elif not os.access(there, os.W_OK | os.X_OK):
        fault = "cannot be written" if there == folder else f"cannot be made, {there} is not ours to write"
        page.report(key, folder, fault, "give it to the daemon's user, or name another folder")


def _check_file(page: Page, key: Key, path: Path) -> None:
    if key[-1] in _PRIVATE and (mode := stat.S_IMODE(path.stat().st_mode)) & (stat.S_IROTH | stat.S_IWOTH):
        page.report(key, path, f"everybody can read or write it, its mode is {mode:04o}", f"chmod 0600 {path}")
    if key[-1] in _PEM:
        with path.open("rb") as file:
            if b"-----BEGIN " not in file.read(_MOST_PEM):
                page.report(key, path, "holds no PEM block", "give it the certificate or key in PEM form")


def _check_keys(page: Page, settings: Settings) -> None:
    """Key, certificate and authority belong together."""
    if not any(problem.key.startswith("keys.") for problem in page.problems):
        try:
            read_keys(settings.keys, settings.node)
        except KeysError as error:
            page.report(("keys", error.key), error.path, error.fault, error.remedy)


def _check_names(page: Page, keys: Collection[Key], known: Collection[str], kind: str) -> None:
    for key in keys:
        _check_name(page, key, str(key[-1]), known, kind)


def _check_name(page: Page, key: Key, name: str, known: Collection[str], kind: str) -> None:
    if name in known:
        return
    near = difflib.get_close_matches(name, sorted(known), n=1)
    remedy = f"did you mean {near[0]}?" if near else f"remove it, or install it; there are {', '.join(sorted(known)) or 'none'}"
    shown = name if key[0] == "plugins_off" else None
    page.report(key, shown, f"there is no {kind} {name}", remedy)
