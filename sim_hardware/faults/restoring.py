"""Bringing back what a fault found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim_hardware.faults.kind import Act
from sim_hardware.faults.place import Place
from sim_hardware.plant.words import Order


def make_restore(what: str, quantity: str, make: Callable[[Place, float], Order]) -> tuple[Callable[[Place], None], Act[Any]]:
    """How to note what a fault finds, and how to bring it back."""

    def note(place: Place) -> None:
        place.remember(what, place.rig.world.truth(place.target, quantity))

    def bring_back(place: Place, _: object) -> None:
        before = place.recall(what)
        place.forget(what)
        if isinstance(before, float | int):
            place.order(make(place, before))

    return note, bring_back
