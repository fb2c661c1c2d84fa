"""The loop in virtual time: what is seen on the lines, and what goes out on them."""

from __future__ import annotations

from itertools import cycle, pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.reflex.frames import has_right_crc, seal
from supernoded.reflex.standing import describe
from supernoded.settings.reflex import Contact
from supernoded.wire.reflex import Loan, Returned
from tests.unit.reflex.worlds import SHED, World, answer_with, make_contacts, make_registers

READ_TWENTY = seal(bytes.fromhex("07 03 0000 0014"))


def list_states(world: World) -> dict[str, str]:
    return {standing.line: standing.state for standing in describe(world.bridge, world.now).lines}


def list_sheds(world: World) -> dict[str, int]:
    return {name: len(port.list_sheds()) for name, port in world.ports.items() if port.list_sheds()}


def test_both_registers_fire_on_every_line_within_the_deadline() -> None:
    world = make_registers()
    world.ports["upsA"].answer = world.ports["upsB"].answer = answer_with(1)
    begin = world.now
    world.run_until(lambda: bool(world.firings))
    assert list_sheds(world) == {"pduA": 1, "pduB": 1}
    assert max(world.ports[name].list_sheds()[0] for name in ("pduA", "pduB")) - begin <= 0.06
    [firing] = world.firings
    assert (firing.number, firing.feeds, firing.lines) == (1, ("A", "B"), ("pduA", "pduB"))
    assert 0 < firing.age_ms <= 60
    world.run(5)
    assert list_sheds(world) == {"pduA": 1, "pduB": 1}, "standing flags fire once"
    assert set(list_states(world).values()) == {"ok"}


@pytest.mark.parametrize("flagged", ["upsA", "upsB"])
def test_one_register_fires_nothing(flagged: str) -> None:
    world = make_registers()
    world.ports[flagged].answer = answer_with(1)
    world.run(5)
    assert list_sheds(world) == {}


@pytest.mark.parametrize("unknown", [0xFFFF, 0x7FFF, 0x8000])
def test_a_sentinel_is_not_above_anything(unknown: int) -> None:
    world = make_registers()
    world.ports["upsA"].answer = world.ports["upsB"].answer = answer_with(unknown)
    world.run(1)
    assert list_sheds(world) == {}
    assert list_states(world) == {"upsA": "blind", "upsB": "blind", "pduA": "ok", "pduB": "ok"}


def test_a_corrupt_answer_is_no_trigger_and_is_counted() -> None:
    world = make_registers()
    world.ports["upsA"].answer = answer_with(1)
    world.ports["upsB"].answer = lambda request: [(0.003, bytes((*answer_bytes(request, 1)[:-1], 0)))]
    world.run(2)
    assert list_sheds(world) == {}
    line = world.bridge.lines[1]
    assert line.counts["corrupt"] >= 5
    assert world.bridge.registers[1].refused == line.counts["corrupt"] + line.counts["silence"]
    assert list_states(world)["upsB"] == "blind"


def answer_bytes(request: bytes, value: int) -> bytes:
    [(_, data)] = answer_with(value)(request)
    return data


def test_a_late_answer_is_no_trigger_and_none_is_taken_for_the_next_one() -> None:
    world, begin = make_registers(deadline_ms=5000), 1000.51
    world.ports["upsA"].answer = answer_with(1)
    world.ports["upsB"].answer = answer_with(1, after=0.03)
    world.run(4)
    assert list_sheds(world) == {}
    line = world.bridge.lines[1]
    assert line.counts["silence"] >= 5
    assert line.counts["strays"] >= 5 * 7, "what came late belongs to nobody"
    asked = [at for at, _ in world.ports["upsB"].said if at > begin]
    assert min(later - at for at, later in pairwise(asked)) >= 0.3, "it is drained till no answer can come"


def test_a_process_that_was_stopped_refuses_what_it_wakes_up_to() -> None:
    world = make_registers()
    world.ports["upsA"].answer = world.ports["upsB"].answer = answer_with(1)
    world.now += 3.0
    world.run(2.0)
    assert list_sheds(world) == {}
    assert world.bridge.counts["late"] == 1
    assert list_states(world)["pduA"] == "late"


