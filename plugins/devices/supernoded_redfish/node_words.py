"""What the sensors of a chassis are to us: of cards, air, fans, coolant, and of the parts that no liquid cools. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import partial

from supernoded_redfish.controls import AUTOMATIC, MANUAL, OVERRIDE, is_fans, parse_control
from supernoded_redfish.facts import Fact
from supernoded_redfish.gauges import OUR_UNITS, Gauge, name_words, parse_metrics, parse_sensor, parse_thermal
from supernoded_redfish.paths import find_number, make_slug, name_last, read_number

Body = Mapping[str, object]
FAN_MODES: Mapping[str, str] = {AUTOMATIC: "auto", MANUAL: "manual", OVERRIDE: "full"}  # ControlMode -> fan.control
_CARD = re.compile(r"\b(?:card|gpu|npu|accelerator|oam|xpu)(?: sxm)? ?(\d{1,3})\b")
_MEMORY = re.compile(r"\b(?:mem|memory|hbm|dram)")
_MEAN, _MEDIAN = re.compile(r"\b(?:mean|average|avg)\b"), re.compile(r"\bmedian\b")
_COOLANT = re.compile(r"coolant|liquid|cold plate|\bwater\b")
_IN, _OUT = re.compile(r"supply|inlet|\bin\b"), re.compile(r"return|outlet|\bout\b")
_INLET = re.compile(r"\b(?:inlet|intake|ambient)")
_SUPPLIES = re.compile(r"\bpsu|\bps ?\d|power suppl")  # their inlets and fans are not the node's
_FAN, _AIR = re.compile(r"\bfan ?(\d{1,3})"), re.compile(r"air ?flow ?(\d{1,3})")
# Parts that no liquid cools, by words in their names and by PhysicalContext; regulators have other limits than all else.
PARTS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("optics", re.compile(r"optic|transceiver|[qo]sfp|\bsfp"), "Transceiver"),
    ("nic", re.compile(r"\bnic|network|\bhca|mezz"), "NetworkingDevice"),
    ("vrm", re.compile(r"\bvrm|\bvr\b|regulator"), "VoltageRegulator"),
    ("dimm", re.compile(r"\bdimm|\bmem|\bdram"), "Memory"),
)


def parse_node_sensor(node: str, cards: Mapping[str, str], path: str, body: Body) -> Iterator[Fact]:
    """A sensor of the chassis; nothing where it is of no interest."""
    gauge = parse_sensor(body)
    if gauge is not None:
        yield from name_gauge(node, cards, gauge, name_last(path))


def parse_node_thermal(node: str, cards: Mapping[str, str], path: str, body: Body) -> Iterator[Fact]:
    """All of the older form, or of ThermalMetrics, in one page."""
    del path
    for gauge in (*parse_thermal(body), *parse_metrics(body)):
        yield from name_gauge(node, cards, gauge, gauge.name)


def parse_fan(node: str, path: str, body: Body) -> Iterator[Fact]:
    """A Fan resource, as ThermalSubsystem has them."""
    number = find_number(name_last(path))
    if number is None or "SpeedPercent" not in body:
        return
    excerpt, subject = body["SpeedPercent"], f"{node}/fan{number}"
    duty = read_number(excerpt)
    yield Fact(subject, "fan.duty", duty, "%", "" if duty is not None else "SpeedPercent has no number")
    if isinstance(excerpt, Mapping) and "SpeedRPM" in excerpt:
        speed = read_number(excerpt["SpeedRPM"])
        yield Fact(subject, "fan.speed", speed, "rpm", "" if speed is not None else "SpeedRPM has no number")


def parse_fan_control(node: str, path: str, body: Body) -> Iterator[Fact]:
    """Who controls the fans."""
    control = parse_control(path, body)
    if is_fans(control):
        word = FAN_MODES.get(control.mode)
        yield Fact(node, "fan.control", word, "text", "" if word else f"ControlMode is {control.mode[:40] or 'missing'}")


def name_gauge(node: str, cards: Mapping[str, str], gauge: Gauge, identity: str) -> Iterator[Fact]:
    """What a gauge is, by what it measures, its name and its place; numbers are as the service counts."""
    tell = partial(Fact, value=gauge.value, unit=OUR_UNITS[gauge.kind], note=gauge.note, stamp=gauge.stamp)
    if gauge.kind == "temperature":
        yield from _name_temperature(node, cards, gauge, identity)
    elif gauge.kind == "flow" and "flow" in gauge.name:
        yield tell(node, "coolant.flow")
    elif gauge.kind == "air" and (found := _AIR.search(gauge.name)):
        yield tell(f"{node}/air{found[1]}", "air.flow")
    elif gauge.kind in ("rotation", "share") and not _SUPPLIES.search(gauge.name) and (found := _FAN.search(gauge.name)):
        yield tell(f"{node}/fan{found[1]}", "fan.speed" if gauge.kind == "rotation" else "fan.duty")


def _name_temperature(node: str, cards: Mapping[str, str], gauge: Gauge, identity: str) -> Iterator[Fact]:
    card = _CARD.search(gauge.name)
    if card is not None:
        if not _MEMORY.search(gauge.name):
            yield _tell(_find_card(node, cards, identity, card[1]), f"card.temperature{_find_kind(gauge.name)}", gauge)
    elif _COOLANT.search(gauge.name) or gauge.context in ("LiquidInlet", "LiquidOutlet"):
        yield from _name_coolant(node, gauge)
    elif part := _find_part(gauge):
        yield from _tell_part(node, part, gauge, identity)
    elif (_INLET.search(gauge.name) or gauge.context == "Intake") and not _SUPPLIES.search(gauge.name):
        yield _tell(node, "air.temperature", gauge)


def _name_coolant(node: str, gauge: Gauge) -> Iterator[Fact]:
    if gauge.context == "LiquidOutlet" or _OUT.search(gauge.name):
        yield _tell(node, "coolant.return_temperature", gauge)
    elif gauge.context == "LiquidInlet" or _IN.search(gauge.name):
        yield _tell(node, "coolant.supply_temperature", gauge)


def _tell_part(node: str, part: str, gauge: Gauge, identity: str) -> Iterator[Fact]:
    slug = make_slug(identity)
    subject = f"{node}/sensor/bmc-{slug if part != 'vrm' or 'vrm' in slug else f'vrm-{slug}'}"
    yield _tell(subject, "host.temperature", gauge)
    if gauge.high is not None:
        yield Fact(subject, "host.temperature.high", gauge.high, "C")


def _tell(subject: str, quantity: str, gauge: Gauge) -> Fact:
    return Fact(subject, quantity, gauge.value, "C", gauge.note, gauge.stamp)


def _find_part(gauge: Gauge) -> str:
    return next((part for part, named, context in PARTS if named.search(gauge.name) or gauge.context == context), "")


def _find_kind(name: str) -> str:
    return ".mean" if _MEAN.search(name) else ".median" if _MEDIAN.search(name) else ""


def _find_card(node: str, cards: Mapping[str, str], identity: str, number: str) -> str:
    """As the settings name the processor whose Id is in the sensor's; else by its number."""
    named = [subject for name, subject in cards.items() if f" {name_words(name)} " in f" {name_words(identity)} "]
    return named[0] if named else f"{node}/card{number}"


def count_from_none(node: str, cards: int, facts: Iterable[Fact], first: MutableMapping[str, int]) -> list[Fact]:
    """Cards, fans and airflow sensors numbered from 0, as we do, where the service counts from 1. No `cards` = they are named already.

    `first` remembers the number of the first of each family: what is no longer shown must not give the others new names.
    """
    every = list(facts)
    for family, most in (("card", cards), ("fan", 1), ("air", 1)):
        prefix = f"{node}/{family}"
        numbers = {int(digits) for fact in every if (digits := fact.subject.removeprefix(prefix)).isdecimal() and digits != fact.subject}
        if 0 in numbers:
            first[family] = 0
        elif most and most in numbers:
            first.setdefault(family, 1)
        if first.get(family) == 1:
            every = [_count_down(fact, prefix) for fact in every]
    return every


def _count_down(fact: Fact, prefix: str) -> Fact:
    digits = fact.subject.removeprefix(prefix)
    return fact._replace(subject=f"{prefix}{int(digits) - 1}") if digits.isdecimal() and digits != fact.subject else fact
