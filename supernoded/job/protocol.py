"""What passes over `job.sock`: one JSON object a line, told apart by `t`. `client.py` speaks it with the standard library alone.

See docs/job.md. Three kinds of peers speak to the daemon: *ranks* (the job's processes on this node), a *launcher* (what starts and
restarts them) and the *vault* (the process that makes checkpoints durable). Whoever connects says hello first, and is told `welcome` or
`refused`. Lines are at most `MOST_LINE` bytes; a peer that sends a longer one, or what is none of these, is told why and cut off. Times
in seconds.

Where steps lie is said in docs/vault.md. Fields have defaults wherever a peer may do without them; those that are not known are ignored.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

VERSION = 1
MOST_STEP = 10**12 - 1  # 12 digits in a folder's name
MOST_RANK = 99_999  # 5 digits
MOST_LINE = 65_536  # bytes of one message with its line end


Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}\Z")]
Step = Annotated[int, Meta(ge=-1, le=MOST_STEP)]
RankNumber = Annotated[int, Meta(ge=-1, le=MOST_RANK)]
Ranks = Annotated[int, Meta(ge=0, le=MOST_RANK + 1)]
Seconds = Annotated[float, Meta(ge=0.0, le=1e11)]
Bytes = Annotated[int, Meta(ge=0, le=2**62)]
Text = Annotated[str, Meta(max_length=2_000)]
Word = Annotated[str, Meta(max_length=200)]


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="t", gc=False):
    """What all share. Fields that are not known are ignored, so that a newer client speaks to an older daemon."""


# to the daemon


class Hello(Message, frozen=True, kw_only=True, tag="hello"):
    """Who speaks. Ranks are known by their number, never by their process (containers)."""

    v: int
    job: Name
    kind: Literal["rank", "launcher", "vault"]
    rank: RankNumber = -1
    local_rank: RankNumber = -1
    world: Ranks = 0  # ranks of the whole job
    local: Ranks = 0  # ranks of it on this node; 0 = it does not know
    card: Word = ""  # subject of its card, where it knows; else `<node>/card<local_rank>`
    token: Text = ""  # of the job, where the settings name one
    step: Step = -1  # the last whole step, of a rank that comes back
    plan: Word = ""  # how the ranks are grouped, `tp=8 pp=16 dp=4 ep=1`; of a rank or the launcher, where it knows
    life: Word = ""  # differs from one process to the next; empty = an older client


class Beat(Message, frozen=True, kw_only=True, tag="beat"):
    """A rank has done a step. Beats of steps that follow fast may be left out."""

    step: Step


class Alive(Message, frozen=True, kw_only=True, tag="alive"):
    """The rank's process runs, whatever its step does: once a second, from a thread of its own. Older clients do not say it."""


class Phase(Message, frozen=True, kw_only=True, tag="phase"):
    """The job does something beside steps for about so long; an empty name ends it."""

    name: Word
    expect_s: Seconds = 0.0


class Agreed(Message, frozen=True, kw_only=True, tag="agreed"):
    """All ranks have agreed to save at the end of this step (kind `checkpoint`), or to stop there. From here on it cannot be withdrawn.

    `request` is empty from a rank that learnt of it through the collective: it knows the number alone.
    """

    request: Word
    step: Step
    number: Annotated[int, Meta(ge=0, le=2**22 - 1)] = 0


class Saving(Message, frozen=True, kw_only=True, tag="saving"):
    """This rank stands still to save."""

    step: Step


class Saved(Message, frozen=True, kw_only=True, tag="saved"):
    """This rank's part is whole in shared memory, and it goes on. `seconds` is how long it stood still."""

    step: Step
    size: Bytes  # bytes
    seconds: Seconds


class SaveFailed(Message, frozen=True, kw_only=True, tag="save_failed"):
    """This rank's part is not there."""

    step: Step
    why: Text


class Bye(Message, frozen=True, kw_only=True, tag="bye"):
    """The rank ends in order, having stopped after this step. A connection that is lost without it is a death."""

    step: Step = -1


class Durable(Message, frozen=True, kw_only=True, tag="durable"):
    """From the vault: the manifest of this step is whole on a tier, all hashes hold."""

    step: Step
    tier: Word
    where: Text
    taken: Seconds  # wall-clock seconds (Unix) at which the step was saved
    seconds: Seconds  # from the last rank's save to here
    size: Bytes = 0  # bytes


class VaultTrouble(Message, frozen=True, kw_only=True, tag="vault_trouble"):
    """From the vault: a step or a tier in trouble, in one sentence; empty = it is over."""

    tier: Word
    text: Text


class Acted(Message, frozen=True, kw_only=True, tag="acted"):
    """From the launcher: it has done what an order asked, or could not (`why`)."""

    order: Word
    ok: bool = True
    why: Text = ""


# from the daemon


class Welcome(Message, frozen=True, kw_only=True, tag="welcome"):
    """The daemon has taken it in. `silent_s` is how long a rank may say nothing while its peers go on.

    `tiers` are the folders to restore from, the nearest first; the first is the one that ranks save to.
    """

    node: str
    silent_s: float = 0.0
    tiers: tuple[str, ...] = ()


class Refused(Message, frozen=True, kw_only=True, tag="refused"):
    """The daemon has not, and hangs up."""

    why: Text


class Request(Message, frozen=True, kw_only=True, tag="request"):
    """Save at a step that all agree on, or save and then stop. `deadline_s` is from now, `hard_s` when nobody waits any longer.

    `number` is small and rises within a job: what ranks reduce instead of the id.
    """

    id: str
    kind: Literal["checkpoint", "stop"]
    deadline_s: float
    hard_s: float
    reason: str = ""
    number: Annotated[int, Meta(ge=0, le=2**22 - 1)] = 0


class Withdraw(Message, frozen=True, kw_only=True, tag="withdraw"):
    """The request is void, unless the ranks have agreed on a step already."""

    id: str
    number: Annotated[int, Meta(ge=0, le=2**22 - 1)] = 0


class Order(Message, frozen=True, kw_only=True, tag="order"):
    """To the launcher: end the collective in which ranks hang, place ranks on cards anew, or start from the newest whole step."""

    id: str
    kind: Literal["abort", "remap", "resume"]
    cards: dict[int, str] = {}  # rank -> card, for `remap`, by the numbers of before
    drop: tuple[int, ...] = ()  # ranks that are given up, for `remap`: a whole replica; those behind them close up
    plan: Word = ""  # how the ranks are grouped without them
    incarnation: Annotated[int, Meta(ge=0)] = 0  # start of the job that it is about; 0 = not told


FromPeer = Hello | Beat | Alive | Phase | Agreed | Saving | Saved | SaveFailed | Bye | Durable | VaultTrouble | Acted
FromDaemon = Welcome | Refused | Request | Withdraw | Order

_DECODE_PEER = msgspec.json.Decoder(FromPeer)
_DECODE_DAEMON = msgspec.json.Decoder(FromDaemon)
_ENCODE = msgspec.json.Encoder()


def encode(message: FromPeer | FromDaemon) -> bytes:
    """One line, with its end."""
    return _ENCODE.encode(message) + b"\n"


def decode_peer(line: bytes) -> FromPeer:
    """What a peer says. Raises msgspec.DecodeError (ValidationError is one)."""
    return _DECODE_PEER.decode(line)


def decode_daemon(line: bytes) -> FromDaemon:
    """What the daemon says. Raises msgspec.DecodeError."""
    return _DECODE_DAEMON.decode(line)
