"""The hooks. Each is asked once, at start-up, of each plugin alone, and hands over typed objects; none is `firstresult`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec
import pluggy

from supernoded.parts import Actuator, Check, Diagnosis, Fault, Format, Handle, Loop, Remedy, Rule, Sensor
from supernoded.wire import Node

hookspec = pluggy.HookspecMarker("supernoded")
hookimpl = pluggy.HookimplMarker("supernoded")


@hookspec
def supernoded_settings() -> type[msgspec.Struct]:
    """The type of the plugin's own table `[plugins.<name>]`."""
    raise AssertionError


@hookspec
def supernoded_sensors(settings: Any, node: Node) -> Sequence[Sensor]:
    """What reads."""
    raise AssertionError


@hookspec
def supernoded_rules(settings: Any, node: Node) -> Sequence[Rule[Any]]:
    """What judges."""
    raise AssertionError


@hookspec
def supernoded_diagnoses(settings: Any, node: Node) -> Sequence[Diagnosis]:
    """What says why."""
    raise AssertionError


@hookspec
def supernoded_loops(settings: Any, node: Node) -> Sequence[Loop[Any]]:
    """What steers."""
    raise AssertionError


@hookspec
def supernoded_handles(settings: Any, node: Node) -> Sequence[Handle]:
    """What loops turn."""
    raise AssertionError


@hookspec
def supernoded_remedies(settings: Any, node: Node) -> Sequence[Remedy]:
    """What says the next step; one remedy per verdict kind."""
    raise AssertionError


@hookspec
def supernoded_actuators(settings: Any, node: Node) -> Sequence[Actuator]:
    """What performs; one actuator per action kind and target."""
    raise AssertionError


@hookspec
def supernoded_checks(settings: Any, node: Node) -> Sequence[Check]:
    """What `supernodectl preflight` runs."""
    raise AssertionError


@hookspec
def supernoded_faults(settings: Any, node: Node) -> Sequence[Fault[Any]]:
    """What a chaos scenario may inject."""
    raise AssertionError


@hookspec
def supernoded_formats() -> Mapping[str, Format]:
    """What `supernodectl replay --as` reads: name -> bytes -> readings."""
    raise AssertionError


@hookspec
def supernoded_commands() -> Sequence[click.Command]:
    """Further groups of `supernodectl`."""
    raise AssertionError
