"""Polls of the daemon on lines of the reflex, in virtual time."""

from __future__ import annotations

import msgspec

from supernoded.reflex.frames import seal
from supernoded.wire.reflex import Loan, Returned
from tests.unit.reflex.worlds import SHED, World, answer_bytes, answer_with, list_sheds, list_states, make_registers

READ_TWENTY = seal(bytes.fromhex("07 03 0000 0014"))


def lend(world: World, line: str, request: bytes, rest_s: float = 0.0) -> list[Returned]:
    told: list[Returned] = []
    lending = next(one for one in world.bridge.lendings if one.line.settings.name == line)
    lending.take(Loan(line=line, request=request, within_s=0.5, rest_s=rest_s), told.append, world.now)
    return told


def test_a_poll_is_lent_and_its_answer_handed_over_whole() -> None:
    world = make_registers(poll_ms=15)
    answer = seal(bytes((7, 3, 40)) + bytes(range(40)))
    world.ports["pduA"].answer = lambda _: [(0.003, answer[:9]), (0.004, answer[9:])]
    told = lend(world, "pduA", READ_TWENTY)
    world.run(0.05)
    assert told == [Returned(came="answer", answer=answer)]
    assert world.bridge.lines[2].counts["lent"] == 1


def test_a_poll_that_does_not_fit_is_refused_with_the_arithmetic() -> None:
    world = make_registers(poll_ms=11)
    [told] = lend(world, "pduA", READ_TWENTY)
    assert told.came == "refused"
    assert told.text.startswith("a poll on pduA may take 11 ms (poll_ms), this one takes 8 bytes at 115200 baud 0.69 ms + silence 1.75 ms")
    assert told.text.endswith("= 12.10 ms")
    world.run(0.1)
    assert READ_TWENTY not in [data for _, data in world.ports["pduA"].said]


def test_a_poll_in_flight_delays_the_shed_and_is_not_talked_into() -> None:
    world = make_registers(poll_ms=15, deadline_ms=80)
    answer = seal(bytes((7, 3, 40)) + bytes(40))
    world.ports["pduA"].answer = lambda _: [(0.009, answer)]
    for name in ("upsA", "upsB"):
        world.ports[name].answer = answer_with(1)
    told: list[Returned] = []
    while not world.firings and not world.ports["pduB"].list_sheds():
        if not told or world.bridge.lines[2].asker is None:
            told = lend(world, "pduA", READ_TWENTY)
        world.bridge.turn()
    world.run_until(lambda: bool(world.firings))
    [shed], [other] = world.ports["pduA"].list_sheds(), world.ports["pduB"].list_sheds()
    asked = max(at for at, data in world.ports["pduA"].said if data == READ_TWENTY and at <= shed)
    assert asked <= other < shed
    assert shed >= asked + 0.009 + 0.00175


def test_no_poll_is_let_in_while_a_feed_is_about_to_be_flagged() -> None:
    world = make_registers(frames=5, poll_ms=15, deadline_ms=500)
    world.ports["upsA"].answer = answer_with(1)
    world.run_until(lambda: world.bridge.registers[0].flag.run == 1)
    told = lend(world, "upsA", READ_TWENTY)
    world.run_until(lambda: world.bridge.registers[0].flag.run == 5)
    assert READ_TWENTY not in [data for _, data in world.ports["upsA"].said]
    world.run_until(lambda: bool(told))
    assert READ_TWENTY in [data for _, data in world.ports["upsA"].said]


def test_the_only_broadcast_of_the_daemon_is_the_shed_and_the_line_rests() -> None:
    world = make_registers(poll_ms=15)
    [told] = lend(world, "pduA", seal(bytes.fromhex("00 05 0001 ff00")), rest_s=0.2)
    assert told.came == "refused"
    assert lend(world, "upsA", SHED, rest_s=0.2)[0].came == "refused", "nothing is shed on that line"
    told_of_shed = lend(world, "pduA", SHED, rest_s=0.2)
    world.run(0.01)
    assert told_of_shed == [Returned(came="sent")]
    lend(world, "pduA", READ_TWENTY)
    world.run(0.5)
    asked = next(at for at, data in world.ports["pduA"].said if data == READ_TWENTY)
    assert asked - world.ports["pduA"].list_sheds()[0] >= 0.2


def test_silence_on_a_loan_is_told_and_drained() -> None:
    world = make_registers(poll_ms=15)
    told = lend(world, "pduA", READ_TWENTY)
    lend(world, "pduA", READ_TWENTY)
    world.run(0.7)
    assert [one.came for one in told] == ["silence"]
    first, second = (at for at, data in world.ports["pduA"].said if data == READ_TWENTY)
    assert second - first >= 0.3


def test_what_has_no_length_of_its_own_ends_with_the_silence() -> None:
    world = make_registers(poll_ms=60, deadline_ms=300)
    answer = seal(bytes.fromhex("07 2b 0e 03 83 00 00 01 80 02 41 42"))
    world.ports["pduA"].answer = lambda _: [(0.003, answer)]
    told = lend(world, "pduA", seal(bytes.fromhex("07 2b 0e 03 00")))
    world.run(0.03)
    assert told == [Returned(came="answer", answer=answer)]


def make_echoing() -> World:
    reflex = make_registers().reflex
    return World(msgspec.structs.replace(reflex, lines=tuple(msgspec.structs.replace(line, echo=True) for line in reflex.lines)))


def test_echo_is_stripped_once_and_a_wrong_one_is_a_collision() -> None:
    world = make_echoing()
    for name in ("upsA", "upsB"):
        world.ports[name].answer = lambda request: [(0.001, request[:3]), (0.0015, request[3:] + answer_bytes(request, 0))]
    world.run(0.6)
    assert list_states(world)["upsA"] == "ok"
    world.ports["upsA"].answer = lambda request: [(0.001, b"\xff" + request[1:] + answer_bytes(request, 1))]
    world.run(1)
    assert world.bridge.lines[0].counts["echo"] >= 2
    assert list_states(world)["upsA"] == "blind"


def test_a_line_rests_after_the_shed() -> None:
    world = make_registers(poll_ms=15)
    for name in ("upsA", "upsB"):
        world.ports[name].answer = answer_with(1)
    world.run_until(lambda: bool(world.firings))
    lend(world, "pduA", READ_TWENTY)
    world.run(0.5)
    [asked] = [at for at, data in world.ports["pduA"].said if data == READ_TWENTY]
    assert asked - world.ports["pduA"].list_sheds()[0] >= 0.2


def test_a_shed_that_a_poll_holds_up_for_too_long_is_not_said() -> None:
    world = make_registers(poll_ms=200)
    world.ports["pduA"].answer = lambda _: [(0.09, seal(bytes((7, 3, 40)) + bytes(40)))]
    world.bridge.lines[2].slack = 0.2
    for name in ("upsA", "upsB"):
        world.ports[name].answer = answer_with(1)
    lend(world, "pduA", READ_TWENTY)
    world.run(1)
    assert list_sheds(world) == {"pduB": 1}
    assert world.bridge.counts["late"] == 1
    assert [firing.lines for firing in world.firings] == [("pduB",)]
