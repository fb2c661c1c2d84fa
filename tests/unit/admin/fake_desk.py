"""A daemon's desk that says what a test wants, and a server for it in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from supernoded.admin.access import Access, Gate
from supernoded.admin.desk import Caller, Request
from supernoded.admin.listening import listen_unix
from supernoded.admin.server import Bounds, serve_admin
from supernoded.errors import AdminError, NotFoundError, SupernodedError
from supernoded.messages import (
    ActionFilter,
    Actions,
    BreakerReset,
    BreakerRow,
    Breakers,
    BreakerWasReset,
    CardDone,
    CardFilter,
    CardRow,
    Cards,
    CardTested,
    CheckpointAsk,
    Deed,
    Diagnosed,
    EventFilter,
    Events,
    Filter,
    Handed,
    HandOrder,
    Health,
    HoldFilter,
    Holds,
    IncidentFilter,
    Incidents,
    IsolateAsk,
    JobRow,
    Jobs,
    JournalCondition,
    LeftOut,
    LiftAsk,
    Link,
    Links,
    ModeChanged,
    Modes,
    Moment,
    NodeRow,
    Nodes,
    Part,
    Plugin,
    Plugins,
    PolicyMode,
    Power,
    RankMap,
    RankPlace,
    RankRow,
    ReadingFilter,
    Readings,
    Rehearsed,
    ReleaseAsk,
    Requested,
    RequestRow,
    Role,
    SensorCondition,
    SessionCondition,
    Status,
    Story,
    Strip,
    Supply,
    TestAsk,
    Thermal,
    ThermalHistory,
    ThermalHistoryFilter,
    Timeline,
)
from supernoded.model import Action, Cause, Event, Hold, Incident, Level, Mode, Outcome, Reading, Result, Severity, State, Step, Verdict
from tests.unit.admin.fake_heat import HISTORY, THERMAL

NOW = 1_800_000_000.0
LONG_SENTENCE = "n0/card3/port0 has a post-FEC bit error rate of 3.2e-10, above the limit of 1e-12, for 45 s " + "and so on " * 20
INCIDENT = Incident(
    id="i0123456789a",
    kind="link.ber",
    subject="n0/card3/port0",
    scope="node",
    opened=NOW - 125,
    severity=Severity.CRITICAL,
    text=LONG_SENTENCE.strip(),
)
EVENT = Event(
    id="e0",
    kind="link.ber",
    subject="n0/card3/port0",
    scope="node",
    raised=True,
    text="rate is 3.2e-10",
    at=NOW - 125,
    severity=Severity.CRITICAL,
    incident=INCIDENT.id,
)
STEP = Step(name="isolate", kind="card.isolate", target="n0/card3", reason="its link corrupts data")
ACTION = Action(
    id=f"{INCIDENT.id}/isolate",
    step=STEP,
    incident=INCIDENT.id,
    scope="node",
    epoch=0,
    issued=NOW - 100,
    deadline=NOW - 90,
    policy="link_ber",
)
REHEARSED = Deed(action=ACTION, rehearsed=True)
DONE = Deed(action=ACTION, outcome=Outcome(action=ACTION.id, result=Result.DONE, text="it is out", at=NOW - 99))
HOLD = Hold(id="h1", subject="n0/card5", serial="SN0005", reason="replaced fibre", owner="alice", placed=NOW - 4000, expires=NOW + 7200)
CARDS = (
    CardRow(subject="n0/card0", serial="SN0000", state="in service", ranks=("job/train/rank0",), temperature=61.0, health=("OK",)),
    CardRow(
        subject="n0/card5",
        serial="SN0005",
        state="isolated",
        text="alice holds it: replaced fibre",
        temperature=38.0,
        health=("OK",),
        holds=("h1",),
    ),
)
READINGS = (
    Reading(subject="n0/card3/port0", quantity="link.symbol_errors", value=12345678.0, unit="1", at=NOW - 2),
    Reading(
        subject="n0/card3/port0", quantity="link.fec.corrected", value=None, unit="1", at=NOW - 2, state=State.UNKNOWN, note="saturated"
    ),
    Reading(subject="ups/A", quantity="ups.status", value=frozenset({"OL", "CHRG"}), unit="flags", at=NOW - 30, state=State.STALE),
)
STATUS = Status(
    now=NOW,
    node="n0",
    cluster="lab",
    version="0.1.0",
    pid=4711,
    started=NOW - 3700,
    ready=True,
    troubles=("1 of 2 sensors fails",),
    mode=Mode.OBSERVE,
    modes={"link_ber": Mode.OBSERVE, "thermal": Mode.ACT},
    sensors=(
        SensorCondition(name="host.load", scope="node", since=NOW - 3700),
        SensorCondition(name="fabric.ib", scope="node", since=NOW - 61, reason="/sys/class/infiniband: no such folder"),
    ),
    readings={"good": 42, "unknown": 3},
    journal=JournalCondition(place="/var/lib/supernoded/journal.db", size=3 * 2**20),
    session=SessionCondition(broker="127.0.0.1:1883", connected=False, since=NOW - 10, reason="connection refused", outbox=7),
    roles=(Role(name="cdu/cdu0", epoch=3, since=NOW - 600),),
    open_incidents={"critical": 1, "warning": 2},
    newest_incidents=(INCIDENT,),
    holds=1,
    left_out=(LeftOut(name="acme", reason="cannot be imported: no module named foo"),),
)


RELATED = ("n0/card4/port1", "n0")
VERDICTS = (
    Verdict(
        kind="link.ber",
        subject="n0/card3/port0",
        level=Level.RAISED,
        text="n0/card3/port0: 9 symbol errors in 1.0e12 bits, a BER of 9e-12, above 1e-12",
        at=NOW - 2,
        severity=Severity.CRITICAL,
    ),
    Verdict(kind="link.down", subject="n0/card3/port0", level=Level.CLEAR, text="n0/card3/port0: the link is up", at=NOW - 2),
    Verdict(kind="comm.buffer", subject="n0", level=Level.UNSURE, text="n0: no log is read", at=NOW - 3, unseen=("comm.timeouts",)),
)
CAUSE = Cause(
    name="unseated optic",
    subject="n0/card3/port0",
    weight=0.82,
    evidence=("Rx power is 0.09 mW, below the module's limit of 0.14 mW",),
    against=("the module is seen",),
    advice="reseat the optic at n0/card3/port0",
    at=NOW - 4,
)
SHED = Deed(
    action=Action(
        id="i9876543210b/shed-A1",
        step=Step(name="shed-A1", kind="power.shed", target="pdu/A1", reason="both feeds have sagged"),
        incident="i9876543210b",
        scope="power/site",
        epoch=0,
        issued=NOW - 59.75,
        deadline=NOW - 58,
        policy="power",
    ),
    outcome=Outcome(action="i9876543210b/shed-A1", result=Result.DONE, text="8 outlets open, 2.3 ms after the trigger", at=NOW - 59.5),
)
POWER = Power(
    now=NOW,
    supplies=(
        Supply(
            subject="ups/A",
            status=("discharg", "ob"),
            link="ok",
            input_voltage=0.0,
            charge=97.0,
            runtime=400.0,
            load=41.0,
            level=Level.RAISED,
            severity=Severity.CRITICAL,
            text="ups/A is on battery: its input shows 0 V of 230 V",
        ),
        Supply(subject="ups/B", link="stale", text="no rule has judged it"),
    ),
    strips=(
        Strip(
            subject="pdu/A1",
            feed="A",
            power=9000.0,
            armed=True,
            lease_left=93.0,
            group=("7", "9"),
            restore_s=10.0,
            event="restored",
            event_age=60.0,
            shed_delay=2.3,
            off=("12",),
            level=Level.CLEAR,
        ),
    ),
    verdicts=(
        Verdict(
            kind="power.outage", subject="power/site", level=Level.RAISED, text="both feeds are lost", at=NOW, severity=Severity.CRITICAL
        ),
    ),
    judged_by="n0",
)
OUTAGE = Incident(
    id="i9876543210b",
    kind="power.outage",
    subject="power/site",
    scope="power/site",
    opened=NOW - 60,
    severity=Severity.CRITICAL,
    text="both feeds are lost",
    closed=NOW - 10,
)
TIMELINE = Timeline(
    now=NOW,
    incident=OUTAGE,
    moments=(
        Moment(at=NOW - 60.25, what="seen", subject="ups/A", text="ups.status: ol -> discharg ob"),
        Moment(at=NOW - 60, what="raised", subject="power/site", text="both feeds are lost"),
        Moment(at=NOW - 59.75, what="ordered", subject="pdu/A1", text="power.shed: both feeds have sagged"),
        Moment(at=NOW - 59.5, what="done", subject="pdu/A1", text="power.shed: 8 outlets open, 2.3 ms after the trigger"),
    ),
)
REQUEST = RequestRow(
    job="train",
    id="hand/1",
    kind="checkpoint",
    stage="saving",
    step=1204,
    asked=NOW - 3,
    deadline=NOW + 27,
    hard=NOW + 57,
    expected=(0, 1),
    saved=(1,),
    reason="before the fibre is changed",
    text="checkpoint hand/1 is saving at step 1204, 1 of 2 ranks saved",
)
JOB = JobRow(
    job="train",
    state="saving",
    world=2,
    step=1204,
    step_time=1.5,
    save_time=4.25,
    stall_time=0.5,
    saved_step=1100,
    durable_step=1100,
    durable_age=180.0,
    interval=294.0,
    interval_text="a checkpoint every 294 s: a save takes 0.5 s and failures are 24 h apart (0 in 0 h), for which Daly gives 294 s",
    troubles=("durable: /mnt/durable is full",),
    ranks=(
        RankRow(rank=0, card="n0/card0", state="saving", step=1204, step_time=1.5, age=0.25),
        RankRow(rank=1, card="n0/card1", state="running", step=1204, step_time=1.5, age=0.5),
    ),
    request=REQUEST,
)
RANK_MAP = RankMap(
    now=NOW,
    job="train",
    world=2,
    plan="tp=2 pp=1 dp=1 ep=1",
    ranks=(RankPlace(rank=0, card="n0/card0"), RankPlace(rank=1, card="n0/card1")),
)
NODES = (
    NodeRow(
        name="n0",
        state="up",
        beat_age=0.4,
        life="1799996300.000",
        version="0.1.0",
        said="up",
        power=3120.0,
        hottest=71.0,
        step=1204,
        clock_offset=0.01,
        roles=("fleet", "spares"),
    ),
    NodeRow(
        name="n1",
        state="gone",
        text="n1: no beat for 8.0 s, and the machine answers no probe",
        beat_age=125.0,
        holds=("n1 by fleet: n1: no beat for 8.0 s",),
    ),
)
BREAKERS = (
    BreakerRow(name="cards_out", limit=4, subjects=("n0/card3",)),
    BreakerRow(name="nodes_out", limit=2, tripped=True, since=NOW - 125.0, text="n3 would be one more"),
)
LINKS = (
    Link(
        subject="n0/card3/port0",
        peer="n0/card4/port1",
        neighbour="n0/card4/port1",
        state="up",
        speed=200.0,
        width=4.0,
        fec="rs-fec (544,514)",
        rx_power=0.09,
        ber=9e-12,
        level=Level.RAISED,
        severity=Severity.CRITICAL,
        kinds=("link.ber",),
        text=VERDICTS[0].text,
    ),
    Link(subject="n0/card3/port1", state="conflict"),
)


class FakeCards:
    """Remembers what was asked. `undone` is what the next change does not do, `rows` the cards."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []
        self.rows: tuple[CardRow, ...] = CARDS
        self.undone: tuple[str, ...] = ()
        self.looks: list[bool | None] = [None, True]  # of a test, look by look
        self.test_text = "passed: watched for 15 s, 6 readings by npu-smi, no new uncorrected error"

    async def list_holds(self, wanted: HoldFilter) -> Holds:
        lifted = msgspec.structs.replace(HOLD, id="h0", lifted=NOW - 60, lifted_by="operator bob: it was the switch")
        return Holds(now=NOW, holds=(lifted, HOLD) if wanted.all else (HOLD,))

    async def lift(self, id_: str, wanted: LiftAsk, caller: Caller) -> Holds:
        self._note("lift", wanted, caller)
        if id_ != HOLD.id:
            raise AdminError(f"there is no hold {id_!r}; `supernodectl holds --all` lists them")
        return Holds(now=NOW, holds=(msgspec.structs.replace(HOLD, lifted=NOW, lifted_by=f"operator alice: {wanted.reason}"),))

    async def list_cards(self, wanted: CardFilter) -> Cards:
        del wanted
        return Cards(now=NOW, cards=self.rows)

    async def isolate(self, subject: str, wanted: IsolateAsk, caller: Caller) -> CardDone:
        self._note(f"isolate {subject}", wanted, caller)
        return CardDone(now=NOW, subject=subject, hold="h2", done=(f"{subject} is held as h2, until it is lifted",), undone=self.undone)

    async def release(self, subject: str, wanted: ReleaseAsk, caller: Caller) -> CardDone:
        self._note(f"release {subject}", wanted, caller)
        return CardDone(now=NOW, subject=subject, done=("hold h2 is lifted",), undone=self.undone)

    async def test(self, subject: str, wanted: TestAsk, caller: Caller) -> CardTested:
        self._note(f"test {subject}", wanted, caller)
        return self._tell_test(subject)

    async def find_test(self, subject: str, test: str) -> CardTested:
        self.asked.append((f"look {subject}", test))
        return self._tell_test(subject)

    def _tell_test(self, subject: str) -> CardTested:
        passed = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        text = "under test for 3 s" if passed is None else self.test_text
        return CardTested(now=NOW, subject=subject, test="hand/1", passed=passed, text=text, test_s=15.0)

    def _note(self, what: str, wanted: object, caller: Caller) -> None:
        assert caller.uid == os.getuid()
        self.asked.append((what, wanted))


