"""The tables `[seats]`, `[keys]`, `[breakers]` and `[hooks]`: who may have a role, who may command, how much may be taken out, and how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from supernoded.tables import Conflict, Table, about


class Seats(Table, frozen=True, kw_only=True):
    """Roles that are leased in `journal.database`."""

    term_s: Annotated[float, about("how long a lease lasts", unit="s", source="ours", ge=3, le=120)] = 10.0
    renew_s: Annotated[float, about("how often it is renewed", unit="s", source="ours", ge=0.5, le=40)] = 2.5
    standbys: Annotated[int, about("nodes that may have a role where candidates does not say, chosen by name", ge=1, le=16)] = 3
    candidates: Annotated[Mapping[str, tuple[str, ...]], about("role, or pattern over roles = its nodes, the first first")] = {}

    def conflicts(self) -> Iterable[Conflict]:
        """A lease must live through two failed renewals."""
        if self.term_s < 3 * self.renew_s:
            remedy = f"set term_s to {3 * self.renew_s:g} or more, or renew_s to {self.term_s / 3:g} or less"
            yield Conflict(key=("term_s",), fault="is less than three renewals", remedy=remedy)


class Keys(Table, frozen=True, kw_only=True):
    """What commands between nodes are signed with: `supernodectl pki issue NODE` writes all of it."""

    key_file: Annotated[Path, about("our Ed25519 private key, PEM; not set = this node commands no other")] | None = None
    certificate_file: Annotated[Path, about("our certificate, PEM; its name is this node's")] | None = None
    ca_file: Annotated[Path, about("who signs the certificates of the nodes, PEM; not set = no other node commands this one")] | None = None
    revoked_file: Annotated[Path, about("revocation list of that authority, PEM")] | None = None

    def conflicts(self) -> Iterable[Conflict]:
        """A key is of no use alone."""
        pairs = (("key_file", "certificate_file"), ("certificate_file", "key_file"), ("key_file", "ca_file"), ("revoked_file", "ca_file"))
        for name, other in pairs:
            if getattr(self, name) and not getattr(self, other):
                yield Conflict(key=(name,), fault=f"is of no use without {other}", remedy=f"set {other}, or remove {name}")


class Breakers(Table, frozen=True, kw_only=True):
    """How much the daemons may take out of service; what people hold is not counted. Past it nothing is, until a person resets it."""

    cards_out: Annotated[int, about("cards at once", source="ours", ge=0, le=100_000)] = 4
    nodes_out: Annotated[int, about("nodes at once", source="ours", ge=0, le=100_000)] = 2
    per_cause: Annotated[int, about("cards and nodes of one cause within window_s", source="ours", ge=0, le=100_000)] = 3
    per_hour: Annotated[int, about("cards and nodes within an hour", source="ours", ge=0, le=100_000)] = 6
    window_s: Annotated[float, about("the window of per_cause", unit="s", source="ours", ge=1, le=604_800)] = 3600.0
    grant_s: Annotated[float, about("how long a grant lasts", unit="s", source="ours", ge=1, le=600)] = 30.0


BLANKS = ("card", "slot", "node", "serial", "reason")  # that are filled in where a site's program has {card}
_BLANK = re.compile(r"(?<!\$)\{([A-Za-z_]+)\}")  # a shell has ${name} of its own


class Hooks(Table, frozen=True, kw_only=True):
    """The site's own programs, each with its arguments; {card} {slot} {node} {serial} {reason} are filled in. Exit code 0 = done."""

    isolate: Annotated[tuple[str, ...], about("takes a card away from whatever uses it; may be asked twice")] = ()
    release: Annotated[tuple[str, ...], about("gives it back; may be asked twice")] = ()
    test: Annotated[tuple[str, ...], about("tests a card that nothing uses; empty = its own word and counters, watched for test_s")] = ()
    drain: Annotated[tuple[str, ...], about("takes a node out of the scheduler; may be asked twice")] = ()
    undrain: Annotated[tuple[str, ...], about("puts it back; may be asked twice")] = ()
    within_s: Annotated[float, about("time for each of them but test", unit="s", source="ours", ge=0.1, le=600)] = 10.0
    test_s: Annotated[float, about("time for a test", unit="s", source="ours", ge=1, le=3600)] = 15.0

    def conflicts(self) -> Iterable[Conflict]:
        """What is taken out must have a way back; and a blank that nobody fills in would reach the program as it stands."""
        known = ", ".join(f"{{{blank}}}" for blank in BLANKS)
        programs = {name: getattr(self, name) for name in ("isolate", "release", "test", "drain", "undrain")}
        for key, word in (((name, place), word) for name, words in programs.items() for place, word in enumerate(words)):
            unknown = [blank for blank in _BLANK.findall(word) if blank not in BLANKS]
            if unknown:
                yield Conflict(key=key, fault=f"has a blank that nobody fills in, {{{unknown[0]}}}", remedy=f"there are {known}")
        for name, other in (("isolate", "release"), ("drain", "undrain"), ("release", "isolate"), ("undrain", "drain")):
            if getattr(self, name) and not getattr(self, other):
                yield Conflict(key=(name,), fault=f"is of no use without {other}", remedy=f"set {other}, or remove {name}")
