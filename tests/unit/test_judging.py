from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from supernoded.history import View
from supernoded.judging import LEAST_INTERVAL, MANY, Bench
from supernoded.model import NODE, Cause, Level, Verdict
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


def verdict(kind: str = "host.busy", at: float = 1.0, text: Any = "busy") -> Verdict:
    return Verdict(kind=kind, subject="n0", level=Level.RAISED, text=text, at=at)


def _raise_later() -> Iterator[Verdict]:
    yield verdict()
    raise ZeroDivisionError("late")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda: None, "TypeError"),
        (lambda: (None, None), "TypeError"),
        (lambda: (None, _raise_later()), "ZeroDivisionError: late"),
        (lambda: (None, ["busy"]), "'busy' where a Verdict is due"),
        (lambda: (None, [verdict("power.lost")]), "a verdict of kind 'power.lost' where 'host.busy' is due"),
        (lambda: (None, [verdict(at=math.nan)]), "the time of a verdict is nan"),
        (lambda: (None, [verdict(text=None)]), "no Verdict: Expected `str`"),
    ],
)
def test_what_is_no_verdict_of_this_rule_costs_this_rule_only(answer: Callable[[], Any], says: str) -> None:
    class Odd(Busy):
        def judge(self, seen: View, memory: Count) -> Any:
            return answer()

    async def main() -> None:
        said: list[Verdict] = []
        table, store = health(), history()
        bench = Bench([Odd(), Busy("host.busier")], store, table, said.append)
        store.add([reading(11.0)], fresh_for=10)
        bench.judge(1.0)
        assert [v.kind for v in said] == ["host.busier"]
        assert says in table.troubles()[0].text

    run(main())


def test_texts_of_a_verdict_can_be_sent_and_stored() -> None:
    class Loud(Busy):
        def judge(self, seen: View, memory: Count) -> Any:
            return memory, iter([verdict(text="\udcff" * 100_000)])  # a generator does as well

    async def main() -> None:
        said: list[Verdict] = []
        Bench([Loud()], history(), health(), said.append).judge(1.0)
        assert len(msgspec.json.encode(said[0])) < 20_000

    run(main())


def test_a_rule_that_cannot_start_and_a_memory_that_cannot_be_written_harm_no_other() -> None:
    class Unborn(Busy):
        def start(self) -> Count:
            raise ZeroDivisionError("unborn")

    class Hoarder(Busy):
        def judge(self, seen: View, memory: Any) -> Any:
            return object(), []

    async def main() -> None:
        table = health()
        bench = Bench([Unborn("a"), Hoarder("b"), Busy()], history(), table, lambda _: None)
        bench.judge(1.0)
        assert bench.snapshot() == {"host.busy": b'{"asked":1}'}
        assert [(trouble.name, trouble.text.partition(":")[0]) for trouble in table.troubles()] == [
            ("rule a", "cannot start and is not asked"),
            ("snapshot of rule b", "cannot be written, a restart forgets it"),
        ]

    run(main())


def test_subjects_of_which_nobody_speaks_any_more_are_forgotten() -> None:
    async def main() -> None:
        said: list[Verdict] = []
        store = history()
        bench = Bench([Busy()], store, health(), said.append)
        store.add([reading(11.0)], fresh_for=10)
        bench.judge(1.0)
        bench.forget(2.0)
        store.add([reading(13.0, at=3.0)], fresh_for=10)
        bench.judge(3.0)  # it breaks, and makes unsure what it spoke of
        assert len(said) == 1

    run(main())


@dataclass(frozen=True)
class Guess:
    """Blames the load; breaks on a load of 13."""

    name: str = "guess"
    scope: str = NODE
    watches: Mapping[str, float] = field(default_factory=lambda: {"host.load": 600.0})
    weight: float = 0.5

    def diagnose(self, seen: View, subject: str) -> Sequence[Cause]:
        load = seen.number("host.load", subject)
        if load == 13.0:
            raise ZeroDivisionError("thirteen")
        return [Cause(name="busy", subject="n0", weight=self.weight + (load or 0.0) / 100)] if load else []


def test_causes_are_ranked_and_told_once() -> None:
    async def main() -> None:
        store = history()
        bench = Bench([], store, health(), lambda _: None, [Guess(), Guess(name="other", weight=0.1)])
        store.add([reading(11.0), reading(12.0, subject="n1")], fresh_for=10)
        (cause,) = bench.diagnose(["n0", "n1"], 1.0)
        assert (cause.name, round(cause.weight, 2)) == ("busy", 0.62)
        assert bench.diagnose(["n7"], 1.0) == ()

    run(main())


