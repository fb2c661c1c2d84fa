"""What a client asks for, judged: each function gives a value that is fit, or raises RefusalError and says what would be."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from sim_hardware.devices.redfish.words import Body, RefusalError


def parse_body(raw: bytes) -> Body:
    """The JSON object of a request; nothing at all counts as an empty one, as actions without parameters are sent so."""
    try:
        body = msgspec.json.decode(raw or b"{}")
    except (msgspec.DecodeError, RecursionError) as error:
        raise RefusalError(400, "MalformedJSON", f"the body is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise RefusalError(400, "MalformedJSON", "the body is no JSON object; send one, such as {}")
    return body


def refuse_others(body: Body, *known: str, shown: Collection[str] = ()) -> None:
    """Only these properties can be written; those in `shown` can be read."""
    for key in body:
        if key in known or key.startswith("@"):
            continue
        if key in shown:
            raise RefusalError(400, "PropertyNotWritable", f"{key} can only be read; to be written are {', '.join(known)}")
        raise RefusalError(400, "PropertyUnknown", f"there is no {key[:100]}; to be written are {', '.join(known) or 'none'}")


def take_word(body: Body, key: str, allowed: Collection[str]) -> str:
    """One of the allowed words."""
    value = _take(body, key, ", ".join(allowed))
    if not isinstance(value, str):
        raise _mistyped(key, value, f"one of {', '.join(allowed)}")
    if value not in allowed:
        raise RefusalError(400, "PropertyValueNotInList", f"{key} {value[:100]!r} is none of {', '.join(allowed)}")
    return value


def take_number(body: Body, key: str, low: float, high: float) -> float:
    """A number in the range."""
    value = _take(body, key, f"{low:g} to {high:g}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _mistyped(key, value, "a number")
    if not low <= value <= high:
        raise RefusalError(400, "PropertyValueOutOfRange", f"{key} {value!s:.40} is outside {low:g} to {high:g}")
    return float(value)


def take_flag(body: Body, key: str) -> bool:
    """True or false."""
    value = _take(body, key, "true or false")
    if not isinstance(value, bool):
        raise _mistyped(key, value, "true or false")
    return value


def take_text(body: Body, key: str) -> str:
    """Any text."""
    value = _take(body, key, "a text")
    if not isinstance(value, str):
        raise _mistyped(key, value, "a text")
    return value


def _take(body: Body, key: str, due: str) -> object:
    if key not in body:
        raise RefusalError(400, "PropertyMissing", f"{key} is missing; it takes {due}")
    return body[key]


def _mistyped(key: str, value: object, due: str) -> RefusalError:
    return RefusalError(400, "PropertyValueTypeError", f"{key} takes {due}, not {type(value).__name__}")
