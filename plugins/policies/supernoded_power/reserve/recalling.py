"""What a UPS has given, from what was read lately: for a remedy, which remembers nothing. Pure; it errs towards an emptier battery."""

from __future__ import annotations

from collections.abc import Iterator

from supernoded.plugin import State, View
from supernoded_power.mains import STATUS
from supernoded_power.reserve.spending import CHARGE, MOST_POINTS, POWER, RUNTIME, Spent, find_watts
from supernoded_power.status import Source, find_row

LOOK_BACK_S = 1200.0  # ours: longer than the batteries of most sites last
WATCHES = dict.fromkeys((STATUS, POWER, CHARGE, RUNTIME), LOOK_BACK_S)


def recall(seen: View, ups: str, opened: float, rated_va: float | None, ignored: tuple[str, ...]) -> Spent:
    """Of one that is on battery, in an incident that opened then.

    Where it tells its charge, what it gave is in that. Else it gave its highest load for as long as it was on battery, in this outage
    and in those before it; of the time before the first reading, as after a restart, no better is assumed.
    """
    now, watts = seen.now, find_watts(seen, ups, rated_va)
    spans = list(_list_spans(seen, ups, opened, ignored)) or [(min(opened, now), now)]
    begin = spans[-1][0]
    charges, claims = _list_numbers(seen, CHARGE, ups), _list_numbers(seen, RUNTIME, ups)
    points = [one for before, one in zip([(0.0, None), *charges], charges, strict=False) if one[1] != before[1] and one[0] >= begin]
    charge, claim = (charges[-1][1] if charges else None), (claims[-1][1] if claims else None)
    most = max((value for _, value in _list_numbers(seen, POWER, ups)), default=0.0)
    joules = max(most, watts or 0.0) * sum(end - start for start, end in spans) if charge is None else 0.0
    same_since = next((at for at, _ in _list_same(claims)), now)
    return Spent(begin, now, watts, joules, charge, tuple(points)[-MOST_POINTS:], claim, same_since)


def _list_spans(seen: View, ups: str, opened: float, ignored: tuple[str, ...]) -> Iterator[tuple[float, float]]:
    """When it was on battery, by its own word; till now, where that is its last."""
    source = next(iter(seen.sources(STATUS, ups)), None)
    looks = (
        [one for one in seen.window(STATUS, ups, source) if one.state is State.GOOD and isinstance(one.value, frozenset)] if source else []
    )
    since: float | None = None
    for number, one in enumerate(looks):
        away = isinstance(one.value, frozenset) and find_row(one.value, ignored).source is Source.BATTERY
        if away and since is None:
            since = min(one.at, opened) if number == 0 else one.at
        elif not away and since is not None:
            yield since, one.at
            since = None
    if since is not None:
        yield since, seen.now


def _list_numbers(seen: View, quantity: str, ups: str) -> list[tuple[float, float]]:
    """Time and value of what its first source has read well; nothing where none is good now."""
    source = next((one for one in seen.sources(quantity, ups) if seen.number(quantity, ups, one) is not None), None)
    window = seen.window(quantity, ups, source) if source else ()
    return [(one.at, float(one.value)) for one in window if one.state is State.GOOD and isinstance(one.value, int | float)]


def _list_same(values: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The newest ones that are all the same."""
    last = next((number for number in range(len(values) - 1, -1, -1) if values[number][1] != values[-1][1]), -1)
    return values[last + 1 :]
