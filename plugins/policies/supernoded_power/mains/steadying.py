"""For how long a feed has been there, from what was read lately: for who remembers nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from supernoded.plugin import Reading, State, View
from supernoded_power.mains.volts import DEAD_V, INPUT, NOMINAL, PDU, STATUS
from supernoded_power.status import Source, find_row


def find_steady(seen: View, feed: str, pdus: tuple[str, ...], nominal: float | None, sag_percent: float, ignored: tuple[str, ...]) -> float:
    """Seconds since each view says that it is there, without a word against it; 0 when nothing was read in the window.

    `feed` by its name. A restart begins anew, which errs on the side of waiting.
    """
    ups = f"ups/{feed}"
    wanted = nominal or seen.number(NOMINAL, ups)
    words = sorted(
        (
            *_judge_voltage(seen, INPUT, (ups,), None if wanted is None else wanted * (1.0 - sag_percent / 100.0)),
            *_judge_voltage(seen, PDU, pdus, DEAD_V),
            *_judge_status(seen, ups, ignored),
        )
    )
    last = dict[str, bool]()
    since: float | None = None
    for at, view, there in words:
        last[view] = there
        since = (at if since is None else since) if all(last.values()) else None
    return 0.0 if since is None else max(seen.now - since, 0.0)


def _list_good(seen: View, quantity: str, subject: str) -> Iterator[Reading]:
    for source in seen.sources(quantity, subject):
        yield from (reading for reading in seen.window(quantity, subject, source) if reading.state is State.GOOD)


def _judge_voltage(seen: View, quantity: str, subjects: tuple[str, ...], least: float | None) -> Iterator[tuple[float, str, bool]]:
    for subject in subjects if least is not None else ():
        for reading in _list_good(seen, quantity, subject):
            if isinstance(reading.value, int | float):
                yield reading.at, subject, reading.value >= (least or 0.0)


def _judge_status(seen: View, ups: str, ignored: tuple[str, ...]) -> Iterator[tuple[float, str, bool]]:
    for reading in _list_good(seen, STATUS, ups):
        if isinstance(reading.value, frozenset):
            yield reading.at, STATUS, find_row(reading.value, ignored).source is Source.MAINS
