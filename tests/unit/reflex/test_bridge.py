"""The loop in virtual time: what is seen on the lines, and what goes out on them."""

from __future__ import annotations

from itertools import cycle, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.reflex.frames import has_right_crc
from supernoded.reflex.standing import describe
from supernoded.settings.reflex import Contact
from tests.unit.reflex.worlds import answer_bytes, answer_with, list_sheds, list_states, make_contacts, make_registers


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
    states = {standing.line: standing.state for standing in describe(world.bridge, world.now + 600).lines}
    assert states["pduA"] == "ok", "it is shown for ten minutes"


def test_an_answer_that_is_read_too_late_is_none() -> None:
    world = make_registers(deadline_ms=5000)
    line, flag = world.bridge.lines[1], world.bridge.registers[1].flag
    world.ports["upsB"].answer = lambda request: [(0.001, answer_bytes(request, 0)[:3]), (0.004, answer_bytes(request, 0)[3:])]
    world.run_until(lambda: line.asker is not None)
    seen, world.now = flag.seen, world.now + 0.1
    line.hear(world.now)
    assert (line.counts["late"], flag.seen, line.asker) == (1, seen, None)


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


def test_a_contact_must_stay_for_its_debounce() -> None:
    world = make_contacts(debounce_ms=8)
    world.run(0.1)
    world.ports["pduA"].closed.add(Contact.CTS)
    world.ports["pduB"].closed.add(Contact.DCD)
    world.run(0.006)
    world.ports["pduB"].closed.clear()
    world.run(0.1)
    assert list_sheds(world) == {}
    world.ports["pduB"].closed.add(Contact.DCD)
    world.run(0.012)
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
    world.refused.clear()
    world.ports["upsA"].answer = answer_with(0)
    world.run(2)
    world.ports["upsA"].answer = answer_with(1)
    world.run(0.1)
    assert list_sheds(world) == {"pduA": 1, "pduB": 1}, "nothing was fired, so nothing is waited for"


def test_a_lost_line_is_opened_anew() -> None:
    world = make_registers()
    world.ports["upsB"].broken = True
    world.run(0.5)
    world.run(2)
    assert list_states(world)["upsB"] == "ok"
    world.ports["upsA"].answer = world.ports["upsB"].answer = answer_with(1)
    world.run(0.1)
    assert list_sheds(world) == {"pduA": 1, "pduB": 1}


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
