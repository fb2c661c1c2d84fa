from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from supernoded.history import View
from supernoded.judging import Bench
from supernoded.model import NODE, Level, Verdict
from tests.unit.worlds import health, history, reading, run


class Count(msgspec.Struct, frozen=True):
    asked: int = 0


@dataclass(frozen=True)
class Busy:
    """Raised above a load of 10; counts how often it was asked; breaks on a load of 13."""

    kind: str = "host.busy"
    scope: str = NODE
    watches: Mapping[str, float] = field(default_factory=lambda: {"host.load": 600.0})

    def start(self) -> Count:
        return Count()

    def judge(self, seen: View, memory: Count) -> tuple[Count, Sequence[Verdict]]:
        load = seen.number("host.load", "n0")
        if load == 13.0:
            raise ZeroDivisionError("thirteen")
        level = Level.UNSURE if load is None else Level.RAISED if load > 10 else Level.CLEAR
        return Count(memory.asked + 1), [Verdict(kind=self.kind, subject="n0", level=level, text=f"load {load}", at=seen.now)]


def test_rules_are_asked_on_news_they_watch_only() -> None:
    async def main() -> None:
        said: list[Verdict] = []
        store = history()
        bench = Bench([Busy()], store, health(), said.append)
        store.add([reading(11.0)], fresh_for=10)
        bench.judge(1.0, {"host.memory_used"})
        assert said == []
        bench.judge(1.0, {"host.load"})
        assert [v.level for v in said] == [Level.RAISED]

    run(main())


def test_age_alone_makes_it_unsure() -> None:
    async def main() -> None:
        said: list[Verdict] = []
        store = history()
        bench = Bench([Busy()], store, health(), said.append)
        store.add([reading(11.0)], fresh_for=10)
        bench.judge(5.0)
        bench.judge(11.0)
        assert [v.level for v in said] == [Level.RAISED, Level.UNSURE]

    run(main())


def test_a_rule_that_breaks_makes_its_subjects_unsure_and_is_named() -> None:
    async def main() -> None:
        said: list[Verdict] = []
        store, table = history(), health()
        bench = Bench([Busy()], store, table, said.append)
        store.add([reading(11.0)], fresh_for=10)
        bench.judge(1.0)
        store.add([reading(13.0, at=2.0)], fresh_for=10)
        bench.judge(2.0)
        assert said[-1].level is Level.UNSURE
        assert said[-1].text == "the rule failed: ZeroDivisionError: thirteen"
        assert table.troubles()[0].name == "rule host.busy"
        store.add([reading(11.0, at=3.0)], fresh_for=10)
        bench.judge(3.0)
        assert table.troubles() == []

    run(main())


def test_memory_survives_by_snapshot_and_only_changes_are_written() -> None:
    async def main() -> None:
        bench = Bench([Busy()], history(), health(), lambda _: None)
        bench.judge(1.0)
        saved = bench.snapshot()
        assert saved == {"host.busy": b'{"asked":1}'}
        assert bench.snapshot() == {}
        again = Bench([Busy()], history(), health(), lambda _: None)
        again.restore(saved)
        again.judge(2.0)
        assert again.snapshot() == {"host.busy": b'{"asked":2}'}

    run(main())


def test_a_memory_that_does_not_fit_starts_anew_and_says_so() -> None:
    async def main() -> None:
        table = health()
        bench = Bench([Busy()], history(), table, lambda _: None)
        bench.restore({"host.busy": b'{"asked": "often"}'})
        bench.judge(1.0)
        assert bench.snapshot() == {"host.busy": b'{"asked":1}'}
        assert "starts anew" in table.troubles()[0].text

    run(main())
