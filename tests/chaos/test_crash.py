"""A daemon killed, or paused, before its turns during a saga: no action is lost, none is doubled.

Every second turn here, the others in `make long`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim_hardware.loop.explorer import Crash, How
from supernoded import worker
from supernoded.actions import Performer
from supernoded.journal import entries
from supernoded.model import Action, Effect, Incident, Sight, action_id
from supernoded.parts import Actuator
from supernoded.worker import Worker
from tests.chaos.saga import WINDOW, Ending, play_saga, reference

PARTS = 4  # the crash points are dealt out to so many tests, which run side by side
STRIDE = 2 * PARTS
WAYS = [(How.KILL, 2.0), (How.PAUSE, 8.0)]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "world"
    shutil.rmtree(tmp_path, ignore_errors=True)


def explore(folder: Path, how: How, back_after: float, points: range) -> tuple[dict[str, int], Counter[str]]:
    """Faults with the first crash point that shows each, and where the crashes fell."""
    faults: dict[str, int] = {}
    where: Counter[str] = Counter()
    for k in points:
        ending = play_saga(folder, Crash(how, k, WINDOW, back_after))
        shutil.rmtree(folder)
        where[ending.where] += 1
        for fault in ending.faults():
            faults.setdefault(fault, k)
    return faults, where


def count_turns(folder: Path) -> int:
    ending = reference(folder)
    shutil.rmtree(folder)
    assert ending.faults() == []
    return ending.turns


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(("how", "back_after"), WAYS)
def test_no_crash_point_loses_or_doubles_an_action(folder: Path, how: How, back_after: float, part: int) -> None:
    turns = count_turns(folder)
    assert turns > 200
    faults, where = explore(folder, how, back_after, range(2 * part + 1, turns + 1, STRIDE))
    assert faults == {}
    assert where["intent to first byte"] > 0
    assert where["first byte to outcome"] > 0
    assert where["none"] == 0


def test_a_restart_at_once_loses_and_doubles_nothing_either(folder: Path) -> None:
    faults, where = explore(folder, How.KILL, 0.0, range(2, count_turns(folder) + 1, STRIDE))
    assert faults == {}
    assert where["intent to first byte"] > 0


# Canaries: a daemon broken on purpose must be caught, or the exploration above proves nothing.


def find_doubled(folder: Path) -> int:
    """The first crash point at which an action is performed twice; 0 = there is none."""
    turns = reference(folder).turns
    shutil.rmtree(folder)
    for k in range(1, turns + 1, 3):
        faults, _ = explore(folder, How.KILL, 2.0, range(k, k + 1))
        if any("performed 2 times" in fault for fault in faults):
            return k
    return 0


def test_canary_an_effect_that_is_not_looked_for_first_is_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = Performer._look
    sent: set[int] = set()

    async def look_only_after_sending(self: Performer, actuator: Actuator, action: Action) -> Sight:
        if id(action) in sent:
            return await look(self, actuator, action)
        sent.add(id(action))
        return Sight(effect=Effect.ABSENT)

    monkeypatch.setattr(Performer, "_look", look_only_after_sending)
    monkeypatch.setattr("supernoded.actions.RESEND", 0.0)
    assert find_doubled(folder) > 0


def test_canary_a_time_in_the_identity_is_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = iter(range(10**9))
    monkeypatch.setattr(worker, "action_id", lambda incident, step: action_id(f"{incident}.{next(count)}", step))
    monkeypatch.setattr("supernoded.journal.entries.open_intents", lambda _: lambda _: [])
    assert find_doubled(folder) > 0


def test_canary_an_opening_that_is_not_durable_before_the_first_step_is_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def record_later(self: Worker) -> Incident:
        self._b.journal.post(entries.open_incident(self._incident, self._b.epoch))
        return self._incident

    async def never(_: Worker) -> bool:
        return False

    monkeypatch.setattr(Worker, "_begin", never)  # which writes both at once
    monkeypatch.setattr(Worker, "_record_opening", record_later)
    monkeypatch.setattr("supernoded.journal.writer.LINGER_SECONDS", 3.0)  # the window in which the opening is not yet durable
    assert find_doubled(folder) > 0


def test_canary_a_second_life_that_never_starts_is_caught(folder: Path) -> None:
    ending = play_saga(folder, Crash(How.KILL, 200, WINDOW, 1e6))
    assert "the second life never started" in ending.faults()


# The same scene without a crash: healthy, and only rehearsed.


def test_the_scene_runs_through_and_is_the_same_twice(folder: Path) -> None:
    first = reference(folder)
    shutil.rmtree(folder)
    second = reference(folder)
    assert first.faults() == []
    assert first == second


def test_in_observe_nothing_is_written_to_the_device(folder: Path) -> None:
    ending: Ending = play_saga(folder, Crash(How.KILL, 0, WINDOW, 0.0), mode="observe")
    assert ending.counts == {}
    assert not ending.fenced
    assert ending.rows == []
    assert ending.incidents == 1


def test_the_files_of_killed_daemons_are_closed_with_their_world(folder: Path) -> None:
    opened = []
    for _ in range(3):  # the first opens what the process itself keeps
        play_saga(folder, Crash(How.KILL, 100, WINDOW, 2.0))
        shutil.rmtree(folder)
        opened.append(len(list(Path("/proc/self/fd").iterdir())))
    assert opened[2] <= opened[1]
