"""Find plugins, ask each alone, name those left out and why, and refuse two parts for one duty."""

from __future__ import annotations

import inspect
import itertools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

import click
import msgspec
import pluggy

from supernoded import hookspecs
from supernoded.errors import PluginError
from supernoded.model import NODE
from supernoded.parts import Actuator, Check, Diagnosis, Fault, Format, Handle, Loop, Remedy, Rule, Sensor
from supernoded.registry.parts import Found, Parts, name_duties, refuse_overlap
from supernoded.settings import read_plugin_table
from supernoded.supervisor import describe
from supernoded.wire import Node

GROUP = "supernoded.plugins"
SHORTEST, LONGEST = 0.01, 86_400.0  # seconds: a period of 0 would take a whole core, and one without an end never comes
_TIMES = frozenset({"period", "timeout"})
OURS = "supernoded"  # the distribution whose plugins win a fight over a name

T = TypeVar("T")


def discover(disabled: Iterable[str] = ()) -> list[Found]:
    """Every plugin installed on this machine, sorted by name; those that cannot be loaded say why."""
    off, chosen = set(disabled), dict[str, Found]()
    for entry in sorted(entry_points(group=GROUP), key=lambda e: (e.name, _distribution(e) != OURS, _distribution(e))):
        old = chosen.get(entry.name)
        if old is None:
            chosen[entry.name] = _load(entry) if entry.name not in off else _left_out(entry, "switched off in the settings")
        elif _value(old) != entry.value:
            again = f"{entry.name}@{_distribution(entry)}"
            chosen[again] = _left_out(entry, f"the name {entry.name} is taken by {old.distribution}; rename one entry point", name=again)
    return [chosen[name] for name in sorted(chosen)]


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else ""


def _value(found: Found) -> str:
    return str(getattr(found.plugin, "__name__", ""))


def _left_out(entry: EntryPoint, why: str, name: str = "") -> Found:
    version = entry.dist.version if entry.dist is not None else ""
    return Found(name=name or entry.name, distribution=_distribution(entry), version=version, trouble=why)


def _load(entry: EntryPoint) -> Found:
    try:
        plugin = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's module may raise anything at import: it is left out and named
        return _left_out(entry, f"cannot be imported: {describe(error)}")
    return msgspec.structs.replace(_left_out(entry, ""), plugin=plugin)


def collect(found: Sequence[Found], tables: Mapping[str, Mapping[str, Any]], node_for: Callable[[str], Node]) -> Parts:
    """Ask every plugin for its parts; `node_for` gives each its own node, so that a wire knows its owner.

    Raises PluginError for two parts of one duty, SettingsError for a bad table.
    """
    parts = Parts()
    for one in found:
        parts.plugins.append(one if one.trouble else _collect_one(one, tables.get(one.name, {}), node_for(one.name), parts))
    refuse_overlap(parts)
    return parts


def formats(found: Sequence[Found]) -> dict[str, Format]:
    """The replay formats of all plugins that can be asked. Of one name, such as a log, each reads what it understands."""
    readers: dict[str, list[Format]] = {}
    nothing: Mapping[str, Format] = {}
    for _, theirs in _ask_each(found, "formats", nothing):
        for name, read in theirs.items():
            readers.setdefault(name, []).append(read)
    return {name: _read_by(several) for name, several in readers.items()}


def _read_by(several: Sequence[Format]) -> Format:
    return several[0] if len(several) == 1 else lambda source: itertools.chain.from_iterable(read(source) for read in several)


def commands(found: Sequence[Found]) -> dict[str, click.Command]:
    """The supernodectl groups of all plugins that can be asked, by name; of two of one name the first stays."""
    groups: dict[str, click.Command] = {}
    nothing: Sequence[click.Command] = ()
    for plugin, theirs in _ask_each(found, "commands", nothing):
        for command in theirs:
            groups.setdefault(command.name or plugin, command)
    return groups


def settings_types(found: Sequence[Found]) -> dict[str, type[msgspec.Struct]]:
    """The type of the settings table of every plugin that can be asked."""
    nothing: type[msgspec.Struct] = NoSettings
    return dict(_ask_each(found, "settings", nothing))


def _ask_each(found: Sequence[Found], hook: str, nothing: T) -> Iterator[tuple[str, T]]:
    """What every plugin answers that can be asked without a node."""
    for one in found:
        if one.trouble:
            continue  # `supernodectl plugins` says why
        try:
            answer = _Alone(one).call(hook, nothing)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken plugin is left out and named
            logging.getLogger(__name__).warning("plugin %s gives no %s: %s", one.name, hook, describe(error))
        else:
            yield one.name, answer


class NoSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table of a plugin that has no settings."""


class _Alone:
    """One plugin in a plugin manager of its own, so that what breaks in it breaks nothing else."""

    def __init__(self, one: Found) -> None:
        self.name = one.name
        self._manager = pluggy.PluginManager("supernoded")
        self._manager.add_hookspecs(hookspecs)
        self._manager.register(one.plugin, name=one.name)
        self._manager.check_pending()
        unmarked = sorted(set(_hooks_without_marker(one.plugin)) - set(self._implemented()))
        if unmarked:
            raise PluginError(f"{', '.join(unmarked)} has no @hookimpl")

    def _implemented(self) -> list[str]:
        return [caller.name for caller in self._manager.get_hookcallers(self._manager.get_plugin(self.name)) or ()]

    def call(self, hook: str, nothing: T, **arguments: object) -> T:
        """What the plugin's hook returns, `nothing` when it has none."""
        answers = getattr(self._manager.hook, f"supernoded_{hook}")(**arguments)
        return answers[0] if answers else nothing


def _hooks_without_marker(plugin: object) -> Iterable[str]:
    return (name for name, _ in inspect.getmembers(plugin, inspect.isroutine) if name.startswith("supernoded_"))


_HOOKS: tuple[tuple[str, type], ...] = (
    ("sensors", Sensor),
    ("rules", Rule),
    ("diagnoses", Diagnosis),
    ("loops", Loop),
    ("handles", Handle),
    ("remedies", Remedy),
    ("actuators", Actuator),
    ("checks", Check),
    ("faults", Fault),
)


def _collect_one(one: Found, table: Mapping[str, Any], node: Node, parts: Parts) -> Found:
    try:
        alone = _Alone(one)
        kind: type[msgspec.Struct] = alone.call("settings", NoSettings)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken plugin is left out and named
        return msgspec.structs.replace(one, trouble=describe(error))
    settings = read_plugin_table(kind, table, f"plugins.{one.name}")  # a bad table is the operator's: it stops the start
    try:
        nothing: Sequence[Any] = ()
        got = {hook: list(alone.call(hook, nothing, settings=settings, node=node)) for hook, _ in _HOOKS}
        for hook, protocol in _HOOKS:
            for part in got[hook]:
                _check_shape(part, protocol)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken plugin is left out and named
        return msgspec.structs.replace(one, trouble=describe(error))
    _join(one.name, got, parts)
    return one


def _check_shape(part: object, protocol: type) -> None:
    missing = [name for name in vars(protocol) if not name.startswith("_") and not hasattr(part, name)]
    if missing:
        raise PluginError(f"{type(part).__name__} is no {protocol.__name__}: it has no {', '.join(missing)}")
    for name in _TIMES & vars(protocol).keys():
        seconds = getattr(part, name)
        if not isinstance(seconds, int | float) or not SHORTEST <= seconds <= LONGEST:
            raise PluginError(f"{name} of {type(part).__name__} is {seconds!r}, must be {SHORTEST:g} to {LONGEST:g} seconds")


def _join(plugin: str, got: Mapping[str, list[Any]], parts: Parts) -> None:
    def claim(what: str, name: str) -> None:
        other = parts.owners.setdefault(f"{what} {name}", plugin)
        if other != plugin or (what, name) in seen:
            raise PluginError(f"two plugins want the {what} {name!r}: {other} and {plugin}; switch one of them off")
        seen.add((what, name))

    seen = set[tuple[str, str]]()
    for what, names in (
        ("sensor", [s.name for s in got["sensors"]]),
        ("rule", [r.kind if r.scope == NODE else f"{r.kind} of {r.scope}" for r in got["rules"]]),
        ("diagnosis", [d.name if d.scope == NODE else f"{d.name} of {d.scope}" for d in got["diagnoses"]]),
        ("loop", [x.name for x in got["loops"]]),
        ("handle", [h.target for h in got["handles"]]),
        ("remedy", [r.answers for r in got["remedies"]]),
        ("check", [c.id for c in got["checks"]]),
        ("fault", [f.kind for f in got["faults"]]),
    ):
        for name in names:
            claim(what, name)
    for duty in name_duties(got["actuators"], plugin):
        claim("actuator", duty.removeprefix("actuator "))
    parts.sensors += got["sensors"]
    parts.rules += got["rules"]
    parts.diagnoses += got["diagnoses"]
    parts.loops += got["loops"]
    parts.handles |= {handle.target: handle for handle in got["handles"]}
    parts.remedies |= {remedy.answers: remedy for remedy in got["remedies"]}
    parts.actuators += got["actuators"]
    parts.checks += got["checks"]
    parts.faults += got["faults"]
