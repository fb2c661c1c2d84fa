from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster.presence import Claim, DuplicateNameError
from supernoded.cluster.topics import PayloadError, Vitals


def test_while_listening_any_other_life_has_the_name() -> None:
    ours, other = Claim("n0", "c0", "a", 1.0), Claim("n0", "c0", "b", 9.0)
    with pytest.raises(DuplicateNameError, match=r"calls itself n0 \(life b\)"):
        ours.hear_beat(other.beat(10.0, Vitals()))


def test_each_life_has_a_client_id_of_its_own() -> None:
    assert Claim("n0", "c0", "a", 1.0).client_id != Claim("n0", "c0", "b", 1.0).client_id


def test_the_fingerprint_of_a_key_stands_beside_the_life() -> None:
    assert Claim("n0", "c0", "a", 1.0, "f00d").client_id == "n0-f00d-a"
    assert Claim("n0", "c0", "a", 1.0).client_id == "n0-a"


LIVES = st.tuples(st.floats(0, 100), st.sampled_from("abc"))


@given(LIVES, LIVES)
def test_of_two_that_stand_exactly_one_gives_way(one: tuple[float, str], two: tuple[float, str]) -> None:
    claims = [Claim("n0", "c0", life, since) for since, life in (one, two)]
    gave_way = []
    for claim, other in (claims, reversed(claims)):
        claim.stands = True
        try:
            claim.hear_beat(other.beat(200.0, Vitals()))
        except DuplicateNameError:
            gave_way.append(claim.life)
    assert len(gave_way) == (0 if one[1] == two[1] else 1)


def test_a_retained_beat_is_no_proof_of_life() -> None:
    message = Claim("n0", "c0", "b", 1.0).presence(1.0, online=True)
    with pytest.raises(PayloadError, match="retained"):
        Claim("n0", "c0", "a", 1.0).hear_beat(message)
