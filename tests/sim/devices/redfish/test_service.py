"""The service: authentication, sessions, and right answers to wrong requests."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.devices.redfish import PASSWORD, USER, RedfishDevice, make_bmc, make_cdu, make_pdu
from sim_hardware.devices.redfish.sessions import MOST, SESSIONS, TIMEOUT_S
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.redfish.clients import BASIC, ROOT, FuzzPanel, Timers, ask, crawl, explain, get

LOGIN = {"UserName": USER, "Password": PASSWORD}
PDUS = "/redfish/v1/PowerEquipment/RackPDUs"


@pytest.fixture
def panel() -> FakePanel:
    return FakePanel()


@pytest.fixture
def pdu(panel: FakePanel) -> RedfishDevice:
    return make_pdu(panel, "A1")


def log_in(device: RedfishDevice) -> tuple[str, dict[str, str]]:
    reply = ask(device, "POST", SESSIONS, LOGIN, {})
    assert reply.status == 201
    return reply.headers["Location"], {"x-auth-token": reply.headers["X-Auth-Token"]}


def test_only_the_root_is_open(pdu: RedfishDevice) -> None:
    assert ask(pdu, "GET", "/redfish", headers={}).body == {"v1": ROOT} | {"@odata.etag": ask(pdu, "GET", "/redfish").headers["ETag"]}
    assert ask(pdu, "GET", ROOT, headers={}).status == 200
    refused = ask(pdu, "GET", PDUS, headers={})
    assert explain(refused)[:2] == (401, "NoValidSession")
    assert refused.headers["WWW-Authenticate"].startswith("Basic ")


@pytest.mark.parametrize("given", ["Basic", "Basic !!!", "Basic /w==", "Basic YTpi", "Bearer " + BASIC["Authorization"][6:]])
def test_wrong_authentication_is_none(pdu: RedfishDevice, given: str) -> None:
    assert ask(pdu, "GET", PDUS, headers={"Authorization": given}).status == 401


def test_a_session_lasts_until_it_is_closed(pdu: RedfishDevice) -> None:
    place, token = log_in(pdu)
    assert ask(pdu, "GET", place, headers=token).body is not None
    assert get(pdu, SESSIONS)["Members"] == [{"@odata.id": place}]
    assert ask(pdu, "DELETE", place, headers=token).status == 204
    assert ask(pdu, "GET", PDUS, headers=token).status == 401
    assert explain(ask(pdu, "DELETE", place))[:2] == (404, "ResourceMissingAtURI")


def test_a_token_that_is_unknown_is_not_saved_by_basic_authentication(pdu: RedfishDevice) -> None:
    assert ask(pdu, "GET", PDUS, headers={**BASIC, "X-Auth-Token": "0"}).status == 401


def test_an_idle_session_ends_and_a_used_one_does_not(pdu: RedfishDevice, panel: FakePanel) -> None:
    (_, idle), (_, used) = log_in(pdu), log_in(pdu)
    panel.time = TIMEOUT_S - 1
    assert ask(pdu, "GET", PDUS, headers=used).status == 200
    panel.time = TIMEOUT_S + 1
    assert ask(pdu, "GET", PDUS, headers=used).status == 200
    assert ask(pdu, "GET", PDUS, headers=idle).status == 401


def test_who_never_logs_out_locks_everybody_out(pdu: RedfishDevice, panel: FakePanel) -> None:
    for _ in range(MOST):
        log_in(pdu)
    panel.time = 100.0
    refused = ask(pdu, "POST", SESSIONS, LOGIN, {})
    assert explain(refused)[:2] == (503, "SessionLimitExceeded")
    panel.time += float(refused.headers["Retry-After"]) + 1
    log_in(pdu)


@pytest.mark.parametrize(
    ("body", "status"), [({**LOGIN, "Password": "x"}, 401), ({"UserName": USER}, 400), ({**LOGIN, "UserName": 7}, 400), (b"{", 400)]
)
def test_wrong_logins(pdu: RedfishDevice, body: object, status: int) -> None:
    assert ask(pdu, "POST", SESSIONS, body, {}).status == status


@pytest.mark.parametrize(
    ("method", "path", "status", "key"),
    [
        ("GET", "/", 404, "ResourceMissingAtURI"),
        ("GET", f"{PDUS}/2", 404, "ResourceMissingAtURI"),
        ("GET", f"{PDUS}?$select=Name", 400, "QueryNotSupported"),
        ("GET", f"{PDUS}?$expand=*", 400, "QueryNotSupported"),
        ("GET", f"{PDUS}/1?$expand=.", 400, "QueryNotSupportedOnResource"),
        ("POST", f"{PDUS}?$expand=.", 400, "QueryNotSupported"),
        ("POST", PDUS, 405, "OperationNotAllowed"),
        ("PUT", ROOT, 405, "OperationNotAllowed"),
        ("BREW", f"{PDUS}/1", 405, "OperationNotAllowed"),
        ("PATCH", SESSIONS, 405, "OperationNotAllowed"),
    ],
)
def test_wrong_places_and_methods(pdu: RedfishDevice, method: str, path: str, status: int, key: str) -> None:
    reply = ask(pdu, method, path)
    assert explain(reply)[:2] == (status, key)
    assert status != 405 or "GET" in reply.headers["Allow"]


@pytest.mark.parametrize("query", ["$expand=.", "$expand=.($levels=1)"])
def test_a_collection_comes_with_its_members_in_it(pdu: RedfishDevice, query: str) -> None:
    collection, plain = get(pdu, f"{PDUS}/1/Outlets?{query}"), get(pdu, f"{PDUS}/1/Outlets")
    assert len(collection["Members"]) == collection["Members@odata.count"] == len(plain["Members"]) > 3
    for member, link in zip(collection["Members"], plain["Members"], strict=True):
        alone = get(pdu, link["@odata.id"])
        assert member == {key: value for key, value in alone.items() if key != "@odata.etag"}


def test_head_and_slashes_and_harmless_queries(pdu: RedfishDevice) -> None:
    assert ask(pdu, "HEAD", PDUS).status == ask(pdu, "GET", f"{PDUS}/").status == ask(pdu, "GET", f"{PDUS}?a=b").status == 200


OUTLET = f"{PDUS}/1/Outlets/A1"


@pytest.mark.parametrize(
    ("body", "key"),
    [
        (b"{", "MalformedJSON"),
        (b"\xff", "MalformedJSON"),
        (b"[" * 100_000, "MalformedJSON"),
        ([], "MalformedJSON"),
        ({"Colour": "red"}, "PropertyUnknown"),
        ({"PowerState": "On"}, "PropertyNotWritable"),
        ({"PowerOnDelaySeconds": "1"}, "PropertyValueTypeError"),
        ({"PowerOnDelaySeconds": True}, "PropertyValueTypeError"),
        ({"PowerOnDelaySeconds": -1}, "PropertyValueOutOfRange"),
        ({"PowerOnDelaySeconds": 1e9}, "PropertyValueOutOfRange"),
        (b'{"PowerOnDelaySeconds": 1' + b"0" * 400 + b"}", "PropertyValueOutOfRange"),
    ],
)
def test_wrong_bodies(pdu: RedfishDevice, body: object, key: str) -> None:
    assert explain(ask(pdu, "PATCH", OUTLET, body))[:2] == (400, key)


def test_tags(pdu: RedfishDevice) -> None:
    first = ask(pdu, "GET", OUTLET)
    tag = first.headers["ETag"]
    assert first.body is not None
    assert first.body["@odata.etag"] == tag
    assert ask(pdu, "GET", OUTLET, headers={**BASIC, "If-None-Match": tag}).status == 304
    change = {"PowerOnDelaySeconds": 3}
    assert ask(pdu, "PATCH", OUTLET, change, {**BASIC, "If-Match": tag}).status == 204
    assert explain(ask(pdu, "PATCH", OUTLET, change, {**BASIC, "If-Match": tag}))[:2] == (412, "PreconditionFailed")
    assert ask(pdu, "PATCH", OUTLET, change, {**BASIC, "If-Match": "*"}).status == 204
    assert ask(pdu, "GET", OUTLET, headers={**BASIC, "If-None-Match": tag}).status == 200


def test_an_order_that_the_plant_refuses_is_a_conflict() -> None:
    device = make_cdu(FuzzPanel(failing=True), "cdu/0")
    reply = ask(device, "POST", "/redfish/v1/ThermalEquipment/CDUs/1/Actions/CoolingUnit.SetMode", {"Mode": "Enabled"})
    assert explain(reply)[0] == 409
    assert explain(reply)[2].endswith("cannot be")


@cache
def list_paths() -> list[str]:
    found = {SESSIONS, f"{SESSIONS}/1", "/", ""}
    for device in (make_pdu(FakePanel(), "A1"), make_cdu(FuzzPanel(shown=("off",)), "cdu/0"), make_bmc(FakePanel(), "n0")):
        crawl(device)
        found.update(device.service._tree)
    return sorted(found)


KEYS = ["PowerState", "ResetType", "SetPoint", "ControlMode", "Enabled", "Mode", "UserName", "Password", "PowerOnDelaySeconds", "@x"]
WORDS = ["On", "Off", "PowerCycle", "ForceOff", "ForceRestart", "GracefulRestart", "Automatic", "Disabled", USER, PASSWORD]
LEAVES = st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.sampled_from(WORDS) | st.text(max_size=5)
BODIES = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), LEAVES | st.lists(LEAVES, max_size=2), max_size=2)
RAW = st.binary(max_size=20) | BODIES.map(lambda body: json.dumps(body).encode())
METHODS = st.sampled_from(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]) | st.text(max_size=5)
PATHS = st.sampled_from(list_paths()) | st.text(max_size=20) | st.sampled_from(list_paths()).map(lambda path: f"{path}/x?$y")
HEADERS = st.sampled_from([BASIC, {**BASIC, "If-Match": "x"}, {}, {"X-AUTH-TOKEN": ""}, {"authorization": "Basic \0é"}])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(METHODS, PATHS, RAW, HEADERS), min_size=1, max_size=20), st.booleans())
def test_no_request_is_an_error_of_the_service(requests: list[tuple[str, str, bytes, dict[str, str]]], failing: bool) -> None:
    panel = FuzzPanel(shown=("off", 1.0, None), failing=failing)
    for device in (make_pdu(panel, "A1"), make_cdu(panel, "cdu/0"), make_bmc(panel, "n0")):
        device.board.later = Timers()
        for method, path, raw, headers in requests:
            reply = device.service.answer(method, path, raw, headers)
            assert reply.status in {200, 201, 204, 304, 400, 401, 404, 405, 409, 412} or "Retry-After" in reply.headers
            json.dumps(reply.body, allow_nan=False)
