"""What the machine shows of one card: its tool, its bus, its memory and its ports. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from supernoded.plugin import Reading, State, Topology, View
from supernoded_isolation.evidence.words import BUS, MEMORY, NETWORK, TOOL, Evidence
from supernoded_isolation.health import LOST, RANKS, Table

PRESENT, HEALTH, CHIP, ERRORS, LINK = "card.present", "card.health", "card.chip", "card.errors_uncorrected", "link.state"
CORRECTED, SERIAL = "card.errors_corrected", "card.serial"
CARD_WATCHES: Mapping[str, float] = {
    **dict.fromkeys((PRESENT, HEALTH, CHIP, LINK), 30.0),
    **dict.fromkeys((ERRORS, CORRECTED, SERIAL), 300.0),
}
SPEAKS = RANKS["restart"]  # from this level on a code speaks against its card
TAKES_OUT = frozenset({"reset", "separate", LOST})  # levels that take a card out by themselves, once sure
MANY = 100.0  # corrected memory errors within the window that speak against a card: no source gives a rate (ours)
LOOKS = 2  # in a row without an answer before an older one of another source counts no more; and of a card that counts as heard of (ours)
PORTS = 2  # of a card whose ports are all down this many at least: one alone is as well its cable's trouble (ours)


def look_at_card(seen: View, card: str, site: Topology, table: Table, *, settled: bool, fallen: Collection[str] = ()) -> Iterator[Evidence]:
    """Everything that the machine shows against it. Till it has `settled` after its boot only codes count (fleet row 9).

    `fallen` = ports that are remembered to have been up, as `list_fallen` says.
    """
    yield from _read_codes(seen, card, table)
    yield from _read_memory(seen, card)
    if settled:
        yield from _read_presence(seen, card, site)
        yield from _read_ports(seen, card, site, fallen)


def is_well(seen: View, card: str, table: Table, since: float) -> bool:
    """Whether its tool has had an answer from it since a moment, and none of its codes, which are read, speaks against it."""
    looks = [seen.good(PRESENT, card, source) for source in seen.sources(PRESENT, card)]
    answers = [one.at for one in looks if one is not None and one.value == 1.0 and one.at >= since]
    missed = any(one is not None and one.value == 0.0 for one in looks)
    coded = seen.sources(HEALTH, card)
    if not answers or missed or (coded and all(seen.good(HEALTH, card, source) is None for source in coded)):
        return False
    return not _is_silent_since(seen, card, max(answers)) and not any(_read_codes(seen, card, table))


def is_gone(seen: View, card: str) -> bool:
    """Whether a source does not see it, and no other has an answer from it: where they contradict each other it is not sure."""
    looks = [seen.number(PRESENT, card, source) for source in seen.sources(PRESENT, card)]
    return 0.0 in looks and 1.0 not in looks


def _is_silent_since(seen: View, card: str, answered: float) -> bool:
    """Whether one of its sources has had no answer since, at the last looks: another that is asked more rarely does not know yet."""
    windows = (seen.window(PRESENT, card, source)[-LOOKS:] for source in seen.sources(PRESENT, card))
    return any(len(last) == LOOKS and last[-1].at > answered and all(one.state is State.UNKNOWN for one in last) for last in windows)


def is_heard(seen: View, card: str) -> bool:
    """Whether its node has told of it at two looks in this life: what else that node knows of it, such as a rank, was told by then."""
    return any(len(seen.window(what, card, source)) >= LOOKS for what in (PRESENT, HEALTH) for source in seen.sources(what, card))


def is_quiet(seen: View, card: str) -> bool:
    """Whether nothing of it asks for a closer look: a quick one, as there may be thousands."""
    if any(one.state is not State.GOOD or one.value != 1.0 for one in seen.told(PRESENT, card).values()):
        return False
    if any(one.state is State.GOOD and one.value for one in seen.told(HEALTH, card).values()):
        return False
    counts = (seen.window(ERRORS, card, source) for source in seen.sources(ERRORS, card))
    return all(not window or window[0].value == window[-1].value for window in counts)


def _read_codes(seen: View, card: str, table: Table) -> Iterator[Evidence]:
    """Of each source the worst; words that only sum up and say no code are no evidence. A card that is called lost is one of the bus."""
    chip = next((text for source in seen.sources(CHIP, card) if (text := seen.text(CHIP, card, source))), "")
    for source in seen.sources(HEALTH, card):
        reading = seen.good(HEALTH, card, source)
        flags = reading.value if reading is not None and isinstance(reading.value, frozenset) else frozenset[str]()
        told = {code: level for code, level in table.judge(flags, chip).items() if RANKS[level] >= SPEAKS and code != "alarm"}
        if reading is not None and told:
            code, level = next(iter(told.items()))
            where = BUS if level == LOST else MEMORY if table.is_of_memory(code) else TOOL
            yield Evidence(where, reading.at, f"{code} asks for {level!r}", grave=level in TAKES_OUT)


def _read_memory(seen: View, card: str) -> Iterator[Evidence]:
    for quantity, word, least in ((ERRORS, "uncorrected", 1.0), (CORRECTED, "corrected", MANY)):
        for source in seen.sources(quantity, card):
            yield from _count_errors(seen.window(quantity, card, source), word, least)


def _count_errors(window: Sequence[Reading], word: str, least: float) -> Iterator[Evidence]:
    counts = [one for one in window if one.state is State.GOOD and isinstance(one.value, float)]
    if counts and counts[-1].value != counts[0].value:
        rises = [(after.at, _number(after.value) - _number(before.value)) for before, after in pairwise(counts)]
        grown = sum(max(rise, 0.0) for _, rise in rises)
        if grown >= least:
            last, within = max(at for at, rise in rises if rise > 0.0), counts[-1].at - counts[0].at
            yield Evidence(MEMORY, last, f"{grown:.0f} {word} memory errors came within {within:.0f} s", passing=True)


def read_serial(seen: View, card: str) -> str:
    """The serial number of the card in a slot, as its tool says or last said; empty = not known."""
    told = [seen.text(SERIAL, card, source) for source in seen.sources(SERIAL, card)]
    past = [one.value for source in seen.sources(SERIAL, card) for one in reversed(seen.window(SERIAL, card, source))]
    return next((one for one in (*told, *past) if isinstance(one, str) and one), "")


def _number(value: object) -> float:
    return value if isinstance(value, float) else 0.0


def _read_presence(seen: View, card: str, site: Topology) -> Iterator[Evidence]:
    siblings = [one for one in site.list_cards(card.partition("/")[0]) if one != card]
    for source in seen.sources(PRESENT, card):
        reading = seen.newest(PRESENT, card, source)
        if reading is None or (reading.state is State.GOOD and reading.value != 0.0):
            continue
        if reading.state is State.GOOD:
            text = f"{source or 'a source'} does not see it: {reading.note or 'it is not on the bus'}"
            yield Evidence(BUS, reading.at, text, grave=is_gone(seen, card), hang=True)
        elif reading.state is State.UNKNOWN and any(seen.number(PRESENT, one, source) == 1.0 for one in siblings):
            text = f"{source or 'its tool'} has no answer from it while its siblings answer: {reading.note}"
            yield Evidence(TOOL, reading.at, text.rstrip(": "), hang=True)


def list_fallen(seen: View, before: Collection[str]) -> list[str]:
    """The ports of cards that were seen up, and are not now; `before` = those of the last look, as windows are short."""
    down = (port for port in seen.subjects(LINK) if "/card" in port and seen.number(LINK, port) != 1.0)
    return [port for port in down if port in before or _was_up(seen, port)]


def _was_up(seen: View, port: str) -> bool:
    return any(one.state is State.GOOD and one.value == 1.0 for one in seen.window(LINK, port))


def _read_ports(seen: View, card: str, site: Topology, fallen: Collection[str]) -> Iterator[Evidence]:
    """All of its ports are down, and so is the far end of each cable that is described and read.

    A port that was never seen up may have no cable: it counts only where one is described and the far end is seen down, too.
    """
    told = [(port, reading) for port in (f"{card}/port0", f"{card}/port1") if (reading := seen.good(LINK, port)) is not None]
    ends = {port: seen.number(LINK, site.peer(port)) for port, _ in told if site.peer(port)}
    lost = [port for port, _ in told if ends.get(port) == 0.0 or port in fallen or _was_up(seen, port)]
    if len(lost) >= PORTS and all(one.value == 0.0 for _, one in told) and 1.0 not in ends.values():
        names = " and ".join(lost)
        yield Evidence(NETWORK, max(one.at for _, one in told), f"{names} are down, and so is what is seen of their other ends")
