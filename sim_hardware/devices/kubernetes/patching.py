"""How a node is patched: plain merge, or strategic, in which conditions are merged by their type; taints are always replaced. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STRATEGIC, MERGE = "application/strategic-merge-patch+json", "application/merge-patch+json"
_KEYS: Mapping[str, str] = {"conditions": "type", "addresses": "type"}  # lists of a Node that merge by a key (its patchMergeKey)


def patch(value: dict[str, Any], wanted: Mapping[str, Any], *, strategic: bool) -> dict[str, Any]:
    """The object with all that is wanted; null takes a key away (RFC 7396)."""
    patched = dict(value)
    for key, new in wanted.items():
        old = patched.get(key)
        if new is None:
            patched.pop(key, None)
        elif isinstance(new, dict):
            patched[key] = patch(old if isinstance(old, dict) else {}, new, strategic=strategic)
        elif strategic and key in _KEYS and isinstance(new, list):
            patched[key] = _merge(old if isinstance(old, list) else [], new, _KEYS[key])
        else:
            patched[key] = new
    return patched


def _merge(old: list[Any], new: list[Any], key: str) -> list[Any]:
    merged: dict[Any, Any] = {one.get(key): one for one in old if isinstance(one, dict)}
    for one in new:
        if isinstance(one, dict):
            merged[one.get(key)] = patch(merged.get(one.get(key), {}), one, strategic=True)
    return list(merged.values())
