"""The broker in memory: what the daemon may rely on, and what it must survive."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.fabric import Broker
from sim_hardware.fabric.sessions import PENDING
from sim_hardware.fabric.topics import is_filter, matches
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from supernoded.cluster.link.fabric import Fabric, Link, Message
from supernoded.errors import CertificateRefusedError, PublishDeniedError, SessionError

KEEPALIVE = 5.0
Scenario = Callable[[SimLoop, Broker], Coroutine[None, None, None]]


def note(topic: str, text: str = "x", *, retain: bool = False, qos: int = 1, expiry: int = 0) -> Message:
    return Message(topic=topic, payload=text.encode(), retain=retain, qos=qos, expiry=expiry)


def gone(name: str) -> Message:
    return note(f"node/{name}/presence", "gone", retain=True)


def run(scenario: Scenario) -> Broker:
    loop = SimLoop(1)
    broker = Broker(Net(loop), keepalive=KEEPALIVE)

    async def main() -> None:
        broker.start()
        await asyncio.sleep(0.1)
        await scenario(loop, broker)

    play(loop, main())
    assert loop.failures == []
    return broker


class Member:
    """A process that stays connected and notes what it hears."""

    def __init__(self, loop: SimLoop, fabric: Fabric, name: str, *filters: str) -> None:
        self.loop, self.fabric, self.name, self.filters = loop, fabric, name, filters
        self.heard: list[str] = []
        self.lost: list[str] = []
        self.link: Link | None = None

    async def main(self) -> None:
        while True:
            try:
                async with self.fabric.connect(self.name, gone(self.name)) as self.link:
                    await self.link.subscribe(self.filters)
                    async for message in self.link.messages():
                        self.heard.append(f"{message.topic}={message.payload.decode()}{'!' if message.retain else ''}")
            except SessionError as error:
                self.lost.append(str(error))
            await asyncio.sleep(1)


async def publish(broker: Broker, *messages: Message) -> None:
    async with broker.connect("publisher", gone("publisher")) as link:
        for message in messages:
            await link.publish(message)


async def settle(seconds: float = 0.2) -> None:
    await asyncio.sleep(seconds)


def test_messages_reach_those_who_subscribed() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        members = [Member(loop, broker, "n0", "a/+"), Member(loop, broker, "n1", "#"), Member(loop, broker, "n2", "b")]
        for member in members:
            loop.spawn(member.name, member.main)
        await settle()
        await publish(broker, note("a/1"), note("b", qos=0), note("c/d"))
        await settle()
        assert [member.heard for member in members] == [["a/1=x"], ["a/1=x", "b=x", "c/d=x"], ["b=x"]]
        assert [session.pending for session in broker.sessions.values()] == [{}] * 4

    run(scenario)


def test_retained_messages_come_sorted_and_an_empty_one_clears() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        texts = [note(topic, retain=True) for topic in ("t/c", "t/a", "t/b")]
        await publish(broker, *texts, note("t/a", "newer", retain=True), note("t/b", "", retain=True), note("t/d"))
        member = Member(loop, broker, "n0", "t/#")
        loop.spawn("n0", member.main)
        await settle()
        assert member.heard == ["t/a=newer!", "t/c=x!"]

    run(scenario)


def test_messages_expire_and_say_what_is_left() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        await publish(broker, note("t/short", retain=True, expiry=2), note("t/long", retain=True, expiry=60))
        await settle(10)
        async with broker.connect("n0", gone("n0")) as link:
            await link.subscribe(["t/#"])
            message = await anext(link.messages())
            assert (message.topic, message.expiry) == ("t/long", 50)

    run(scenario)


def test_a_killed_client_leaves_its_will_and_one_that_leaves_in_order_does_not() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        watcher = Member(loop, broker, "watcher", "node/+/presence")
        loop.spawn("watcher", watcher.main)
        loop.spawn("n0", Member(loop, broker, "n0", "x").main)
        await publish(broker)
        await settle()
        assert watcher.heard == []
        loop.kill(loop.processes["n0"])
        await settle()
        assert watcher.heard == ["node/n0/presence=gone"]

    assert list(run(scenario).retained) == ["node/n0/presence"]


@pytest.mark.parametrize("how", ["partition", "pause"])
def test_the_will_of_a_silent_client_comes_after_one_and_a_half_keepalives(how: str) -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        watcher, member = Member(loop, broker, "watcher", "node/#"), Member(loop, broker, "n0", "x")
        loop.spawn("watcher", watcher.main)
        process = loop.spawn("n0", member.main)
        await settle(1)
        if how == "partition":
            broker.net.partition("n0", "broker")
        else:
            loop.pause(process)
        await settle(KEEPALIVE * 1.5 - 1.5)
        assert watcher.heard == []
        await settle(1.5)
        assert watcher.heard == ["node/n0/presence=gone"]

    run(scenario)


def test_a_client_notices_a_silent_broker_and_comes_back_after_healing() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        member = Member(loop, broker, "n0", "t")
        loop.spawn("n0", member.main)
        await settle()
        broker.net.isolate("broker")
        await settle(2 * KEEPALIVE)
        assert member.lost == ["broker broker:1883 has not answered for 5.0 s"]
        broker.net.rejoin("broker")
        await settle(10)
        await publish(broker, note("t"))
        await settle()
        assert member.heard == ["t=x"]

    run(scenario)


def test_a_persistent_session_gets_what_it_missed_while_it_lasts() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        member = Member(loop, broker, "n0", "t/#")

        async def miss(seconds: float, *messages: Message) -> list[str]:
            loop.spawn("n0", member.main)
            await settle()
            loop.kill(loop.processes["n0"])
            await settle()
            await publish(broker, *messages)
            await settle(seconds)
            member.heard.clear()
            process = loop.spawn("n0", member.main)
            await settle()
            loop.kill(process)
            await settle()
            return list(member.heard)

        assert await miss(1, note("t/1"), note("t/0", qos=0), note("t/2"), note("t/3", expiry=1), note("u")) == ["t/1=x", "t/2=x"]
        assert await miss(broker.session_expiry + 1, note("t/4")) == []

    run(scenario)


def test_what_was_not_acknowledged_before_a_cut_comes_again() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        member = Member(loop, broker, "n0", "t")
        loop.spawn("n0", member.main)
        await settle()
        broker.net.partition("n0", "broker")
        await publish(broker, note("t", "during the cut"))
        await settle(30)
        assert member.heard == []
        broker.net.heal("n0", "broker")
        await settle(15)
        assert member.heard == ["t=during the cut"]

    run(scenario)


def test_a_session_holds_a_bounded_number_of_messages() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        loop.spawn("n0", Member(loop, broker, "n0", "t").main)
        await settle()
        loop.kill(loop.processes["n0"])
        await settle()
        await publish(broker, *(note("t") for _ in range(PENDING + 5)))
        assert (len(broker.sessions["n0"].pending), broker.sessions["n0"].dropped) == (PENDING, 5)

    run(scenario)


def test_a_second_connection_of_the_same_name_takes_the_session_over() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        member = Member(loop, broker, "n0", "t")
        loop.spawn("n0", member.main)
        await settle()
        async with broker.connect("n0", gone("n0")) as link:
            assert list(broker.retained) == ["node/n0/presence"]
            await settle()
            assert member.lost == ["broker broker:1883 ended the session: the session was taken over by another connection"]
            await link.publish(note("t"))
            assert (await anext(link.messages())).topic == "t"

    run(scenario)


def test_a_denied_topic_is_an_error_and_allowed_again_it_is_none() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        broker.deny("command/#")
        with pytest.raises(PublishDeniedError, match="publishing to command/n0 was refused: not authorized"):
            await publish(broker, note("command/n0"))
        broker.allow("command/#")
        await publish(broker, note("command/n0"), note("event"))

    run(scenario)


@pytest.mark.parametrize("pattern", ["a/#/b", "a+", "", "denied/#"])
def test_a_refused_subscription_names_the_filter(pattern: str) -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        broker.deny("denied/#")
        async with broker.connect("n0", gone("n0")) as link:
            with pytest.raises(SessionError, match="was refused") as caught:
                await link.subscribe(["fine", pattern])
            assert f"subscribing to {pattern} was" in str(caught.value)

    run(scenario)


def test_a_refused_certificate_is_an_error_of_its_own() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        broker.refuse("n0")
        with pytest.raises(CertificateRefusedError, match="broker:1883 refused n0"):
            async with broker.connect("n0", gone("n0")):
                pass

    assert run(scenario).retained == {}


@pytest.mark.parametrize(("keep", "found"), [(True, ["t/kept=x", "t/missed=x", "t/kept=x!"]), (False, [])])
def test_a_broker_that_restarts_has_lost_its_links_and_kept_what_it_was_told_to(keep: bool, found: list[str]) -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        member = Member(loop, broker, "n0", "t/#")
        loop.spawn("n0", member.main)
        await settle()
        loop.kill(loop.processes["n0"])
        await settle()
        await publish(broker, note("t/kept", retain=True), note("t/missed"))
        async with broker.connect("n1", gone("n1")) as link:
            broker.stop(keep_retained=keep, keep_sessions=keep)
            for _ in range(2):  # whoever asks later hears it as well
                with pytest.raises(SessionError, match="connection was lost"):
                    await anext(link.messages())
            with pytest.raises(SessionError):
                await link.publish(note("t/x"))
        with pytest.raises(SessionError, match="cannot be reached"):
            await publish(broker)
        broker.start()
        await settle()
        member.heard.clear()
        loop.spawn("n0", member.main)
        await settle()
        assert member.heard == found

    run(scenario)


def test_a_broker_that_does_not_answer_is_an_error_in_time() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        assert broker.process is not None
        loop.pause(broker.process)
        began = loop.time()
        with pytest.raises(SessionError, match=r"does not answer within 10\.0 s"):
            await publish(broker)
        assert loop.time() - began == pytest.approx(10, abs=0.1)

    run(scenario)


def test_a_publish_that_is_cut_off_fails_when_the_link_is_lost() -> None:
    async def scenario(loop: SimLoop, broker: Broker) -> None:
        async with broker.connect("n0", gone("n0")) as link:
            broker.net.partition("site", "broker")
            with pytest.raises(SessionError, match="has not answered"):
                await link.publish(note("t"))
            assert loop.time() < 2 * KEEPALIVE + 1

    run(scenario)


@pytest.mark.parametrize(
    ("pattern", "topic", "selected"),
    [
        ("a/b", "a/b", True),
        ("a/+", "a/b", True),
        ("a/+", "a", False),
        ("a/+", "a/b/c", False),
        ("a/+/c", "a/b/c", True),
        ("#", "a/b", True),
        ("a/#", "a", True),
        ("a/#", "a/b/c", True),
        ("a/#", "ab", False),
        ("+", "/a", False),
        ("+/+", "/a", True),
        ("#", "$SYS/x", False),
        ("+/x", "$SYS/x", False),
        ("$SYS/#", "$SYS/x", True),
    ],
)
def test_filters_select_as_the_standard_says(pattern: str, topic: str, selected: bool) -> None:
    assert matches(pattern, topic) is selected


@given(st.lists(st.sampled_from(["a", "b", ""]), min_size=1, max_size=5), st.data())
def test_a_topic_is_selected_by_any_filter_made_from_it(levels: list[str], data: st.DataObject) -> None:
    plus = [data.draw(st.sampled_from([level, "+"])) for level in levels]
    cut = data.draw(st.integers(0, len(levels)))
    topic = "/".join(levels)
    for pattern in ("/".join(plus), "/".join([*plus[:cut], "#"])):
        assert matches(pattern, topic)
        assert is_filter(pattern) or not pattern


def test_the_fabric_has_the_same_digest_in_every_run() -> None:
    def digest(seed: int) -> str:
        loop = SimLoop(seed)
        broker = Broker(Net(loop))

        async def main() -> None:
            broker.start()
            for name in ("n0", "n1", "n2"):
                loop.spawn(name, Member(loop, broker, name, "#").main)
            await settle()
            await publish(broker, *(note(f"t/{number}", retain=True) for number in range(20)))
            await settle(20)

        play(loop, main())
        return loop.digest()

    assert digest(1) == digest(1) != digest(2)
