"""Why a card, a rank or a job is in trouble."""

from __future__ import annotations

from supernoded_isolation.diagnosis import CardDiagnosis
from tests.plugins.isolation.site import CARDS, JOB, SETTINGS, SITE, TABLE, Site

CARD = CARDS[2]
DIAGNOSIS = CardDiagnosis(SITE, TABLE, SETTINGS)


def name(site: Site, subject: str) -> list[tuple[str, str]]:
    site.pass_time()
    return [(cause.name, cause.subject) for cause in DIAGNOSIS.diagnose(site.see(DIAGNOSIS.watches), subject)]


def test_a_card_that_is_well_has_no_cause() -> None:
    assert name(Site(), CARD) == []
    assert name(Site(), "cdu/0") == []


def test_a_card_that_hangs_with_its_rank() -> None:
    site = Site()
    site.hung.add(CARD)
    site.silence(2)
    assert name(site, CARD) == [("card", CARD)]
    (cause,) = DIAGNOSIS.diagnose(site.see(DIAGNOSIS.watches), f"{JOB}/rank2")
    assert cause.weight > 0.9
    assert any("(tool)" in one for one in cause.evidence)
    assert any("(ranks)" in one for one in cause.evidence)


def test_a_process_on_a_card_that_looks_well() -> None:
    site = Site()
    site.silence(2)
    site.pass_time()
    causes = DIAGNOSIS.diagnose(site.see(DIAGNOSIS.watches), f"{JOB}/rank2")
    assert [(cause.name, cause.subject) for cause in causes] == [("process", f"{JOB}/rank2"), ("card", CARD)]
    assert causes[1].against == (f"{CARD} answers and shows no code",)


def test_heat_and_hog_go_first() -> None:
    site = Site()
    site.hung.add(CARD)
    site.more[CARD, "card.throttled"] = 1.0
    site.more["n0", "host.hog"] = "backup (pid 4711): memory"
    assert name(site, CARD) == [("heat", CARD), ("hog", "n0"), ("card", CARD)]


def test_several_cards_of_a_job_are_software() -> None:
    site = Site()
    site.silence(2)
    site.codes.update(dict.fromkeys((CARDS[1], CARD), frozenset({"8C03A000"})))
    assert ("software", JOB) in name(site, JOB)


def test_ports_alone_are_links() -> None:
    site = Site()
    for state in (1.0, 0.0):
        site.more.update({(f"{CARD}/port{port}", "link.state"): state for port in (0, 1)})
        site.pass_time()
    assert ("link", CARD) in name(site, CARD)


def test_a_code_and_the_count_of_its_error_are_one_view() -> None:
    site = Site()
    site.more[CARD, "card.errors_uncorrected"] = 3.0
    site.pass_time()
    site.more[CARD, "card.errors_uncorrected"] = 4.0
    site.codes[CARD] = frozenset({"8C084E00"})
    for _ in range(20):
        site.pass_time()
    (card,) = [cause for cause in DIAGNOSIS.diagnose(site.see(DIAGNOSIS.watches), CARD) if cause.name == "card"]
    assert card.weight < 0.9
