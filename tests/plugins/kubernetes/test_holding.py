"""Nodes are held and let go on a simulated API server over real HTTP, and what others have put on them stays."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import supernoded_kubernetes
import supernoded_slurm
from sim_hardware.devices.kubernetes import TOKEN, ApiServer
from supernoded.model import Action, Step
from supernoded.plugin import Actuator, Effect, Node, PluginError, WireError
from supernoded.registry import Found, collect
from supernoded.wire import Pen
from supernoded.wire.system import Devices, SystemWires
from supernoded_kubernetes.holding import Holding
from supernoded_kubernetes.patches import Shown
from supernoded_kubernetes.settings import KubernetesSettings
from tests.sim.devices.tools.desks import Desk

CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def act(kind: str, incident: str = "i1", reason: str = "n0/card3 is silent") -> Action:
    step = Step(name="a", kind=kind, target="n0", reason=reason)
    return Action(id=f"{incident}/a", step=step, incident=incident, scope="spares", epoch=1, issued=0.0, deadline=10.0)


class Bench:
    """A plugin before a simulated API server that calls n0 `host0`."""

    def __init__(self, server: ApiServer, url: str, node: Node, folder: Path) -> None:
        self.server, self.service = server, server.service
        self.service.nodes["host0"] = self.service.nodes.pop("n0")
        self.service.nodes["host0"]["metadata"]["name"] = "host0"
        self.service.nodes["host0"]["spec"] = {"unschedulable": True, "taints": [CORDON]}
        self.token = folder / "token"
        self.token.write_text(f"{TOKEN}\n")
        self.refusal: str | None = None
        self.wires = SystemWires(Pen(lambda _: self.refusal), "kubernetes", Devices())
        self.node = wire_up(node, self.wires)
        self.settings = KubernetesSettings(url=url, token_file=str(self.token), insecure=True, nodes={"n0": "host0"}, within_s=0.5)
        self.actuator: Actuator
        (self.actuator,) = supernoded_kubernetes.supernoded_actuators(self.settings, self.node)

    async def do(self, action: Action) -> Effect:
        await self.actuator.apply(action)
        return (await self.actuator.observe(action)).effect

    def show(self) -> dict[str, Any]:
        return self.service.nodes["host0"]

    def taints(self) -> list[dict[str, Any]]:
        return list(self.show()["spec"].get("taints", []))

    def condition(self) -> dict[str, Any]:
        return next((one for one in self.show()["status"]["conditions"] if one["type"] == "SupernodedHold"), {})


def wire_up(node: Node, wires: SystemWires) -> Node:
    return Node(node.name, node.topology, node.limits, wires, node.clock, node.host, node.state)


@pytest.fixture
async def bench(supernoded_node: Node, tmp_path: Path) -> AsyncIterator[Bench]:
    server = ApiServer(Desk())
    async with server.serve("127.0.0.1") as url:
        bench = Bench(server, url, supernoded_node, tmp_path)
        yield bench
        await bench.wires.close()


async def test_a_node_is_held_and_let_go_and_nothing_else_of_it_changes(bench: Bench) -> None:
    before = copy.deepcopy(bench.show())
    assert (await bench.actuator.observe(act("node.drain"))).effect is Effect.ABSENT
    assert await bench.do(act("node.drain")) is Effect.PRESENT
    assert bench.taints() == [CORDON, {"key": "supernoded.io/hold", "value": "supernoded", "effect": "NoSchedule"}]
    assert (bench.condition()["status"], bench.condition()["message"]) == ("True", "supernoded: i1 n0/card3 is silent")
    assert (await bench.actuator.observe(act("node.release"))).effect is Effect.ABSENT
    assert await bench.do(act("node.release")) is Effect.PRESENT
    assert bench.condition()["status"] == "False"
    assert bench.show()["spec"] == before["spec"]


async def test_asked_twice_it_is_written_once(bench: Bench) -> None:
    for kind in ("node.drain", "node.release"):
        await bench.actuator.apply(act(kind))
        await bench.actuator.apply(act(kind))
    assert bench.service.writes == 4


async def test_the_last_incident_lets_it_go(bench: Bench) -> None:
    await bench.actuator.apply(act("node.drain", "i1"))
    await bench.actuator.apply(act("node.drain", "i2"))
    assert await bench.do(act("node.release", "i1")) is Effect.PRESENT
    assert (bench.condition()["message"], len(bench.taints())) == ("supernoded: i2 n0/card3 is silent", 2)
    assert await bench.do(act("node.release", "i2")) is Effect.PRESENT
    assert bench.taints() == [CORDON]


async def test_what_was_half_done_is_made_whole(bench: Bench) -> None:
    """Killed between the two patches: the condition stands, the taint does not; and the other way round."""
    await bench.actuator.apply(act("node.drain"))
    bench.show()["spec"]["taints"] = [CORDON]
    assert (await bench.actuator.observe(act("node.drain"))).effect is Effect.ABSENT
    assert await bench.do(act("node.drain")) is Effect.PRESENT
    bench.show()["spec"]["taints"] = [CORDON]
    assert (await bench.actuator.observe(act("node.release"))).effect is Effect.ABSENT
    assert await bench.do(act("node.release")) is Effect.PRESENT


async def test_somebody_who_writes_in_between_loses_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the first two reads is followed by another's taint; the third try gets through."""
    answer, left = bench.service.answer, ["a", "b"]

    def interfere(method: str, path: str, body: bytes, headers: Any) -> Any:
        reply = answer(method, path, body, headers)
        if method == "GET" and left and bench.condition():
            bench.show()["spec"]["taints"] = [*bench.taints(), {"key": f"other/{left.pop()}", "effect": "NoExecute"}]
            bench.service.touch("host0")
        return reply

    monkeypatch.setattr(bench.service, "answer", interfere)
    assert await bench.do(act("node.drain")) is Effect.PRESENT
    assert [taint["key"] for taint in bench.taints()] == [CORDON["key"], "other/b", "other/a", "supernoded.io/hold"]


