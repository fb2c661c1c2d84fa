"""Whole daemons lease their roles: one is killed, one is cut off from the database, one stands still and wakes up."""

from __future__ import annotations

import itertools
import signal
from pathlib import Path

import pytest

from tests.chaos.seats import CDU, GOOD_FOR, PERIOD, RENEW, TERM, Scene, play

HIT, HEALED = 20.0, 60.0  # s


def test_the_first_candidate_has_every_role_and_tells_so(tmp_path: Path) -> None:
    scene = play(tmp_path, lambda _: None, 20.0)
    assert scene.failures == []
    assert scene.turned_by(0.0, 20.0) == {"n0"}
    assert scene.told(CDU) == scene.told("fleet") == scene.told("spares") == [("n0", 1, True)]
    gaps = [at for at, view in scene.views if view.role == CDU]
    assert max(later - earlier for earlier, later in itertools.pairwise(gaps)) < 6.0


def test_the_next_candidate_has_the_role_of_a_killed_holder_within_a_term(tmp_path: Path) -> None:
    def direct(scene: Scene) -> None:
        scene.loop.at(HIT, lambda: scene.kill("n0"))
        scene.loop.at(HIT + 10.0, lambda: scene.start("n0"))

    scene = play(tmp_path, direct, 50.0)
    assert scene.failures == []
    assert scene.first_by("n1") - HIT < TERM + 3 * PERIOD
    assert scene.turned_by(HIT + TERM + 2.0, 50.0) == {"n1"}  # who comes back takes nothing away
    assert scene.told(CDU) == [("n0", 1, True), ("n1", 2, True)]


def test_a_holder_that_starts_anew_takes_over_from_itself_with_another_epoch(tmp_path: Path) -> None:
    def direct(scene: Scene) -> None:
        scene.loop.at(HIT, lambda: scene.kill("n0"))
        scene.loop.at(HIT + 0.5, lambda: scene.start("n0"))

    scene = play(tmp_path, direct, 40.0)
    assert scene.failures == []
    assert scene.turned_by(0.0, 40.0) == {"n0"}
    assert scene.first_by("n0", HIT) - HIT < 4.0
    assert scene.told(CDU) == [("n0", 1, True), ("n0", 2, True)]


def test_a_holder_that_ends_in_order_leaves_its_roles_at_once(tmp_path: Path) -> None:
    def direct(scene: Scene) -> None:
        scene.loop.at(HIT, lambda: scene.loop.deliver(scene.loop.processes["n0"], signal.SIGTERM))

    scene = play(tmp_path, direct, 40.0)
    assert scene.failures == []
    (next_one,) = scene.turned_by(HIT + 1.0, 40.0)  # whoever asks first: it is vacant for all
    assert next_one in ("n1", "n2")
    assert scene.first_by(next_one) - HIT < RENEW + 4 * PERIOD
    assert scene.told(CDU) == [("n0", 1, True), ("n0", 1, False), (next_one, 2, True)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_holder_that_stands_still_beyond_its_lease_writes_nothing_when_it_wakes_up(tmp_path: Path, seed: int) -> None:
    """Not one frame: the pen looks at the lease's age before every one (safety rule 16)."""

    def direct(scene: Scene) -> None:
        scene.loop.at(HIT, lambda: scene.loop.pause(scene.loop.processes["n0"]))
        scene.loop.at(HIT + 8.0, lambda: scene.loop.resume(scene.loop.processes["n0"]))

    scene = play(tmp_path, direct, 45.0, seed=seed)
    assert scene.failures == []
    assert scene.turned_by(HIT + 0.1, 45.0) == {"n1"}
    assert scene.first_by("n1") - HIT < TERM + 3 * PERIOD
    assert scene.told(CDU) == [("n0", 1, True), ("n1", 2, True)]


def test_without_keys_a_holder_that_is_cut_off_from_the_database_steps_down_before_the_next_takes_its_role(tmp_path: Path) -> None:
    def direct(scene: Scene) -> None:
        scene.loop.at(HIT, lambda: scene.site.net.partition("n0", "database"))
        scene.loop.at(HEALED, lambda: scene.site.net.heal("n0", "database"))

    scene = play(tmp_path, direct, 80.0)
    assert scene.failures == []
    assert scene.last_by("n0") - HIT <= GOOD_FOR
    assert scene.last_by("n0") < scene.first_by("n1") < HIT + TERM + 3 * PERIOD
    assert scene.turned_by(HIT + TERM + 2.0, 80.0) == {"n1"}
    assert scene.told("fleet") == [("n0", 1, True), ("n0", 1, False), ("n1", 2, True)]


def test_while_the_database_is_lost_the_valve_is_steered_on_and_every_other_role_is_given_up(tmp_path: Path) -> None:
    def direct(scene: Scene) -> None:
        scene.loop.at(HIT, scene.site.database.stop)
        scene.loop.at(HEALED, scene.site.database.start)

    scene = play(tmp_path, direct, 80.0, keys=True)
    assert scene.failures == []
    assert scene.turned_by(0.0, 80.0) == {"n0"}
    times = [at for at, _ in scene.puts if at > 10.0]
    assert max(later - earlier for earlier, later in itertools.pairwise(times)) < 2 * PERIOD
    assert scene.told(CDU) == [("n0", 1, True)]  # also when it is back: nobody else has had it
    assert scene.told("fleet")[:2] == [("n0", 1, True), ("n0", 1, False)]
    assert len(scene.said("n0", "kept past its lease of epoch 1")) == 1


def test_who_is_cut_off_from_the_database_alone_steps_down_since_others_can_take_its_role(tmp_path: Path) -> None:
    def direct(scene: Scene) -> None:
        scene.loop.at(HIT, lambda: scene.site.net.partition("n0", "database"))

    scene = play(tmp_path, direct, 45.0, keys=True)
    assert scene.failures == []
    assert scene.last_by("n0") - HIT <= GOOD_FOR
    assert scene.last_by("n0") < scene.first_by("n1") < HIT + TERM + 3 * PERIOD
    assert scene.turned_by(HIT + TERM + 2.0, 45.0) == {"n1"}


def test_a_standby_that_cannot_be_asked_ends_the_bridging(tmp_path: Path) -> None:
    def direct(scene: Scene) -> None:
        scene.loop.at(HIT, scene.site.database.stop)
        scene.loop.at(HIT + 15.0, lambda: scene.kill("n2"))

    scene = play(tmp_path, direct, 60.0, keys=True)
    assert scene.failures == []
    assert HIT + 15.0 <= scene.last_by("n0") <= HIT + 15.0 + GOOD_FOR
    assert scene.turned_by(HIT, 60.0) == {"n0"}
    assert scene.said("n0", "n2 does not answer")
