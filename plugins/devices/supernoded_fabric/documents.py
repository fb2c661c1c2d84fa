"""JSON of tools as flat members. One tool names two members of an object alike, so they are kept as a list of pairs. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator

Member = tuple[str, object]  # the names on the way, joined with `_`; a number, text, truth, None, or a list

DEEPEST = 12  # objects within each other; ours
LARGEST = 1_048_576  # characters


class _Pairs(list[Member]):
    """An object as its members in order."""


def list_members(text: str) -> list[Member]:
    """The members of the objects in a JSON text, those of inner objects under joined names; none when it is no JSON."""
    if text.lstrip()[:1] not in ("{", "[") or len(text) > LARGEST:
        return []
    try:
        document = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return []
    objects = document if isinstance(document, list) and not isinstance(document, _Pairs) else [document]
    return [member for one in objects if isinstance(one, _Pairs) for member in _flatten(one, "", 0)]


def _flatten(members: _Pairs, above: str, depth: int) -> Iterator[Member]:
    for name, value in members:
        whole = f"{above}_{name}" if above else name
        if isinstance(value, _Pairs):
            if depth < DEEPEST:
                yield from _flatten(value, whole, depth + 1)
        else:
            yield whole, value
