"""What ports say of where they lead, made into links. Pure.

Ports are asked one after the other, some of them once a minute. When a cable is moved in between, one end still says what was. So where
two ends contradict each other, the older word is outdated if the newer one came from a port that has changed its answer since. Where
nothing has changed the contradiction stands, and neither is believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from supernoded.plugin import Reading, State, Value, View

NEIGHBOUR = "link.neighbour"


class Claim(msgspec.Struct, frozen=True):
    """A port says that it leads to `mate`: last at `at`, first at `since`, where it said something else before; None = always."""

    mate: str
    at: float
    since: float | None = None
    source: str = ""


def read_claim(seen: View, port: str) -> Claim | None:
    """The newest word of any source on where a port leads, empty where it says that it has no neighbour; None where none is fresh."""
    fresh = [(one, source) for source in seen.sources(NEIGHBOUR, port) if (one := seen.good(NEIGHBOUR, port, source)) is not None]
    if not fresh:
        return None
    newest, source = max(fresh, key=lambda pair: pair[0].at)
    return Claim(str(newest.value), newest.at, source=source)


def date_claims(seen: View, claims: Mapping[str, Claim]) -> dict[str, Claim]:
    """The claims; those at odds with the other end's, with the time since which they say so: only there it matters."""
    odd = {port for port, claim in claims.items() if (answer := claims.get(claim.mate)) is not None and answer.mate != port}
    odd |= {claims[port].mate for port in odd}
    return {port: _date(seen, port, claim) if port in odd else claim for port, claim in claims.items()}


def _date(seen: View, port: str, claim: Claim) -> Claim:
    since = _find_since(seen.window(NEIGHBOUR, port, claim.source), claim.mate)
    return msgspec.structs.replace(claim, since=since)


def recall_claim(seen: View, port: str) -> str:
    """Where a port led when that was last seen; empty where it never was."""
    told = [one for source in seen.sources(NEIGHBOUR, port) for one in seen.window(NEIGHBOUR, port, source) if one.state is State.GOOD]
    return str(max(told, key=lambda one: one.at).value) if told else ""


def _find_since(window: Sequence[Reading], value: Value) -> float | None:
    since: float | None = None
    changed = False
    for one in (one for one in window if one.state is State.GOOD):
        if one.value != value:
            since, changed = None, True
        elif since is None and changed:
            since = one.at
    return since


def drop_outdated(claims: Mapping[str, Claim]) -> dict[str, Claim]:
    """The claims without those that somebody's newer word has overtaken."""
    outdated: set[str] = set()
    for port, claim in claims.items():
        answer = claims.get(claim.mate)
        if answer is not None and answer.mate != port:
            if _overtakes(answer, claim):
                outdated.add(port)
            elif _overtakes(claim, answer):
                outdated.add(claim.mate)
    return {port: claim for port, claim in claims.items() if port not in outdated}


def _overtakes(newer: Claim, older: Claim) -> bool:
    """Whether one is a new word, which its port did not say yet when the other was said."""
    return newer.since is not None and newer.since > older.at


def join_claims(claims: Mapping[str, Claim], dark: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The links, both ways; and port -> how what is said of it contradicts itself. A link that is down at one end is none."""
    kept, down = drop_outdated(claims), frozenset(dark)
    contradictions = _find_contradictions({port: claim.mate for port, claim in kept.items()})
    mates: dict[str, str] = {}
    for port, claim in kept.items():
        if claim.mate not in down and port not in contradictions and claim.mate not in contradictions:
            mates[port], mates[claim.mate] = claim.mate, port
    return mates, contradictions


def _find_contradictions(claims: Mapping[str, str]) -> dict[str, str]:
    """The ports of which two say different things; neither is believed."""
    contradictions, claimed = dict[str, str](), dict[str, str]()
    for port, mate in claims.items():
        answer, rival = claims.get(mate, port), claimed.setdefault(mate, port)
        if answer != port:
            contradictions[port] = contradictions[mate] = f"{port} sees {mate}, but {mate} sees {answer}"
        elif rival != port or mate == port:
            contradictions[port] = contradictions[rival] = f"{port} sees {mate}, as {rival} does"
    return contradictions
