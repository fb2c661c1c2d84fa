"""What people are told of software, and again when its job stands still after a while."""

from __future__ import annotations

from supernoded.plugin import Case, Incident, Outcome, Result, Severity, Step, World
from supernoded_isolation.remedies import NOTIFY, STILL, SoftwareRemedy
from tests.plugins.isolation.site import JOB, SETTINGS, SITE, Site

REMEDY = SoftwareRemedy("card.software", SETTINGS.software_s)


def ask(site: Site, age: float, done: frozenset[str] = frozenset(), *, raised: bool = True) -> Step | None:
    """The next notice of an incident that is so old; every step of it has been done well."""
    incident = Incident(
        id="i-1",
        kind="card.software",
        subject=JOB,
        scope="spares",
        opened=site.now - age,
        severity=Severity.CRITICAL,
        text="two cards",
    )
    case = Case(
        incident=incident,
        done={name: Outcome(action=name, result=Result.DONE, text="", at=site.now) for name in done},
        still_raised=raised,
        seen=site.see(REMEDY.watches),
        running=frozenset(),
    )
    return REMEDY.next(case, World(topology=SITE), site.now)


def hang() -> Site:
    """All wait."""
    site = Site()
    site.states = dict.fromkeys(site.places, "waiting")
    site.pass_time()
    return site


def test_first_what_it_is_and_once_more_what_to_do() -> None:
    site = hang()
    first = ask(site, 1.0)
    assert first is not None
    assert (first.name, first.kind) == (NOTIFY, "notify")
    assert ask(site, SETTINGS.software_s - 1.0, frozenset({NOTIFY})) is None
    second = ask(site, SETTINGS.software_s, frozenset({NOTIFY}))
    assert second is not None
    assert second.name == STILL
    assert "supernodectl card isolate" in second.reason
    assert ask(site, 900.0, frozenset({NOTIFY, STILL})) is None
    assert ask(site, 900.0, frozenset({NOTIFY}), raised=False) is None


def test_not_while_the_job_steps() -> None:
    site = Site()
    site.pass_time()
    assert ask(site, 900.0, frozenset({NOTIFY})) is None
    assert ask(Site(), 900.0, frozenset({NOTIFY})) is None  # nothing is heard of it
