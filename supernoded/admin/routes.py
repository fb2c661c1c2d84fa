"""The paths, and what each asks of the desk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
from aiohttp import web

from supernoded.admin.desk import Caller, Desk
from supernoded.admin.metrics import render_metrics
from supernoded.errors import AdminError, NotFoundError
from supernoded.messages import (
    VERSION_PATH,
    ActionFilter,
    Answer,
    BreakerReset,
    CardFilter,
    CheckpointAsk,
    CheckpointFilter,
    EventFilter,
    HandOrder,
    HoldFilter,
    IncidentFilter,
    IsolateAsk,
    LiftAsk,
    ModeChange,
    Problem,
    ReadingFilter,
    RehearsalFilter,
    ReleaseAsk,
    SubjectFilter,
    TestAsk,
    TestFilter,
    ThermalHistoryFilter,
    TimelineFilter,
    encode,
)

T = TypeVar("T", bound=msgspec.Struct)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

CALLER: web.RequestKey[Caller] = web.RequestKey("caller", Caller)  # set by the server: the connection may be gone by the time it is used
PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class BadRequestError(AdminError):
    """The request cannot be understood; the message says which part."""


def make_routes(desk: Desk) -> list[web.RouteDef]:
    """Every path of docs/admin-api.md."""
    gets: dict[str, Callable[[web.Request], Awaitable[Answer]]] = {
        "status": lambda _: desk.status(),
        "health": lambda _: desk.health(),
        "plugins": lambda _: desk.plugins(),
        "readings": lambda request: desk.readings(read_query(request, ReadingFilter)),
        "links": lambda _: desk.links(),
        "nodes": lambda _: desk.nodes(),
        "breakers": lambda _: desk.breakers(),
        "diagnosis": lambda request: desk.diagnose(read_query(request, SubjectFilter).subject),
        "power": lambda _: desk.power(),
        "timeline": lambda request: _tell_timeline(desk, read_query(request, TimelineFilter)),
        "thermal": lambda _: desk.thermal(),
        "thermal/history": lambda request: _tell_history(desk, read_query(request, ThermalHistoryFilter)),
        "jobs": lambda _: desk.jobs(),
        "jobs/{job}/map": lambda request: _map_ranks(desk, request.match_info["job"]),
        "jobs/{job}/checkpoint": lambda request: _find_checkpoint(desk, request),
        "incidents": lambda request: desk.incidents(read_query(request, IncidentFilter)),
        "incidents/{id}": lambda request: _tell_story(desk, request.match_info["id"]),
        "events": lambda request: desk.events(read_query(request, EventFilter)),
        "actions": lambda request: desk.actions(read_query(request, ActionFilter)),
        "holds": lambda request: desk.cards.list_holds(read_query(request, HoldFilter)),
        "cards": lambda request: desk.cards.list_cards(read_query(request, CardFilter)),
        "cards/{subject:.+}/test": lambda request: _find_test(desk, request),
        "modes": lambda _: desk.modes(),
        "rehearsals": lambda request: _rehearse(desk, read_query(request, RehearsalFilter)),
    }
    return [
        *(web.get(f"{VERSION_PATH}/{path}", _answering(ask)) for path, ask in gets.items()),
        web.put(f"{VERSION_PATH}/modes/{{policy}}", _answering(lambda request: _set_mode(desk, request))),
        web.post(f"{VERSION_PATH}/jobs/{{job}}/checkpoint", _answering(lambda request: _ask_checkpoint(desk, request))),
        web.post(f"{VERSION_PATH}/breakers/{{name}}/reset", _answering(lambda request: _reset_breaker(desk, request))),
        web.post(f"{VERSION_PATH}/loops/{{target:.+}}", _answering(lambda request: _lay_hand(desk, request))),
        web.delete(f"{VERSION_PATH}/loops/{{target:.+}}", _answering(lambda request: _take_hand_off(desk, request))),
        web.post(f"{VERSION_PATH}/holds/{{id}}/lift", _answering(lambda request: _lift_hold(desk, request))),
        web.post(f"{VERSION_PATH}/cards/{{subject:.+}}/isolate", _answering(lambda request: _isolate(desk, request))),
        web.post(f"{VERSION_PATH}/cards/{{subject:.+}}/release", _answering(lambda request: _release(desk, request))),
        web.post(f"{VERSION_PATH}/cards/{{subject:.+}}/test", _answering(lambda request: _test(desk, request))),
        web.get("/metrics", _metering(desk)),
    ]


async def _tell_story(desk: Desk, incident: str) -> Answer:
    story = await desk.story(incident)
    if story is None:
        raise NotFoundError(f"there is no incident {incident!r}; `supernodectl incidents --all` lists them")
    return story


async def _map_ranks(desk: Desk, job: str) -> Answer:
    found = await desk.map_ranks(job)
    if found is None:
        raise NotFoundError(f"nothing is told of a job {job!r} here; `supernodectl jobs` lists those of this node")
    return found


async def _tell_timeline(desk: Desk, wanted: TimelineFilter) -> Answer:
    told = await desk.timeline(wanted.incident)
    if told is None:
        what = f"there is no incident {wanted.incident!r}" if wanted.incident else "there was no incident of power yet"
        raise NotFoundError(f"{what}; `supernodectl incidents --all` lists them")
    return told


async def _tell_history(desk: Desk, wanted: ThermalHistoryFilter) -> Answer:
    told = await desk.thermal_history(wanted)
    if told is None:
        raise NotFoundError(f"nothing was read of a coolant unit {wanted.loop!r} here; `supernodectl thermal` lists the units")
    return told


async def _reset_breaker(desk: Desk, request: web.Request) -> Answer:
    wanted, caller = read_body(await request.read(), BreakerReset), request[CALLER]
    return await desk.reset_breaker(request.match_info["name"], wanted, caller)


async def _lay_hand(desk: Desk, request: web.Request) -> Answer:
    wanted, caller = read_body(await request.read(), HandOrder), request[CALLER]
    return await desk.lay_hand(request.match_info["target"], wanted, caller)


async def _take_hand_off(desk: Desk, request: web.Request) -> Answer:
    return await desk.take_hand_off(request.match_info["target"], request[CALLER])


async def _rehearse(desk: Desk, wanted: RehearsalFilter) -> Answer:
    return await desk.rehearsed(wanted.policy, wanted.days)


async def _set_mode(desk: Desk, request: web.Request) -> Answer:
    wanted, caller = read_body(await request.read(), ModeChange), request[CALLER]
    return await desk.set_mode(request.match_info["policy"], wanted.mode, caller)


async def _find_checkpoint(desk: Desk, request: web.Request) -> Answer:
    return await desk.find_checkpoint(request.match_info["job"], read_query(request, CheckpointFilter).request)


async def _ask_checkpoint(desk: Desk, request: web.Request) -> Answer:
    wanted, caller = read_body(await request.read(), CheckpointAsk), request[CALLER]
    return await desk.ask_checkpoint(request.match_info["job"], wanted, caller)


async def _lift_hold(desk: Desk, request: web.Request) -> Answer:
    wanted, caller = read_body(await request.read(), LiftAsk), request[CALLER]
    return await desk.cards.lift(request.match_info["id"], wanted, caller)


async def _isolate(desk: Desk, request: web.Request) -> Answer:
    wanted, caller = read_body(await request.read(), IsolateAsk), request[CALLER]
    return await desk.cards.isolate(request.match_info["subject"], wanted, caller)


async def _release(desk: Desk, request: web.Request) -> Answer:
    wanted, caller = read_body(await request.read(), ReleaseAsk), request[CALLER]
    return await desk.cards.release(request.match_info["subject"], wanted, caller)


async def _test(desk: Desk, request: web.Request) -> Answer:
    wanted, caller = read_body(await request.read(), TestAsk), request[CALLER]
    return await desk.cards.test(request.match_info["subject"], wanted, caller)


async def _find_test(desk: Desk, request: web.Request) -> Answer:
    return await desk.cards.find_test(request.match_info["subject"], read_query(request, TestFilter).test)


def _metering(desk: Desk) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        del request
        return web.Response(body=render_metrics(await desk.status()), headers={"Content-Type": PROMETHEUS_TEXT})

    return handle


def _answering(ask: Callable[[web.Request], Awaitable[Answer]]) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(body=encode(await ask(request)), content_type="application/json")

    return handle


def make_problem(status: int, sentence: str) -> web.Response:
    """The answer to a request that is refused."""
    return web.Response(status=status, body=encode(Problem(error=sentence)), content_type="application/json")


def read_query(request: web.Request, kind: type[T]) -> T:
    """The query string as a filter. Raises BadRequestError."""
    try:
        return msgspec.convert(dict(request.query), kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadRequestError(f"{request.path}: the query cannot be used: {error}") from error


def read_body(body: bytes, kind: type[T]) -> T:
    """The body as a message. Raises BadRequestError."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.DecodeError as error:  # ValidationError is one of them
        raise BadRequestError(f"the body cannot be used: {error}") from error
