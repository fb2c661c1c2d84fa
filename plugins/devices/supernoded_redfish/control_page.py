"""One control of a service: found, read and written."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Http, WireError
from supernoded_redfish.controls import Control, parse_control
from supernoded_redfish.pages import WITHIN
from supernoded_redfish.paths import place


async def read_control(http: Http, known: Control) -> Control:
    """The same one as it is now. Raises WireError."""
    page = await http.get(place(known.path), WITHIN)
    body = page.get(known.key) if known.key else page
    if not isinstance(body, Mapping):
        raise WireError(f"{known.path}: {known.key} is no excerpt of a Control")
    return parse_control(known.path, body, known.key, known.kind if known.key else "")


async def write_control(http: Http, scope: str, control: Control, **properties: object) -> None:
    """Asks the pen. Raises WireError, NotHeldError."""
    await http.order(scope, "PATCH", place(control.path), control.write(**properties), WITHIN)
