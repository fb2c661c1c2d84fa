"""The API server itself: from a request to its reply, without any input or output of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sim_hardware.devices.kubernetes.patching import MERGE, STRATEGIC, patch

Body = dict[str, Any]

EFFECTS = frozenset({"NoSchedule", "PreferNoSchedule", "NoExecute"})
_NODE = re.compile(r"/api/v1/nodes/([^/]+)(/status)?")
_REASONS: Mapping[int, str] = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
}


@dataclass(frozen=True)
class Reply:
    """What goes back over the wire."""

    status: int
    body: Body | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusalError(Exception):
    """A request that is answered with a `Status` that is a failure."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message

    def reply(self) -> Reply:
        """Its body (meta/v1 Status)."""
        told = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": self.message}
        wait = {"Retry-After": "1"} if self.code == 429 else {}
        return Reply(self.code, {**told, "reason": _REASONS[self.code], "code": self.code}, wait)


class Service:
    """Nodes by name. `failures` are the codes of the next answers, whatever is asked; `forbidden` = orders are refused for want of a right.

    A kubelet says each time something is shown whether its node is ready; `touch` writes to a node as its kubelet does.
    """

    def __init__(self, nodes: Iterable[str], token: str, is_ready: Callable[[str], bool] = lambda _: True) -> None:
        self.nodes: dict[str, Body] = {name: _make_node(name) for name in nodes}
        self.failures: list[int] = []
        self.forbidden = False
        self.writes = 0
        self._token, self._is_ready, self._version = token, is_ready, 100

    def touch(self, name: str) -> None:
        """Somebody else has written to a node: its version is another."""
        self._store(name, self.nodes[name])

    def answer(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Answer a request; whatever it is, there is a reply."""
        try:
            return Reply(200, self._answer(method, path.partition("?")[0], body, {key.lower(): value for key, value in headers.items()}))
        except RefusalError as refusal:
            return refusal.reply()

    def refuse_body(self, text: str) -> Reply:
        """The reply to a body that is too large."""
        return RefusalError(413, f"the body is too large: {text}").reply()

    def _answer(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Body:
        if self.failures:
            code = self.failures.pop(0)
            raise RefusalError(code, f"injected: {_REASONS[code]}")
        if path == "/version":
            return {"major": "1", "minor": "31", "gitVersion": "v1.31.0-sim"}
        if headers.get("authorization") != f"Bearer {self._token}":
            raise RefusalError(401, "Unauthorized")
        if path == "/api/v1/nodes" and method == "GET":
            return {"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": [self._show(name) for name in self.nodes]}
        found = _NODE.fullmatch(path)
        if found is None or found[1] not in self.nodes:
            raise RefusalError(404, f'nodes "{found[1][:100]}" not found' if found else "the server could not find the requested resource")
        if method == "GET":
            return self._show(found[1])
        if method != "PATCH":
            raise RefusalError(405, "the server does not allow this method on the requested resource")
        return self._patch(found[1], "status" if found[2] else "spec", body, headers.get("content-type", ""))

    def _patch(self, name: str, part: str, body: bytes, media: str) -> Body:
        if self.forbidden:
            raise RefusalError(
                403, f'nodes "{name}" is forbidden: User "system:serviceaccount:ops:supernoded" cannot patch resource "nodes"'
            )
        if media not in (STRATEGIC, MERGE):
            raise RefusalError(
                415, f"the body of the request was in an unknown format - accepted media types include: {MERGE}, {STRATEGIC}"
            )
        wanted, node = _parse(body), self.nodes[name]
        version = _section(wanted, "metadata").get("resourceVersion")
        if version is not None and version != node["metadata"]["resourceVersion"]:
            told = "the object has been modified; please apply your changes to the latest version and try again"
            raise RefusalError(409, f'Operation cannot be fulfilled on nodes "{name}": {told}')
        patched = patch(node, {part: _section(wanted, part)}, strategic=media == STRATEGIC)  # the other part is not touched there
        _check(patched)
        self.writes += 1
        self._store(name, patched)
        return self._show(name)

    def _store(self, name: str, node: Body) -> None:
        self._version += 1
        self.nodes[name] = {**node, "metadata": {**node["metadata"], "resourceVersion": str(self._version)}}

    def _show(self, name: str) -> Body:
        ready = {"type": "Ready", "status": "True" if self._is_ready(name) else "Unknown", "reason": "KubeletReady", "message": ""}
        return patch(self.nodes[name], {"status": {"conditions": [ready]}}, strategic=True)


def _make_node(name: str) -> Body:
    head = {"name": name, "uid": f"uid-{name}", "resourceVersion": "100", "labels": {"kubernetes.io/hostname": name}}
    return {"kind": "Node", "apiVersion": "v1", "metadata": head, "spec": {}, "status": {"conditions": []}}


def _parse(body: bytes) -> Body:
    try:
        wanted = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, f"the body is no JSON: {error}"[:200]) from error
    if not isinstance(wanted, dict):
        raise RefusalError(400, "the body is no object")
    return wanted


def _section(wanted: Body, name: str) -> Body:
    section = wanted.get(name) or {}
    if not isinstance(section, dict):
        raise RefusalError(422, f"{name}: is no object")
    return section


def _check(node: Body) -> None:
    """What the real one refuses too: taints that cannot be, and the same twice."""
    taints = node["spec"].get("taints", [])
    if not isinstance(taints, list) or not all(isinstance(one, dict) and one.get("effect") in EFFECTS and one.get("key") for one in taints):
        raise RefusalError(422, "spec.taints: each needs a key, and an effect out of NoSchedule, PreferNoSchedule, NoExecute")
    if len({(one["key"], one["effect"]) for one in taints}) < len(taints):
        raise RefusalError(422, "spec.taints: taints must be unique by key and effect pair")