def test_a_broken_diagnosis_costs_its_own_explanation_and_says_so() -> None:
    async def main() -> None:
        store, wellbeing = history(), health()
        bench = Bench([], store, wellbeing, lambda _: None, [Guess(), Guess(name="other", weight=math.nan)])
        store.add([reading(1.0), reading(13.0, subject="n1")], fresh_for=10)
        assert len(bench.diagnose(["n0"], 1.0)) == 1
        assert [condition.name for condition in wellbeing.troubles()] == ["diagnosis other"]
        assert bench.diagnose(["n1"], 1.0) == ()
        assert {condition.name for condition in wellbeing.troubles()} == {"diagnosis guess", "diagnosis other"}
        bench.diagnose(["n7"], 1.0)
        assert wellbeing.troubles() == []

    run(main())


def test_the_last_words_are_kept_by_subject_and_kind() -> None:
    async def main() -> None:
        store = history()
        bench = Bench([Busy()], store, health(), lambda _: None)
        store.add([reading(11.0)], fresh_for=10)
        bench.judge(1.0)
        assert [(verdict.subject, verdict.kind, verdict.level) for verdict in bench.last_words()] == [("n0", "host.busy", Level.RAISED)]

    run(main())


def test_news_within_half_a_second_is_judged_together() -> None:
    async def main() -> None:
        said: list[Verdict] = []
        store = history()
        bench = Bench([Busy()], store, health(), said.append)
        for at, load in ((1.0, 1.0), (1.1, 11.0), (1.2, 12.0)):
            store.add([reading(load, at=at)], fresh_for=10)
            bench.judge(at, {"host.load"})
        assert [v.text for v in said] == ["load 1.0"]  # the first at once
        bench.catch_up(1.4)
        assert [v.text for v in said] == ["load 1.0", "load 12.0"]
        bench.catch_up(1.9)
        assert len(said) == 2  # no news since
        for at in (1.95, 1.96, 1.97):
            turned = store.add([reading(None if at == 1.97 else 12.5, at=at)], fresh_for=10)
            bench.judge(at, {"host.load"}, turned)
        assert [v.at for v in said[2:]] == [1.95, 1.97]  # what can no longer be read has turned: at once

    run(main())


@pytest.mark.parametrize(("subjects", "paces"), [(1, [0.1] * 30), (4_000, [0.5] * 6), (12_000, [1.5] * 2), (80_000, [3.0])])
def test_what_turns_is_judged_at_once_unless_a_rule_looks_at_thousands(subjects: int, paces: list[float]) -> None:
    async def main() -> None:
        said: list[Verdict] = []
        store = history()
        bench = Bench([Busy()], store, health(), said.append)
        store.add([msgspec.structs.replace(reading(0.0), subject=f"n{number}") for number in range(subjects)], fresh_for=10)
        bench.judge(0.0)
        said.clear()
        for tenth in range(1, 31):
            bench.judge(tenth / 10, {"host.load"}, {"host.load"})
            if tenth % 5 == 0:
                bench.catch_up(tenth / 10)
        times = [0.0, *(verdict.at for verdict in said)]
        assert [later - earlier for earlier, later in pairwise(times)] == pytest.approx(paces)

    run(main())


def test_without_news_every_rule_is_asked_every_few_seconds_and_after_a_clock_was_set_back() -> None:
    async def main() -> None:
        said: list[Verdict] = []
        bench = Bench([Busy()], history(), health(), said.append)
        for tick in range(30):
            bench.catch_up(100.0 + tick / 2)
        assert [v.at for v in said] == [100.0, 105.0, 110.0]
        bench.catch_up(50.0)
        assert said[-1].at == 50.0

    run(main())


def test_a_rule_that_comes_to_watch_much_waits_for_its_turn() -> None:
    async def main() -> None:
        said: list[Verdict] = []
        store = history()
        bench = Bench([Busy()], store, health(), said.append)
        turned = store.add([reading(1.0)], fresh_for=10)
        bench.judge(1.0, {"host.load"}, turned)
        bench.judge(1.1, {"host.load"}, turned)
        assert len(said) == 2
        turned = store.add([reading(1.0, subject=f"n{number}") for number in range(MANY)], fresh_for=10)
        bench.judge(1.2, {"host.load"}, turned)
        assert len(said) == 2
        bench.catch_up(1.1 + LEAST_INTERVAL)
        assert len(said) == 3

    run(main())
