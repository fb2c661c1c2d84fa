"""The moves repair every miswiring, can be made one after the other, and are the fewest there can be."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded_ring.chains import find_chains
from supernoded_ring.moves import Move, plan_moves
from supernoded_ring.plan import Plan
from tests.plugins.ring.wiring import Mates, card, cut, join, make_plans, swap, wire

HAND = ""
Cable = tuple[str, str]  # where its ends are, sorted; HAND = in the hand of the one who repairs
State = tuple[Cable, ...]


def find_moves(plans: Sequence[Plan], mates: Mapping[str, str]) -> list[Move]:
    return plan_moves(find_chains([hop for plan in plans for hop in plan.hops], mates))


def make(mates: Mates, moves: Sequence[Move]) -> Mates:
    """Play the moves with cables of which only one end is touched at a time; ends that are in the way are kept in the hand."""
    cables = [list(pair) for pair in sorted({(min(pair), max(pair)) for pair in mates.items()})]
    for move in moves:
        if move.from_:
            places = (move.from_, f"held {move.from_}")
            ((cable, end),) = [(c, e) for c in cables for e in (0, 1) if c[e] in places and c[1 - e] == move.other_end]
        else:
            cable = next((c for c in cables if move.other_end and set(c) == {move.other_end, HAND}), [HAND, HAND])
            cables += [] if move.other_end else [cable]
            end = cable.index(HAND)
            assert cable[1 - end] == move.other_end
        for other in cables:
            for side in (0, 1):
                if move.to and other[side] == move.to:
                    other[side] = f"held {move.to}"
        cable[end] = move.to
    assert not any(end.startswith("held") for cable in cables for end in cable)
    return join((a, b) for a, b in cables if a and b)


def search_fewest(hops: Sequence[Cable], mates: Mapping[str, str], most: int) -> int | None:
    """The fewest moves, by trying every placement of plugs, the most promising first (A*, as one plug completes at most one hop)."""
    wanted = {tuple(sorted(hop)) for hop in hops}
    ports = sorted({port for hop in hops for port in hop})
    spare = sum(1 for hop in hops) + 1
    first: State = tuple(sorted({(min(pair), max(pair)) for pair in mates.items()}))
    queue: list[tuple[int, int, State]] = [(len(wanted - set(first)), 0, first)]
    best = {first: 0}
    while queue:
        _, done, state = heapq.heappop(queue)
        if wanted <= set(state) and not any("held" in end for cable in state for end in cable):
            return done
        if done > best[state] or done >= most:
            continue
        for following in try_moves(state, ports, spare):
            if done + 1 < best.get(following, most + 1):
                best[following] = done + 1
                heapq.heappush(queue, (done + 1 + len(wanted - set(following)), done + 1, following))
    return None


def try_moves(state: State, ports: Sequence[str], spare: int) -> Iterator[State]:
    """Every end, and both ends of one new cable, into every port; what is there is taken into the hand. Or an end is laid aside."""
    cables = [*state, (HAND, HAND)] if len(state) < spare + len(ports) and (HAND, HAND) not in state else list(state)
    for number, cable in enumerate(cables):
        for end, target in itertools.product((0, 1), (*ports, HAND)):
            if cable[end] == target:
                continue
            moved = [list(other) for other in cables]
            if target:
                for other in moved:
                    other[:] = [f"held {target}" if place == target else place for place in other]
            moved[number][end] = target
            yield tuple(sorted(pair for one in moved if (pair := (min(one), max(one))) != (HAND, HAND)))


def list_pairings(ports: Sequence[str]) -> Iterator[list[Cable]]:
    """Every way to join some of the ports in pairs."""
    if not ports:
        yield []
        return
    first, rest = ports[0], ports[1:]
    yield from list_pairings(rest)
    for other in rest:
        for pairing in list_pairings([port for port in rest if port != other]):
            yield [(first, other), *pairing]


def test_a_good_ring_needs_none() -> None:
    plans = make_plans()
    assert find_moves(plans, wire(plans)) == []


@pytest.mark.parametrize(
    ("one", "two", "fewest"),
    [
        (card(3, 0), card(3, 1), 2),  # both cables of a card
        (card(2, 1), card(6, 1), 2),  # two cables exchanged: two rings
        (card(2, 1), card(4, 0), 2),  # a segment turned round
        (card(4, 1), card(9, 0), 1),  # into a port that is in no ring
    ],
)
def test_what_one_swap_spoils_takes_so_many_moves(one: str, two: str, fewest: int) -> None:
    plans = make_plans()
    spoilt = swap(wire(plans), one, two)
    moves = find_moves(plans, spoilt)
    assert [move.number for move in moves] == list(range(1, fewest + 1))
    assert make(spoilt, moves) == wire(plans)


def test_a_missing_cable_takes_two_and_says_what_it_may_be() -> None:
    plans = make_plans()
    first, second = find_moves(plans, cut(wire(plans), card(3, 0)))
    assert (first.from_, first.to, second.from_, second.to) == ("", card(3, 0), "", card(4, 1))
    assert second.sentence == (
        "Plug the other end of the cable that is not seen into n0/card4/port1; if it is there already, take it out and plug it in again."
    )


def test_a_cable_too_many_serves_where_one_is_missing() -> None:
    plans = make_plans()
    spoilt = cut(wire(plans), card(3, 0), card(6, 0)) | join([(card(6, 0), card(8, 0)), (card(7, 1), card(9, 0))])
    moves = find_moves(plans, spoilt)
    assert len(moves) == 3
    assert {port: mate for port, mate in make(spoilt, moves).items() if port in wire(plans)} == wire(plans)


def test_the_swapped_card_is_the_only_one_that_is_touched() -> None:
    plans = make_plans()
    moves = find_moves(plans, swap(wire(plans), card(5, 0), card(5, 1)))
    assert {port.rpartition("/")[0] for move in moves for port in (move.from_, move.to)} == {"n0/card5"}
    assert moves[0].sentence.startswith("Take the end in n0/card5/port0 out and hold it; then move the end in n0/card5/port1")


@pytest.mark.parametrize("members", [2, 3])
def test_every_miswiring_of_a_small_ring(members: int) -> None:
    plans = make_plans(members)
    hops = [(hop.a, hop.b) for hop in plans[0].hops]
    ports = [port for hop in hops for port in hop]
    outside = [card(members, 0), card(members, 1)] if members == 2 else []
    pairings = [pairing for pairing in list_pairings([*ports, *outside]) if all(set(pair) & set(ports) for pair in pairing)]
    assert len(pairings) == {2: 66, 3: 76}[members]
    for pairing in pairings:
        mates = join(pairing)
        moves = find_moves(plans, mates)
        repaired = make(mates, moves)
        assert all(repaired.get(a) == b for a, b in hops)
        assert len(moves) == search_fewest(hops, mates, len(moves)), pairing


@settings(max_examples=50)
@given(st.integers(2, 8), st.data())
def test_random_miswirings_up_to_eight_cards(members: int, data: st.DataObject) -> None:
    plans = make_plans(members)
    hops = [(hop.a, hop.b) for hop in plans[0].hops]
    ports = [*(port for hop in hops for port in hop), card(members, 0), card(members, 1)]
    mates = wire(plans)
    for one, two in data.draw(st.lists(st.tuples(st.sampled_from(ports), st.sampled_from(ports)), max_size=3)):
        mates = swap(mates, one, two)
    if data.draw(st.booleans()):
        mates = cut(mates, data.draw(st.sampled_from(ports)))
    moves = find_moves(plans, mates)
    repaired = make(mates, moves)
    assert all(repaired.get(a) == b for a, b in hops)
    assert len(moves) == search_fewest(hops, mates, len(moves))


@given(st.integers(2, 8), st.integers(1, 3), st.randoms(use_true_random=False))
def test_any_shuffle_of_several_rings_is_repaired(members: int, rings: int, chance: Random) -> None:
    plans = make_plans(members, rings)
    ports = [*wire(plans), *(card(members, 0, node) for node in range(rings))]
    shuffled = list(ports)
    chance.shuffle(shuffled)
    mates = join(zip(shuffled[::2], shuffled[1::2], strict=False))
    repaired = make(mates, find_moves(plans, mates))
    assert {port: repaired.get(port) for port in wire(plans)} == wire(plans)
