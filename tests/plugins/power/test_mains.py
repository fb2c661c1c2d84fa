"""The mains by several views."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.limits import Limits
from supernoded.model import Reading
from supernoded_power.mains import WATCHES, Feed, Feeds, Mains, Tracks
from supernoded_power.settings import PowerSettings
from tests.plugins.power.site import make_site, read, ups, view

PRESENT, SAGGED, BATTERY, LOST = Mains.PRESENT, Mains.SAGGED, Mains.BATTERY, Mains.LOST
UNKNOWN, CONFLICT = Mains.UNKNOWN, Mains.CONFLICT


def look(readings: list[Reading], at: float = 0.0, settings: PowerSettings | None = None) -> Feed:
    feeds = Feeds(make_site(), Limits(), settings or PowerSettings())
    return feeds.look(view(WATCHES, readings, at))[0]


class Watch:
    """Feed A, watched on."""

    def __init__(self, settings: PowerSettings | None = None) -> None:
        self.feeds = Feeds(make_site(), Limits(), settings or PowerSettings())
        self.tracks: Tracks = {}

    def see(self, at: float, readings: list[Reading]) -> Feed:
        self.tracks, feeds = self.feeds.follow(view(WATCHES, readings, at), self.tracks)
        return feeds[0]


@pytest.mark.parametrize(
    ("flags", "volts", "pdu", "mains"),
    [
        ("ol", 230.0, 230.0, PRESENT),
        ("ol", 211.6, 230.0, PRESENT),  # -8 %: the near miss of P3
        ("ol", 207.0, 230.0, PRESENT),  # -10 % is not more than 10 %
        ("ol", 206.0, 230.0, SAGGED),
        ("ol", 0.0, 230.0, SAGGED),  # a sag that the UPS has not flagged yet
        ("ol boost", 200.0, 230.0, SAGGED),
        ("ob", 0.0, 230.0, BATTERY),
        ("ob", 230.0, 230.0, BATTERY),  # it does not take its input, for whatever reason
        ("ob lb", None, None, BATTERY),
        ("ob", 0.0, 0.0, LOST),  # an empty battery
        ("ol", 230.0, 0.0, LOST),  # the UPS may not have been read since
        ("ol ob dischrg", 0.0, 230.0, CONFLICT),  # never a shed, whatever the input
        ("ol bypass", 230.0, 230.0, PRESENT),
        ("ol bypass", 100.0, 230.0, SAGGED),
        ("off", 230.0, 230.0, UNKNOWN),
        ("off", 230.0, 0.0, LOST),
        ("off", 0.0, None, LOST),
        ("off", 230.0, None, UNKNOWN),  # one source alone
        ("ob cal", 230.0, 230.0, PRESENT),
        ("ob cal", None, 230.0, PRESENT),
        ("ob cal", 0.0, 230.0, BATTERY),  # CAL with its input lost is a real outage
        ("ol cal dischrg", 0.0, 230.0, BATTERY),
        ("ob test", 230.0, 230.0, PRESENT),
        ("ol fsd alarm", 230.0, 230.0, PRESENT),
        ("ol lb rb", 230.0, 230.0, PRESENT),
        ("", 230.0, 230.0, PRESENT),
        ("", None, 230.0, UNKNOWN),
        (None, 230.0, 230.0, PRESENT),
        (None, 0.0, 230.0, SAGGED),
        (None, None, 230.0, UNKNOWN),
        (None, None, 0.0, LOST),
        (None, None, None, UNKNOWN),
    ],
)
def test_one_feed(flags: str | None, volts: float | None, pdu: float | None, mains: Mains) -> None:
    assert look(ups("A", flags, volts, pdu=pdu)).mains is mains


def test_one_phase_is_enough_for_a_sag() -> None:
    three = [read("ups/A", f"ups.input_voltage.{phase}", volts) for phase, volts in (("L1", 230.0), ("L2", 150.0), ("L3", 231.0))]
    assert look([*ups("A", "ol", 230.0), *three]).mains is SAGGED


def test_without_a_nominal_voltage_none_is_guessed() -> None:
    unknown = [one for one in ups("A", "ol", 120.0) if one.quantity != "ups.input_voltage.nominal"]
    assert look(unknown).mains is PRESENT
    assert look(unknown, settings=PowerSettings(nominal_v=120.0)).mains is PRESENT
    assert look(unknown, settings=PowerSettings(nominal_v=230.0)).mains is SAGGED


def test_the_source_of_rfc_1628_is_a_word_too() -> None:
    assert look([read("ups/A", "ups.source", "battery")]).mains is BATTERY
    assert look([read("ups/A", "ups.source", "none"), read("pdu/A1", "pdu.voltage", 0.0)]).mains is LOST


def test_a_sag_that_its_ups_denies_for_long_is_a_conflict() -> None:
    watch = Watch()
    assert watch.see(0.0, ups("A", "ol", 0.0)).mains is SAGGED
    assert watch.see(9.0, ups("A", "ol", 0.0, 9.0)).mains is SAGGED  # NUT is up to 7 s late
    assert watch.see(10.0, ups("A", "ol", 0.0, 10.0)).mains is CONFLICT
    boosting = Watch()
    boosting.see(0.0, ups("A", "ol boost", 200.0))
    assert boosting.see(60.0, ups("A", "ol boost", 200.0, 60.0)).mains is SAGGED


def test_two_sources_may_differ_for_a_moment_only() -> None:
    watch = Watch()

    def both(at: float) -> list[Reading]:
        return [read("ups/A", "ups.status", {"ol"}, at, "snmp"), read("ups/A", "ups.status", {"ob"}, at + 0.1, "nut")]

    assert watch.see(0.1, both(0.0)).mains is BATTERY  # the newest word
    assert watch.see(11.0, both(10.9)).mains is CONFLICT


def test_a_calibration_hides_no_outage_for_ever() -> None:
    watch = Watch(PowerSettings(calibration_s=3600.0))
    assert watch.see(0.0, ups("A", "ob cal", None)).mains is PRESENT
    assert watch.see(3600.0, ups("A", "ob cal", None, 3600.0)).mains is PRESENT
    assert watch.see(3601.0, ups("A", "ob cal", None, 3601.0)).mains is BATTERY
    test = Watch()
    test.see(0.0, ups("A", "ob test", None))
    assert test.see(601.0, ups("A", "ob test", None, 601.0)).mains is BATTERY


def test_silence_after_battery_is_remembered() -> None:
    watch = Watch()
    watch.see(0.0, ups("A", "ob", 0.0))
    silent = watch.see(4.0, ups("A", None, None, 4.0))
    assert (silent.mains, silent.is_silent_after_battery, silent.is_away) == (UNKNOWN, True, True)
    assert watch.see(5.0, ups("A", None, None, 5.0, pdu=0.0)).mains is LOST  # the second source
    other = Watch()
    other.see(0.0, ups("A", "ol"))
    assert not other.see(4.0, ups("A", None, None, 4.0)).is_silent_after_battery


def test_a_return_after_a_long_break_is_a_generator_till_the_next_break() -> None:
    watch = Watch(PowerSettings(generator=True))
    watch.see(0.0, ups("A", "ol"))
    watch.see(10.0, ups("A", "ob", 0.0, 10.0))
    assert watch.see(25.0, ups("A", "ol", 230.0, 25.0)).generator
    assert watch.see(4000.0, ups("A", "ol", 230.0, 4000.0)).generator
    watch.see(4001.0, ups("A", "ob", 0.0, 4001.0))  # the way back to the mains
    back = watch.see(4003.0, ups("A", "ol", 230.0, 4003.0))
    assert (back.generator, back.stable_s) == (False, 0.0)


def test_a_short_break_is_no_generator_and_a_long_run_is_the_mains() -> None:
    watch = Watch(PowerSettings(generator=True, generator_most_s=600.0))
    watch.see(0.0, ups("A", "ob", 0.0))
    assert not watch.see(4.9, ups("A", "ol", 230.0, 4.9)).generator
    watch.see(10.0, ups("A", "ob", 0.0, 10.0))
    assert watch.see(20.0, ups("A", "ol", 230.0, 20.0)).generator
    assert not watch.see(620.0, ups("A", "ol", 230.0, 620.0)).generator


def test_a_break_is_as_long_as_the_input_was_gone_not_as_long_as_the_ups_waits_to_go_back() -> None:
    for gone, generator in ((3.0, False), (6.0, True)):
        watch = Watch(PowerSettings(generator=True))
        watch.see(0.0, ups("A", "ob", 0.0, 0.0))
        watch.see(gone, ups("A", "ob", 230.0, gone))
        watch.see(gone + 9.0, ups("A", "ob", 230.0, gone + 9.0))
        assert watch.see(gone + 10.0, ups("A", "ol", 230.0, gone + 10.0)).generator is generator


def test_a_frequency_off_nominal_is_a_generator_anywhere() -> None:
    watch = Watch()
    assert watch.see(0.0, [*ups("A", "ol"), read("ups/A", "ups.input_frequency", 50.6)]).generator
    assert not watch.see(1.0, [*ups("A", "ol", 230.0, 1.0), read("ups/A", "ups.input_frequency", 59.9, 1.0)]).generator


@given(st.frozensets(st.sampled_from(["lb", "rb", "chrg", "dischrg", "over", "trim", "boost", "alarm", "fsd", "eco"])))
def test_no_flag_beside_makes_a_shed_of_ol_and_ob(more: frozenset[str]) -> None:
    feed = look(ups("A", " ".join(["ol", "ob", *more]), 0.0))
    assert (feed.mains, feed.sheds) == (CONFLICT, False)


def test_a_feed_without_a_ups_is_seen_at_its_pdus() -> None:
    site = make_site(ups=[], feeds=[{"name": "A"}])
    feeds = Feeds(site, Limits(), PowerSettings())

    def mains(volts: float | None) -> Mains:
        return feeds.look(view(WATCHES, [read("pdu/A1", "pdu.voltage", volts)]))[0].mains

    assert [mains(230.0), mains(0.0), mains(None)] == [PRESENT, LOST, UNKNOWN]


def test_how_steady_a_feed_has_been_is_seen_from_what_was_read() -> None:
    feeds = Feeds(make_site(), Limits(), PowerSettings())
    readings = [*ups("A", "ob", 0.0), *ups("A", "ol", 0.0, 5.0), *ups("A", "ol", 230.0, 10.0), *ups("A", "ol", 230.0, 50.0)]
    watches = dict.fromkeys(WATCHES, 120.0)
    assert feeds.find_steady(view(watches, readings, 50.0), "A") == 40.0
    assert feeds.find_steady(view(watches, [*readings, *ups("A", "ol", 100.0, 55.0)], 55.0), "A") == 0.0
    assert feeds.find_steady(view(watches, [], 55.0), "A") == 0.0
