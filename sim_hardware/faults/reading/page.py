"""Pages of a Redfish device: one small HTTP client, a connection for each page (RFC 9112)."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

from sim_hardware.devices.redfish import PASSWORD, USER
from sim_hardware.faults.reading.problems import GarbledError, RefusedError, connected
from sim_hardware.rig import Rig

_LOGIN = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


async def read_page(rig: Rig, device: str, path: str) -> dict[str, Any]:
    """The page at a path below /redfish/v1. Raises ReadingError."""
    return await _ask(rig, device, "GET", f"/redfish/v1/{path}", b"")


async def read_json(rig: Rig, device: str, path: str) -> dict[str, Any]:
    """What any service over HTTP has at a path. Raises ReadingError."""
    return await _ask(rig, device, "GET", path, b"")


async def send_page(rig: Rig, device: str, path: str, body: dict[str, Any]) -> None:
    """PATCH it. Raises ReadingError."""
    await _ask(rig, device, "PATCH", f"/redfish/v1/{path}", json.dumps(body).encode())


async def _ask(rig: Rig, device: str, verb: str, path: str, body: bytes) -> dict[str, Any]:
    head = f"{verb} {path} HTTP/1.1\r\nHost: {device.replace('/', '-')}\r\nAuthorization: Basic {_LOGIN}\r\n"
    head += f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    async with connected(rig, device) as (reader, writer):
        writer.write(head.encode() + body)
        status, length = await _read_head(reader, device)
        data = await reader.readexactly(length)
    if status >= 400:
        raise RefusedError(f"{device}: {path}: status {status}")
    if not data:
        return {}
    try:
        page = json.loads(data)
    except ValueError as error:
        raise GarbledError(f"{device}: {path}: {error}") from error
    if not isinstance(page, dict):
        raise GarbledError(f"{device}: {path} is no object")
    return page


async def _read_head(reader: asyncio.StreamReader, device: str) -> tuple[int, int]:
    """Status and length of the body. Raises GarbledError."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    status = lines[0].split(" ")[1:2]
    if not status or not status[0].isdecimal() or not fields.get("content-length", "0").isdecimal():
        raise GarbledError(f"{device}: {lines[0]!r} is no answer")
    return int(status[0]), int(fields.get("content-length", "0"))


def pick(page: dict[str, Any], *keys: str | int) -> Any:
    """What stands at a place of a page. Raises GarbledError when there is no such place."""
    value: Any = page
    for key in keys:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError) as error:
            raise GarbledError(f"{page.get('@odata.id')} has nothing at {'.'.join(map(str, keys))}") from error
    return value
