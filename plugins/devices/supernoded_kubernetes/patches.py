"""What a Node of the API shows of our hold, and the patches that place and lift it. Pure.

The taint `supernoded.io/hold` keeps new pods away; those that run may end. The condition `SupernodedHold` says why, and for which
incidents: `supernoded: i0a1b2,i3c4d5 card n0/card3 is silent`. The last of them to go takes the taint away.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import msgspec

from supernoded.plugin import WireError

STRATEGIC = "application/strategic-merge-patch+json"  # conditions are merged by type, so that others' stay; taints are replaced as a whole
CONDITION, TAINT, EFFECT = "SupernodedHold", "supernoded.io/hold", "NoSchedule"
MOST_TEXT = 200  # characters behind the incidents (ours)
MOST_OWNERS = 16  # incidents of one node (ours)
_OURS = re.compile(r"supernoded: ([A-Za-z0-9_.,-]+)(?: (.*))?")


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A node as the API has it. `taints` are all of them, as they came."""

    version: str
    taints: tuple[dict[str, Any], ...] = ()
    owners: tuple[str, ...] = ()  # incidents of ours that hold it; empty = our condition is not True
    text: str = ""

    @property
    def tainted(self) -> bool:
        """Whether our taint is on it."""
        return any(_is_ours(taint) for taint in self.taints)


class _Meta(msgspec.Struct):
    name: str
    version: str = msgspec.field(name="resourceVersion")


class _Spec(msgspec.Struct):
    taints: list[dict[str, Any]] | None = None


class _Condition(msgspec.Struct):
    type: str
    status: str = ""
    message: str | None = None


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Node(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


def read_node(body: object, name: str) -> Shown:
    """The node of this name. Raises WireError for what is none."""
    try:
        node = msgspec.convert(body, _Node)
    except msgspec.ValidationError as error:
        raise WireError(f"nodes/{name}: what the API server sent is no Node: {error}") from error
    if node.metadata.name != name:
        raise WireError(f"nodes/{name}: the API server sent the node {node.metadata.name[:100]}")
    ours = next((one for one in node.status.conditions or () if one.type == CONDITION and one.status == "True"), None)
    found = _OURS.fullmatch(ours.message or "") if ours is not None else None
    owners = tuple(owner for owner in found[1].split(",") if owner) if found else ()
    text = (found[2] or "") if found else ""
    return Shown(version=node.metadata.version, taints=tuple(node.spec.taints or ()), owners=owners, text=text)


def name_owner(incident: str) -> str:
    """An incident in letters that can stand in our message."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", incident)[:64] or "-"


def write_condition(shown: Shown, owners: tuple[str, ...], text: str, wall: float) -> dict[str, Any]:
    """Our condition, for /status: True while an incident holds the node; bound to the version in which its incidents were read."""
    stamp = datetime.fromtimestamp(wall, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    said = " ".join(text.split())[:MOST_TEXT].rstrip()
    held = f"supernoded: {','.join(owners[:MOST_OWNERS])} {said}".rstrip()
    words = {"status": "True", "reason": "Held", "message": held} if owners else {"status": "False", "reason": "Released", "message": ""}
    turned = {"lastTransitionTime": stamp} if bool(owners) is not bool(shown.owners) else {}
    return {
        "metadata": {"resourceVersion": shown.version},
        "status": {"conditions": [{"type": CONDITION, **words, "lastHeartbeatTime": stamp, **turned}]},
    }


def write_taints(shown: Shown, *, hold: bool) -> dict[str, Any]:
    """All taints with or without ours, bound to the version that they were read of, so that nobody else's is lost."""
    others = [taint for taint in shown.taints if not _is_ours(taint)]
    taints = [*others, {"key": TAINT, "value": "supernoded", "effect": EFFECT}] if hold else others
    return {"metadata": {"resourceVersion": shown.version}, "spec": {"taints": taints or None}}


def _is_ours(taint: dict[str, Any]) -> bool:
    return taint.get("key") == TAINT and taint.get("effect") == EFFECT
