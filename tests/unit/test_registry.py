from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from supernoded import hookspecs
from supernoded.errors import PluginError, SettingsError
from supernoded.model import NODE, Action, Effect, Reading, Sight
from supernoded.parts import Source
from supernoded.plugin import hookimpl
from supernoded.registry import Found, Parts, collect, commands, formats, settings_types
from supernoded.wire import Node


@dataclass(frozen=True)
class Still:
    name: str = "still"
    scope: str = NODE
    period: float = 1.0
    timeout: float = 1.0

    async def read(self) -> Sequence[Reading]:
        return []


@dataclass(frozen=True)
class Arm:
    kinds: frozenset[str] = frozenset({"card.isolate"})
    targets: Sequence[str] = ("n0/card*",)

    async def apply(self, action: Action) -> None: ...

    async def observe(self, action: Action) -> Sight:
        return Sight(effect=Effect.UNKNOWN)


@dataclass(frozen=True)
class Answers:
    answers: str = "card.silent"

    def next(self, *_: object) -> None: ...


@dataclass(frozen=True)
class Judge:
    kind: str = "card.silent"
    scope: str = NODE
    watches: Mapping[str, float] = field(default_factory=dict)

    def start(self) -> None: ...

    def judge(self, seen: object, memory: None) -> tuple[None, tuple[()]]:
        return None, ()


def plugin(**hooks: Any) -> SimpleNamespace:
    """A plugin whose hooks return these values."""
    made: dict[str, Any] = {}
    for name, value in hooks.items():
        hook = getattr(hookspecs, f"supernoded_{name}")
        body = _giving(value) if not inspect.signature(hook).parameters else _giving_on_node(value)
        body.__name__ = f"supernoded_{name}"
        made[f"supernoded_{name}"] = hookimpl(body)
    return SimpleNamespace(**made)


def _giving(value: Any) -> Any:
    return lambda: value


def _giving_on_node(value: Any) -> Any:
    def hook(settings: Any, node: Node) -> Any:
        return value(settings, node) if callable(value) else value

    return hook


def gather(node: Node, tables: Mapping[str, Mapping[str, Any]] | None = None, **plugins: object) -> Parts:
    return collect([Found(name=name, plugin=p) for name, p in sorted(plugins.items())], tables or {}, lambda _: node)


def troubles(parts: Parts) -> dict[str, str]:
    return {found.name: found.trouble for found in parts.plugins if found.trouble}


def test_every_part_is_handed_over_with_its_owner(supernoded_node: Node) -> None:
    parts = gather(
        supernoded_node,
        one=plugin(sensors=[Still()], actuators=[Arm()], remedies=[Answers()], rules=[Judge()]),
    )
    assert troubles(parts) == {}
    assert parts.owner("sensor", "still") == "one"
    assert parts.owner("remedy", "card.silent") == "one"
    assert parts.actuator_for("card.isolate", "n0/card3") == Arm()
    assert parts.actuator_for("card.isolate", "n1/card3") is None
    assert parts.actuator_for("card.release", "n0/card3") is None


def test_a_broken_plugin_is_left_out_and_named_and_the_others_go_on(supernoded_node: Node) -> None:
    def explode(settings: Any, node: Node) -> Any:
        raise ZeroDivisionError("at start")

    parts = gather(supernoded_node, bad=plugin(rules=[Judge()], sensors=explode), good=plugin(sensors=[Still()]))
    assert troubles(parts) == {"bad": "ZeroDivisionError: at start"}
    assert [s.name for s in parts.sensors] == ["still"]
    assert parts.rules == []


def test_a_misspelt_hook_is_named(supernoded_node: Node) -> None:
    def supernoded_sensor(settings: Any, node: Node) -> Any:
        return []

    parts = gather(supernoded_node, bad=SimpleNamespace(supernoded_sensor=hookimpl(supernoded_sensor)))
    assert "supernoded_sensor" in troubles(parts)["bad"]


