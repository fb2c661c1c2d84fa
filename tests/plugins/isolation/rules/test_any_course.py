"""Whatever happens, in whatever order: what the rules say never contradicts itself, and blames nobody without evidence."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plugins.isolation.site import CARDS, JOB, Court, Site

SLOTS = st.integers(0, 6)
JOBS = st.tuples(st.sampled_from(["silence", "go", "wait", "save"]), SLOTS)
MACHINES = st.tuples(st.sampled_from(["hang", "vanish", "grave", "weak", "hog", "well"]), SLOTS)


def change(site: Site, event: str, slot: int) -> None:
    """One thing happens."""
    card = CARDS[slot]
    match event:
        case "silence":
            site.silence(slot)
        case "go":
            site.states, site.behind = {}, set()
        case "wait":
            site.states, site.behind = dict.fromkeys(site.places, "waiting"), set()
        case "save":
            site.states, site.behind = {slot: "saving"}, set()
        case "hang":
            site.hung.add(card)
        case "vanish":
            site.gone.add(card)
        case "grave" | "weak":
            site.codes[card] = frozenset({"8C03A000" if event == "grave" else "XID94"})
        case "hog":
            site.more["n0", "host.hog"] = "backup (pid 4711)"
        case _:
            site.hung.clear()
            site.gone.clear()
            site.codes.clear()
            site.more.clear()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(JOBS, MACHINES), max_size=10), st.integers(1, 4))
def test_a_card_is_never_two_incidents_and_never_without_a_word_against_it(events: list[tuple[str, int]], looks: int) -> None:
    site = Site()
    court, struck = Court(site), set[str]()
    court.run(2)
    for event, slot in events:
        change(site, event, slot)
        struck |= {CARDS[slot]} if event in {"hang", "vanish", "grave", "weak", "silence"} else set()
        court.run(looks)
        cards = [subject for kind, subject in court.raised if kind in {"card.silent", "card.faulty"} and subject in CARDS]
        assert len(cards) == len(set(cards))
        assert set(cards) <= struck


@settings(max_examples=30, deadline=None)
@given(st.lists(JOBS, max_size=8))
def test_the_job_alone_takes_no_card_out_the_first_time(events: list[tuple[str, int]]) -> None:
    site = Site()
    court, silenced = Court(site), list[int]()
    court.run(2)
    for event, slot in events:
        change(site, event, slot)
        silenced += [slot] if event == "silence" else []
        court.run(2)
        again = {CARDS[one] for one in silenced if silenced.count(one) > 1}
        assert {subject for kind, subject in court.raised if kind.startswith("card.") and subject != JOB} <= again


@settings(max_examples=20, deadline=None)
@given(st.sets(SLOTS, min_size=2, max_size=4), st.sampled_from(["hang", "vanish", "grave"]))
def test_the_same_on_several_cards_at_a_time_takes_none_out(slots: set[int], event: str) -> None:
    site = Site()
    court = Court(site)
    court.run(2)
    for slot in sorted(slots):
        change(site, event, slot)
    court.run(15)
    assert not {subject for kind, subject in court.raised if kind in {"card.silent", "card.faulty"}} & set(CARDS)
