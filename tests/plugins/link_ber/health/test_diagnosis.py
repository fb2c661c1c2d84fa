"""Which cause comes first, by what is seen of both ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.history import History
from supernoded.plugin import Cause, Diagnosis, Reading
from supernoded_link_ber.health import signs
from supernoded_link_ber.health.causes import OTHERS, SEATS, find_part
from supernoded_link_ber.health.diagnosis import LinkDiagnosis, weigh
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.health.signs import Sign

PORT, PEER = "n0/card0/port0", "n0/card1/port1"
CABLE = f"cable/{PORT}--{PEER}"
FAR = "n0/card3/port0"  # its other end is on another node
WELL = {"rx_power": 0.8, "tx_power": 1.0, "bias": 60.0, "temperature": 45.0, "snr": 22.0, "state": 1.0, "downed": 4.0, "present": 1.0}
NOW = 1800.0

Read = Callable[..., Reading]
Explain = Callable[..., Sequence[Cause]]
Past = Mapping[str, float | Sequence[float]]


@pytest.fixture
def diagnosis(make_ports: Callable[..., Ports]) -> LinkDiagnosis:
    return LinkDiagnosis(make_ports(), 90.0, 30.0)


@pytest.fixture
def explain(diagnosis: Diagnosis, read: Read) -> Explain:
    """Half an hour in which the ports were well, and then a minute in which they show these values (None = cannot be read)."""

    def make(subject: str = PORT, ends: Mapping[str, Mapping[str, float | None]] | None = None) -> Sequence[Cause]:
        history = History(diagnosis.watches)
        for port, now in (ends or {}).items():
            history.add([read(port, f"link.{name}", value, 30.0 * n) for n in range(58) for name, value in WELL.items()], 60.0)
            last = {**WELL, **now}
            history.add([read(port, f"link.{name}", value, NOW - 60.0 + 10.0 * n) for n in range(7) for name, value in last.items()], 60.0)
        return diagnosis.diagnose(history.view(NOW, diagnosis.watches), subject)

    return make


def best(causes: Sequence[Cause]) -> tuple[str, str]:
    return causes[0].name, causes[0].subject


FLAPPED = {"downed": 12.0}


@pytest.mark.parametrize(
    ("own", "peer", "name", "place"),
    [
        ({"present": 0.0, "rx_power": None, "tx_power": None, "bias": None, "state": 0.0}, {"rx_power": 0.0}, "unseated optic", PORT),
        ({"rx_power": 0.0, "state": 0.0}, {"present": 0.0, "rx_power": None, "bias": None, "tx_power": None}, "unseated optic", PEER),
        ({"rx_power": 0.0, "state": 0.0}, {}, "unseated optic", PORT),  # light is sent to it and does not arrive
        ({"rx_power": 0.6, "tx_power": 0.76, **FLAPPED}, {"rx_power": 0.6}, "unseated optic", PORT),  # loses both ways at one module
        ({"rx_power": 0.45, **FLAPPED}, {"rx_power": 0.45}, "bent fibre", CABLE),
        ({"rx_power": 0.5, "snr": 17.0}, {}, "dirty end", PORT),
        ({"tx_power": 0.6, "bias": 90.0}, {"rx_power": 0.5, "snr": 18.0}, "dying laser", PORT),
        ({"rx_power": 0.5, "snr": 18.0}, {"tx_power": 0.6, "bias": 90.0}, "peer's transmitter", PEER),
        ({"temperature": 71.0}, {}, "heat", PORT),
        ({"rx_power": 0.0, "state": 0.0}, {"rx_power": 0.0, "state": 0.0}, "broken or unplugged cable", CABLE),
        ({}, {}, "port or card electronics", PORT),
    ],
)
def test_the_first_cause(explain: Explain, own: Mapping[str, float], peer: Mapping[str, float], name: str, place: str) -> None:
    causes = explain(PORT, {PORT: own, PEER: peer})
    assert best(causes) == (name, place)
    assert causes[0].weight > 0.5
    assert causes[0].evidence
    assert causes[0].at == NOW
    assert sum(cause.weight for cause in causes) == pytest.approx(1.0)
    assert all(congested not in cause.name for cause in causes for congested in ("congest", "load"))


@pytest.mark.parametrize(
    ("own", "name"),
    [
        ({"rx_power": 0.45, **FLAPPED}, "bent fibre"),  # flaps + low light, module present (L7)
        ({"rx_power": 0.5, "snr": 17.0}, "dirty end"),
        ({"rx_power": 0.0, "state": 0.0}, "unseated optic"),
        ({"temperature": 74.0}, "heat"),
    ],
)
def test_with_one_end_in_sight(explain: Explain, own: Mapping[str, float], name: str) -> None:
    """The other node's readings are not here, and that is said."""
    causes = explain(FAR, {FAR: own})
    assert causes[0].name == name
    assert any("n1/card0/port1" in line for cause in causes for line in cause.evidence if line.startswith("not seen: "))


