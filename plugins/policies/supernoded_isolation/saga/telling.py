"""What was done, for people. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Record

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
        deeds = [deed for deed in record.list_of(verb, *(f"{verb}{number}" for number in range(2, 11))) if deed.outcome is not None]
        if deeds:
            done = next((deed for deed in deeds if deed.done), None)
            last = deeds[-1].outcome
            where = f" ({done.target})" if done is not None and verb == "test" else ""
            told.append(f"{said}{where}" if done is not None else f"not seen: {said} ({last.text if last else ''})")
    return "; ".join(told)
