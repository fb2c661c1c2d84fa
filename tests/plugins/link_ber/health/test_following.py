"""What is told, and what follows when the trouble goes on."""

from __future__ import annotations

import msgspec
import pytest

from supernoded.limits import Limits
from supernoded.model import Hold, Incident, Outcome, Result
from supernoded.plugin import Case, Cause, Mode, Severity, World
from supernoded.topology import Topology
from supernoded_link_ber.remedies import TellRemedy, TouchRemedy
from supernoded_link_ber.settings import LinkBerSettings

PORT, PEER = "n0/card0/port0", "n0/card1/port1"
CABLE = f"cable/{PORT}--{PEER}"
OPENED = 100.0
BENT = Cause(name="bent fibre", subject=CABLE, weight=0.7, evidence=("it is dim", "it flaps"), advice="Look along it.", at=105.0)
DIRTY = Cause(name="dirty end", subject=PORT, weight=0.2, at=105.0)
TOLD = {"notify": Outcome(action="i1/notify", result=Result.DONE, text="", at=101.0)}
DRAINED = TOLD | {"drain": Outcome(action="i1/drain", result=Result.DONE, text="", at=161.0)}


def make_remedy(kind: str = "link.flapping", **settings: object) -> TouchRemedy:
    return TouchRemedy(kind, Limits(), msgspec.convert(settings, LinkBerSettings))


def make_case(kind: str = "link.flapping", subject: str = PORT, members: tuple[str, ...] = (), **changes: object) -> Case:
    incident = Incident(
        id="i1",
        kind=kind,
        subject=subject,
        scope="node",
        opened=OPENED,
        severity=Severity.CRITICAL,
        text=f"{subject}: bad",
        members=members,
    )
    return msgspec.structs.replace(Case(incident=incident, causes=(BENT, DIRTY)), **changes)


@pytest.fixture
def world(site: Topology) -> World:
    return World(topology=site, modes={"link_ber": Mode.OBSERVE})


def test_the_notice_names_the_cause_and_its_evidence(world: World) -> None:
    step = make_remedy().next(make_case(), world, OPENED)
    assert step is not None
    assert (step.name, step.kind, step.target) == ("notify", "notify", PORT)
    assert step.reason == (
        f"{PORT}: bad. Most likely (70%): bent fibre at {CABLE}: it is dim; it flaps. Else: dirty end at {PORT}. Look along it."
    )


def test_without_a_module_in_sight_the_prior_speaks(world: World) -> None:
    blind = Cause(name="unseated optic", subject=PORT, weight=0.85)
    for causes in ((), (blind,)):
        step = make_remedy().next(make_case(causes=causes), world, OPENED)
        assert step is not None
        assert f"Reseat the optic of {PORT} and of {PEER}: 90 % of ring breaks are an optic not fully seated." in step.reason


def test_many_links_at_a_time_are_not_touched(world: World) -> None:
    step = make_remedy().next(make_case(subject="site", members=(PORT, "n0/card2/port0", "n0/card3/port0")), world, OPENED)
    assert step is not None
    assert "before any of n0/card0/port0, n0/card2/port0, n0/card3/port0 is touched, look for what they share" in step.reason
    assert "eseat" not in step.reason


def test_link_down_waits_for_its_evidence_and_no_longer(world: World) -> None:
    old = msgspec.structs.replace(BENT, at=OPENED)
    remedy = make_remedy("link.down")
    assert remedy.next(make_case("link.down", causes=(old,)), world, OPENED + 1.0) is None
    assert remedy.next(make_case("link.down", causes=(old,)), world, OPENED + 11.9) is None
    assert remedy.next(make_case("link.down", causes=(old,)), world, OPENED + 12.0) is not None
    assert remedy.next(make_case("link.down"), world, OPENED + 5.5) is not None  # newer evidence
    unreadable = msgspec.structs.replace(BENT, at=0.0)
    assert remedy.next(make_case("link.down", causes=(unreadable,)), world, OPENED) is not None  # none will come
    assert make_remedy().next(make_case(causes=(old,)), world, OPENED) is not None  # other kinds have it already


def test_nothing_is_done_of_what_is_over(world: World) -> None:
    for done in ({}, TOLD, DRAINED):
        assert make_remedy().next(make_case(done=done, still_raised=False), world, OPENED + 5000.0) is None


