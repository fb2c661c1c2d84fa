"""What one node asks of another, what it answers, and whether it may. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from supernoded.errors import SealError
from supernoded.model import NODE, Action, Sight, Word
from supernoded.pki.trust import TOLERANCE

LONGEST = 60.0  # seconds that a command may live: what is older than that was asked of another world (ours)
MOST_ID = 128  # characters; scopes too, which are remembered
MOST_NUMBER = 2**53  # of commands and epochs: milliseconds since the epoch are far below, and databases hold it (ours)
MOST_DETAILS = 64  # of a command or an answer


class Command(Word, frozen=True, kw_only=True, tag="command"):
    """What is asked. Times are Unix seconds by the sender's wall clock, those of the action too."""

    id: str
    cluster: str
    sender: str
    life: str
    number: int  # of the sender's key: each is taken once
    to: str
    issued: float
    expires: float
    scope: str
    epoch: int
    verb: str
    action: Action | None = None
    details: Mapping[str, str] = {}


class Reply(Word, frozen=True, kw_only=True, tag="reply"):
    """What came of it. `ok` False = refused, nothing was done; with `failed` it is not known what was done."""

    command: str
    node: str
    ok: bool
    text: str = ""
    sight: Sight | None = None
    details: Mapping[str, str] = {}
    failed: bool = False


def read_command(body: str, sender: str) -> Command:
    """The command in a seal of `sender`. Raises SealError."""
    try:
        command = msgspec.json.decode(body, type=Command)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise SealError(f"{sender} has sealed something that is no command ({error}): run one version on all nodes", sender) from error
    longest = max(len(command.id), len(command.scope))
    if longest > MOST_ID:
        raise SealError(f"the id or scope of a command of {sender} has {longest} characters, at most {MOST_ID} are taken", sender)
    if not (0 <= command.number <= MOST_NUMBER and 0 <= command.epoch <= MOST_NUMBER):
        raise SealError(f"a command of {sender} has a number or an epoch that is none: 0 to {MOST_NUMBER} are taken", sender)
    if command.sender != sender:
        raise SealError(f"the command says that {command.sender[:80]} sends it, it is sealed by {sender}", sender)
    return command


def read_reply(body: str, sender: str) -> Reply:
    """The answer in a seal of `sender`. Raises SealError."""
    try:
        reply = msgspec.json.decode(body, type=Reply)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise SealError(f"{sender} has sealed something that is no answer ({error}): run one version on all nodes", sender) from error
    if reply.node != sender:
        raise SealError(f"the answer says that {reply.node[:80]} gives it, it is sealed by {sender}", sender)
    return reply


def find_fault(command: Command, node: str, cluster: str, now: float) -> str:
    """What is wrong with a command to us at `now`, Unix seconds; empty = nothing."""
    if (command.to, command.cluster) != (node, cluster):
        return f"it is for {command.to[:80]} of cluster {command.cluster[:80]}, this is {node} of {cluster}"
    clocks = f"{command.sender}'s clock said {command.issued:.1f}, this node's says {now:.1f}"
    if command.issued > now + TOLERANCE:
        return f"it was issued {command.issued - now:.1f} s in the future: {clocks}; set the clocks right"
    if now > command.expires + TOLERANCE:
        return f"it ran out {now - command.expires:.1f} s ago: {clocks}; the link was slow, or the clocks are to be set right"
    if not 0.0 < command.expires - command.issued <= LONGEST + 0.001:  # sums of seconds since the epoch are good to a microsecond
        return f"it is to live for {command.expires - command.issued:.1f} s, at most {LONGEST:g} are taken"
    if len(command.details) > MOST_DETAILS:
        return f"it has {len(command.details)} details, at most {MOST_DETAILS} are taken"
    if command.action is not None and (command.action.scope, command.action.epoch) != (command.scope, command.epoch):
        return f"its action is of {command.action.scope[:80]} at epoch {command.action.epoch}, the command is not"
    return ""


def find_right(command: Command, holder: str | None, epoch: int, *, fixed: bool = False) -> str:
    """Why its sender may not speak for its scope; empty = it may. `holder` and `epoch` are the newest known, None = of nobody.

    A node always speaks for itself. For a role nobody is known to hold any node may speak, and so may one of a higher epoch than
    known: it has the role since we were told last. A seat that is `fixed` by the settings goes to nobody else, whatever the epoch.
    """
    if command.scope == NODE:
        return ""
    if fixed:
        return "" if holder == command.sender else f"{command.scope} is given to {holder} by the settings, not to {command.sender}"
    if command.epoch < epoch:
        return f"{command.scope} is at epoch {epoch}, the command is of epoch {command.epoch}: {command.sender} has lost the role"
    if holder is not None and holder != command.sender and command.epoch == epoch:
        return f"{command.scope} is held by {holder} at epoch {epoch}, not by {command.sender}"
    return ""


def shift(action: Action | None, by: float) -> Action | None:
    """An action with its times moved by so many seconds: from `Clock.now` to the wall clock, and back on another node."""
    if action is None:
        return None
    return msgspec.structs.replace(action, issued=action.issued + by, deadline=action.deadline + by)


def answer_to(command: Command, text: str = "", *, sight: Sight | None = None, details: Mapping[str, str] | None = None) -> Reply:
    """That it is done as asked."""
    return Reply(command=command.id, node=command.to, ok=True, text=text, sight=sight, details=details or {})