def test_flags_that_stand_at_the_start_are_late() -> None:
    world = make_registers(value=1)
    world.run(1)
    assert (list_sheds(world), world.bridge.counts["late"]) == ({}, 1)


def test_contacts_fire_and_bouncing_ones_do_not() -> None:
    world = make_contacts()
    world.run(0.1)
    world.ports["pduA"].closed.add(Contact.CTS)
    for _ in range(30):
        world.ports["pduB"].closed ^= {Contact.DCD}
        world.run(0.001)
    assert list_sheds(world) == {}
    world.ports["pduB"].closed.add(Contact.DCD)
    world.run(0.01)
    assert list_sheds(world) == {"pduA": 1, "pduB": 1}


def test_the_wrong_input_is_no_trigger() -> None:
    world = make_contacts()
    world.run(0.1)
    for port in world.ports.values():
        port.closed.add(Contact.CTS)
    world.run(1)
    assert list_sheds(world) == {}


def test_a_contact_that_opens_on_trouble() -> None:
    world = make_contacts(released=True)
    for name, contact in (("pduA", Contact.CTS), ("pduB", Contact.DCD)):
        world.ports[name].closed.add(contact)
    world.run(0.1)
    for port in world.ports.values():
        port.closed.clear()
    world.run(0.02)
    assert list_sheds(world) == {"pduA": 1, "pduB": 1}


def test_a_flapping_contact_fires_once_in_the_refractory_time() -> None:
    world = make_contacts()
    world.run(0.1)
    world.ports["pduA"].closed.add(Contact.CTS)
    for _ in range(200):
        world.ports["pduB"].closed ^= {Contact.DCD}
        world.run(0.01)
    assert list_sheds(world) == {"pduA": 1, "pduB": 1}
    assert world.bridge.counts["held"] >= 50
    world.run(30)
    world.ports["pduB"].closed.clear()
    world.run(0.1)
    world.ports["pduB"].closed.add(Contact.DCD)
    world.run(0.1)
    assert list_sheds(world) == {"pduA": 2, "pduB": 2}


def test_without_one_of_the_lines_nothing_is_fired() -> None:
    world = make_registers()
    world.ports["pduB"].broken = True
    world.refused.add("pduB")
    world.run(0.1)
    world.ports["upsA"].answer = world.ports["upsB"].answer = answer_with(1)
    world.run(1)
    assert list_sheds(world) == {}
    assert world.bridge.counts["blind"] == 1
    assert list_states(world)["pduB"] == "blind"


def test_a_lost_line_is_opened_anew() -> None:
    world = make_registers()
    world.ports["upsB"].broken = True
    world.run(0.5)
    world.run(2)
    assert list_states(world)["upsB"] == "ok"
    world.ports["upsA"].answer = world.ports["upsB"].answer = answer_with(1)
    world.run(0.1)
    assert list_sheds(world) == {"pduA": 1, "pduB": 1}


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


def is_an_answer(data: bytes) -> bool:
    return len(data) == 7 and data[:3] == b"\x01\x03\x02" and has_right_crc(data, 7)


@given(st.lists(st.lists(st.tuples(st.floats(0, 0.05), st.binary(min_size=1, max_size=40)), max_size=4), min_size=1, max_size=10))
def test_whatever_a_ups_babbles_it_is_no_trigger(answers: list[list[tuple[float, bytes]]]) -> None:
    world = make_registers(frames=1)
    world.ports["upsA"].answer = answer_with(1)
    script = cycle([[piece for piece in answer if not is_an_answer(piece[1])] for answer in answers])
    world.ports["upsB"].answer = lambda _: next(script)
    world.run(0.5)
    assert list_sheds(world) == {}


def test_a_loss_and_a_return_are_said_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    world = make_registers()
    caplog.clear()
    world.ports["upsB"].broken = True
    world.refused.add("upsB")
    world.run(5)
    assert [record.getMessage() for record in caplog.records] == [
        "line upsB is lost: [Errno 5] Input/output error; nothing is fired without it"
    ]
    world.refused.clear()
    world.run(2)
    assert caplog.messages[1:] == ["line upsB is open on /dev/upsB; it hurries"]
