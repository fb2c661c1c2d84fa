"""A power supply that is there and gives nothing while another carries its node: its feed may be lost, and the node runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Severity, Verdict, View, is_read, say_why
from supernoded_power.seeing import judge
from supernoded_power.supplies import REDUNDANCY, WATCHES, Fate, Supply, list_supplies, pick, say_load

LOG = "sel.standing"
LACKS = frozenset({"lost", "insufficient"})


class SupplyMemory(msgspec.Struct, frozen=True):
    """Of each supply that gives nothing, and each node without redundancy: when it was first read so."""

    since: dict[str, float] = {}


class Look(msgspec.Struct, frozen=True):
    """A node at one moment; `lasting` are the subjects that were read so at two looks or more."""

    node: str
    supplies: Sequence[Supply]
    redundancy: str | None
    lasting: frozenset[str]
    was_lacking: bool  # its redundancy, when it was last read
    log: str  # what the BMC's own log says of it, as the end of a sentence


class SupplyLostRule:
    """One verdict for each node: a supply and the redundancy that goes with it are one trouble."""

    kind, scope = "psu.lost", NODE
    watches: Mapping[str, float] = {**WATCHES, LOG: 120.0}

    def start(self) -> SupplyMemory:
        """Nothing is known."""
        return SupplyMemory()

    def judge(self, seen: View, memory: SupplyMemory) -> tuple[SupplyMemory, Sequence[Verdict]]:
        """The level of every node of which a supply has ever been read."""
        since: dict[str, float] = {}
        verdicts: list[Verdict] = []
        for node, supplies in list_supplies(seen).items():
            reading = seen.good(REDUNDANCY, node)
            redundancy = None if reading is None or not isinstance(reading.value, str) else reading.value
            ats = {one.subject: one.at for one in pick(supplies, Fate.STARVES)}
            if reading is not None and redundancy in LACKS:
                ats[node] = reading.at
            unread = [one.subject for one in pick(supplies, Fate.UNKNOWN)] + ([node] if redundancy is None else [])
            since |= {key: memory.since[key] for key in unread if key in memory.since}  # a gap begins nothing anew
            since |= {key: memory.since.get(key, at) for key, at in ats.items()}
            lasting = frozenset(key for key, at in ats.items() if at > since[key])
            look = Look(node, supplies, redundancy, lasting, node in since, _read_log(seen, node))
            verdicts.append(_weigh(seen, look))
        return SupplyMemory(since), verdicts


def _weigh(seen: View, look: Look) -> Verdict:
    node, supplies, now = look.node, look.supplies, seen.now
    starving, carrying, unknown = (pick(supplies, fate) for fate in (Fate.STARVES, Fate.CARRIES, Fate.UNKNOWN))
    dark = tuple(f"{one.subject}: {one.text}" for one in unknown)
    if starving and not carrying and not unknown:
        told = f"every supply of {node} that is there gives nothing, and {node} runs: its sensors contradict that, so nothing is believed"
        return judge("psu.lost", node, now, Level.UNSURE, told, unseen=tuple(f"{one.subject} {one.text}" for one in starving))
    if starving and carrying:
        level = Level.RAISED if look.lasting else Level.UNSURE
        once = "" if look.lasting else ", as read once"
        lost = "; ".join(f"{one.subject}: present and {one.text}{once}" for one in starving)
        fed = "its feed may be lost" if len(starving) == 1 else "their feed may be lost"
        text = f"{lost}: {fed}; {node} runs on {say_load(carrying)}{_say_redundancy(look)}{look.log}"
        return judge("psu.lost", node, now, level, text, _grade(look), dark)
    return _weigh_redundancy(seen, look, carrying, dark)


def _weigh_redundancy(seen: View, look: Look, carrying: Sequence[Supply], dark: tuple[str, ...]) -> Verdict:
    """No supply is seen to be lost while another carries; the BMC's word on their redundancy may say more."""
    node, now = look.node, seen.now
    absent = [one.name for one in pick(look.supplies, Fate.ABSENT)]
    is_explained = bool(absent) and look.redundancy in {"lost", "degraded"}
    runs = f"{node} runs on {say_load(carrying)}" if carrying else f"what {node} runs on cannot be seen"
    if look.redundancy in LACKS and not is_explained:
        level = Level.RAISED if node in look.lasting else Level.UNSURE
        text = f"{runs}{_say_redundancy(look)}, and which supply it is cannot be told{look.log}"
        return judge("psu.lost", node, now, level, text, _grade(look), dark)
    if pick(look.supplies, Fate.STARVES) or dark or not carrying:
        text = f"whether {node} has lost a supply cannot be seen: {'; '.join(dark) or 'none is read'}"
        return judge("psu.lost", node, now, Level.UNSURE, text, unseen=dark)
    if look.redundancy == "degraded" and not is_explained:
        return judge("psu.lost", node, now, Level.UNSURE, f"{runs}; their redundancy is degraded, and no supply is seen to be lost")
    if look.redundancy is None and look.was_lacking and is_read(seen, REDUNDANCY, node):
        why = say_why(seen, REDUNDANCY, node)
        return judge("psu.lost", node, now, Level.UNSURE, f"{runs}; whether they are redundant again cannot be seen: {why}", unseen=(why,))
    resting = [f"{name} is not there" for name in absent] + [f"{one.name} stands by" for one in pick(look.supplies, Fate.STANDS_BY)]
    return judge("psu.lost", node, now, Level.CLEAR, "; ".join((runs, *resting)))


def _grade(look: Look) -> Severity:
    return Severity.CRITICAL if look.redundancy == "insufficient" else Severity.WARNING


def _say_redundancy(look: Look) -> str:
    words = {
        "insufficient": ", which by the BMC's word does not suffice",
        "lost": ", redundancy is lost",
        "degraded": ", redundancy is degraded",
    }
    return words.get(look.redundancy or "", "")


def _read_log(seen: View, node: str) -> str:
    """Evidence only: an entry that was never deasserted may be years old."""
    told = sorted(event for event in seen.flags(LOG, node) or () if "power supply" in event.casefold() and "lost" in event.casefold())
    return f"; its event log says {told[0]!r}" if told else ""
