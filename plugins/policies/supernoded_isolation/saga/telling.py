"""What was done, for people. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Record
from supernoded_isolation.saga.stage import find_deeds

WORDS: Mapping[str, str] = {
    "capture": "evidence is kept",
    "save": "the job has saved",
    "hold": "it is held",
    "stop": "the job is stopped at a saved step",
    "abort": "the collective is ended",
    "fence": "it is fenced",
    "test": "a spare has passed its test",
    "remap": "the ranks have their new places",
    "resume": "the job was started again",
}


def say_done(record: Record) -> str:
    """Each stage that was tried, with what it came to."""
    told = []
    for verb, said in WORDS.items():
        deeds = [deed for deed in find_deeds(record, verb) if deed.outcome is not None]
        if deeds:
            done, last = [deed.target for deed in deeds if deed.done], deeds[-1].outcome
            told.append((_say_tests(done) if verb == "test" else said) if done else f"not seen: {said} ({last.text if last else ''})")
    return "; ".join(told)


def _say_tests(passed: Sequence[str]) -> str:
    said = WORDS["test"] if len(passed) == 1 else "spares have passed their test"
    return f"{said} ({', '.join(passed)})"