async def test_conflicts_without_end_are_given_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = bench.service.answer

    def interfere(method: str, path: str, body: bytes, headers: Any) -> Any:
        reply = answer(method, path, body, headers)
        bench.service.touch("host0")
        return reply

    monkeypatch.setattr(bench.service, "answer", interfere)
    with pytest.raises(WireError, match="409 Conflict: Operation cannot be fulfilled"):
        await bench.actuator.apply(act("node.drain"))
    assert bench.taints() == [CORDON]


@pytest.mark.parametrize(
    ("code", "said"),
    [(401, "the token is refused"), (403, "give its account"), (429, "asks us to slow down"), (500, "500 Internal Server Error: injected")],
)
async def test_a_refusal_leaves_it_unknown_and_says_what_to_do(bench: Bench, code: int, said: str) -> None:
    bench.service.failures = [code]
    seen = await bench.actuator.observe(act("node.drain"))
    assert (seen.effect, said in seen.text) == (Effect.UNKNOWN, True)
    assert (await bench.actuator.observe(act("node.drain"))).effect is Effect.ABSENT


async def test_an_account_that_may_only_read_is_told_so(bench: Bench) -> None:
    bench.service.forbidden = True
    with pytest.raises(WireError, match=r"403 Forbidden: .*cannot patch.*; give its account get and patch on nodes and nodes/status"):
        await bench.actuator.apply(act("node.drain"))


async def test_a_token_that_was_changed_is_read_anew(bench: Bench) -> None:
    bench.token.write_text("stale")
    assert "the token is refused" in (await bench.actuator.observe(act("node.drain"))).text
    bench.token.write_text(TOKEN)
    assert (await bench.actuator.observe(act("node.drain"))).effect is Effect.ABSENT


async def test_a_node_that_the_cluster_does_not_know_is_named(bench: Bench) -> None:
    del bench.service.nodes["host0"]
    text = (await bench.actuator.observe(act("node.drain"))).text
    assert '404 Not Found: nodes "host0" not found; give its name under [plugins.kubernetes] nodes' in text


@pytest.mark.parametrize("field", ["silent", "refusing"])
async def test_a_server_that_does_not_answer_leaves_it_unknown(bench: Bench, field: str) -> None:
    setattr(bench.server.impairment, field, True)
    assert (await bench.actuator.observe(act("node.drain"))).effect is Effect.UNKNOWN
    with pytest.raises(WireError):
        await bench.actuator.apply(act("node.drain"))


async def test_garbage_is_no_answer(bench: Bench) -> None:
    bench.server.impairment.garbled = 1.0
    assert (await bench.actuator.observe(act("node.drain"))).effect is Effect.UNKNOWN


async def test_without_the_pen_nothing_is_sent(bench: Bench) -> None:
    bench.refusal = "another holds it"
    with pytest.raises(WireError, match="another holds it"):
        await bench.actuator.apply(act("node.drain"))
    assert bench.service.writes == 0


def test_as_delivered_it_does_nothing(supernoded_node: Node) -> None:
    assert supernoded_kubernetes.supernoded_actuators(KubernetesSettings(), supernoded_node) == ()


def test_in_a_pod_it_finds_its_account(supernoded_node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    monkeypatch.setattr(type(supernoded_node.wires), "http", lambda _, url, **more: seen.update(url=url, **more))
    supernoded_kubernetes.supernoded_actuators(KubernetesSettings(url="in-cluster"), supernoded_node)
    assert seen["url"] == "https://kubernetes.default.svc"
    assert seen["token_file"].endswith("serviceaccount/token")
    assert seen["ca_file"].endswith("serviceaccount/ca.crt")


def test_two_schedulers_at_once_on_one_node_are_refused(supernoded_node: Node) -> None:
    both = [Found(name="kubernetes", plugin=supernoded_kubernetes), Found(name="slurm", plugin=supernoded_slurm)]
    tables: dict[str, Any] = {"kubernetes": {"url": "https://api:6443"}, "slurm": {"scontrol": ["scontrol"]}}
    said = r"two plugins want the actuator 'node\.drain on n0': kubernetes and slurm; switch one of them off"
    with pytest.raises(PluginError, match=said):
        collect(both, tables, lambda _: supernoded_node)


async def test_another_incident_that_is_written_in_between_is_not_lost(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two daemons hold one node at once: its condition is a list that each of them reads and writes."""
    look, looks = Holding._look, list[str]()

    async def interfere(self: Holding, action: Action) -> Shown:
        shown = await look(self, action)
        looks.append(action.incident)
        if looks == ["i1", "i1"]:  # the second is the one that it writes by
            await self.apply(act("node.drain", "i2"))
        return shown

    monkeypatch.setattr(Holding, "_look", interfere)
    assert await bench.do(act("node.drain", "i1")) is Effect.PRESENT
    assert (await bench.actuator.observe(act("node.drain", "i2"))).effect is Effect.PRESENT
