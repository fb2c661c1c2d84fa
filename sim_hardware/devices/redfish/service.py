"""The service itself: from a request to its reply, without any input or output of its own."""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from collections.abc import Callable, Mapping
from functools import cached_property

from sim_hardware.devices.redfish.asking import parse_body
from sim_hardware.devices.redfish.board import Board
from sim_hardware.devices.redfish.sessions import SESSIONS, TIMEOUT_S, Sessions
from sim_hardware.devices.redfish.tree import Resource, Tree
from sim_hardware.devices.redfish.words import ROOT, Body, RefusalError, Reply, link
from sim_hardware.plant.words import OrderError

_OPEN = frozenset({"/redfish", ROOT})  # need no authentication (DSP0266, 13.3.1)
_STANDARD = {"OData-Version": "4.0", "Cache-Control": "no-cache"}
_EXPANDS = {"ExpandAll": False, "Levels": True, "Links": False, "MaxLevels": 1, "NoLinks": True}
_FEATURES = {"ExcerptQuery": False, "ExpandQuery": _EXPANDS, "FilterQuery": False, "OnlyMemberQuery": False, "SelectQuery": False}
_EXPAND = frozenset({"$expand=.", "$expand=.($levels=1)"})  # members and all, of a collection (DSP0266, query parameters)

Build = Callable[[Tree], Body]  # puts equipment into the tree, and gives back what the service root links to


class Service:
    """A Redfish service over a board; `build` is called at the first request. There is no $metadata, no EventService and no TaskService."""

    def __init__(self, board: Board, sessions: Sessions, name: str, build: Build) -> None:
        self.board, self.sessions = board, sessions
        self._name, self._build = name, build

    @cached_property
    def _tree(self) -> Tree:
        tree = Tree()
        linked = self._build(tree)
        tree["/redfish"] = Resource(lambda: {"v1": f"{ROOT}/"})
        identity = str(uuid.uuid5(uuid.NAMESPACE_URL, self._name))
        service = {"RedfishVersion": "1.20.0", "UUID": identity, "Product": self._name, "ProtocolFeaturesSupported": _FEATURES}
        entrance = {"SessionService": link(f"{ROOT}/SessionService"), "Links": {"Sessions": link(SESSIONS)}}
        head = {"@odata.id": f"{ROOT}/", "@odata.type": "#ServiceRoot.v1_17_0.ServiceRoot", "Id": "RootService", "Name": "Root Service"}
        tree[ROOT] = Resource(lambda: {**head, **service, **entrance, **linked})
        about = {"ServiceEnabled": True, "SessionTimeout": int(TIMEOUT_S), "Sessions": link(SESSIONS)}
        tree.add(f"{ROOT}/SessionService", "SessionService.v1_1_9.SessionService", lambda: about)
        return tree

    def answer(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Answer a request. Whatever it is, there is a reply; 503 comes only from windows in which a controller is busy."""
        place, _, query = path.partition("?")
        try:
            reply = self._answer(method, place.rstrip("/"), query, body, {key.lower(): value for key, value in headers.items()})
        except RefusalError as refusal:
            reply = refusal.reply()
        except OrderError as error:
            reply = RefusalError(409, "OperationFailed", str(error)).reply()
        return Reply(reply.status, reply.body, {**_STANDARD, **reply.headers})

    def refuse_body(self, text: str) -> Reply:
        """The reply to a body that is too large."""
        return RefusalError(413, "PayloadTooLarge", f"the body is too large: {text}").reply()

    def _answer(self, method: str, path: str, query: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        self._refuse_busy(path)
        if path not in _OPEN and (method, path) != ("POST", SESSIONS):
            self.sessions.authenticate(headers)
        expand = query in _EXPAND and method == "GET"
        if (query.startswith("$") or "&$" in query) and not expand:
            raise RefusalError(400, "QueryNotSupported", "of all query parameters only $expand=. of a collection is supported")
        if path == SESSIONS or path in self.sessions:
            return self._answer_session(method, path, body)
        resource = self._tree.get(path)
        if resource is None:
            raise RefusalError(404, "ResourceMissingAtURI", f"there is no {path[:200]}; walk from {ROOT}/")
        if resource.show is not None and method in {"GET", "HEAD"}:
            shown = resource.show()
            return _show(self._expand(shown) if expand else shown, headers)
        take = resource.takes.get(method)
        if take is None:
            raise _refuse_method(method, path, resource.list_methods())
        _check_tag(resource, headers)
        deed = take(parse_body(body))
        if not self.board.impairment.idle_orders:
            deed()
        return Reply(204)

    def _expand(self, body: Body) -> Body:
        """A collection with its members in it, but for those that do not show themselves."""
        if "Members" not in body:
            raise RefusalError(400, "QueryNotSupportedOnResource", "only a collection can be expanded")
        shown = [(member, self._tree.get(member["@odata.id"])) for member in body["Members"]]
        return {**body, "Members": [one.show() if one is not None and one.show is not None else member for member, one in shown]}

    def _refuse_busy(self, path: str) -> None:
        for beginning, until in self.board.busy.items():
            left = until - self.board.now()
            if left > 0 and f"{path}/".startswith(beginning):
                wait = {"Retry-After": str(math.ceil(left))}
                raise RefusalError(503, "ServiceTemporarilyUnavailable", f"busy; ask again in {math.ceil(left)} s", wait)

    def _answer_session(self, method: str, path: str, body: bytes) -> Reply:
        allowed = ("GET", "HEAD", "POST") if path == SESSIONS else ("GET", "HEAD", "DELETE")
        if method not in allowed:
            raise _refuse_method(method, path, allowed)
        if method == "POST":
            return self.sessions.open(parse_body(body))
        if method == "DELETE":
            return self.sessions.close(path)
        return Reply(200, self.sessions.show_all() if path == SESSIONS else self.sessions.show(path))


def _check_tag(resource: Resource, headers: Mapping[str, str]) -> None:
    wanted = headers.get("if-match", "*")
    if wanted != "*" and resource.show is not None and wanted != _tag(resource.show()):
        raise RefusalError(412, "PreconditionFailed", f"the resource is not {wanted[:100]} any more; read it again")


def _show(body: Body, headers: Mapping[str, str]) -> Reply:
    tag = _tag(body)
    if headers.get("if-none-match") == tag:
        return Reply(304, None, {"ETag": tag})
    return Reply(200, {**body, "@odata.etag": tag}, {"ETag": tag})


def _tag(body: Body) -> str:
    return f'W/"{hashlib.blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=8).hexdigest()}"'


def _refuse_method(method: str, path: str, allowed: tuple[str, ...]) -> RefusalError:
    listed = ", ".join(allowed)
    return RefusalError(405, "OperationNotAllowed", f"{path} takes {listed}, not {method[:20]}", {"Allow": listed})
