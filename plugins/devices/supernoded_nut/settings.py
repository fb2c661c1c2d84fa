"""The table `[plugins.nut]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[plugins.nut.servers."host:port"]`: how one is let in to one upsd. Reading needs no login, orders do."""

    user: str = ""  # of upsd.users; empty = no login, so that nothing can be ordered
    password_file: str = ""  # file with the password and nothing else
    ca_file: str = ""  # who signs its certificate; with it the connection is TLS or none
    insecure: bool = False  # any certificate will do, and the password may go in the clear to a server without TLS


class NutSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often the servers are asked, how one is let in, and which devices are looked at through NUT beside the topology's wire."""

    poll_s: Annotated[float, msgspec.Meta(ge=0.2, le=60)] = 1.0  # seconds; the driver behind a server may look only every 2 s
    servers: Mapping[str, ServerSettings] = {}  # by "host" or "host:port"
    views: Mapping[str, str] = {}  # subject -> nut://host:3493/name: readings only
