"""Cooling plants as data: the shape of the files in `plants/`, and how one is scaled to the heat of a loop."""

from __future__ import annotations

from importlib import resources
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from sim_hardware.plant.words import PlantError

RATED_SHARE = 0.8  # what a loop's nodes at full load are of its plant's rating: the 1.6 MW on 2 MW of the reference plant's steps
LEAST_WATTS = 1000.0  # a loop without nodes still has a plant

Positive = Annotated[float, Meta(gt=0)]
Amount = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[float, Meta(ge=1)]  # what must last longer than one substep
Factor = Annotated[float, Meta(ge=0.1, le=10)]


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Unknown keys are refused."""


class Exchanger(_Table, frozen=True, kw_only=True):
    """The counterflow heat exchanger between both waters."""

    watts_per_kelvin: Positive  # UA when clean
    lag_s: Seconds  # of the water it gives, at rated flow
    fouling: Annotated[float, Meta(ge=0, le=0.9)] = 0.0  # share of UA lost


class Primary(_Table, frozen=True, kw_only=True):
    """The building's water, and how it sways."""

    celsius: float
    litres_per_second: Positive  # with the valve open and at its pressure
    kilopascals: Positive = 150.0
    swing_kelvin: Amount = 0.0  # amplitude
    swing_s: Positive = 600.0  # period
    swing_kilopascals: Amount = 0.0
    swing_pressure_s: Positive = 300.0


class Valve(_Table, frozen=True, kw_only=True):
    """The valve in the primary water."""

    stroke_s: Positive  # for the whole stroke
    backlash_percent: Annotated[float, Meta(ge=0, le=20)] = 0.0
    curve: Literal["linear", "equal-percentage"] = "linear"


class Piping(_Table, frozen=True, kw_only=True):
    """How long the coolant is under way at rated flow. A row's factor lengthens both of its ways."""

    supply_s: Annotated[float, Meta(ge=0)] = 0.0  # 0, or at least one second
    return_s: Seconds = 20.0
    rows: tuple[Factor, ...] = (1.0,)


class Plates(_Table, frozen=True, kw_only=True):
    """Cold plates and what hangs on them; and the heat that goes into air instead."""

    lag_s: Positive = 12.0  # of the heat into the coolant at rated flow
    ntu: Positive = 0.9  # of a cold plate at rated flow (ours)
    air_share: Share = 0.0  # of a card's heat that goes into air
    air_return: Share = 0.0  # of all heat in air, that a rear door gives to the coolant
    air_lag_s: Positive = 120.0
    room_celsius: float = 24.0


class Gauge(_Table, frozen=True, kw_only=True):
    """The temperature transmitters."""

    lag_s: Positive = 2.0
    step_kelvin: Amount = 0.0  # what it rounds to; 0 is exact
    refresh_s: Amount = 0.0  # how often a register for readers is renewed; 0 is at once


class Pumping(_Table, frozen=True, kw_only=True):
    """N+1 pumps with drives."""

    pumps: Annotated[int, Meta(ge=2, le=8)] = 2
    duty: Annotated[int, Meta(ge=1, le=7)] = 1  # that run
    check_valves: bool = True  # without, a standing pump lets coolant back
    reset_s: Positive = 20.0  # from being well again to full speed
    coast_s: Positive = 1.2  # time constant: nothing is left after 3 s or 4
    litres_per_second: Positive = 48.0  # rated flow of the whole loop
    kilopascals: Positive = 100.0  # that its own loop holds over the branches
    reservoir_litres: Positive = 200.0


class Plc(_Table, frozen=True, kw_only=True):
    """The CDU's own controller."""

    celsius: float = 22.0  # T5
    period_s: Seconds = 1.0
    gain: Positive = 0.08  # share of the valve's stroke for a kelvin
    rate: Positive = 0.008  # share of the valve's stroke for a kelvin and second
    deadband_kelvin: Amount = 0.0
    takeover_s: Positive = 3.0
    boot_s: Amount = 5.0
    watchdog_s: Positive = 15.0  # safety 15
    dew_margin_kelvin: Amount = 2.0  # safety 18
    arbitration: Literal["last", "first"] = "last"  # the last writer wins, or nobody beside the one whose heartbeat it hears


class Design(_Table, frozen=True, kw_only=True):
    """A cooling plant. Times are at rated flow."""

    text: str
    watts: Positive  # rating
    exchanger: Exchanger
    primary: Primary
    valve: Valve
    piping: Piping = Piping()
    plates: Plates = Plates()
    gauge: Gauge = Gauge()
    pumping: Pumping = Pumping()
    plc: Plc = Plc()


def list_designs() -> tuple[str, ...]:
    """The names of all plants that come with the simulator, the reference first."""
    names = {file.name.removesuffix(".toml") for file in _find_plants().iterdir() if file.name.endswith(".toml")}
    return ("reference", *sorted(names - {"reference"}))


def load_design(name: str) -> Design:
    """The plant of this name. Raises PlantError when there is none, or its file has a fault."""
    if name not in list_designs():
        raise PlantError(f"{name}: no cooling plant of this name; there are {', '.join(list_designs())}")
    return read_design(_find_plants().joinpath(f"{name}.toml").read_bytes(), name)


def read_design(text: bytes, name: str) -> Design:
    """The plant that this TOML describes. Raises PlantError that says what is wrong with it."""
    try:
        design = msgspec.toml.decode(text, type=Design)
    except msgspec.DecodeError as error:  # a ValidationError too
        raise PlantError(f"cooling plant {name}: {error}") from error
    if design.pumping.duty >= design.pumping.pumps:
        raise PlantError(f"cooling plant {name}: {design.pumping.duty} of {design.pumping.pumps} pumps run; leave one to stand by")
    if 0.0 < design.piping.supply_s * min(design.piping.rows) < 1.0:
        raise PlantError(f"cooling plant {name}: the supply takes {design.piping.supply_s} s; give 0, or at least 1 s in every row")
    return design


def _find_plants() -> resources.abc.Traversable:
    return resources.files(__package__).joinpath("plants")


def scale_design(design: Design, watts: float) -> Design:
    """The same plant for a loop whose nodes draw so many watts at full load: flows and UA scale, times do not."""
    rating = max(watts, LEAST_WATTS) / RATED_SHARE
    factor = rating / design.watts
    exchanger, primary, pumping = design.exchanger, design.primary, design.pumping
    return replace(
        design,
        watts=rating,
        exchanger=replace(exchanger, watts_per_kelvin=exchanger.watts_per_kelvin * factor),
        primary=replace(primary, litres_per_second=primary.litres_per_second * factor),
        pumping=replace(
            pumping,
            litres_per_second=pumping.litres_per_second * factor,
            reservoir_litres=pumping.reservoir_litres * factor,
        ),
    )
