from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from supernoded.errors import JournalError, RefusedError
from supernoded.journal import entries
from supernoded.model import Action, Effect, Mode, Outcome, Result, Sight, Step
from tests.unit.casework import Device, Office, now
from tests.unit.worlds import run


def action(kind: str = "card.isolate", patience: float = 10.0, target: str = "n0/card3") -> Action:
    step = Step(name="step", kind=kind, target=target, reason="because", patience=patience)
    return Action(
        id="i1/step", step=step, incident="i1", scope="node", epoch=0, issued=now(), deadline=now() + patience, policy="isolation"
    )


def perform(office: Callable[[], Office], kind: str = "card.isolate") -> tuple[Office, Outcome]:
    async def main() -> tuple[Office, Outcome]:
        made = office()
        outcome = await made.performer.perform(action(kind))
        assert await made.journal.commit(entries.open_intents()) == []
        assert (await made.journal.commit(entries.outcomes_of("i1")))["step"] == outcome
        return made, outcome

    return run(main())


def test_done_when_the_effect_is_seen() -> None:
    office, outcome = perform(lambda: Office(device=Device(takes=2.0)))
    assert outcome.result is Result.DONE
    assert office.device.performed == {"i1/step": 1}
    assert 2.0 <= outcome.at < 3.0


def test_done_without_a_byte_when_the_effect_is_there_already() -> None:
    office, outcome = perform(lambda: Office(device=Device(shows_at={"i1/step": 0.0})))
    assert outcome.result is Result.DONE
    assert office.device.performed == {}


def test_unconfirmed_when_it_was_sent_and_the_effect_is_not_seen() -> None:
    _, outcome = perform(lambda: Office(device=Device(deaf=True)))
    assert outcome.result is Result.UNCONFIRMED
    assert "nothing of it is there" in outcome.text
    assert outcome.at == pytest.approx(10.0, abs=1.0)


def test_what_has_failed_for_good_is_not_waited_for() -> None:
    class Failing(Device):
        async def observe(self, action: Action) -> Sight:
            return Sight(effect=Effect.ABSENT, text="it does not compute", final=bool(self.performed))

    office, outcome = perform(lambda: Office(device=Failing()))
    assert (outcome.result, outcome.text) == (Result.UNCONFIRMED, "it came to nothing: it does not compute")
    assert office.device.performed == {"i1/step": 1}
    assert outcome.at < 1.0


def test_what_was_taken_and_could_not_be_tried_is_refused_at_once_and_no_attempt() -> None:
    class Unable(Device):
        async def observe(self, action: Action) -> Sight:
            return Sight(effect=Effect.ABSENT, text="cardctl cannot be started", refused=bool(self.performed))

    office, outcome = perform(lambda: Office(device=Unable()))
    assert (outcome.result, outcome.text) == (Result.REFUSED, "it could not be done: cardctl cannot be started")
    assert office.device.performed == {"i1/step": 1}
    assert outcome.at < 1.0
    assert list(office.performer._tally._sent) == []


def test_an_order_is_sent_again_only_after_time_to_show() -> None:
    sent: list[float] = []

    class Deaf(Device):
        async def apply(self, action: Action) -> None:
            sent.append(now())

    perform(lambda: Office(device=Deaf()))
    assert len(sent) == 4
    assert all(b - a >= 3.0 for a, b in itertools.pairwise(sent))


def test_expired_when_nothing_was_sent() -> None:
    office, outcome = perform(lambda: Office(device=Device(blind=True)))
    assert outcome.result is Result.EXPIRED
    assert office.device.performed == {}


def test_refused_with_the_guards_sentence() -> None:
    office, outcome = perform(lambda: Office(mode=Mode.OBSERVE))
    assert outcome.result is Result.REFUSED
    assert outcome.text.startswith("policy isolation is in mode observe")
    assert office.device.performed == {}


def test_refused_when_nobody_performs_the_kind() -> None:
    _, outcome = perform(Office, kind="node.drain")
    assert outcome.result is Result.REFUSED
    assert outcome.text.startswith("no actuator performs node.drain on n0/card3")


def test_a_plugin_that_raises_anything_is_a_device_that_cannot_be_seen() -> None:
    class Broken(Device):
        async def observe(self, action: Action) -> Sight:
            raise ZeroDivisionError("oops")

    _, outcome = perform(lambda: Office(device=Broken()))
    assert outcome.result is Result.EXPIRED
    assert "ZeroDivisionError: oops" in outcome.text


def test_a_reopened_action_past_its_deadline_is_never_sent() -> None:
    async def main() -> None:
        office = Office()
        await office.journal.intend(action(patience=5.0), now())
        await asyncio.sleep(60)
        (left,) = await office.journal.commit(entries.open_intents())
        outcome = await office.performer.resume(left)
        assert outcome.result is Result.UNCONFIRMED  # an earlier life may have sent it
        assert office.device.performed == {}

    run(main())


