"""The stranger's plugin against its simulated device, with the fixtures that authors are given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

import supernoded_acme
from supernoded.errors import NotHeldError, PluginError, WireError
from supernoded.history import History
from supernoded.model import Action, Incident, Outcome, Result, action_id
from supernoded.plugin import NODE, Case, Effect, Fidelity, Level, Node, Reading, Setpoint, Severity, Source, State, Step, World
from supernoded.testing import Judge, ManualClock, MemoryWires
from supernoded_acme.settings import Settings
from tests.chaos.chiller import Chiller

WIRE = "tcp://127.0.0.1:7100"
SETTINGS = Settings(wire=WIRE, serial="SN-0042")
SUBJECT = "n0/chiller0"


@pytest.fixture
def chiller(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> Chiller:
    device = Chiller(supernoded_clock.now)
    supernoded_wires.stream(WIRE).answer = lambda request: ask(device, request)
    return device


def ask(device: Chiller, request: bytes) -> bytes:
    return f"{device.answer(request.decode().split())}\n".encode()


def make_action(step: Step, now: float) -> Action:
    ident = action_id("i0123456789a", step.name)
    return Action(id=ident, step=step, incident="i0123456789a", scope=NODE, epoch=0, issued=now, deadline=now + step.patience)


def make_case(done: Mapping[str, Result], still_raised: bool = True) -> Case:
    incident = Incident(
        id="i0123456789a",
        kind="x.acme.failing",
        subject=SUBJECT,
        scope=NODE,
        opened=1.0,
        severity=Severity.CRITICAL,
        text="failing\nfor 3 s",
    )
    outcomes = {name: Outcome(action=f"i0123456789a/{name}", result=result, text="", at=2.0) for name, result in done.items()}
    return Case(incident=incident, done=outcomes, still_raised=still_raised)


def next_step(node: Node, case: Case) -> str | None:
    (remedy,) = supernoded_acme.supernoded_remedies(SETTINGS, node)
    step = remedy.next(case, World(topology=node.topology), 3.0)
    return step.name if isinstance(step, Step) else None


async def test_readings(supernoded_node: Node, chiller: Chiller) -> None:
    (sensor,) = supernoded_acme.supernoded_sensors(SETTINGS, supernoded_node)
    readings = {reading.quantity: reading for reading in await sensor.read()}
    assert readings["x.acme.health"].value == "ok"
    assert readings["coolant.supply_temperature"].value == chiller.supply
    assert readings["coolant.pump_speed"].value == 40.0
    chiller.health = "unknown"
    readings = {reading.quantity: reading for reading in await sensor.read()}
    assert (readings["x.acme.health"].state, readings["x.acme.health"].value) == (State.UNKNOWN, None)


async def test_another_device_is_not_taken_for_a_chiller(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    supernoded_wires.stream(WIRE).answer = lambda _: b"220 smtp ready\n"
    (sensor,) = supernoded_acme.supernoded_sensors(SETTINGS, supernoded_node)
    with pytest.raises(WireError, match="is this an Acme chiller"):
        await sensor.read()


def test_without_a_wire_it_hands_in_nothing_that_needs_one(supernoded_node: Node) -> None:
    none = Settings()
    assert not supernoded_acme.supernoded_sensors(none, supernoded_node)
    assert not supernoded_acme.supernoded_actuators(none, supernoded_node)
    assert not supernoded_acme.supernoded_loops(none, supernoded_node)


def test_rule_waits_and_says_unsure_when_blind(supernoded_node: Node, supernoded_judge: Judge) -> None:
    (rule,) = supernoded_acme.supernoded_rules(SETTINGS, supernoded_node)

    def say(health: str | None, at: float) -> Reading:
        state = State.UNKNOWN if health is None else State.GOOD
        return Reading(subject=SUBJECT, quantity="x.acme.health", value=health, unit="text", at=at, state=state)

    said = ["ok", "failing", "failing", None, "failing", "ok"]
    verdicts = supernoded_judge(rule, [say(health, 2.0 * at) for at, health in enumerate(said)])
    assert [v.level for v in verdicts] == [Level.CLEAR, Level.UNSURE, Level.UNSURE, Level.UNSURE, Level.RAISED, Level.CLEAR]
    assert verdicts[3].unseen == ("x.acme.health",)


async def test_remedy_takes_the_chiller_out_once(
    supernoded_node: Node, supernoded_clock: ManualClock, supernoded_wires: MemoryWires, chiller: Chiller
) -> None:
    (remedy,) = supernoded_acme.supernoded_remedies(SETTINGS, supernoded_node)
    (actuator,) = supernoded_acme.supernoded_actuators(SETTINGS, supernoded_node)
    done = dict[str, Result]()
    while step := remedy.next(make_case(done), World(topology=supernoded_node.topology), supernoded_clock.now()):
        assert isinstance(step, Step)
        action = make_action(step, supernoded_clock.now())
        assert (await actuator.observe(action)).effect is Effect.ABSENT
        await actuator.apply(action)
        await supernoded_clock.advance(2.0)
        assert (await actuator.observe(action)).effect is Effect.PRESENT
        done[step.name] = Result.DONE
    assert list(done) == ["note", "save", "fence", "test"]
    assert chiller.counts == {f"i0123456789a/{name}": 1 for name in done}
    assert chiller.fenced
    sent = [request for request in supernoded_wires.stream(WIRE).sent if request.startswith(b"note")]
    assert sent == [b"note i0123456789a/note keep what led to this: failing for 3 s\n"]  # one line, although the reason had two


async def test_what_is_still_running_is_neither_there_nor_absent(
    supernoded_node: Node, supernoded_clock: ManualClock, chiller: Chiller
) -> None:
    (actuator,) = supernoded_acme.supernoded_actuators(SETTINGS, supernoded_node)
    action = make_action(Step(name="save", kind="x.acme.save", target=SUBJECT, reason="r"), supernoded_clock.now())
    await actuator.apply(action)
    assert (await actuator.observe(action)).effect is Effect.UNKNOWN
    await supernoded_clock.advance(2.0)
    assert (await actuator.observe(action)).effect is Effect.PRESENT
    assert chiller.counts == {action.id: 1}


async def test_a_fence_that_somebody_released_is_left_alone(supernoded_node: Node, supernoded_clock: ManualClock, chiller: Chiller) -> None:
    (actuator,) = supernoded_acme.supernoded_actuators(SETTINGS, supernoded_node)
    action = make_action(Step(name="fence", kind="x.acme.fence", target=SUBJECT, reason="r"), supernoded_clock.now())
    await actuator.apply(action)
    chiller.fenced = False
    sight = await actuator.observe(action)
    assert (sight.effect, "somebody else" in sight.text) == (Effect.UNKNOWN, True)


def test_no_fence_without_a_save_and_none_when_it_is_over(supernoded_node: Node) -> None:
    ok, bad = Result.DONE, Result.UNCONFIRMED
    assert next_step(supernoded_node, make_case({"note": bad})) == "save"  # evidence is worth trying, not waiting for
    assert next_step(supernoded_node, make_case({"note": ok, "save": bad})) is None
    assert next_step(supernoded_node, make_case({"note": ok, "save": ok}, still_raised=False)) is None
    assert next_step(supernoded_node, make_case({"note": ok, "save": ok, "fence": ok}, still_raised=False)) == "test"


async def test_nothing_is_sent_without_the_scope(supernoded_node: Node, supernoded_wires: MemoryWires, chiller: Chiller) -> None:
    supernoded_wires.refusals[NODE] = "the lease is gone"
    (actuator,) = supernoded_acme.supernoded_actuators(SETTINGS, supernoded_node)
    with pytest.raises(NotHeldError):
        await actuator.apply(make_action(Step(name="fence", kind="x.acme.fence", target=SUBJECT, reason="r"), 0.0))
    assert not chiller.counts


async def test_pump_is_lent_for_as_long_as_the_setpoint_lives_and_handed_back(
    supernoded_node: Node, supernoded_clock: ManualClock, chiller: Chiller
) -> None:
    (pump,) = supernoded_acme.supernoded_handles(SETTINGS, supernoded_node)
    setpoint = Setpoint(target=pump.target, quantity=pump.quantity, value=55.0, unit="%", until=supernoded_clock.now() + 3.0)
    await pump.put(setpoint, NODE)
    await supernoded_clock.advance(2.9)
    assert ask(chiller, b"get pump\n") == b"pump 55.0 remote\n"
    await supernoded_clock.advance(0.2)
    assert ask(chiller, b"get pump\n") == b"pump 55.0 own\n"
    shown = await pump.now_at()
    assert shown is not None
    assert shown.value == 55.0
    assert (await pump.hand_back(NODE)).effect is Effect.PRESENT
    await supernoded_clock.advance(4.0)
    with pytest.raises(WireError, match="nothing was sent"):
        await pump.put(setpoint, NODE)


def test_loop_starts_where_the_pump_stands_and_lets_go_when_blind(supernoded_node: Node) -> None:
    (loop,) = supernoded_acme.supernoded_loops(SETTINGS, supernoded_node)
    assert loop.start(None).percent == 100.0
    memory = loop.start(Setpoint(target=loop.target, quantity="coolant.pump_speed", value=40.0))
    history, speeds = History(loop.watches), list[float]()
    for at in (1.0, 2.0, 3.0):
        history.add([Reading(subject=SUBJECT, quantity="coolant.supply_temperature", value=23.0, unit="C", at=at)], 2.0)
        memory, setpoint = loop.steer(history.view(at, loop.watches), memory)
        assert setpoint is not None
        assert setpoint.until > at
        speeds.append(setpoint.value)
    assert speeds == [40.0, 42.0, 44.0]
    memory, setpoint = loop.steer(history.view(10.0, loop.watches), memory)  # the last temperature is too old by now
    assert (setpoint, memory.percent) == (None, 44.0)
    assert not supernoded_acme.supernoded_loops(msgspec.structs.replace(SETTINGS, steer=False), supernoded_node)


async def test_check_compares_model_and_serial(supernoded_node: Node, chiller: Chiller) -> None:
    world = World(topology=supernoded_node.topology)
    (check,) = supernoded_acme.supernoded_checks(SETTINGS, supernoded_node)
    assert (await check.check(world)).passed
    chiller.serial = "SN-0007"
    finding = await check.check(world)
    assert (finding.passed, "SN-0007" in finding.fix) == (False, True)


async def test_fault_writes_its_undo_first(supernoded_node: Node, supernoded_wires: MemoryWires, chiller: Chiller) -> None:
    (fault,) = supernoded_acme.supernoded_faults(SETTINGS, supernoded_node)
    assert fault.fidelity("live") is Fidelity.ABSENT
    assert (await fault.manifest()).effect is Effect.ABSENT
    supernoded_wires.stream(WIRE).answer = None
    with pytest.raises(WireError):
        await fault.inject(SUBJECT, fault.parameters())  # type: ignore[arg-type]  # chaos decodes the parameters by their type
    assert supernoded_wires.tree(str(supernoded_node.state)).files
    supernoded_wires.stream(WIRE).answer = lambda request: ask(chiller, request)
    undo = await fault.inject(SUBJECT, fault.parameters())  # type: ignore[arg-type]  # as above
    assert (await fault.manifest()).effect is Effect.PRESENT
    (actuator,) = supernoded_acme.supernoded_actuators(SETTINGS, supernoded_node)
    (way_back,) = undo.steps
    await actuator.apply(make_action(Step(name="undo", kind=way_back["kind"], target=way_back["target"], reason="undo"), 0.0))
    assert (await fault.manifest()).effect is Effect.ABSENT


def test_recorded_answers_are_read_and_a_bad_line_is_named(tmp_path: Path) -> None:
    read = supernoded_acme.supernoded_formats()["acme-log"]
    good = Source(name="a.log", data=b"1.5 supply 21.9\n\n2 health failing\n", at=0.0)
    assert [(r.at, r.value) for r in read(good)] == [(1.5, 21.9), (2.0, "failing")]
    with pytest.raises(PluginError, match=r"a\.log: line 2"):
        list(read(Source(name="a.log", data=b"1 supply 20\nsoon supply 20\n", at=0.0)))
    (tmp_path / "a.log").write_bytes(good.data)
    (command,) = supernoded_acme.supernoded_commands()
    shown = CliRunner().invoke(command, ["decode", str(tmp_path / "a.log")])
    assert (shown.exit_code, shown.output.splitlines()[0]) == (0, "1.5 n0/chiller0 coolant.supply_temperature 21.9 C")


@pytest.mark.parametrize(("supply", "cause"), [(19.0, "wrong word of its own"), (30.0, "no refrigerant"), (None, None)])
def test_why_a_chiller_fails(supernoded_node: Node, supply: float | None, cause: str | None) -> None:
    (diagnosis,) = supernoded_acme.supernoded_diagnoses(SETTINGS, supernoded_node)
    history, state = History(diagnosis.watches), State.GOOD if supply is not None else State.UNKNOWN
    health = Reading(subject=SUBJECT, quantity="x.acme.health", value="failing", unit="text", at=1.0)
    warmth = Reading(subject=SUBJECT, quantity="coolant.supply_temperature", value=supply, unit="C", at=1.0, state=state)
    history.add([health, warmth], 60.0)
    found = diagnosis.diagnose(history.view(2.0, diagnosis.watches), SUBJECT)
    assert [one.name for one in found] == ([cause] if cause else [])
    assert diagnosis.diagnose(history.view(2.0, diagnosis.watches), "n0/fan0") == ()
