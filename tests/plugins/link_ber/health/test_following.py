"""What is told, and what follows when the trouble goes on."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.limits import Limits
from supernoded.model import Hold, Incident, Outcome, Result
from supernoded.plugin import Case, Cause, Mode, Severity, World
from supernoded.topology import Topology
from supernoded_link_ber.remedies import TellRemedy, TouchRemedy
from supernoded_link_ber.settings import LinkBerSettings
from supernoded_link_ber.wording import MOST, join

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
    assert step.reason == (f"{PORT}: bad; most likely (70%): bent fibre at {CABLE}, as it is dim; to do: Look along it.")


def test_without_a_module_in_sight_the_prior_speaks(world: World) -> None:
    blind = Cause(name="unseated optic", subject=PORT, weight=0.85)
    for causes in ((), (blind,)):
        step = make_remedy().next(make_case(causes=causes), world, OPENED)
        assert step is not None
        assert f"Reseat the optic of {PORT} and of {PEER}, as 90 % of ring breaks are an optic not fully seated," in step.reason


def test_many_links_at_a_time_are_not_touched(world: World) -> None:
    step = make_remedy().next(make_case(subject="site", members=(PORT, "n0/card2/port0", "n0/card3/port0")), world, OPENED)
    assert step is not None
    assert "before any of n0/card0/port0, n0/card2/port0, n0/card3/port0 is touched, look for what they share" in step.reason
    assert len(step.reason) <= MOST
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


def test_nothing_is_done_of_what_is_over(world: World) -> None:
    for done in ({}, TOLD, DRAINED):
        assert make_remedy().next(make_case(done=done, still_raised=False), world, OPENED + 5000.0) is None


def test_a_port_that_goes_on_failing_is_drained_in_rehearsal(world: World) -> None:
    remedy, case = make_remedy(), make_case(done=TOLD)
    assert remedy.next(case, world, OPENED + 59.0) is None
    step = remedy.next(case, world, OPENED + 60.0)
    assert step is not None
    assert (step.name, step.kind, step.target) == ("drain", "link.drain", PORT)
    assert f"nothing else of backplane-n0 is held or in trouble; to do: drain {PORT} before its part is replaced (L10)." in step.reason


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
    assert step.reason.startswith(f"Draft of an order (L10): 1 cable for {CABLE}, ends {PORT}, {PEER}, length 2.5 m, serial")
    assert "incident i1 has not been cured in 11 min; it is dim; it flaps." in step.reason
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


def make_other(kind: str, subject: str, text: str = "other: bad", members: tuple[str, ...] = ()) -> Incident:
    return msgspec.structs.replace(make_case(kind, subject, members).incident, id="i2", text=text)


@pytest.mark.parametrize("kind", ["link.flapping", "link.ber", "link.optic"])
def test_the_other_kinds_wait_for_both_modules_too(world: World, kind: str) -> None:
    """Two polls at least made the alarm, so what was read just before it was read of the trouble."""
    old, remedy = msgspec.structs.replace(BENT, at=OPENED - 5.0), make_remedy(kind)
    assert remedy.next(make_case(kind, causes=(old,)), world, OPENED + 34.9) is None
    assert remedy.next(make_case(kind, causes=(old,)), world, OPENED + 35.0) is not None
    assert remedy.next(make_case(kind, causes=(msgspec.structs.replace(BENT, at=OPENED - 4.0),)), world, OPENED) is not None
    assert remedy.next(make_case(kind, causes=(msgspec.structs.replace(BENT, at=0.0),)), world, OPENED) is not None
    assert make_remedy(kind, evidence_s=0.0).next(make_case(kind, causes=(old,)), world, OPENED) is not None


@pytest.mark.parametrize(
    ("worse", "lesser", "subject"),
    [
        ("link.down", "link.flapping", PORT),
        ("link.down", "link.optic", PEER),
        ("link.ber", "link.optic", CABLE),
        ("link.flapping", "link.trend", PEER),
    ],
)
def test_one_trouble_gives_one_notice(world: World, worse: str, lesser: str, subject: str) -> None:
    members = (PORT, PEER) if subject == CABLE else ()
    both = msgspec.structs.replace(world, incidents=(make_other(worse, subject, members=members), make_case(lesser).incident))
    assert make_remedy(lesser).next(make_case(lesser), both, OPENED + 50.0) is None
    assert make_remedy(worse).next(make_case(worse), both, OPENED + 50.0) is not None
    elsewhere = msgspec.structs.replace(world, incidents=(make_other(worse, "n0/card2/port0"),))
    assert make_remedy(lesser).next(make_case(lesser), elsewhere, OPENED + 50.0) is not None


@pytest.mark.parametrize("kind", ["link.saturated", "link.overruled"])
def test_counters_that_break_are_told_only_when_nothing_worse_comes(world: World, kind: str) -> None:
    case, remedy = make_case(kind), TellRemedy(kind)
    assert remedy.next(case, world, OPENED + 59.0) is None
    assert remedy.next(case, world, OPENED + 60.0) is not None
    failing = msgspec.structs.replace(world, incidents=(make_other("link.ber", PEER),))
    assert remedy.next(case, failing, OPENED + 60.0) is None


def test_a_flapping_link_that_is_down_once_more_is_told_if_it_stays_down(world: World) -> None:
    flaps = msgspec.structs.replace(make_other("link.flapping", PEER), opened=OPENED - 60.0)
    both, remedy = msgspec.structs.replace(world, incidents=(flaps,)), make_remedy("link.down")
    assert remedy.next(make_case("link.down"), both, OPENED + 59.0) is None
    assert remedy.next(make_case("link.down"), both, OPENED + 60.0) is not None


def test_what_to_do_is_never_left_out() -> None:
    reason = join("x" * 500, ("most likely: y", f"to do: {'z' * 200}"), ("w" * 200,), "v" * 200)
    assert f"; most likely: y; to do: {'z' * 200}." in reason
    assert (len(reason) <= MOST, "v" in reason, "w" in reason) == (True, False, False)


def test_lanes_are_the_same_trouble_and_a_conflict_is_not(world: World) -> None:
    down = msgspec.structs.replace(world, incidents=(make_other("link.down", PEER),))
    assert TellRemedy("link.lanes").next(make_case("link.lanes"), down, OPENED) is None
    assert TellRemedy("link.conflict").next(make_case("link.conflict"), down, OPENED) is not None


def test_a_link_that_flaps_is_told_even_while_it_is_up(world: World) -> None:
    """The word on its flapping waits for the one on its being down, which must not wait for ever."""
    flaps = msgspec.structs.replace(world, incidents=(make_other("link.flapping", PEER),))
    up = make_case("link.down", still_raised=False)
    assert make_remedy("link.down").next(up, world, OPENED + 20.0) is None
    assert make_remedy("link.down").next(up, flaps, OPENED + 20.0) is not None
    assert make_remedy("link.down").next(msgspec.structs.replace(up, done=TOLD), flaps, OPENED + 20.0) is None


@pytest.mark.parametrize(
    ("kind", "subject", "members"),
    [
        ("ring.slow", "ring/backplane-n0", ()),
        ("ring.broken", "n0/card2", ()),
        ("link.optic", "n0/card2/port0", ()),
        ("link.flapping", "cable/x", ("n0/card1/port0", "n0/card2/port1")),
    ],
)
def test_no_drain_in_a_ring_with_another_trouble(world: World, kind: str, subject: str, members: tuple[str, ...]) -> None:
    hurt = msgspec.structs.replace(world, incidents=(make_other(kind, subject, members=members),))
    assert make_remedy().next(make_case(done=TOLD), hurt, OPENED + 100.0) is None


@pytest.mark.parametrize(
    ("kind", "subject"), [("link.optic", PEER), ("link.trend", PORT), ("link.optic", "n0/card3/port0"), ("ring.slow", "ring/other")]
)
def test_its_own_cable_and_other_rings_do_not_hinder_a_drain(world: World, kind: str, subject: str) -> None:
    well = msgspec.structs.replace(world, incidents=(make_other(kind, subject), make_case().incident))
    assert make_remedy().next(make_case(done=TOLD), well, OPENED + 100.0) is not None


def test_a_notice_says_how_long_is_left(world: World) -> None:
    told = f"{PEER}: symbol errors rise to 1e-12 in 4 to 9 min; now at a BER of 3.0e-13"
    rising = msgspec.structs.replace(world, incidents=(make_other("link.trend", PEER, told),))
    step = make_remedy("link.optic").next(make_case("link.optic"), rising, OPENED + 50.0)
    assert step is not None
    assert step.reason.endswith("to do: Look along it; its symbol errors rise to 1e-12 in 4 to 9 min.")


@given(st.text(max_size=900), st.text(max_size=300), st.text(max_size=600))
def test_a_notice_is_one_short_sentence(text: str, evidence: str, advice: str) -> None:
    reason = join(text, ("most likely: x", advice), (evidence,), evidence)
    assert len(reason) <= MOST
    assert reason.endswith(".")