def test_a_port_that_goes_on_failing_is_drained_in_rehearsal(world: World) -> None:
    remedy, case = make_remedy(), make_case(done=TOLD)
    assert remedy.next(case, world, OPENED + 59.0) is None
    step = remedy.next(case, world, OPENED + 60.0)
    assert step is not None
    assert (step.name, step.kind, step.target) == ("drain", "link.drain", PORT)
    assert f"drain {PORT} before its part is replaced (L10); no other card of backplane-n0 is held" in step.reason


def test_in_act_it_is_withheld_unless_the_settings_ask_for_it(world: World) -> None:
    acting = msgspec.structs.replace(world, modes={"link_ber": Mode.ACT})
    assert make_remedy().next(make_case(done=TOLD), acting, OPENED + 100.0) is None
    step = make_remedy(drain=True).next(make_case(done=TOLD), acting, OPENED + 100.0)
    assert step is not None
    assert step.kind == "link.drain"


@pytest.mark.parametrize("held", ["n0/card2", "n0/card1/port0", "n0"])
def test_a_ring_with_a_hold_is_left_alone(world: World, held: str) -> None:
    hurt = msgspec.structs.replace(world, holds=(Hold(id="h", subject=held, serial="", reason="r", owner="o", placed=0.0),))
    assert make_remedy().next(make_case(done=TOLD), hurt, OPENED + 100.0) is None


def test_a_hold_elsewhere_is_no_matter(world: World) -> None:
    holds = (Hold(id="h", subject="n1/card0", serial="", reason="r", owner="o", placed=0.0),)
    assert make_remedy().next(make_case(done=TOLD), msgspec.structs.replace(world, holds=holds), OPENED + 100.0) is not None


def test_what_is_never_drained(world: World) -> None:
    mild = make_case(done=TOLD)
    mild = msgspec.structs.replace(mild, incident=msgspec.structs.replace(mild.incident, severity=Severity.WARNING))
    others = [
        mild,
        make_case("link.down", done=TOLD),
        make_case("link.optic", done=TOLD),
        make_case(subject="site", members=(PORT, "n0/card2/port1"), done=TOLD),  # two cables of one ring
        make_case(subject="n0/nic/mlx5_0", done=TOLD),  # of no ring that is known
        make_case(done=DRAINED),
    ]
    for case in others:
        assert make_remedy(case.incident.kind).next(case, world, OPENED + 300.0) is None


def test_of_a_cable_one_end_is_drained(world: World) -> None:
    case = make_case(subject=CABLE, members=(PORT, PEER), done=TOLD, causes=(msgspec.structs.replace(DIRTY, subject=PEER),))
    step = make_remedy().next(case, world, OPENED + 100.0)
    assert step is not None
    assert step.target == PEER


def test_an_order_is_drafted_when_it_is_not_cured(world: World) -> None:
    remedy, case = make_remedy(), make_case(done=DRAINED)
    assert remedy.next(case, world, OPENED + 599.0) is None
    step = remedy.next(case, world, OPENED + 660.0)
    assert step is not None
    assert (step.name, step.kind) == ("order", "notify")
    assert step.details == {
        "part": "cable",
        "place": CABLE,
        "ends": f"{PORT}, {PEER}",
        "serial": "not known",
        "length_m": "2.5",
        "evidence": "it is dim; it flaps",
        "incident": "i1",
    }
    assert step.reason.startswith(f"Draft of an order (L10), incident i1: 1 cable for {CABLE}, ends {PORT}, {PEER}, length 2.5 m, serial")
    assert "It has not been cured in 11 min: it is dim; it flaps" in step.reason
    ordered = DRAINED | {"order": Outcome(action="i1/order", result=Result.DONE, text="", at=700.0)}
    assert remedy.next(make_case(done=ordered), world, OPENED + 5000.0) is None


def test_an_order_without_a_cause_names_both_parts(world: World) -> None:
    step = make_remedy().next(make_case(done=DRAINED, causes=()), world, OPENED + 660.0)
    assert step is not None
    assert (step.details["part"], step.details["place"]) == ("cable or optic", PORT)


def test_a_notice_that_touches_nothing(world: World) -> None:
    remedy = TellRemedy("link.conflict")
    step = remedy.next(make_case("link.conflict"), world, OPENED)
    assert step is not None
    assert (step.kind, step.reason) == ("notify", f"{PORT}: bad.")
    assert remedy.next(make_case("link.conflict", done=TOLD), world, OPENED + 5000.0) is None  # a conflict never leads to more
    assert remedy.next(make_case("link.conflict", still_raised=False), world, OPENED) is None
