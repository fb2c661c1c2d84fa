"""Targets are picked by seed, and names mean subjects."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.chaos.grammar import Limits, Target
from supernoded.chaos.scope import MisfitError, Scope, make_scope
from tests.unit.chaos.toy import VIEW
from tests.unit.chaos.writing import parse

BASE = parse()


def scope(targets: dict[str, Any], seed: int = 1, exclude: tuple[str, ...] = ()) -> Scope:
    found = msgspec.convert(targets, dict[str, Target])
    scenario = msgspec.structs.replace(BASE, targets=found, limits=Limits(exclude=exclude))
    return make_scope(scenario, VIEW, {}, seed)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_a_pick_is_the_same_for_the_same_seed_and_fits(seed: int, pick: int) -> None:
    targets = {"victim": {"select": "card", "pick": pick}}
    chosen = scope(targets, seed).targets["victim"]
    assert chosen == scope(targets, seed).targets["victim"]
    assert len(set(chosen)) == pick
    assert list(chosen) == [card for card in VIEW.subjects["card"] if card in chosen]


def test_seeds_differ_and_one_target_does_not_move_another() -> None:
    alone = [scope({"a": {"select": "card", "pick": 1}}, seed).targets["a"] for seed in range(30)]
    assert len(set(alone)) == 4
    beside = [scope({"b": {"select": "node", "pick": 1}, "a": {"select": "card", "pick": 1}}, seed).targets["a"] for seed in range(30)]
    assert alone == beside


def test_where_not_and_exclude_narrow_the_choice() -> None:
    found = scope(
        {"victim": {"select": "card", "where": {"node": "n0", "slot": 1}}, "others": {"select": "card", "not": "victim"}},
        exclude=("n1/card1",),
    ).targets
    assert found["victim"] == ("n0/card1",)
    assert found["others"] == ("n0/card0", "n1/card0")
    assert scope({"a": {"select": "node", "where": {"feed": "A"}}}).targets["a"] == ("n0",)
    assert scope({"a": {"select": "node", "where": {"feed": "B"}}}).targets["a"] == ("n0", "n1")
    assert scope({"a": {"subject": "n1/card*"}}).targets["a"] == ("n1/card0", "n1/card1")


def test_names_mean_targets_what_is_below_them_patterns_and_subjects() -> None:
    found = scope({"spot": {"select": "node"}})
    assert found.find("spot", ()) == ("n0", "n1")
    assert found.find("spot/card1", ()) == ("n0/card1", "n1/card1")
    assert found.find("spot/*", ()) == ("n0/card0", "n0/card1", "n1/card0", "n1/card1")
    assert found.find("n?/card0", ()) == ("n0/card0", "n1/card0")
    assert found.find("cdu/0", ()) == ("cdu/0",)
    assert found.find("pump", ()) == ("cdu/0/pump0", "cdu/0/pump1")
    assert found.find("cdu", ()) == ("cdu/0",)
    assert found.find("cdu/0/pump?", ()) == ("cdu/0/pump0", "cdu/0/pump1")
    with pytest.raises(MisfitError, match=r"timeline\[0\]\.on: spott: is no subject of toy and no target; did you mean spot\?"):
        found.find("spott", ("timeline", 0, "on"))


def test_a_sensor_is_named_by_subject_and_quantity() -> None:
    (subject, quantity), *_ = VIEW.sensors
    assert scope({}).find(f"{subject}:{quantity}", ("on",)) == (f"{subject}:{quantity}",)
    assert "sensor" in VIEW.find_families(f"{subject}:{quantity}")
    with pytest.raises(MisfitError, match="is no subject"):
        scope({}).find(f"{subject}:no.such", ("on",))
