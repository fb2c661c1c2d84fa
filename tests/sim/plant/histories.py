"""Random histories of a whole plant: any order of any part, with any value, and waiting."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from random import Random
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from sim_hardware.plant.site import PARTS, Site, advance, apply, sense, sensors, start
from sim_hardware.plant.words import Happening, Order, OrderError
from sim_hardware.rack import Rack, generate_rack

RACK: Rack = generate_rack(2, 4)
SITE: Site = start(RACK, 7)
WRONG = "nowhere/else"

Step = tuple[Order | None, float]  # an order, if any, and how long to wait before it
Look = Callable[[Site], None]

_NODES = [node.name for node in RACK.nodes]
_CARDS = RACK.list_cards()
_PORTS = [*(f"{card}/port{port}" for card in _CARDS[:5] for port in (0, 1)), "n0/nic/mlx5_0", "switch/s1/port0", "switch/s1/port40"]
_CDUS = [loop.subject for loop in RACK.loops]
_SUBJECTS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("utility", "ups", "feed"), ("A", "B")),
    **dict.fromkeys(("pdu", "breaker"), tuple(pdu.name for pdu in RACK.pdus)),
    "node": _NODES,
    "card": _CARDS,
    "cdu": _CDUS,
    "place": [*_CDUS, *_NODES],
    **dict.fromkeys(("port", "source", "target"), _PORTS),
    "cable": [cable.subject for cable in RACK.cables],
    "switch": [f"switch/{switch.name}" for switch in RACK.switches],
    "job": ["train"],
}
_TEXTS: Mapping[str, Sequence[str]] = {
    "phase": ["L1", "L2", "L3"],
    "flag": ["OB", "LB", "OL"],
    "serial": ["NEW1", "NEW2", ""],
    "code": ["80E01801"],
    "compress": ["zstd", "lz4", "none", "zip"],
}
_NUMBERS = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 50.0, 100.0, 300.0, 1e-4, 1e9, -1.0, 1e300, math.nan, math.inf, -math.inf)
_SHARES = (0.0, 0.3, 0.5, 0.8, 1.0)
_WAITS = (0.0, 0.0, 0.25, 0.5, 3.0, 20.0, 60.0)
_LENGTH = 14


def list_orders() -> list[type[Order]]:
    """Every kind of order that there is."""
    found = []
    for part in PARTS:
        module = import_module(f"sim_hardware.plant.{part}.orders")
        classes = [kind for _, kind in inspect.getmembers(module, inspect.isclass) if issubclass(kind, Order) and kind is not Order]
        found += [kind for kind in classes if kind.__module__ == module.__name__]
    return found


def build(kind: type[Order], chance: Random, subject: str | None = None) -> Order:
    """Some order of a kind; with a subject, about that one."""
    return kind(**{name: _draw(name, hint, chance, subject) for name, hint in get_type_hints(kind).items() if not name.startswith("__")})


def has_subject(kind: type[Order]) -> bool:
    return any(name in _SUBJECTS for name in get_type_hints(kind))


def _draw(name: str, hint: Any, chance: Random, subject: str | None) -> Any:
    if NoneType in get_args(hint):
        one = next(each for each in get_args(hint) if each is not NoneType)
        return chance.choice([None, _draw(name, one, chance, subject)])
    if get_origin(hint) is Literal:
        return chance.choice(get_args(hint))
    if hint is str:
        own = _SUBJECTS.get(name)
        return subject if own and subject is not None else chance.choice(own or _TEXTS.get(name, ["one", "two"]))
    kinds: dict[Any, Callable[[], Any]] = {
        bool: lambda: chance.random() < 0.5,
        int: lambda: chance.choice([0, 0, 1, 1, 2, 3, 4, 5, -1, 10**6]),
        float: lambda: _draw_number(name, chance),
        frozenset[str]: lambda: frozenset(chance.sample(["L1", "L2", "L3"], chance.randint(0, 3))),
        tuple[int, ...]: lambda: tuple(chance.sample(range(1, 9), chance.randint(0, 3))),
        dict[int, str]: lambda: {chance.randint(0, 8): card for card in chance.sample(_CARDS, chance.randint(0, 3))},
    }
    return kinds[hint]()


def _draw_number(name: str, chance: Random) -> float:
    if chance.random() < 0.5:
        return chance.choice(_SHARES if name in {"share", "depth", "down_share"} else _NUMBERS)
    return chance.uniform(0.0, 1.0 if name in {"share", "depth"} else 100.0)


def draw_history(seed: int, length: int, kinds: Sequence[type[Order]] = ()) -> list[Step]:
    """Orders of all kinds alike; a shorter history of the same seed is the beginning of a longer one."""
    chance, kinds = Random(seed), kinds or list_orders()
    return [(build(chance.choice(kinds), chance), chance.choice([*_WAITS, chance.uniform(0.0, 15.0)])) for _ in range(length)]


SEEDS = st.integers(0, 2**32)
HISTORIES: st.SearchStrategy[list[Step]] = st.builds(draw_history, SEEDS, st.integers(1, _LENGTH))


def play(history: Sequence[Step], looks: Sequence[float] = (), see: Look | None = None) -> tuple[Site, list[Happening]]:
    """The plant at the end, and all that happened; it is also looked at on the way at those shares of each wait."""
    site, time, told = SITE, 0.0, list[Happening]()

    def take(after: Site) -> Site:
        told.extend(after.happened)
        if see is not None:
            see(after)
        return after

    for order, wait in history:
        for share in (*sorted(looks), 1.0):
            site = take(advance(site, time + wait * share))
        time += wait
        if order is not None:
            try:
                site = take(apply(site, time, order))
            except OrderError:
                continue
    return take(advance(site, time + 1.0)), told


def digest(seeds: Iterable[int]) -> str:
    """What became of some histories, in few letters: all that happened, and all that every sensor shows."""
    whole = hashlib.sha256()
    for seed in seeds:
        site, told = play(draw_history(seed, _LENGTH))
        shown = [(sensor, sense(site, sensor.subject, sensor.quantity)) for sensor in sensors(site)]
        lines = [*told, *((sensor, sorted(value) if isinstance(value, frozenset) else value) for sensor, value in shown)]
        whole.update("\n".join(map(repr, lines)).encode())
    return whole.hexdigest()
