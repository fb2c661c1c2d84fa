"""Our own reason on a drained node: `supernoded: i0a1b2,i3c4d5 card n0/card3 is silent`. Pure.

It names the incidents that want the node out; the last of them to go puts the node back.
"""

from __future__ import annotations

import re

PREFIX = "supernoded: "
MOST_TEXT = 120  # characters behind the incidents (ours)
MOST_OWNERS = 16  # incidents of one node (ours)
_OURS = re.compile(r"supernoded: ([A-Za-z0-9_.,-]+)(?: (.*))?")
_UNSAFE = re.compile(r"[^ %()+,\-./0-9:@A-Z_a-z]+")  # quotes, brackets, = and the like mean something to Slurm, to readers or to shells


def name_owner(incident: str) -> str:
    """An incident in letters that can stand in a reason."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", incident)[:64] or "-"


def read_owners(reason: str) -> tuple[str, ...] | None:
    """The incidents that a reason names; None when it is not ours."""
    found = _OURS.fullmatch(reason)
    owners = tuple(name for name in found[1].split(",") if name) if found else ()
    return owners or None


def write_reason(owners: tuple[str, ...], text: str) -> str:
    """The reason of these incidents, in one line that is neither long nor odd."""
    said = " ".join(_UNSAFE.sub(" ", text).split())[:MOST_TEXT].rstrip()
    return f"{PREFIX}{','.join(owners[:MOST_OWNERS])} {said}".rstrip()


def read_text(reason: str) -> str:
    """What our reason says behind its incidents."""
    found = _OURS.fullmatch(reason)
    return (found[2] or "") if found else ""
