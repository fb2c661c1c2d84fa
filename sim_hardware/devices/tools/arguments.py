"""Arguments as these tools take them: `-i 3 -t health`, `--name x`, `--name=x`."""

from __future__ import annotations

from collections.abc import Sequence


class UsageError(Exception):
    """The arguments are not what the tool takes."""


def parse(argv: Sequence[str], with_value: frozenset[str], alone: frozenset[str]) -> dict[str, str]:
    """Options and their values; those that stand alone have an empty one. Raises UsageError that names the bad one."""
    options: dict[str, str] = {}
    rest = list(argv)
    while rest:
        name, has_value, value = rest.pop(0).partition("=")
        if name in with_value and (has_value or rest):
            options[name] = value if has_value else rest.pop(0)
        elif name in alone and not has_value:
            options[name] = ""
        else:
            raise UsageError(name)
    return options


def parse_slot(text: str, count: int) -> int:
    """A slot's number. Raises UsageError."""
    if not text.isdecimal() or int(text) >= count:
        raise UsageError(f"-i {text}")
    return int(text)