def test_without_any_reading_of_a_module_the_prior_stands(explain: Explain) -> None:
    causes = explain(PORT)
    assert best(causes) == ("unseated optic", PORT)
    assert causes[0].weight == pytest.approx(0.85)
    assert sum(cause.weight for cause in causes if cause.name == "unseated optic") == pytest.approx(0.9)  # L6
    assert causes[0].at == 0.0
    assert "90 % of ring breaks are an optic not fully seated (L6)" in causes[0].evidence
    assert any(line.startswith("not seen: the module of n0/card0/port0") for line in causes[0].evidence)


def test_an_end_that_has_not_been_read_since_the_light_went(diagnosis: Diagnosis, read: Read) -> None:
    """It may be the peer's module that is out: both ends are named."""
    history = History(diagnosis.watches)
    for name, value in WELL.items():
        history.add([read(PEER, f"link.{name}", value, 0.0), read(PORT, f"link.{name}", value, 0.0)], 60.0)
    history.add([read(PORT, "link.rx_power", 0.0, 30.0), read(PORT, "link.state", 0.0, 30.0)], 60.0)
    causes = diagnosis.diagnose(history.view(30.0, diagnosis.watches), PORT)
    assert causes[0].name == "unseated optic"
    assert causes[0].advice == f"Reseat the optic of {PORT} and of {PEER}, as it cannot be seen which of them it is."


def test_a_laser_whose_light_dips_is_a_contact_that_moves(diagnosis: Diagnosis, read: Read) -> None:
    """The newest look finds it well: a module that is not home has good moments, a bent fibre leaves what is sent alone."""
    history = History(diagnosis.watches)
    for n, sent in enumerate([1.0] * 8 + [0.76, 0.97]):
        dim = {"rx_power": 0.8 if n < 8 else 0.6}
        history.add([read(PORT, f"link.{k}", v, 30.0 * n) for k, v in {**WELL, **dim, "tx_power": sent}.items()], 60.0)
        history.add([read(PEER, f"link.{k}", v, 30.0 * n) for k, v in {**WELL, **dim}.items()], 60.0)
    causes = diagnosis.diagnose(history.view(270.0, diagnosis.watches), PORT)
    assert best(causes) == ("unseated optic", PORT)
    assert causes[0].evidence[0].startswith(f"the light that {PORT} sends dipped to 0.76 mW (1 mW earlier")


def test_what_all_lasers_do_is_no_sign_of_one(diagnosis: Diagnosis, read: Read) -> None:
    """After a boot all of them warm up."""
    history = History(diagnosis.watches)
    for port in (PORT, PEER, "n0/card2/port0", "n0/card2/port1", "n0/card3/port0"):
        for at, bias in ((0.0, 55.0), (30.0, 65.0), (60.0, 65.0)):
            history.add([read(port, f"link.{name}", value, at) for name, value in {**WELL, "bias": bias}.items()], 60.0)
    view = history.view(60.0, diagnosis.watches)
    assert signs.find_laser(signs.look(view, PORT)).holds is False
    history.add([read(PORT, "link.bias", 82.0, 61.0)], 60.0)
    assert signs.find_laser(signs.look(history.view(61.0, diagnosis.watches), PORT)).holds is True


def test_modules_that_were_well_before_the_link_went_down_say_nothing(diagnosis: Diagnosis, read: Read) -> None:
    history = History(diagnosis.watches)
    for port in (PORT, PEER):
        history.add([read(port, f"link.{name}", value, at) for at in (0.0, 30.0) for name, value in WELL.items()], 60.0)
        history.add([read(port, "link.state", 0.0, 40.0)], 60.0)
    causes = diagnosis.diagnose(history.view(45.0, diagnosis.watches), PORT)
    assert causes[0].name == "unseated optic"
    assert causes[0].advice == f"Reseat the optic of {PORT} and of {PEER}, as it cannot be seen which of them it is."


def test_evidence_has_numbers_and_what_speaks_against(explain: Explain) -> None:
    causes = explain(PORT, {PORT: {"rx_power": 0.45, **FLAPPED}, PEER: {"rx_power": 0.45}})
    assert "n0/card0/port0 receives 0.45 mW (0.8 mW earlier)" in causes[0].evidence
    assert "n0/card0/port0 went down 8 times lately" in causes[0].evidence
    unseated = next(cause for cause in causes if (cause.name, cause.subject) == ("unseated optic", PORT))
    assert "the module of n0/card0/port0 is there and steady" in unseated.against


def test_advice_near_light_is_safe(explain: Explain) -> None:
    advice = {cause.name: cause.advice for cause in explain(PORT)}
    for name in ("bent fibre", "dirty end", "broken or unplugged cable"):
        assert "with the port off at both ends, never looking into a fibre (Q26)" in advice[name]
    assert "below 30 mm" in advice["bent fibre"]
    assert advice["unseated optic"].startswith("Reseat the optic of n0/card")


