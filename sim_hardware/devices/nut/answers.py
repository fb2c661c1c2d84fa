"""Answers to GET and LIST."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sim_hardware.devices.nut.commands import COMMANDS
from sim_hardware.devices.nut.settings import SETTINGS
from sim_hardware.devices.nut.unit import VERSION, Unit
from sim_hardware.devices.nut.variables import TEXTS
from sim_hardware.devices.nut.words import RefusalError, quote

SERVER = f"Network UPS Tools upsd {VERSION} - simulated"  # clients look for the first four words
_SERVER_VARIABLES = {"server.info": SERVER, "server.version": VERSION}
_NO_TEXT = "Description unavailable"


def require_ups(unit: Unit, name: str) -> None:
    """Names are told apart as upsd does, whatever their case. Raises RefusalError."""
    if name.lower() != unit.name:
        raise RefusalError("UNKNOWN-UPS")


def get(unit: Unit, words: Sequence[str]) -> str:
    """The answer to GET with these words after it, but for TRACKING. Raises RefusalError."""
    match [words[0].upper() if words else "", *words[1:]]:
        case ["NUMLOGINS", ups, *_]:
            _require(unit, ups)
            return f"NUMLOGINS {ups} {len(unit.logins)}"
        case ["UPSDESC", ups, *_]:
            require_ups(unit, ups)
            return f"UPSDESC {ups} {quote(describe(unit))}"
        case ["VAR", ups, name, *_]:
            return f"VAR {ups} {name} {quote(_find(unit, ups, name))}"
        case ["TYPE", ups, name, *_]:
            _require(unit, ups)
            return f"TYPE {ups} {name} {_type(unit, name)}"
        case ["DESC", ups, name, *_]:
            _require(unit, ups)
            text = SETTINGS[name].text if name in SETTINGS else TEXTS.get(name, _NO_TEXT)
            return f"DESC {ups} {name} {quote(text)}"
        case ["CMDDESC", ups, name, *_]:
            _require(unit, ups)
            return f"CMDDESC {ups} {name} {quote(COMMANDS[name].text if name in COMMANDS else _NO_TEXT)}"
        case _:
            raise RefusalError("INVALID-ARGUMENT")


def _require(unit: Unit, name: str) -> None:
    require_ups(unit, name)
    unit.require()


def describe(unit: Unit) -> str:
    """What `desc` in ups.conf would say."""
    return f"Simulated UPS of feed {unit.ups}"


def _find(unit: Unit, ups: str, name: str) -> str:
    if name.lower().startswith("server."):
        value = _SERVER_VARIABLES.get(name.lower())
    else:
        _require(unit, ups)
        value = unit.list_variables().get(name)
    if value is None:
        raise RefusalError("VAR-NOT-SUPPORTED")
    return value


def _type(unit: Unit, name: str) -> str:
    value = unit.list_variables().get(name)
    if value is None:
        raise RefusalError("VAR-NOT-SUPPORTED")
    if name in SETTINGS:
        return SETTINGS[name].describe()
    return "NUMBER" if value.lstrip("-").replace(".", "", 1).isdigit() else f"STRING:{max(len(value), 32)}"


def list_all(unit: Unit, words: Sequence[str]) -> str:
    """The answer to LIST with these words after it. Raises RefusalError."""
    kind = words[0].upper() if words else ""
    if kind == "UPS":
        return _frame("UPS", [f"UPS {unit.name} {quote(describe(unit))}"])
    if kind in _LISTS and len(words) > 1:
        require_ups(unit, words[1])
        if kind != "CLIENT":
            unit.require()
        return _frame(f"{kind} {words[1]}", [f"{kind} {words[1]} {line}" for line in _LISTS[kind](unit)])
    if kind in _CHOICES and len(words) > 2:
        _require(unit, words[1])
        if words[2] not in unit.list_variables():
            raise RefusalError("VAR-NOT-SUPPORTED")
        head = f"{kind} {words[1]} {words[2]}"
        return _frame(head, [f"{head} {line}" for line in _CHOICES[kind](words[2])])
    raise RefusalError("INVALID-ARGUMENT")


def _frame(head: str, lines: Sequence[str]) -> str:
    return "\n".join((f"BEGIN LIST {head}", *lines, f"END LIST {head}"))


def _list_variables(unit: Unit) -> list[str]:
    return [f"{name} {quote(value)}" for name, value in unit.list_variables().items()]


def _list_writable(unit: Unit) -> list[str]:
    return [f"{name} {quote(value)}" for name, value in sorted(unit.settings.items())]


def _list_enumeration(name: str) -> list[str]:
    return [quote(choice) for choice in SETTINGS[name].choices] if name in SETTINGS else []


def _list_range(name: str) -> list[str]:
    setting = SETTINGS.get(name)
    return [] if setting is None or setting.high is None else [f"{quote(str(setting.low))} {quote(str(setting.high))}"]


_LISTS: Mapping[str, Callable[[Unit], list[str]]] = {
    "VAR": _list_variables,
    "RW": _list_writable,
    "CMD": lambda _: sorted(COMMANDS),
    "CLIENT": lambda unit: sorted(unit.logins),
}
_CHOICES: Mapping[str, Callable[[str], list[str]]] = {"ENUM": _list_enumeration, "RANGE": _list_range}
