"""Nodes that command each other: what is lost, late, repeated, forged, or no longer right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sim_hardware.loop.play import play
from supernoded import settings
from supernoded.cluster import topics
from supernoded.cluster.commands.flood import AT_ONCE
from supernoded.cluster.commands.sealing import seal
from supernoded.cluster.commands.words import Command, Reply, answer_to
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.roles.confirming import answer_holds, confirm
from supernoded.cluster.topics import Sealed
from supernoded.errors import RefusedError, UnansweredError, WireError
from supernoded.pki.certificates import make_revocations, to_pem
from tests.sim.fabric.commanding import Life, Site, until
from tests.unit.cluster.nodekeys import make_issuer, make_seal_key

TO_N1, TO_N0 = topics.command("c0", "n1"), topics.answer("c0", "n0")

Scenario = Callable[[Site, Life, Life], Coroutine[Any, Any, None]]


def run(folder: Path, scenario: Scenario) -> None:
    """Two nodes that are up."""
    site = Site(folder)

    async def main() -> None:
        site.broker.start()
        n0, n1 = site.start("n0"), site.start("n1")
        await site.up(n0, n1)
        await scenario(site, n0, n1)

    play(site.loop, main())
    assert site.loop.failures == []


def test_asked_and_answered(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        replies = [await n0.commander.ask("n1", "do", details={"what": f"{i}"}) for i in range(3)]
        assert [reply.text for reply in replies] == ["done for n0"] * 3
        assert [command.details["what"] for command in n1.done] == ["0", "1", "2"]
        assert [answer for _, answer in await n1.requests()] == ["done"] * 3

    run(tmp_path, scenario)


def test_many_at_once_each_get_their_own_answer(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        n1.roles.held, n1.roles.epochs = ["r7"], {"r7": 3}
        answer_holds(n1.commander, n1.roles)
        answers = await asyncio.gather(*(n0.commander.ask("n1", "holds", details={"role": f"r{i}"}) for i in range(40)))
        assert [i for i, reply in enumerate(answers) if reply.details["vacant"] == "no"] == [7]
        assert await confirm(n0.commander, "r7", "n1") is False
        assert await confirm(n0.commander, "r8", "n1") is True
        site.broker.stop()
        assert await confirm(n0.commander, "r7", "n1") is None

    run(tmp_path, scenario)


def test_a_lost_answer_is_not_a_refusal(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        site.broker.deny(TO_N0)
        with pytest.raises(UnansweredError, match="n1 has not answered `do` within 3 s"):
            await n0.commander.ask("n1", "do")
        assert len(n1.done) == 1
        site.broker.allow(TO_N0)
        await n0.commander.ask("n1", "do")
        assert len(n1.done) == 2

    run(tmp_path, scenario)


def test_refused_and_failed_are_told_apart(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        with pytest.raises(RefusedError, match="n1: the hold is missing"):
            await n0.commander.ask("n1", "fail", details={"how": "refuse"})
        for how, words in (("break", "n1: the line is cut"), ("", "a slip of the hand")):
            with pytest.raises(WireError, match=words) as caught:
                await n0.commander.ask("n1", "fail", details={"how": how})
            assert not isinstance(caught.value, RefusedError)
        with pytest.raises(RefusedError, match="knows no command `dance`"):
            await n0.commander.ask("n1", "dance")

    run(tmp_path, scenario)


def test_late_answers_are_dropped(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        with pytest.raises(WireError):
            await n0.commander.ask("n1", "wait", within=1.0)
        await until(lambda: n0.commander.late == 1)
        await n0.commander.ask("n1", "do")

    run(tmp_path, scenario)


def test_replays_are_done_once_over_lives_of_the_receiver(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        taped: list[Message] = []
        tap = site.loop.spawn("tap", lambda: site.tap(TO_N1, taped))
        await asyncio.sleep(0.5)
        for _ in range(2):
            await n0.commander.ask("n1", "do", within=60.0)
        await site.inject(*taped[:2])
        await asyncio.sleep(1.0)
        assert len(n1.done) == 2
        assert n0.commander.late == 0  # delivered again by a broker, it is let pass in silence
        again = site.restart(n1)
        await site.up(again)
        await site.inject(*taped[:2])
        await until(lambda: n0.commander.late == 2)
        assert again.done == []
        answers = [answer for _, answer in await again.requests()]
        assert "is not above" in answers[-1]
        assert "`supernodectl pki rotate n0` begins anew" in answers[-1]
        await n0.commander.ask("n1", "do")
        assert len(again.done) == 1
        site.loop.kill(tap)

    run(tmp_path, scenario)


def test_a_broker_that_dies_with_an_answer_under_way(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        for pause in (0.0, 0.001, 0.002, 0.003, 0.005):
            done = len(n1.done)
            asking = asyncio.ensure_future(n0.commander.ask("n1", "do", within=2.0))
            await asyncio.sleep(pause)
            site.broker.stop()
            await asyncio.sleep(0.5)
            site.broker.start()
            await asyncio.wait([asking])
            await site.up(n0, n1)
            assert len(n1.done) - done <= 1
            if asking.exception() is None:
                assert len(n1.done) - done == 1
        await n0.commander.ask("n1", "do")

    run(tmp_path, scenario)


def test_clocks(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        for jump in (-1.9, 1.9):
            n1.clock.jump = jump
            await n0.commander.ask("n1", "do")
        n1.clock.jump = 600.0
        with pytest.raises(RefusedError, match=r"it ran out 597.0 s ago: n0's clock said .*, this node's says .*; the link was slow, or"):
            await n0.commander.ask("n1", "do")
        n1.clock.jump = -600.0
        with pytest.raises(RefusedError, match=r"issued 600.0 s in the future: n0's clock said"):
            await n0.commander.ask("n1", "do")
        assert len(n1.done) == 2
        assert len([answer for _, answer in await n1.requests() if answer.startswith("refused")]) == 2

    run(tmp_path, scenario)


def test_a_clock_set_back_over_lives_of_the_sender(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        await n0.commander.ask("n1", "do")
        for node in (n0, n1):  # the whole site, so that nothing is refused for its time
            node.clock.jump = -86_400.0 / 48  # no further than the certificates allow
        again = site.restart(n0)
        await site.up(again)
        await again.commander.ask("n1", "do")
        assert n1.done[1].number > n1.done[0].number

    run(tmp_path, scenario)


def test_a_sender_whose_journal_is_lost_and_whose_clock_was_set_back(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        await n0.commander.ask("n1", "do")
        for node in (n0, n1):
            node.clock.jump = -1000.0
        site.loop.kill(n0.process)
        for file in tmp_path.glob("n0.db*"):
            file.unlink()
        again = site.start("n0", "life2")
        await site.up(again)
        with pytest.raises(
            WireError, match=r"is not above .* a sender whose journal was lost; then `supernodectl pki rotate n0`"
        ) as caught:
            await again.commander.ask("n1", "do")
        assert not isinstance(caught.value, RefusedError)
        assert len(n1.done) == 1

    run(tmp_path, scenario)


@pytest.mark.parametrize("cut_off", ["n0", "n1"])
def test_a_partition(tmp_path: Path, cut_off: str) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        net = site.broker.net
        net.partition(cut_off, "broker")
        with pytest.raises(WireError):
            await n0.commander.ask("n1", "do")
        await asyncio.sleep(30.0)
        net.heal(cut_off, "broker")
        await site.up(n0, n1)
        await asyncio.sleep(5.0)
        assert n1.done == []  # what was under way is too old by now
        await n0.commander.ask("n1", "do")
        assert len(n1.done) == 1

    run(tmp_path, scenario)


def test_no_link(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        site.broker.stop()
        await until(lambda: not n0.session.state.connected)
        with pytest.raises(WireError, match="n1 cannot be asked: no link to the broker"):
            await n0.commander.ask("n1", "do")

    run(tmp_path, scenario)


def test_no_keys(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        bare = site.start("n2", table=settings.Keys())
        await site.up(bare)
        with pytest.raises(WireError, match=r"n1 cannot be asked: this node has no key to sign with; `supernodectl pki issue n2`"):
            await bare.commander.ask("n1", "do")
        with pytest.raises(UnansweredError):
            await n0.commander.ask("n2", "do")
        assert bare.session.counts.refused == 1
        assert bare.done == []

    run(tmp_path, scenario)


def test_what_a_node_asks_itself_needs_neither_key_nor_broker(tmp_path: Path) -> None:
    site = Site(tmp_path)

    async def scenario() -> None:
        alone = site.start("n2", table=settings.Keys())
        assert (await alone.commander.ask("n2", "do")).text == "done for n2"
        with pytest.raises(RefusedError, match="knows no command"):
            await alone.commander.ask("n2", "dance")

    play(site.loop, scenario())


def test_unsigned_and_garbage_are_counted_and_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        forged = seal('{"type":"command"}', make_seal_key("n0", make_issuer("c9", site.loop.wall()), site.loop.wall()), "life1", 0.0)
        payloads = [
            b"",
            b"\xff",
            b"{}",
            topics.encode(forged),
            topics.encode(Sealed(node="n0", life="", at=0.0, body="", signature="", certificate="")),
        ]
        await site.inject(*(Message(topic=TO_N1, payload=payload, response_topic=TO_N0) for payload in payloads))
        await until(lambda: n1.session.counts.refused == len(payloads))
        assert n1.done == []
        assert await n1.requests() == []
        assert len([text for text in caplog.messages if TO_N1 in text]) == 1
        await n0.commander.ask("n1", "do")

    run(tmp_path, scenario)


def test_no_node_uses_up_the_ids_of_another(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        await site.inject(site.command(to="n1", response_topic=topics.answer("c0", "n2"), sender="n2"))
        await until(lambda: n1.done)
        await site.inject(site.command(to="n1", response_topic=TO_N0))
        await until(lambda: len(n1.done) == 2)
        assert [(command.sender, command.id) for command in n1.done] == [("n2", "n0/0"), ("n0", "n0/0")]

    run(tmp_path, scenario)


def test_a_good_signature_on_something_else_is_journalled(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        odd = seal("[]", make_seal_key("n0", site.issuer, site.loop.wall()), "life1", site.loop.wall())
        await site.inject(Message(topic=TO_N1, payload=topics.encode(odd), response_topic=TO_N0))
        await until(lambda: n1.session.counts.refused == 1)
        ((verb, answer),) = await n1.requests()
        assert verb == "command ? of n0"
        assert "refused: n0 has sealed something that is no command" in answer

    run(tmp_path, scenario)


def test_a_revoked_node_is_refused_and_journalled(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        await n0.commander.ask("n1", "do")
        own = n0.keyring.keys.own
        assert own is not None
        names = ("key_file", "certificate_file", "ca_file")
        files = {name: tmp_path / file for name, file in zip(names, ("n1.key", "n1.crt", "ca.crt"), strict=True)}
        crl = tmp_path / "crl.pem"
        crl.write_text(to_pem(make_revocations({own.identity.serial: site.loop.wall()}, site.issuer, site.loop.wall(), 365.0)))
        again = site.restart(n1, table=settings.Keys(**files, revoked_file=crl))
        await site.up(again)
        with pytest.raises(UnansweredError):
            await n0.commander.ask("n1", "do")
        assert again.done == []
        ((verb, answer),) = await again.requests()
        assert (verb, "has been revoked" in answer) == ("command ? of n0", True)

    run(tmp_path, scenario)


def test_an_answer_that_is_to_go_elsewhere(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        await site.inject(site.command(to="n1", response_topic=topics.answer("c0", "n9")))
        await until(lambda: n1.session.state.connected)
        await asyncio.sleep(1.0)
        assert n1.done == []
        ((verb, answer),) = await n1.requests()
        assert (verb, "its answer is to go to" in answer) == ("command do of n0", True)
        await site.inject(site.command(to="n1", response_topic=TO_N0))
        await until(lambda: n1.done)

    run(tmp_path, scenario)


def test_a_command_of_another_cluster_or_to_another_node(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        for number, (to, cluster) in enumerate([("n2", "c0"), ("n1", "c9"), ("n1", "c0")]):
            sealed = site.command(to=to, cluster=cluster, response_topic=TO_N0, number=number)
            await site.inject(msgspec.structs.replace(sealed, topic=TO_N1))
        await until(lambda: n1.done)
        assert [command.number for command in n1.done] == [2]
        assert sum("this is n1 of c0" in answer for _, answer in await n1.requests()) == 2

    run(tmp_path, scenario)


def test_answers_of_another_node_are_none(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        n2 = site.start("n2")
        await site.up(n2)
        asking = asyncio.ensure_future(n0.commander.ask("n1", "wait"))
        await until(lambda: n1.done)
        own = n2.keyring.keys.own
        assert own is not None
        body = msgspec.json.encode({"type": "reply", "command": n1.done[0].id, "node": "n2", "ok": True}).decode()
        await site.inject(Message(topic=TO_N0, payload=topics.encode(seal(body, own, "life1", site.loop.wall()))))
        await until(lambda: n0.session.counts.refused == 1)
        n1.hold_up.set()
        assert (await asking).node == "n1"

    run(tmp_path, scenario)


def test_who_holds_the_scope(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        n1.roles.roles, n1.roles.epochs = {"spares": "n5"}, {"spares": 4}
        with pytest.raises(RefusedError, match="spares is held by n5 at epoch 4, not by n0"):
            await n0.commander.ask("n1", "do", scope="spares", epoch=4)
        await n0.commander.ask("n1", "do", scope="spares", epoch=6)  # it has got it since
        n1.roles.roles = {}
        with pytest.raises(RefusedError, match="spares is at epoch 6, the command is of epoch 5"):
            await n0.commander.ask("n1", "do", scope="spares", epoch=5)
        await n0.commander.ask("n1", "do", scope="fleet", epoch=1)  # nobody is known to have it
        assert [command.epoch for command in n1.done] == [6, 1]
        answers = [answer for _, answer in await n1.requests()]
        assert answers[-1] == "done; nobody is known here to have fleet, so its sender was believed"

    run(tmp_path, scenario)


def test_a_fixed_seat_is_its_holders_whatever_another_claims(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        n1.roles.roles = {"spares": "n5", "fleet": "n0"}
        with pytest.raises(RefusedError, match="spares is given to n5 by the settings, not to n0"):
            await n0.commander.ask("n1", "do", scope="spares", epoch=7)
        await n0.commander.ask("n1", "do", scope="fleet")
        assert [command.scope for command in n1.done] == ["fleet"]

    run(tmp_path, scenario)


def test_a_journal_that_takes_nothing_lets_nothing_be_changed(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        await n1.journal.close()
        with pytest.raises(WireError, match="it is not known which commands were taken before") as caught:
            await n0.commander.ask("n1", "do")
        assert not isinstance(caught.value, RefusedError)
        assert n1.done == []
        await n0.commander.ask("n1", "look")
        assert len(n1.done) == 1
        await n0.journal.close()
        await n0.commander.ask("n1", "look")  # of the numbers that are reserved
        assert len(n1.done) == 2

    run(tmp_path, scenario)


def test_a_flood_is_dropped_and_ends(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        asked = [asyncio.ensure_future(n0.commander.ask("n1", "look", within=1.0)) for _ in range(3 * AT_ONCE)]
        await asyncio.wait(asked)
        lost = sum(isinstance(one.exception(), UnansweredError) for one in asked)
        assert len(n1.done) == 3 * AT_ONCE - lost
        assert lost > AT_ONCE
        assert len([text for text in caplog.messages if "n0 sends more than 50 commands a second" in text]) == 1
        assert [verb for verb, answer in await n1.requests() if "some are dropped" in answer] == ["command ? of n0"]
        await asyncio.sleep(2.0)
        await n0.commander.ask("n1", "look")

    run(tmp_path, scenario)


def test_an_answer_that_is_too_long_is_a_failure(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        async def boast(command: Command) -> Reply:
            return answer_to(command, "x" * topics.MAX_PAYLOAD)

        n1.commander.serve("boast", boast)
        with pytest.raises(WireError, match=f"it cannot be sent: a Sealed of .* bytes is more than the {topics.MAX_PAYLOAD}"):
            await n0.commander.ask("n1", "boast")
        with pytest.raises(WireError, match="it cannot be sent"):
            await n0.commander.ask("n1", "do", details={"what": "x" * topics.MAX_PAYLOAD})
        await n0.commander.ask("n1", "do")

    run(tmp_path, scenario)


def test_an_order_that_hangs_ends_with_its_command(tmp_path: Path) -> None:
    async def scenario(site: Site, n0: Life, n1: Life) -> None:
        asked = [asyncio.ensure_future(n0.commander.ask("n1", "wait", within=2.0)) for _ in range(80)]
        await until(lambda: len(n1.done) == 80)
        await n0.commander.ask("n1", "do")  # the others are in nobody's way
        await asyncio.wait(asked)
        assert all(isinstance(one.exception(), WireError) for one in asked)

    run(tmp_path, scenario)