def test_a_cable_is_explained_by_both_ends(explain: Explain) -> None:
    causes = explain(CABLE, {PORT: {"rx_power": 0.45, **FLAPPED}, PEER: {"rx_power": 0.45, **FLAPPED}})
    assert best(causes) == ("bent fibre", CABLE)
    assert sum(cause.weight for cause in causes) == pytest.approx(1.0)
    assert len({(cause.name, cause.subject) for cause in causes}) == len(causes)
    absent = {"present": 0.0, "rx_power": None, "tx_power": None, "bias": None, "snr": None}
    assert best(explain(CABLE, {PORT: absent, PEER: {"rx_power": 0.0}})) == ("unseated optic", PORT)


def test_a_lane_is_explained_by_its_port(explain: Explain) -> None:
    assert best(explain(f"{PORT}/lane2", {PORT: {"temperature": 74.0}, PEER: {}})) == ("heat", PORT)


@pytest.mark.parametrize("subject", ["n0", "n0/card0", "site", "ring/backplane-n0", "cable/", "cable/x", "n0/nic/mlx5_9", ""])
def test_what_is_no_link_is_not_explained(explain: Explain, subject: str) -> None:
    assert not explain(subject, {PORT: {}})


def test_a_link_that_is_not_declared_knows_its_neighbour(diagnosis: Diagnosis, read: Read) -> None:
    history = History(diagnosis.watches)
    history.add([read("n0/nic/a", "link.state", 1.0), read("n0/nic/a", "link.neighbour", "leaf3/Ethernet1/7")], 60.0)
    causes = diagnosis.diagnose(history.view(0.0, diagnosis.watches), "n0/nic/a")
    assert ("unseated optic", "leaf3/Ethernet1/7") in {(cause.name, cause.subject) for cause in causes}
    assert next(cause for cause in causes if cause.name == "bent fibre").subject == "n0/nic/a"


def test_trouble_older_than_the_window_shows_beside_other_ports(diagnosis: Diagnosis, read: Read) -> None:
    history = History(diagnosis.watches)
    for card in range(4):
        history.add([read(f"n0/card{card}/port1", "link.rx_power", 0.8)], 60.0)
    history.add([read(FAR, "link.rx_power", 0.3)], 60.0)
    sign = signs.find_low(signs.look(history.view(0.0, diagnosis.watches), FAR), "link.rx_power", "receives")
    assert (sign.holds, sign.text) == (True, f"{FAR} receives 0.3 mW (others 0.8 mW)")


def test_low_and_unsteady_light_is_a_loose_module(diagnosis: Diagnosis, read: Read) -> None:
    history = History(diagnosis.watches)
    values = [0.8] * 20 + [0.5, 0.65, 0.4, 0.6, 0.35, 0.55, 0.4]
    history.add([read(FAR, "link.rx_power", value, 10.0 * n) for n, value in enumerate(values)], 60.0)
    causes = diagnosis.diagnose(history.view(260.0, diagnosis.watches), FAR)
    assert best(causes) == ("unseated optic", FAR)
    assert any("is low and unsteady, now 0.4 mW" in line for line in causes[0].evidence)


def test_the_modules_own_limit_counts_without_any_past(diagnosis: Diagnosis, read: Read) -> None:
    history = History(diagnosis.watches)
    page = {"link.rx_power": 0.12, "link.rx_power.low": 0.145, "link.rx_power.high": 3.5, "link.temperature": 68.0}
    history.add([read(FAR, name, value) for name, value in (page | {"link.temperature.high": 70.0}).items()], 60.0)
    end = signs.look(history.view(0.0, diagnosis.watches), FAR)
    assert signs.find_low(end, "link.rx_power", "receives").text.endswith("receives 0.12 mW, below its module's limit of 0.145 mW")
    assert signs.find_heat(end).holds is True


@given(st.dictionaries(st.sampled_from(sorted({s for k in (*SEATS, *OTHERS) for s in k.signs})), st.sampled_from([True, False, None])))
def test_weights_are_shares_whatever_is_seen(holds: dict[str, bool | None]) -> None:
    told = {name: Sign(holds=held, text=name) for name, held in holds.items()}
    for percent, peer in ((90.0, True), (90.0, False), (0.0, True), (100.0, True)):
        weights = weigh(percent / 100.0, told, has_peer=peer)
        assert sum(weight for _, weight in weights) == pytest.approx(1.0)
        assert all(0.0 <= weight <= 1.0 for _, weight in weights)


def test_parts() -> None:
    assert [find_part(name) for name in ("bent fibre", "dying laser", "unseated optic", "port or card electronics")] == [
        "cable",
        "optic",
        "optic",
        "card",
    ]
