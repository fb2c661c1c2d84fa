"""What `scontrol show node NAME` prints, read by the names of its fields. Pure."""

from __future__ import annotations

import re

import msgspec

from supernoded.plugin import WireError

_NAME = re.compile(r"(?:^|\s)NodeName=(\S+)")
_STATE = re.compile(r"(?:^|\s)State=(\S+)")  # the first one: texts that people write come after it
_REASON = re.compile(r"(?:^|\s)Reason=([^\n]{0,2000})")
_STAMP = re.compile(r"\s\[([^\[\]@\s]{1,64})@[^\[\]\s]{0,40}\]|\s(?:Comment|Extra|InstanceId|InstanceType)=")  # who and when, or the next
_LONGEST = 64 * 1024  # characters that are looked at; one node has some 1,000
_MARKS = "*~#!%$@^-"  # behind a state: does not answer, powered down, powering up and the like (scontrol(1), NODE STATE)
_DRAINED = frozenset({"DRAIN", "DRAINED", "DRAINING"})
_NOTHING = frozenset({"", "none", "(null)", "n/a"})
MOST = 200  # characters of somebody's words that go into a sentence


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One node as Slurm has it. `state` is as printed, such as `ALLOCATED+DRAIN` or `DOWN*`."""

    state: str
    reason: str = ""
    by: str = ""  # who set the reason; empty = it does not say

    @property
    def drained(self) -> bool:
        """Whether no new job begins there because somebody said so."""
        return any(word.strip(_MARKS).upper() in _DRAINED for word in self.state.split("+"))


def read_shown(text: str, name: str) -> Shown:
    """The node of this name. Raises WireError for what says nothing of it."""
    text = text[:_LONGEST]
    told = _NAME.search(text)
    if told is None and "not found" in text:
        raise WireError(f"Slurm knows no node {name}: {clip(text)}; give its name under [plugins.slurm] nodes")
    state = _STATE.search(text)
    if told is None or state is None:
        raise WireError(f"scontrol said nothing of {name} that can be read: {clip(text) or 'not a word'}")
    if told[1] != name:
        raise WireError(f"scontrol was asked for {name} and told of {clip(told[1])}")
    return Shown(state=state[1], **_read_reason(text[state.end() :]))


def _read_reason(text: str) -> dict[str, str]:
    found = _REASON.search(text)
    if found is None:
        return {}
    stamp = _STAMP.search(found[1])
    reason = (found[1] if stamp is None else found[1][: stamp.start()]).strip()
    return {"reason": "" if reason.lower() in _NOTHING else reason, "by": (stamp and stamp[1]) or ""}


def clip(text: str) -> str:
    """One line of so many characters."""
    return " ".join(text.split())[:MOST]
