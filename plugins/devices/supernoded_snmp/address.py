"""Where an agent is and how one speaks to it, from a URL."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import msgspec

from supernoded.plugin import PluginError
from supernoded_snmp.asn import Oid, parse_oid
from supernoded_snmp.messages import V1, V2C, V3
from supernoded_snmp.settings import SnmpSettings
from supernoded_snmp.usm import HASHES

SCHEME, PORT = "snmp", 161
KEYS = ("version", "profile", "place", "community_file", "write_community_file", "user", "auth", "auth_file", "priv_file", "serial")
VERSIONS = {"1": V1, "2c": V2C, "3": V3}


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """One agent."""

    url: str  # udp://host:port
    version: int = V2C
    profile: str = ""  # empty = by what the device says it is
    place: Oid | None = None  # what stands before an outlet's number in an index; None = as the profile has it
    community_file: str = ""
    write_community_file: str = ""
    user: str = ""  # of v3
    auth: str = "sha256"  # its hash
    auth_file: str = ""
    priv_file: str = ""  # empty = signed, and not encrypted
    serial: str = ""  # that must be read before the first order (safety rule 25); empty = any


def parse_address(subject: str, url: str, settings: SnmpSettings) -> Address:
    """Raises PluginError, which names the device and what to write."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or PORT
        query = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        place = parse_oid(query["place"]) if query.get("place") else None
    except ValueError as error:
        raise PluginError(f"{subject}: its url cannot be read: {error}; write snmp://host:161?version=2c&profile=NAME") from error
    if parts.scheme != SCHEME or not host or parts.username is not None:
        raise PluginError(f"{subject}: {parts.scheme}://{host} is no snmp://host:161; a community stands in a file, never in the url")
    unknown = sorted(query.keys() - set(KEYS))
    if unknown:
        raise PluginError(f"{subject}: its url has {', '.join(unknown)}; there are {', '.join(KEYS)}")
    version = query.get("version", "2c")
    if version not in VERSIONS:
        raise PluginError(f"{subject}: SNMP version {version!r} is not spoken; write version=3, version=2c or version=1")
    auth = query.get("auth", "sha256")
    if version == "3" and (auth not in HASHES or not query.get("user") or not query.get("auth_file")):
        hashes = " or ".join(HASHES)
        raise PluginError(f"{subject}: SNMP v3 wants user=NAME&auth_file=PATH in its url, auth={hashes}, and priv_file=PATH to encrypt")
    return Address(
        url=f"udp://{f'[{host}]' if ':' in host else host}:{port}",
        version=VERSIONS[version],
        profile=query.get("profile", ""),
        place=place,
        community_file=query.get("community_file") or settings.community_file,
        write_community_file=query.get("write_community_file") or settings.write_community_file,
        user=query.get("user", ""),
        auth=auth,
        auth_file=query.get("auth_file", ""),
        priv_file=query.get("priv_file", ""),
        serial=query.get("serial", ""),
    )