def test_a_hook_without_its_marker_is_named(supernoded_node: Node) -> None:
    def supernoded_sensors(settings: Any, node: Node) -> Any:
        return [Still()]

    parts = gather(supernoded_node, bad=SimpleNamespace(supernoded_sensors=supernoded_sensors))
    assert troubles(parts)["bad"] == "PluginError: supernoded_sensors has no @hookimpl"


def test_a_wrong_argument_name_is_named(supernoded_node: Node) -> None:
    def supernoded_sensors(options: Any, node: Node) -> Any:
        return [Still()]

    parts = gather(supernoded_node, bad=SimpleNamespace(supernoded_sensors=hookimpl(supernoded_sensors)))
    assert "options" in troubles(parts)["bad"]


def test_a_part_of_the_wrong_shape_is_named(supernoded_node: Node) -> None:
    parts = gather(supernoded_node, bad=plugin(sensors=[Judge()]))
    assert troubles(parts)["bad"] == "PluginError: Judge is no Sensor: it has no name, period, timeout, read"


def test_two_remedies_for_one_kind_stop_the_start_and_name_both(supernoded_node: Node) -> None:
    with pytest.raises(PluginError, match=r"remedy 'card\.silent': one and two"):
        gather(supernoded_node, one=plugin(remedies=[Answers()]), two=plugin(remedies=[Answers()]))


def test_two_sensors_of_one_name_in_one_plugin_stop_the_start(supernoded_node: Node) -> None:
    with pytest.raises(PluginError, match="sensor 'still': one and one"):
        gather(supernoded_node, one=plugin(sensors=[Still(), Still()]))


def test_two_actuators_on_one_target_stop_the_start_and_name_both(supernoded_node: Node) -> None:
    with pytest.raises(PluginError, match=r"'card.isolate' on one target: one \(n0/card\*\) and two \(n0/card3\)"):
        gather(supernoded_node, one=plugin(actuators=[Arm()]), two=plugin(actuators=[Arm(targets=("n0/card3",))]))


def test_actuators_of_one_kind_on_different_targets_live_together(supernoded_node: Node) -> None:
    parts = gather(supernoded_node, one=plugin(actuators=[Arm()]), two=plugin(actuators=[Arm(targets=("n1/card*",))]))
    assert len(parts.actuators) == 2


def test_the_daemons_own_parts_have_an_owner_and_no_plugin_performs_beside_them(supernoded_node: Node) -> None:
    parts = gather(supernoded_node, one=plugin(actuators=[Arm()]))
    parts.add_own("job", sensors=[Still()], actuators=[Arm(targets=("n1/card*",))])
    assert (parts.owner("sensor", Still().name), parts.owner("actuator", "card.isolate on n1/card*")) == ("job", "job")
    with pytest.raises(PluginError, match=r"'card.isolate' on one target"):
        parts.add_own("job", actuators=[Arm(targets=("n0/card3",))])


