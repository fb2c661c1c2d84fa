"""A card is replaced, and one daemon is killed or paused before one of its turns: no step is lost, and none is doubled.

An evenly spread sample of the turns (SUPERNODED_CHAOS_SEED chooses another); `make long` plays all of them.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sim_hardware.loop.explorer import Crash, How
from supernoded import worker
from supernoded.cards.fence import Fence
from supernoded.cluster.commands.remote import RemoteActuator
from supernoded.holds import Holds
from supernoded.model import Action, Effect, Hold, Sight, action_id
from supernoded_isolation.saga import orders
from tests.chaos.card_judging import FAILS_AT, STEPS
from tests.chaos.card_saga import WITHIN, References, find_seed, play_saga
from tests.chaos.card_site import HOLDER, NODES

WAYS = [(How.KILL, 2.0), (How.PAUSE, 8.0)]
POINTS = 4  # of each scene, daemon and way

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "world"
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture(scope="session")
def references(tmp_path_factory: pytest.TempPathFactory) -> References:
    """Played once for each process that runs tests."""
    return References(tmp_path_factory.mktemp("references"))


@pytest.mark.parametrize("scene", STEPS)
def test_without_a_strike_the_job_steps_on_a_spare_within_a_minute(references: References, scene: str) -> None:
    reference = references.find(scene)
    assert reference.ending.faults() == []
    assert reference.ending.stepped < FAILS_AT + WITHIN
    assert min(reference.turns.values()) > 500


def test_the_same_scene_is_the_same_twice(folder: Path) -> None:
    endings = []
    for _ in range(2):
        endings.append(play_saga(folder, "card.hang", HOLDER, Crash(How.KILL, 300, (20.0, 30.0), 2.0)))
        shutil.rmtree(folder)
    assert endings[0] == endings[1]


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize(("how", "back_after"), WAYS)
@pytest.mark.parametrize("scene", STEPS)
def test_no_strike_loses_or_doubles_a_step(
    references: References, folder: Path, scene: str, how: How, back_after: float, node: str
) -> None:
    reference, seed = references.find(scene), find_seed()
    faults: dict[str, int] = {}
    where: Counter[str] = Counter()
    for k in reference.spread(node, POINTS, seed):
        ending = play_saga(folder, scene, node, Crash(how, k, reference.window, back_after))
        shutil.rmtree(folder)
        where[ending.where] += 1
        for fault in ending.faults():
            faults.setdefault(fault, k)
    assert faults == {}, f"seed {seed}"
    assert where["none"] == 0
    assert len(where) > 1


# Canaries: a daemon broken on purpose must be caught, or the exploration above proves nothing.


def find_fault(references: References, folder: Path, words: str, verbs: Sequence[str], scene: str = "card.hang") -> int:
    """The first turn of the deciding daemon, while one of these steps is under way, whose strike shows such a fault; 0 = none."""
    reference = references.find(scene)
    for verb in verbs:
        row = next(row for row in reference.ending.rows if row.verb == verb)
        window = (row.intended, row.concluded + 0.6)
        for k in range(1, reference.count(HOLDER, window) + 1, 6):
            ending = play_saga(folder, scene, HOLDER, Crash(How.KILL, k, window, 2.0))
            shutil.rmtree(folder)
            if any(words in fault for fault in ending.faults()):
                return k
    return 0


def test_canary_an_effect_that_is_not_looked_for_first_is_caught(
    references: References, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply, observe = RemoteActuator.apply, RemoteActuator.observe
    applied: set[tuple[RemoteActuator, str]] = set()

    async def note_and_apply(self: RemoteActuator, action: Action) -> None:
        await apply(self, action)
        applied.add((self, action.id))

    async def observe_after_apply_only(self: RemoteActuator, action: Action) -> Sight:
        return await observe(self, action) if (self, action.id) in applied else Sight(effect=Effect.ABSENT)

    references.find("card.hang")
    monkeypatch.setattr(RemoteActuator, "apply", note_and_apply)
    monkeypatch.setattr(RemoteActuator, "observe", observe_after_apply_only)
    assert find_fault(references, folder, "the fence was called 2 times", ["fence"]) > 0


def test_canary_a_time_in_the_identity_is_caught(references: References, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    references.find("card.hang")
    count = iter(range(10**9))
    monkeypatch.setattr(worker, "action_id", lambda incident, step: action_id(f"{incident}.{next(count)}", step))
    monkeypatch.setattr("supernoded.journal.entries.open_intents", lambda _: lambda _: [])
    assert find_fault(references, folder, "RemapRanks reached the plant 2 times", ["remap"]) > 0


def test_canary_a_hold_that_is_not_durable_before_the_fence_is_caught(
    references: References, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    references.find("card.hang")

    async def keep_in_memory(self: Holds, hold: Hold) -> Hold:
        self._learn(hold, told=False, written=True)
        return hold

    monkeypatch.setattr(Holds, "_keep", keep_in_memory)
    monkeypatch.setattr(Fence, "find_refusal", lambda self, card, owner: "")
    assert find_fault(references, folder, "has the holds []", ["fence"]) > 0


def test_canary_a_job_that_is_resumed_on_its_old_cards_is_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hold, end_and_find, remap, resume, verify = orders.SILENT
    monkeypatch.setattr(orders, "SILENT", (hold, end_and_find, resume, remap, verify))
    ending = play_saga(folder, "card.hang", HOLDER, Crash(How.KILL, 0, (0.0, 0.0), 0.0))
    assert any("the job steps at" in fault or "job.resumed happened" in fault for fault in ending.faults())


def test_canary_a_second_life_that_never_starts_is_caught(references: References, folder: Path) -> None:
    ending = play_saga(folder, "card.hang", HOLDER, Crash(How.KILL, 500, references.find("card.hang").window, 1e6))
    assert "the second life never started" in ending.faults()
