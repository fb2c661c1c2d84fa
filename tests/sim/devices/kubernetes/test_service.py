"""The simulated API server answers as the real one does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.devices.kubernetes import Service

STRATEGIC = "application/strategic-merge-patch+json"
PATH = "/api/v1/nodes/n0"
TAINT = {"key": "a", "effect": "NoSchedule"}


def ask(
    service: Service, method: str, path: str, body: object = None, media: str = STRATEGIC, bearer: str = "t"
) -> tuple[int, dict[str, Any]]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    reply = service.answer(method, path, raw, {"Authorization": f"Bearer {bearer}", "Content-Type": media})
    return reply.status, reply.body or {}


def make() -> Service:
    return Service(["n0", "n1"], "t", lambda name: name == "n0")


def test_each_part_is_patched_by_its_own_path_alone() -> None:
    service = make()
    wanted = {"spec": {"taints": [TAINT]}, "status": {"conditions": [{"type": "X", "status": "True"}]}}
    _, node = ask(service, "PATCH", PATH, wanted)
    assert (node["spec"]["taints"], len(node["status"]["conditions"])) == ([TAINT], 1)
    _, node = ask(service, "PATCH", f"{PATH}/status", {"spec": {"taints": []}, "status": wanted["status"]})
    assert (node["spec"]["taints"], [one["type"] for one in node["status"]["conditions"]]) == ([TAINT], ["X", "Ready"])


def test_conditions_merge_by_type_and_taints_are_replaced() -> None:
    service = make()
    for name in ("X", "Y"):
        ask(service, "PATCH", f"{PATH}/status", {"status": {"conditions": [{"type": name, "status": "True"}]}})
        ask(service, "PATCH", PATH, {"spec": {"taints": [{"key": name, "effect": "NoExecute"}]}})
    _, node = ask(service, "GET", PATH)
    assert [one["type"] for one in node["status"]["conditions"]] == ["X", "Y", "Ready"]
    assert node["spec"]["taints"] == [{"key": "Y", "effect": "NoExecute"}]
    ask(service, "PATCH", PATH, {"spec": {"taints": None}})
    assert "taints" not in ask(service, "GET", PATH)[1]["spec"]


def test_a_patch_of_an_old_version_is_a_conflict() -> None:
    service = make()
    old = ask(service, "GET", PATH)[1]["metadata"]["resourceVersion"]
    assert ask(service, "PATCH", PATH, {"metadata": {"resourceVersion": old}, "spec": {"taints": [TAINT]}})[0] == 200
    code, told = ask(service, "PATCH", PATH, {"metadata": {"resourceVersion": old}, "spec": {"taints": []}})
    assert (code, told["reason"], told["code"]) == (409, "Conflict", 409)
    assert ask(service, "GET", PATH)[1]["spec"]["taints"] == [TAINT]


def test_a_node_that_is_not_on_is_not_ready() -> None:
    service = make()
    _, listed = ask(service, "GET", "/api/v1/nodes")
    assert [one["status"]["conditions"][-1]["status"] for one in listed["items"]] == ["True", "Unknown"]


@pytest.mark.parametrize(
    ("method", "path", "body", "media", "token", "code"),
    [
        ("GET", PATH, None, "", "wrong", 401),
        ("GET", "/api/v1/nodes/n9", None, "", "t", 404),
        ("GET", "/apis/apps/v1", None, "", "t", 404),
        ("DELETE", PATH, None, "", "t", 405),
        ("PATCH", PATH, {}, "application/json", "t", 415),
        ("PATCH", PATH, b"{", STRATEGIC, "t", 400),
        ("PATCH", PATH, [], STRATEGIC, "t", 400),
        ("PATCH", PATH, {"spec": 3}, STRATEGIC, "t", 422),
        ("PATCH", PATH, {"spec": {"taints": [{"key": "a", "effect": "Never"}]}}, STRATEGIC, "t", 422),
        ("PATCH", PATH, {"spec": {"taints": [TAINT, TAINT]}}, STRATEGIC, "t", 422),
    ],
)
def test_what_it_does_not_take_is_a_failure_with_its_code(method: str, path: str, body: object, media: str, token: str, code: int) -> None:
    service = make()
    got, told = ask(service, method, path, body, media, token)
    assert (got, told["kind"], told["status"], told["code"]) == (code, "Status", "Failure", code)
    assert service.writes == 0


def test_failures_come_one_by_one_and_a_right_can_be_wanting() -> None:
    service = make()
    service.failures = [429, 500]
    assert [ask(service, "GET", PATH)[0] for _ in range(3)] == [429, 500, 200]
    service.forbidden = True
    assert ask(service, "PATCH", PATH, {"spec": {}})[0] == 403


@given(
    st.recursive(
        st.none() | st.booleans() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["spec", "status", "taints", "conditions", "type", "key", "effect", "metadata"]), inner)
        ),
        max_leaves=12,
    )
)
def test_any_patch_has_a_reply(wanted: object) -> None:
    service = make()
    for path in (PATH, f"{PATH}/status"):
        assert ask(service, "PATCH", path, wanted)[0] in {200, 400, 409, 422}
        assert ask(service, "GET", PATH)[0] == 200