def test_the_intent_is_durable_before_the_first_byte() -> None:
    seen: list[list[str]] = []

    async def main() -> None:
        office = Office()

        class Watching(Device):
            async def apply(self, action: Action) -> None:
                seen.append([a.id for a in await office.journal.commit(entries.open_intents())])
                await super().apply(action)

        watched = office.later(device=Watching())
        await watched.performer.perform(action())

    run(main())
    assert seen == [["i1/step"]]


def test_without_a_journal_only_what_protects_goes_on_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        office = Office()

        async def fail(*_: object) -> Action:
            raise JournalError("the disk is full")

        monkeypatch.setattr(office.journal, "intend", fail)
        isolated = await office.performer.perform(action())
        saved = await office.performer.perform(action("job.checkpoint"))
        assert isolated.result is Result.REFUSED
        assert "the disk is full" in isolated.text
        assert saved.result is Result.DONE
        assert "intent unrecorded: the disk is full" in saved.text
        assert office.device.performed == {"i1/step": 1}

    run(main())


def test_an_action_from_before_the_clock_was_set_back_ends_at_once() -> None:
    async def main() -> None:
        office = Office()
        ahead = action()
        ahead = msgspec.structs.replace(ahead, issued=86_400.0, deadline=86_410.0)
        outcome = await office.performer.resume(ahead)
        assert outcome.result is Result.UNCONFIRMED
        assert now() < 1.0
        assert office.device.performed == {}

    run(main())


def test_an_intent_of_an_earlier_life_may_have_been_sent_even_if_it_seems_younger() -> None:
    async def main() -> None:
        office = Office()
        await office.journal.intend(msgspec.structs.replace(action(), issued=86_400.0, deadline=86_410.0), now())
        outcome = await office.performer.perform(action())
        assert outcome.result is Result.UNCONFIRMED  # not EXPIRED, which says that nothing was sent

    run(main())


def test_an_order_that_hangs_is_not_sent_beside_itself() -> None:
    sent: list[float] = []

    class Stuck(Device):
        async def apply(self, action: Action) -> None:
            sent.append(now())
            while now() < 20.0:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(1.0)

    async def main() -> None:
        outcome = await Office(device=Stuck()).performer.perform(action(patience=30.0))
        assert outcome.result is Result.UNCONFIRMED
        assert sent[0] == 0.0
        assert sent[1] >= 20.0

    run(main())


SEEN: Any = "seen"  # which is no effect


@pytest.mark.parametrize("sight", [None, SEEN, Sight(effect=SEEN)])
def test_what_is_no_sight_shows_nothing(sight: Any) -> None:
    class Odd(Device):
        async def observe(self, action: Action) -> Any:
            return sight

    _, outcome = perform(lambda: Office(device=Odd()))
    assert outcome.result is Result.EXPIRED


def test_a_refusal_by_whoever_performs_it_is_a_refusal() -> None:
    class Refusing(Device):
        async def apply(self, action: Action) -> None:
            raise RefusedError("n1: n1/card3 has no standing hold")

    _, outcome = perform(lambda: Office(device=Refusing()))
    assert (outcome.result, outcome.text) == (Result.REFUSED, "n1: n1/card3 has no standing hold")


def test_refused_after_it_was_sent_is_unconfirmed_and_says_both() -> None:
    sent: list[float] = []

    class Once(Device):
        async def apply(self, action: Action) -> None:
            sent.append(now())
            if len(sent) > 1:
                raise RefusedError("n1: it is held by operator ann")

    _, outcome = perform(lambda: Office(device=Once()))
    assert outcome.result is Result.UNCONFIRMED
    assert outcome.text.startswith("the effect was not seen by the deadline: nothing of it is there")
    assert outcome.text.endswith("asked again, it was refused: n1: it is held by operator ann")


def test_what_was_refused_and_is_allowed_in_time_is_done() -> None:
    """The hold that a fence needs may be a moment behind its order."""

    class Waiting(Device):
        async def apply(self, action: Action) -> None:
            if now() < 3.0:
                raise RefusedError("no hold yet")
            await super().apply(action)

    _, outcome = perform(lambda: Office(device=Waiting()))
    assert outcome.result is Result.DONE
    assert outcome.at < 4.0


def test_who_performs_it_is_asked_again_as_long_as_it_is_not_done() -> None:
    """Where a job's launcher is connected may be heard only after the first look."""
    wrong, right = Device(deaf=True), Device()

    async def main() -> Outcome:
        office = Office()
        office.performer._route = lambda action: wrong if now() < action.issued + 2.0 else right
        return await office.performer.perform(action())

    assert run(main()).result is Result.DONE
    assert right.performed == {"i1/step": 1}
