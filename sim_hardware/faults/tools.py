"""Faults of a node's programs. Targets are `NODE/TOOL`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from sim_hardware.devices.tools.words import Run, ToolImpairment
from sim_hardware.faults.kind import PROGRAM, Act, Kind, Nothing, Parameters, Probe, about
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import hangs
from sim_hardware.faults.reading import TOOL_LIMIT, NoAnswerError, run_tool
from sim_hardware.faults.views import require_on

# What to ask of each without any effect.
_QUESTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "npu-smi": ("-v",),
        "hccn_tool": ("-i", "0", "-fec", "-g"),
        "hccl_ring_check": ("--help",),
        "hccl_ring_latency": ("--help",),
        "dsmbandwidth": ("--help",),
        "dsm_snapshot": ("--list",),
        "dsm_sync_all": ("--help",),
        "msprof": ("--help",),
        "nvidia-smi": ("-L",),
        "ethtool": ("--show-fec", "eth0"),
        "mlxlink": ("-d", "mlx5_0"),
        "lldpcli": ("-f", "json", "show", "neighbors"),
        "switch_cli": ("--help",),
        "cardctl": ("--help",),
        "scontrol": ("--version",),
    }
)
_ALIKE = 0.85  # share of characters that stay in a text that is the same but for a time


class ExitCode(Parameters, frozen=True):
    """Of a program."""

    code: Annotated[int, about("exit code", "1", 1, 255)] = 1


class Slowness(Parameters, frozen=True):
    """Of a program."""

    seconds: Annotated[float, about("so much longer", "s", 0.1, 600.0)] = 1.0


def _find(place: Place) -> ToolImpairment:
    return place.rig.tools[place.node].impair(place.short)


async def _ask(place: Place) -> Run:
    return await run_tool(place.rig, place.node, place.short, *_QUESTIONS[place.short])


async def _see_failure(place: Place, parameters: ExitCode) -> bool:
    """The code, and not a word."""
    run = await _ask(place)
    return run.rc == parameters.code and not run.out and not run.err


async def _see_garbage(place: Place, _: Nothing) -> bool:
    """Far from what it printed at first."""
    now = (await _ask(place)).out
    before = place.remember("printed", now)
    same = sum(one == other for one, other in zip(before, now, strict=False))
    return same < _ALIKE * max(len(before), len(now))


async def _see_slowness(place: Place, parameters: Slowness) -> bool | None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    try:
        await _ask(place)
    except NoAnswerError:
        return True if parameters.seconds > TOOL_LIMIT / 2.0 else None
    now = loop.time() - begun
    return now - place.remember("took", now) > parameters.seconds / 2.0


def _set(field: str, value: object) -> Act[Any]:
    return lambda place, _: setattr(_find(place), field, value)


def _take(field: str, name: str) -> Act[Any]:
    return lambda place, parameters: setattr(_find(place), field, getattr(parameters, name))


def _describe(
    name: str, text: str, inject: Act[Any], lift: Act[Any], probe: Probe[Any], parameters: type[Parameters] = Nothing
) -> Kind[Any]:
    return Kind(
        kind=name,
        text=text,
        parameters=parameters,
        targets=("tool",),
        inject=inject,
        lift=lift,
        probe=probe,
        takes_out=False,
        danger="os",
        layers=PROGRAM,
        shows_within=4.0,
    )


KINDS: tuple[Kind[Any], ...] = (
    _describe("tool.hang", "A program never ends.", _set("hang", value=True), _set("hang", value=False), hangs(_ask, require_on)),
    _describe(
        "tool.fails", "A program ends with a code and prints nothing.", _take("rc", "code"), _set("rc", None), _see_failure, ExitCode
    ),
    _describe(
        "tool.garbage", "A program prints what nobody can read.", _set("garbage", value=True), _set("garbage", value=False), _see_garbage
    ),
    _describe("tool.slow", "A program takes longer.", _take("slow_s", "seconds"), _set("slow_s", 0.0), _see_slowness, Slowness),
)
