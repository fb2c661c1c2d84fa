"""Replies and refusals, in the words of the Redfish specification (DMTF DSP0266) and its Base message registry (DSP8011)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

ROOT = "/redfish/v1"
REGISTRY = "Base.1.18"

Body = dict[str, Any]
Deed = Callable[[], None]  # what an accepted order does; not called by a device that only pretends


@dataclass(frozen=True)
class Reply:
    """What goes back over the wire."""

    status: int
    body: Body | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusalError(Exception):
    """A request that is answered with an error: its status, the key in the message registry, and one sentence."""

    def __init__(self, status: int, key: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.key, self.message, self.headers = status, key, message, dict(headers or {})

    def reply(self) -> Reply:
        """The error body of DSP0266, 8.6."""
        told = {
            "@odata.type": "#Message.v1_2_1.Message",
            "MessageId": f"{REGISTRY}.{self.key}",
            "Message": self.message,
            "MessageSeverity": "Warning" if self.status < 500 else "Critical",
        }
        error = {"code": f"{REGISTRY}.{self.key}", "message": self.message, "@Message.ExtendedInfo": [told]}
        return Reply(self.status, {"error": error}, self.headers)


def link(path: str) -> Body:
    """A reference to a resource."""
    return {"@odata.id": path}
