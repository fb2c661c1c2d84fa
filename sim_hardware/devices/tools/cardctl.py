"""`cardctl isolate|release|test CARD`: a site's own fence: it takes a card away from whatever uses it, whether or not the card answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.reading import read
from sim_hardware.devices.tools.gauges import count_cards, is_present, read_flags, read_number, read_text
from sim_hardware.devices.tools.words import Run, ToolState
from sim_hardware.plant.cards.orders import IsolateCard
from sim_hardware.plant.words import OrderError

FENCE_S = 0.3  # ours
TEST_S = 5.0  # ours: matrix products and a pass over the memory
USAGE, BUSY = 2, 75  # exit codes; 75 is "not now" (EX_TEMPFAIL of BSD's sysexits.h)
_VERBS = ("isolate", "release", "test")


def cardctl(argv: Sequence[str], panel: Panel, node: str, _state: ToolState) -> Run:
    """Codes: 0 done or passed, also when it was so already; 1 failed; 2 wrong arguments; 75 a rank is on the card that is to be tested."""
    if len(argv) != 2 or argv[0] not in _VERBS:
        return Run(USAGE, err=f"usage: cardctl {'|'.join(_VERBS)} CARD\n", seconds=FENCE_S)
    verb, card = argv
    cards = [f"{node}/card{slot}" for slot in range(count_cards(panel, node))]
    if card not in cards:
        return Run(USAGE, err=f"cardctl: {card}: no card of {node}, which has {len(cards)}\n", seconds=FENCE_S)
    return _test(panel, node, card) if verb == "test" else _fence(panel, card, isolated=verb == "isolate")


def _fence(panel: Panel, card: str, *, isolated: bool) -> Run:
    word = "isolated" if isolated else "released"
    if read_number(panel, card, "card.isolated") == float(isolated):
        return Run(0, f"{card}: is {word} already\n", seconds=FENCE_S)
    try:
        panel.order(IsolateCard(card, isolated))
    except OrderError as error:
        return Run(1, err=f"cardctl: {card}: {error}\n", seconds=FENCE_S)
    return Run(0, f"{card}: {word}\n", seconds=FENCE_S)


def _test(panel: Panel, node: str, card: str) -> Run:
    rank = next(_list_ranks(panel, card), None)
    if rank is not None:
        return Run(BUSY, err=f"cardctl: {card}: rank {rank} is on it; stop or move it before a test\n", seconds=FENCE_S)
    faults = list(_find_faults(panel, node, card))
    if faults:
        return Run(1, f"{card}: FAILED: {'; '.join(faults)}\n", seconds=TEST_S)
    return Run(0, f"{card}: passed\n", seconds=TEST_S)


def _list_ranks(panel: Panel, card: str) -> Iterator[int]:
    """The ranks whose processes live on a card."""
    if (job := panel.rack.sim.job) is None:
        return
    for rank in count():
        subject = f"job/{job.name}/rank{rank}"
        state = read_text(panel, subject, "rank.state", missing="")
        if not state:
            return
        if state != "dead" and read(panel, subject, "rank.card") == card:
            yield rank


def _find_faults(panel: Panel, node: str, card: str) -> Iterator[str]:
    if not is_present(panel, node, int(card.rpartition("card")[2])):
        yield "it is not on its bus"
    if read_number(panel, card, "card.hung") == 1.0:
        yield "it does not answer"
    codes = read_flags(panel, card, "card.health")
    if codes is None or codes:
        yield f"it shows {', '.join(sorted(codes)) if codes else 'no health'}"
    storm = read_number(panel, card, "card.ecc_rate")
    if storm is None or storm > 0.0:
        yield "its memory errors cannot be counted" if storm is None else f"it corrects {storm:.0f} memory errors a second"
