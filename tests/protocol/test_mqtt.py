"""The message port against a real mosquitto, and against peers that are hardly brokers."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from pathlib import Path

import pytest

from supernoded.cluster.link.fabric import Message, SubscribeDeniedError
from supernoded.cluster.link.inlet import Inlet
from supernoded.cluster.link.mqtt import AiomqttFabric, AiomqttLink
from supernoded.errors import PublishDeniedError, SessionError
from tests.protocol.mosquitto import Mosquitto, free_port
from tests.protocol.relay import CONNACK, peer

LOG = logging.getLogger("supernoded.cluster.link.mqtt")
WILL = Message(topic="will/n0", payload=b"offline", retain=True)


def fabric(port: int, **settings: object) -> AiomqttFabric:
    return AiomqttFabric("127.0.0.1", port, LOG, **{"timeout": 2.0, **settings})  # type: ignore[arg-type] # forwarded as they are


async def first(link: AiomqttLink) -> Message:
    async with asyncio.timeout(10):
        return await anext(link.messages().__aiter__())


def find_socket(link: AiomqttLink) -> socket.socket:
    inlet = link._client._client.socket()
    assert isinstance(inlet, Inlet)
    assert isinstance(inlet.sock, socket.socket)
    return inlet.sock


async def refusal(of: AiomqttFabric, client_id: str = "n0-a") -> str:
    with pytest.raises(SessionError) as caught:
        async with of.connect(client_id, WILL):
            pytest.fail("it connected")
    return str(caught.value)


async def test_a_message_keeps_what_the_port_promises(mosquitto: Mosquitto, quiet: None) -> None:
    await mosquitto.start()
    message = Message(topic="a/b", payload=b"\x00\xff", expiry=60, response_topic="r/1", correlation=b"\x01\x02")
    async with fabric(mosquitto.port).connect("n0-a", WILL) as link:
        await link.subscribe(["a/#", "b"])
        await link.publish(message)
        assert await first(link) == message
        assert find_socket(link).getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


async def test_retained_and_unacknowledged_messages(mosquitto: Mosquitto, quiet: None) -> None:
    await mosquitto.start()
    async with fabric(mosquitto.port).connect("n0-a", WILL) as link:
        await link.publish(Message(topic="a", payload=b"1", retain=True))
        await link.publish(Message(topic="b", payload=b"2", qos=0))
        await link.subscribe(["a"])
        assert await first(link) == Message(topic="a", payload=b"1", retain=True)


async def test_what_was_subscribed_to_can_be_ended(mosquitto: Mosquitto, quiet: None) -> None:
    await mosquitto.start()
    async with fabric(mosquitto.port).connect("n0-a", WILL) as link:
        await link.subscribe(["a/+", "b"])
        await link.unsubscribe(["a/+", "never"])
        await link.publish(Message(topic="a/1", payload=b"1"))
        await link.publish(Message(topic="b", payload=b"2"))
        assert (await first(link)).topic == "b"


async def test_the_will_is_for_a_link_that_breaks_not_for_one_that_is_left(mosquitto: Mosquitto) -> None:
    await mosquitto.start()
    async with fabric(mosquitto.port).connect("watch", WILL) as watch:
        await watch.subscribe(["will/#", "end"])
        async with fabric(mosquitto.port).connect("n0-a", WILL):
            pass
        await watch.publish(Message(topic="end", payload=b""))
        assert (await first(watch)).topic == "end"
        async with fabric(mosquitto.port).connect("n0-a", WILL) as link:
            link._client.abandon()
            assert (await first(watch)).payload == b"offline"


async def test_the_broker_keeps_the_session_of_a_link_that_broke_and_forgets_that_of_one_left_in_order(mosquitto: Mosquitto) -> None:
    await mosquitto.start()
    ours = fabric(mosquitto.port)
    async with ours.connect("n0-a", WILL) as link:
        await link.subscribe(["command/n0"])
        await _break(link)
    async with fabric(mosquitto.port).connect("other", WILL) as other:
        await other.publish(Message(topic="command/n0", payload=b"meanwhile"))
        async with ours.connect("n0-a", WILL) as link:
            assert (await first(link)).payload == b"meanwhile"
        await other.publish(Message(topic="command/n0", payload=b"after it was left in order"))
    async with ours.connect("n0-a", WILL) as link:
        await link.subscribe(["command/n0"])
        await link.publish(Message(topic="command/n0", payload=b"now"))
        assert (await first(link)).payload == b"now"


async def _break(link: AiomqttLink) -> None:
    """As a network does that ends."""
    find_socket(link).shutdown(socket.SHUT_RDWR)
    with pytest.raises(SessionError):
        await first(link)


async def test_what_is_of_the_moment_comes_in_order_and_with_its_expiry(mosquitto: Mosquitto, quiet: None) -> None:
    await mosquitto.start()
    async with fabric(mosquitto.port).connect("n0-a", WILL) as link:
        await link.subscribe(["+/beat", "rest"])
        for number in range(100):
            await link.publish(Message(topic=f"{number}/beat", payload=b"%d" % number, expiry=60))
            await link.publish(Message(topic="rest", payload=b"%d" % number, response_topic="r"))
        stream = link.messages().__aiter__()
        async with asyncio.timeout(10):
            got = [await anext(stream) for _ in range(200)]
    beat = next(one for one in got if one.qos == 0)
    assert beat == Message(topic="0/beat", payload=b"0", qos=0, expiry=beat.expiry)
    assert 0 < beat.expiry <= 60
    for qos in (0, 1):
        assert [one.payload for one in got if one.qos == qos] == [b"%d" % number for number in range(100)]


async def test_of_what_is_of_the_moment_and_nobody_takes_the_oldest_goes(mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supernoded.cluster.link.client.MOST_BYTES", 5)
    await mosquitto.start()
    async with fabric(mosquitto.port).connect("n0-a", WILL) as link:
        await link.subscribe(["a/beat", "end"])
        for number in range(10):
            await link.publish(Message(topic="a/beat", payload=b"%d" % number))
        await link.publish(Message(topic="end", payload=b""))
        stream = link.messages().__aiter__()
        async with asyncio.timeout(10):
            while link._client.outdated < 5:
                await asyncio.sleep(0.01)
            got = [(await anext(stream)).payload for _ in range(6)]
    assert sorted(got) == [b"", b"5", b"6", b"7", b"8", b"9"]


async def test_what_nobody_takes_is_discarded_beyond_a_bound_and_said_once(
    mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("supernoded.cluster.link.mqtt.MAX_INCOMING", 5)
    await mosquitto.start()
    async with fabric(mosquitto.port).connect("n0-a", WILL) as link:
        await link.subscribe(["a"])
        for number in range(10):
            await link.publish(Message(topic="a", payload=b"%d" % number))
        async with asyncio.timeout(10):
            while link._client.discarded < 5:
                await asyncio.sleep(0.01)
        assert [(await first(link)).payload for _ in range(5)] == [b"%d" % number for number in range(5)]
    said = [record.getMessage() for record in caplog.records]
    assert said == ["more than 5 messages wait for their handlers: what comes now is discarded"]


async def test_many_at_once_keep_their_order_and_the_brokers_window(mosquitto: Mosquitto, quiet: None) -> None:
    mosquitto.lines = ["max_inflight_messages 3"]  # told to clients as Receive Maximum; one that sends more is thrown out
    await mosquitto.start()
    async with fabric(mosquitto.port).connect("n0-a", WILL) as link:
        await link.subscribe(["a"])
        await asyncio.gather(*(link.publish(Message(topic="a", payload=b"%d" % number)) for number in range(200)))
        stream = link.messages().__aiter__()
        async with asyncio.timeout(10):
            got = [(await anext(stream)).payload for _ in range(200)]
    assert got == [b"%d" % number for number in range(200)]


# Refusals of one message or filter


async def test_a_topic_that_the_access_list_denies(mosquitto: Mosquitto, quiet: None) -> None:
    mosquitto.lines = [f"acl_file {mosquitto.write('acl', 'topic readwrite allowed/#')}"]
    await mosquitto.start()
    async with fabric(mosquitto.port).connect("n0-a", WILL) as link:
        with pytest.raises(PublishDeniedError) as caught:
            await link.publish(Message(topic="node/n1/event", payload=b"x"))
        text = str(caught.value)
        assert f"broker 127.0.0.1:{mosquitto.port} refuses node/n1/event: Not authorized (0x87)" in text
        assert "access list" in text
        await link.publish(Message(topic="allowed/x", payload=b"y"))


async def test_a_filter_that_is_denied(quiet: None) -> None:
    async with peer([CONNACK, b"\x90\x05??\x00\x01\x87"]) as port, fabric(port).connect("n0-a", WILL) as link:
        with pytest.raises(SubscribeDeniedError, match=r"refuses to let us hear command/n1: Not authorized \(0x87\).*access list"):
            await link.subscribe(["node/n0/beat", "command/n1"])


async def test_a_quota_is_the_links_trouble_not_the_messages(quiet: None) -> None:
    async with peer([CONNACK, b"\x40\x04??\x97\x00"]) as port, fabric(port).connect("n0-a", WILL) as link:
        with pytest.raises(SessionError, match="cannot take a now: Quota exceeded") as caught:
            await link.publish(Message(topic="a", payload=b"x"))
        assert not isinstance(caught.value, PublishDeniedError)


async def test_a_packet_larger_than_the_broker_takes_is_not_sent(quiet: None) -> None:
    connack = b"\x20\x08\x00\x00\x05\x27\x00\x00\x04\x00"  # maximum packet size 1024
    async with peer([connack, b"\x40\x02??"]) as port, fabric(port).connect("n0-a", WILL) as link:
        with pytest.raises(PublishDeniedError, match="takes 1024"):
            await link.publish(Message(topic="a", payload=b"x" * 1024))
        await link.publish(Message(topic="a", payload=b"x" * 100))


# Refusals of the link


async def test_wrong_password_and_unknown_user(mosquitto: Mosquitto, tmp_path: Path, quiet: None) -> None:
    mosquitto.lines = ["allow_anonymous false", f"password_file {mosquitto.password_file(n0='right')}"]
    await mosquitto.start()
    secret = tmp_path / "secret"
    secret.write_text("wrong\n")
    broker = fabric(mosquitto.port, username="n0", password_file=str(secret))
    assert "mqtt.username" in await refusal(broker)
    assert "mqtt.username" in await refusal(fabric(mosquitto.port))
    secret.write_text("right\n")
    async with broker.connect("n0-a", WILL) as link:
        await link.publish(Message(topic="a", payload=b"x"))


async def test_a_password_file_that_is_not_there(quiet: None) -> None:
    assert "mqtt.password_file: /nowhere/secret cannot be read" in await refusal(fabric(1, username="n0", password_file="/nowhere/secret"))


async def test_a_client_id_that_is_rejected(mosquitto: Mosquitto, quiet: None) -> None:
    mosquitto.lines = ["clientid_prefixes node-"]
    await mosquitto.start()
    assert "refuses the link" in await refusal(fabric(mosquitto.port))
    async with peer([b"\x20\x03\x00\x85\x00"], close=True) as port:
        assert "rejects the client id" in await refusal(fabric(port))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"\x20\x03\x00\x84\x00", "does not speak MQTT 5"),
        (b"\x20\x03\x00\x86\x00", "bad user name or password"),
        (b"\x20\x03\x00\x88\x00", "not available"),
        (b"\x20\x02\x00\x01", "MQTT 5"),  # the answer of an MQTT 3 broker: unacceptable protocol version
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "MQTT 5 broker"),
        (b"", "MQTT 5 broker"),
    ],
)
async def test_answers_that_are_none(answer: bytes, words: str, quiet: None) -> None:
    async with peer([answer], close=True) as port:
        assert words in await refusal(fabric(port))


async def test_nobody_there(quiet: None) -> None:
    port = free_port()
    assert (
        await refusal(fabric(port)) == f"broker 127.0.0.1:{port}: nobody listens there: start the broker, or check mqtt.host and mqtt.port"
    )


async def test_a_host_without_address(quiet: None) -> None:
    nowhere = AiomqttFabric("no-such-host.invalid", 1883, LOG)
    assert "the host name cannot be resolved" in await refusal(nowhere)


async def test_a_broker_that_takes_the_connection_and_never_answers(quiet: None) -> None:
    async with peer([]) as port:
        began = time.monotonic()
        assert "no answer within 0.3 s" in await refusal(fabric(port, timeout=0.3))
        assert time.monotonic() - began < 10  # bounded; the default of the library is 10 s for each step


async def test_an_order_to_stop_while_connecting_leaves_no_socket(quiet: None) -> None:
    async with peer([]) as port:
        attempt = asyncio.create_task(refusal(fabric(port, timeout=30.0)))
        client = await _socket_to(port)
        attempt.cancel()
        await asyncio.gather(attempt, return_exceptions=True)
        async with asyncio.timeout(10):
            while client in await _sockets():
                await asyncio.sleep(0.01)
        assert client not in await _sockets()


async def _sockets() -> set[str]:
    text = await asyncio.to_thread(Path("/proc/net/tcp").read_text)
    lines = [line.split() for line in text.splitlines()[1:]]
    return {line[1] for line in lines if line[3] == "01"}


async def _socket_to(port: int) -> str:
    """The local end of the one established connection to `port`."""
    async with asyncio.timeout(10):
        while True:
            text = await asyncio.to_thread(Path("/proc/net/tcp").read_text)
            for line in map(str.split, text.splitlines()[1:]):
                if line[2].endswith(f":{port:04X}") and line[3] == "01":
                    return line[1]
            await asyncio.sleep(0.01)


# The link is lost


async def test_a_broker_that_stops_answering_ends_publish_in_time(quiet: None) -> None:
    async with peer([CONNACK]) as port, fabric(port, timeout=0.3).connect("n0-a", WILL) as link:
        with pytest.raises(SessionError, match=r"no answer within 0.3 s: it hangs, or the network does"):
            await link.publish(Message(topic="a", payload=b"x"))


async def test_a_lost_link_ends_a_publish_at_once_and_the_messages(mosquitto: Mosquitto, quiet: None) -> None:
    async with peer([CONNACK, b""], close=True) as port, fabric(port, timeout=30.0).connect("n0-a", WILL) as link:
        with pytest.raises(SessionError, match="ended the link"):
            await link.publish(Message(topic="a", payload=b"x"))
        with pytest.raises(SessionError, match="ended the link"):
            await first(link)
        with pytest.raises(SessionError):
            await link.subscribe(["a"])


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (b"\x8e", r"Session taken over \(0x8E\): another client has"),
        (b"\x8b", r"Server shutting down \(0x8B\)"),
        (b"\xa2", "the connection broke"),
    ],
)
async def test_the_broker_says_why_it_ends_the_link(code: bytes, words: str, quiet: None) -> None:
    async with peer([CONNACK, b"\xe0\x01" + code], close=True) as port, fabric(port).connect("n0-a", WILL) as link:
        with pytest.raises(SessionError, match=f"ended the link: {words}"):
            await link.publish(Message(topic="a", payload=b"x"))


async def test_a_client_of_the_same_id_takes_the_link_over(mosquitto: Mosquitto, quiet: None) -> None:
    await mosquitto.start()
    one, other = (fabric(mosquitto.port).connect("same", WILL) for _ in range(2))
    async with one as link, other as last:
        with pytest.raises(SessionError, match="ended the link"):
            await first(link)
        await last.publish(Message(topic="a", payload=b"x"))


async def test_malformed_bytes_end_the_link_and_nothing_else(quiet: None) -> None:
    async with peer([CONNACK, b"\x31\x03\x00\xff\xff"]) as port, fabric(port).connect("n0-a", WILL) as link:
        with pytest.raises(SessionError):
            await link.publish(Message(topic="a", payload=b"x"))
