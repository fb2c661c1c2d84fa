"""Who hears what, for how long."""

from __future__ import annotations

import pytest

from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.router import Once, Router
from supernoded.errors import SessionError
from tests.unit.cluster.fakes import LOG


class Told:
    """What the broker is asked for."""

    def __init__(self) -> None:
        self.router = Router(Once(LOG))
        self.began: list[str] = []
        self.ended: list[str] = []
        self.heard: list[str] = []

    async def serve(self) -> None:
        await self.router.subscribe(self._subscribe)
        await self.router.unsubscribe(self._unsubscribe)

    async def _subscribe(self, filters: list[str]) -> None:
        self.began += filters

    async def _unsubscribe(self, filters: list[str]) -> None:
        self.ended += filters

    def hear(self, message: Message) -> None:
        self.heard.append(message.topic)

    def also(self, message: Message) -> None:
        self.heard.append(f"also {message.topic}")


async def test_what_nobody_hears_any_more_is_ended_once() -> None:
    told = Told()
    told.router.on("a/+", told.hear)
    told.router.on("a/+", told.also)
    await told.serve()
    told.router.off("a/+", told.also)
    await told.serve()
    told.router.dispatch(Message(topic="a/b", payload=b""))
    assert (told.heard, told.ended) == (["a/b"], [])
    told.router.off("a/+", told.hear)
    told.router.off("a/+", told.hear)
    await told.serve()
    await told.serve()
    told.router.dispatch(Message(topic="a/b", payload=b""))
    assert (told.heard, told.ended) == (["a/b"], ["a/+"])


async def test_what_is_wanted_again_before_the_broker_was_told_goes_on_and_later_begins_anew() -> None:
    told = Told()
    told.router.on("a", told.hear)
    await told.serve()
    told.router.off("a", told.hear)
    told.router.on("a", told.hear)
    await told.serve()
    assert (told.began, told.ended) == (["a"], [])
    told.router.off("a", told.hear)
    await told.serve()
    told.router.on("a", told.hear)
    await told.serve()
    assert (told.began, told.ended) == (["a", "a"], ["a"])


def test_a_handler_that_fails_costs_its_message_and_a_rival_ends_the_link(caplog: pytest.LogCaptureFixture) -> None:
    told = Told()

    def fail(message: Message) -> None:
        raise OverflowError("no such number") if message.topic == "a/b" else SessionError("another daemon calls itself so")

    told.router.on("a/+", fail)
    told.router.on("a/+", told.hear)
    told.router.dispatch(Message(topic="a/b", payload=b""))
    told.router.dispatch(Message(topic="a/b", payload=b""))
    assert (told.heard, told.router.refused) == (["a/b", "a/b"], 2)
    assert [record.getMessage() for record in caplog.records] == [
        "a/b: OverflowError: no such number; such messages are ignored and counted"
    ]
    with pytest.raises(SessionError):
        told.router.dispatch(Message(topic="a/c", payload=b""))
