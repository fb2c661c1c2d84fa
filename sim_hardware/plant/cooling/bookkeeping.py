"""Where the heat is: what a property test checks the physics by."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sim_hardware.plant.cooling.cdu import Cdu
from sim_hardware.plant.cooling.site import LoopSite, Site
from sim_hardware.plant.cooling.slugs import HEAT, add_heat
from sim_hardware.plant.cooling.state import Node, State


class HeatBook(msgspec.Struct, frozen=True):
    """A loop's heat since the beginning, J."""

    subject: str
    from_cards: float  # into their plates
    to_room: float  # from the plates
    plates_to_coolant: float
    door_to_coolant: float
    to_primary: float
    stored_in_coolant: float  # more than at the beginning
    stored_in_plates: float

    @property
    def into_coolant(self) -> float:
        """From plates and rear doors."""
        return self.plates_to_coolant + self.door_to_coolant

    @property
    def coolant_gap(self) -> float:
        """What the coolant's balance lacks, J: 0 when it closes."""
        return self.into_coolant - self.to_primary - self.stored_in_coolant


def heat_book(state: State) -> tuple[HeatBook, ...]:
    """The book of every loop. Into the coolant = to the primary water + stored."""
    return tuple(_read_book(state, number) for number in range(len(state.cdus)))


def _read_book(state: State, number: int) -> HeatBook:
    cdu, loop = state.cdus[number], state.site.loops[number]
    here = [place for row in loop.rows for place in row]
    book = cdu.book
    return HeatBook(
        subject=loop.subject,
        from_cards=book.cards,
        to_room=book.room,
        plates_to_coolant=book.coolant,
        door_to_coolant=book.door,
        to_primary=book.primary,
        stored_in_coolant=weigh_coolant(cdu, loop) - book.began_with,
        stored_in_plates=weigh_plates(state.site, here, state.nodes) - book.plates_began_with,
    )


def weigh_coolant(cdu: Cdu, loop: LoopSite) -> float:
    """The heat in pipes and exchanger over 0 C, J. What stands in a node belongs to its plates."""
    pipes = sum(add_heat(pipe) for pipe in (*cdu.water.supplies, *cdu.water.returns))
    return pipes + HEAT * loop.exchanger_litres * cdu.water.outlet


def weigh_plates(site: Site, places: Sequence[int], nodes: Sequence[Node]) -> float:
    """The heat in the cold plates over 0 C, J."""
    return sum(site.nodes[place].capacity * sum(nodes[place].cards.plates) for place in places)
