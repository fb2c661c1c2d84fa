from __future__ import annotations

import pytest

from supernoded.history import History
from supernoded.job.troubles import FRESH, TROUBLE, TroubleRule
from supernoded.model import Level
from supernoded.reading import make_reading


@pytest.mark.parametrize(
    ("told", "level", "words"),
    [
        ("durable: /disk: No space left on device", Level.RAISED, "job/llama: durable: /disk: No space left on device"),
        ("", Level.CLEAR, "job/llama: its checkpoints are well"),
        (None, Level.UNSURE, "job/llama: nothing is told of its checkpoints"),
    ],
)
def test_what_the_vault_says_is_an_event_at_once(told: str | None, level: Level, words: str) -> None:
    history = History({TROUBLE: FRESH})
    history.add([make_reading("job/llama", TROUBLE, told, "text", 100.0, "" if told is not None else "not yet")], 60.0)
    rule = TroubleRule()
    rule.start()

    _, (verdict,) = rule.judge(history.view(100.0, rule.watches), None)

    assert (verdict.kind, verdict.subject, verdict.level, verdict.text) == (TROUBLE, "job/llama", level, words)


def test_without_a_job_there_is_nothing_to_judge() -> None:
    rule = TroubleRule()
    assert rule.judge(History({TROUBLE: FRESH}).view(0.0, rule.watches), None) == (None, [])
