"""The file of observed links that a cabling crew brings: a JSON list of `{"a": port, "b": port}`."""

from __future__ import annotations

import json

from supernoded_ring.links import Pair

MOST_TOLD = 10  # faults of one file
WANTED = '{"a": "n0/card3/port0", "b": "n0/card4/port1"}'


class ObservedError(ValueError):
    """The file cannot be used; the message has a line for every fault."""


def read_observed(data: bytes) -> list[Pair]:
    """The links in the order of the file. Raises ObservedError."""
    try:
        found: object = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ObservedError(f"is no UTF-8 at byte {error.start}; save it as UTF-8") from error
    except json.JSONDecodeError as error:
        raise ObservedError(f"line {error.lineno}, column {error.colno}: is no JSON: {error.msg}; write a list of {WANTED}") from error
    except RecursionError as error:
        raise ObservedError(f"is nested too deeply; write a list of {WANTED}") from error
    if not isinstance(found, list):
        raise ObservedError(f"holds no list; write a list of {WANTED}")
    pairs = [_read_entry(entry) for entry in found]
    faults = [f"entry {number}: {pair}; write {WANTED}" for number, pair in enumerate(pairs, start=1) if isinstance(pair, str)]
    if faults:
        more = [f"and {len(faults) - MOST_TOLD} more"] if len(faults) > MOST_TOLD else []
        raise ObservedError("\n".join([*faults[:MOST_TOLD], *more]))
    return [pair for pair in pairs if not isinstance(pair, str)]


def _read_entry(entry: object) -> Pair | str:
    """The two ends; a sentence when it has not exactly these."""
    if not isinstance(entry, dict):
        return f"{json.dumps(entry)[:60]} is no link"
    strange = sorted(set(entry) - {"a", "b"})
    if strange:
        return f"unknown key {strange[0][:60]!r}"
    ends = []
    for key in ("a", "b"):
        end = entry.get(key)
        if not isinstance(end, str) or not end.strip():
            return f"{key} is missing" if key not in entry else f"{key} = {json.dumps(end)[:60]} is no port"
        ends.append(end.strip())
    return ends[0], ends[1]