class Own(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    level: int = 3


def test_a_plugin_gets_its_own_settings(supernoded_node: Node) -> None:
    seen: list[Any] = []

    def sensors(settings: Any, node: Node) -> list[Still]:
        seen.append(settings)
        return []

    gather(supernoded_node, {"one": {"level": 5}}, one=plugin(settings=Own, sensors=sensors))
    assert seen == [Own(level=5)]


def test_a_bad_plugin_table_stops_the_start(supernoded_node: Node) -> None:
    with pytest.raises(SettingsError, match="levle"):
        gather(supernoded_node, {"one": {"levle": 5}}, one=plugin(settings=Own))


def test_a_table_for_a_plugin_without_settings_stops_the_start(supernoded_node: Node) -> None:
    with pytest.raises(SettingsError, match="level"):
        gather(supernoded_node, {"one": {"level": 5}}, one=plugin(sensors=[Still()]))


def test_formats_and_commands_are_gathered_and_a_shared_format_is_read_by_each() -> None:
    def reader(name: str) -> Callable[[object], list[Reading]]:
        return lambda _: [Reading(subject=name, quantity="host.load", value=1.0, unit="1", at=1.0)]

    one, two = plugin(formats={"a": reader("one")}), plugin(formats={"a": reader("two"), "b": reader("b")}, commands=[])
    assert list(formats([Found(name="one", plugin=one)])) == ["a"]
    assert commands([Found(name="two", plugin=two)]) == {}
    both = formats([Found(name="one", plugin=one), Found(name="two", plugin=two)])
    source = Source(name="log", data=b"", at=0.0)
    assert {name: [reading.subject for reading in read(source)] for name, read in both.items()} == {"a": ["one", "two"], "b": ["b"]}


def _leaving(*_: object) -> None:
    raise SystemExit(3)


def test_a_plugin_that_would_end_the_program_is_left_out(supernoded_node: Node) -> None:
    parts = gather(supernoded_node, one=plugin(sensors=_leaving), two=plugin(sensors=[Still()]))
    assert [(found.name, found.trouble) for found in parts.plugins] == [("one", "SystemExit: 3"), ("two", "")]


def test_a_broken_plugin_costs_programs_only_what_it_would_have_given(caplog: pytest.LogCaptureFixture) -> None:
    broken = SimpleNamespace(**{f"supernoded_{hook}": hookimpl(_raising(hook)) for hook in ("formats", "commands", "settings")})
    found = [Found(name="bad", plugin=broken), Found(name="good", plugin=plugin(settings=Own, formats={"a": list}))]
    assert list(formats(found)) == ["a"]
    assert commands(found) == {}
    assert settings_types(found) == {"good": Own}
    assert caplog.messages == [f"plugin bad gives no {hook}: ZeroDivisionError: broken" for hook in ("formats", "commands", "settings")]


def _raising(hook: str) -> Any:
    def body() -> None:
        raise ZeroDivisionError("broken")

    body.__name__ = f"supernoded_{hook}"
    return body


def test_every_hook_is_asked_once(supernoded_node: Node) -> None:
    asked: list[str] = []

    def count(name: str) -> Any:
        def answer(settings: Any, node: Node) -> list[Any]:
            asked.append(name)
            return []

        return answer

    names = [n.removeprefix("supernoded_") for n in dir(hookspecs) if n.startswith("supernoded_")]
    on_node = [n for n in names if n not in {"settings", "formats", "commands"}]
    gather(supernoded_node, one=plugin(**{name: count(name) for name in on_node}))
    assert sorted(asked) == sorted(on_node)


@dataclass(frozen=True)
class Turn:
    """A loop, as far as the registry looks."""

    name: str
    scope: str = NODE
    watches: Mapping[str, float] = field(default_factory=dict)
    period: float = 1.0
    target: str = "cdu/0/valve"

    def start(self, now_at: object) -> None: ...

    def steer(self, seen: object, memory: None) -> tuple[None, None]:
        return None, None


def test_two_loops_on_one_handle_stop_the_start_also_in_two_scopes(supernoded_node: Node) -> None:
    with pytest.raises(PluginError, match="two loops turn cdu/0/valve: a and b"):
        gather(supernoded_node, one=plugin(loops=[Turn("a")]), two=plugin(loops=[Turn("b", scope="cdu/0")]))
    assert len(gather(supernoded_node, one=plugin(loops=[Turn("a"), Turn("b", target="cdu/1/valve")])).loops) == 2


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf, None])
def test_a_period_that_never_ends_or_never_rests_is_named(supernoded_node: Node, seconds: Any) -> None:
    parts = gather(supernoded_node, bad=plugin(sensors=[Still(period=seconds)]), worse=plugin(loops=[Turn("a", period=seconds)]))
    assert troubles(parts)["bad"] == f"PluginError: period of Still is {seconds!r}, must be 0.01 to 86400 seconds"
    assert "period of Turn" in troubles(parts)["worse"]