class FakeDesk:
    """Remembers what was asked and recorded. With `trouble` every answer is that error; with `stuck` every answer waits for ever."""

    def __init__(self) -> None:
        self.cards = FakeCards()
        self.asked: list[Filter] = []
        self.recorded: list[Request] = []
        self.more: dict[str, object] = {}  # of it besides
        self.stages = ["saving"]  # of the request, look by look
        self.checkpoints: list[CheckpointAsk] = []
        self.changes: list[tuple[str, Mode, Caller]] = []
        self.hands: list[tuple[str, HandOrder | None]] = []  # None = taken off
        self.trouble: Exception | None = None
        self.journal_trouble: SupernodedError | None = None
        self.stuck = False
        self.may_go_on = asyncio.Event()
        self.waiting = 0

    async def _pause(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        if self.stuck:
            self.waiting += 1
            await self.may_go_on.wait()

    async def status(self) -> Status:
        await self._pause()
        return STATUS

    async def health(self) -> Health:
        return Health(now=NOW, ready=True, parts=(Part(name="journal", since=NOW - 3700),))

    async def plugins(self) -> Plugins:
        host = Plugin(name="host", distribution="supernoded", version="0.1.0", parts={"sensor": ("host.load", "host.disks")})
        return Plugins(now=NOW, plugins=(host, Plugin(name="acme", distribution="acme-cdu", version="2", reason="cannot be imported: foo")))

    async def readings(self, wanted: ReadingFilter) -> Readings:
        self.asked.append(wanted)
        return Readings(now=NOW, readings=tuple(r for r in READINGS if wanted.admits(r)), left_off=4)

    async def links(self) -> Links:
        return Links(now=NOW, links=LINKS)

    async def nodes(self) -> Nodes:
        return Nodes(now=NOW, nodes=NODES, told_by="n0", told_age=3.0, strangers=("n9",))

    async def breakers(self) -> Breakers:
        return Breakers(now=NOW, holder="n0", trouble="n0 hears 2 of 5 nodes", breakers=BREAKERS)

    async def reset_breaker(self, name: str, wanted: BreakerReset, caller: Caller) -> BreakerWasReset:
        if name != "nodes_out":
            raise AdminError(f"breaker {name!r} has not tripped; tripped: nodes_out")
        return BreakerWasReset(now=NOW, name=name, since=NOW - 125.0, text=wanted.reason, by=f"uid {caller.uid}")

    async def power(self) -> Power:
        return POWER

    async def timeline(self, incident: str) -> Timeline | None:
        return TIMELINE if incident in ("", OUTAGE.id) else None

    async def thermal(self) -> Thermal:
        return THERMAL

    async def thermal_history(self, wanted: ThermalHistoryFilter) -> ThermalHistory | None:
        self.asked.append(wanted)
        return HISTORY if wanted.loop == HISTORY.loop else None

    async def lay_hand(self, target: str, wanted: HandOrder, caller: Caller) -> Handed:
        if target != "cdu/0/valve":
            raise AdminError(f"no loop of this daemon turns {target!r}; did you mean cdu/0/valve?")
        self.hands.append((target, wanted))
        text = f"{target} is held at {wanted.value:g} %, it stood at 35 %; then its loop thermal.valve goes on from there, without a bump"
        return Handed(
            now=NOW, target=target, loop="thermal.valve", unit="%", before=35.0, value=wanted.value, until=NOW + wanted.seconds, text=text
        )

    async def take_hand_off(self, target: str, caller: Caller) -> Handed:
        self.hands.append((target, None))
        return Handed(now=NOW, target=target, loop="thermal.valve", unit="%", before=40.0, text=f"{target}: its loop goes on from there")

    async def jobs(self) -> Jobs:
        return Jobs(now=NOW, jobs=(JOB,))

    async def map_ranks(self, job: str) -> RankMap | None:
        return RANK_MAP if job == JOB.job else None

    async def find_checkpoint(self, job: str, request: str) -> Requested:
        self._check_job(job)
        stage = self.stages.pop(0) if len(self.stages) > 1 else self.stages[0]
        one = msgspec.structs.replace(REQUEST, stage=stage, text=f"checkpoint hand/1 is {stage} at step 1204", **self.more)
        return Requested(now=NOW, job=job, request=one if request != "hand/0" else None)

    async def ask_checkpoint(self, job: str, wanted: CheckpointAsk, caller: Caller) -> Requested:
        self._check_job(job)
        self.checkpoints.append(wanted)
        return Requested(now=NOW, job=job, request=REQUEST)

    def _check_job(self, job: str) -> None:
        if job != "train":
            raise AdminError(f"no rank of job {job!r} has connected to this node; there are train")

    async def diagnose(self, subject: str) -> Diagnosed:
        if subject != "n0/card3/port0":
            raise NotFoundError(f"nothing is known of {subject!r}")
        incidents = (INCIDENT,)
        return Diagnosed(
            now=NOW, subject=subject, related=RELATED, verdicts=VERDICTS, causes=(CAUSE,), readings=READINGS[:1], incidents=incidents
        )

    async def incidents(self, wanted: IncidentFilter) -> Incidents:
        self.asked.append(wanted)
        return Incidents(now=NOW, incidents=(INCIDENT,))

    async def story(self, incident: str) -> Story | None:
        return Story(now=NOW, incident=INCIDENT, events=(EVENT,), actions=(REHEARSED,)) if incident == INCIDENT.id else None

    async def events(self, wanted: EventFilter) -> Events:
        self.asked.append(wanted)
        return Events(now=NOW, events=(EVENT,))

    async def actions(self, wanted: ActionFilter) -> Actions:
        self.asked.append(wanted)
        return Actions(now=NOW, actions=(DONE, REHEARSED, Deed(action=ACTION)))

    async def modes(self) -> Modes:
        return Modes(
            now=NOW, default=Mode.OBSERVE, policies=(PolicyMode(policy="thermal", mode=Mode.ACT, said_by="alice", since=NOW - 60),)
        )

    async def rehearsed(self, policy: str, days: float) -> Rehearsed:
        self._check(policy)
        return Rehearsed(now=NOW, policy=policy, days=days, since=NOW - 86_400, actions=(REHEARSED,))

    async def set_mode(self, policy: str, mode: Mode, caller: Caller) -> ModeChanged:
        await self._pause()
        self._check(policy)
        self.changes.append((policy, mode, caller))
        return ModeChanged(now=NOW, policy=policy, before=Mode.OBSERVE, after=mode, text="Nothing had to be handed back.")

    async def record(self, request: Request) -> None:
        if self.journal_trouble is not None:
            raise self.journal_trouble
        self.recorded.append(request)

    def _check(self, policy: str) -> None:
        if policy != "thermal":
            raise AdminError(f"there is no policy {policy!r}; there are thermal")


async def until(reached: Callable[[], bool]) -> None:
    """Let the loop turn until this holds."""
    while not reached():
        await asyncio.sleep(0)


@contextmanager
def serving(path: Path, desk: FakeDesk, *, access: Access | None = None, group: str = "", bounds: Bounds | None = None) -> Iterator[None]:
    """The admin server with this desk, in a thread, until the context ends."""
    started, stop, failure = threading.Event(), asyncio.Event(), list[BaseException]()
    gate = Gate(access or Access(), own_uid=os.getuid())
    loop, log = asyncio.new_event_loop(), logging.getLogger("supernoded.admin")

    async def run() -> None:
        async with serve_admin(desk, gate, partial(listen_unix, path, group, log), log, bounds):
            started.set()
            await stop.wait()

    def work() -> None:
        try:
            loop.run_until_complete(run())
        except SupernodedError as error:
            failure.append(error)
        finally:
            loop.close()
            started.set()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    try:
        if failure:
            raise failure[0]
        yield
    finally:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)
        thread.join(10)
