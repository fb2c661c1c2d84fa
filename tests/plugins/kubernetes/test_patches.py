"""What is read of a Node, and what is written: nothing but our own condition and taint."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.devices.kubernetes.patching import patch
from supernoded.plugin import WireError
from supernoded_kubernetes.patches import MOST_OWNERS, Shown, name_owner, read_node, write_condition, write_taints

OTHERS = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
LIKE_OURS = {"key": "supernoded.io/hold", "value": "x", "effect": "NoExecute"}
READY = {"type": "Ready", "status": "True", "message": "kubelet is posting ready status"}


def make(taints: list[dict[str, Any]] | None = None, message: str = "", status: str = "True") -> dict[str, Any]:
    ours = [{"type": "SupernodedHold", "status": status, "message": message}] if message else []
    spec = {"taints": taints} if taints is not None else {}
    return {"metadata": {"name": "n7", "resourceVersion": "41"}, "spec": spec, "status": {"conditions": [READY, *ours]}}


def test_a_hold_of_ours_is_read() -> None:
    shown = read_node(make([OTHERS, {"key": "supernoded.io/hold", "effect": "NoSchedule"}], "supernoded: i1,i2 hot"), "n7")
    assert (shown.version, shown.owners, shown.text, shown.tainted) == ("41", ("i1", "i2"), "hot", True)


@pytest.mark.parametrize(
    "node", [make(), make([]), make([OTHERS, LIKE_OURS]), make(message="supernoded: i1", status="False"), make(message="by hand")]
)
def test_what_is_not_ours_is_no_hold(node: dict[str, Any]) -> None:
    shown = read_node(node, "n7")
    assert (shown.owners, shown.tainted) == ((), False)


@pytest.mark.parametrize(
    "body", [{}, {"metadata": 3}, {"metadata": {"name": "n7"}}, {"kind": "Status"}, [], None, make() | {"spec": {"taints": "x"}}]
)
def test_what_is_no_node_is_named(body: object) -> None:
    with pytest.raises(WireError, match="nodes/n7: what the API server sent is no Node"):
        read_node(body, "n7")
    with pytest.raises(WireError, match="nodes/n8: the API server sent the node n7"):
        read_node(make(), "n8")


json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


@given(json, json)
def test_no_json_is_too_much(spec: object, conditions: object) -> None:
    body = {"metadata": {"name": "n7", "resourceVersion": "1"}, "spec": spec, "status": {"conditions": conditions}}
    try:
        shown = read_node(body, "n7")
    except WireError:
        return
    assert isinstance(shown.tainted, bool)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=20), st.text())
def test_a_condition_is_read_back(incidents: list[str], text: str) -> None:
    owners = tuple(dict.fromkeys(name_owner(incident) for incident in incidents))
    node = patch(make(), write_condition(Shown(version="41"), owners, text, 1.8e9), strategic=True)
    assert read_node(node, "n7").owners == owners[:MOST_OWNERS]
    assert node["status"]["conditions"][0] == READY


def test_a_condition_that_stays_true_keeps_the_time_at_which_it_became_so() -> None:
    first = patch(make(), write_condition(Shown(version="41"), ("i1",), "hot", 1.8e9), strategic=True)
    second = patch(first, write_condition(read_node(first, "n7"), ("i1", "i2"), "hot", 1.9e9), strategic=True)
    (ours,) = second["status"]["conditions"][1:]
    assert (ours["lastTransitionTime"], ours["lastHeartbeatTime"]) == ("2027-01-15T08:00:00Z", "2030-03-17T17:46:40Z")


@given(st.lists(st.sampled_from([OTHERS, LIKE_OURS, {"key": "a", "effect": "NoExecute"}]), unique_by=lambda one: one["key"]))
def test_others_taints_stay_as_they_are(others: list[dict[str, Any]]) -> None:
    node = make(others)
    held = patch(node, write_taints(read_node(node, "n7"), hold=True), strategic=True)
    assert held["spec"]["taints"][:-1] == others
    assert read_node(held, "n7").tainted
    lifted = patch(held, write_taints(read_node(held, "n7"), hold=False), strategic=True)
    assert lifted["spec"].get("taints", []) == others
