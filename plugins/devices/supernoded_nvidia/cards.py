"""The sheet of a card to readings, whatever driver wrote it: each fact by the names that it has had. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from supernoded.plugin import Reading, make_reading
from supernoded_nvidia.clocks import read_throttle
from supernoded_nvidia.document import Sheet
from supernoded_nvidia.values import LONGEST_TEXT, MEBI, add_up, is_no_value, measure, say_missing, strip

LOST = "lost"
NEEDS_RESET = "reset-required"
MARGIN = "x.nvidia.thermal_margin"  # kelvins left before the card slows itself down: smaller is hotter, below 0 is too hot


class Fact(msgspec.Struct, frozen=True):
    """One quantity, and the paths at which drivers have shown it; the first one with a number counts."""

    quantity: str
    unit: str  # ours
    paths: tuple[str, ...]
    printed: str = ""  # the tool's unit
    factor: float = 1.0


FACTS = (
    Fact("card.temperature", "C", ("temperature/gpu_temp", "temperature/gpu current temp"), "C"),
    Fact(MARGIN, "C", ("temperature/gpu_temp_tlimit", "temperature/gpu t.limit temp"), "C"),
    Fact(
        "card.power",
        "W",
        (
            "gpu_power_readings/power_draw",
            "gpu_power_readings/average_power_draw",
            "gpu_power_readings/instant_power_draw",
            "power_readings/power_draw",
            "gpu power readings/power draw",
            "gpu power readings/average power draw",
            "gpu power readings/instantaneous power draw",
            "power readings/power draw",
        ),
        "W",
    ),
    Fact("card.utilisation", "%", ("utilization/gpu_util", "utilization/gpu"), "%"),
    Fact("card.memory_used", "B", ("fb_memory_usage/used", "fb memory usage/used"), "MiB", MEBI),
    Fact("card.memory_total", "B", ("fb_memory_usage/total", "fb memory usage/total"), "MiB", MEBI),
)
TEXTS = {"card.serial": ("serial", "serial number"), "card.chip": ("product_name", "product name")}

# Totals over the card's life. Before Ampere by bits, since then by memory; a generation shows either.
_AGGREGATE = ("ecc_errors/aggregate/", "ecc errors/aggregate/")
COUNTERS = {
    "card.errors_corrected": (
        "single_bit/total",
        "single bit/total",
        "sram_correctable",
        "sram correctable",
        "dram_correctable",
        "dram correctable",
    ),
    "card.errors_uncorrected": (
        *("double_bit/total", "double bit/total", "sram_uncorrectable", "sram uncorrectable", "dram_uncorrectable", "dram uncorrectable"),
        *("sram_uncorrectable_parity", "sram uncorrectable parity", "sram_uncorrectable_secded", "sram uncorrectable sec-ded"),
    ),
}

# What a driver says with Yes or No, and the flag that it is here.
COMPLAINTS = {
    "remap-pending": ("remapped_rows/remapped_row_pending", "remapped rows/pending"),
    "remap-failed": ("remapped_rows/remapped_row_failure", "remapped rows/remapping failure occurred"),
    "retirement-pending": (
        *("retired_pages/pending_retirement", "retired_pages/pending_blacklist"),
        *("retired pages/pending page blacklist", "retired pages/pending page retirement"),
    ),
    "memory-unrepairable": ("ecc_errors/unrepairable_memory", "ecc errors/unrepairable memory"),
    "sram-threshold": tuple(f"{start}{name}" for start in _AGGREGATE for name in ("sram_threshold_exceeded", "sram threshold exceeded")),
}
RECOVERY = ("gpu_recovery_action", "gpu recovery action")
_NO_WORD = re.compile(r"[^a-z0-9]+")


def read_sheet(sheet: Sheet, subject: str, at: float) -> Iterator[Reading]:
    """Every reading of one card. A fact that this driver does not know is none."""
    words = {strip(text).casefold() for text in sheet.facts.values()}
    if any("gpu is lost" in word for word in words):
        yield from read_loss(subject, "the tool says that the GPU is lost", at)
    else:
        yield make_reading(subject, "card.present", 1.0, "1", at)
        yield _read_health(sheet.facts, subject, at, needs_reset=any("requires reset" in word for word in words))
    for fact in FACTS:
        yield from _read_number(sheet.facts, fact, subject, at)
    yield from read_throttle(sheet.facts, subject, at)
    for quantity, paths in TEXTS.items():
        yield from _read_text(sheet.facts, quantity, paths, subject, at)
    for quantity, names in COUNTERS.items():
        texts = [sheet.facts[start + name] for start in _AGGREGATE for name in names if start + name in sheet.facts]
        if texts:
            total, note = add_up(texts)
            yield make_reading(subject, quantity, total, "1", at, note)


def read_loss(subject: str, why: str, at: float) -> Iterator[Reading]:
    """A card that was on the bus and is not."""
    yield make_reading(subject, "card.present", 0.0, "1", at, why)
    yield make_reading(subject, "card.health", frozenset({LOST}), "flags", at, why)


def _read_number(facts: Mapping[str, str], fact: Fact, subject: str, at: float) -> Iterator[Reading]:
    shown = [facts[path] for path in fact.paths if path in facts]
    number = next((number for text in shown if (number := measure(text, fact.printed)) is not None), None)
    if number is not None:
        yield make_reading(subject, fact.quantity, number * fact.factor, fact.unit, at)
    elif shown:
        yield make_reading(subject, fact.quantity, None, fact.unit, at, say_missing(shown[0]))


def _read_text(facts: Mapping[str, str], quantity: str, paths: tuple[str, ...], subject: str, at: float) -> Iterator[Reading]:
    text = next((facts[path] for path in paths if path in facts), None)
    if text is not None:
        is_missing = is_no_value(text) or text == "0"
        word = text.casefold() if quantity == "card.chip" else text
        yield make_reading(
            subject, quantity, None if is_missing else word[:LONGEST_TEXT], "text", at, say_missing(text) if is_missing else ""
        )


def _read_health(facts: Mapping[str, str], subject: str, at: float, *, needs_reset: bool) -> Reading:
    """What the driver complains of. One that shows none of these says nothing of the card's health."""
    flags, is_told = {NEEDS_RESET} if needs_reset else set[str](), needs_reset
    for flag, paths in COMPLAINTS.items():
        answers = {strip(facts[path]).casefold() for path in paths if path in facts}
        is_told = is_told or not answers.isdisjoint({"yes", "no"})
        flags.update({flag} if "yes" in answers else ())
    action = next((strip(facts[path]).casefold() for path in RECOVERY if path in facts), "n/a")
    if action == "none":
        is_told = True
    elif not is_no_value(action):
        is_told = True
        flags.add(f"recovery-{_NO_WORD.sub('-', action).strip('-')[:40]}")
    return make_reading(
        subject, "card.health", frozenset(flags) if is_told else None, "flags", at, "" if is_told else "this driver tells nothing of it"
    )
