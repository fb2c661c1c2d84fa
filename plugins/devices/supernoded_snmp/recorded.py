"""The replay format `snmprec`: a walk as lines `name|type|value`, as snmpsim records it and LibreNMS keeps it."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from supernoded.plugin import Format, Reading, Source
from supernoded_snmp.asn import Asn, Kind, Oid, parse_oid
from supernoded_snmp.cells import Table, list_columns
from supernoded_snmp.device import OBJECT_ID
from supernoded_snmp.interpret import interpret
from supernoded_snmp.manager import Walked
from supernoded_snmp.profile import Profile, load_built_in

_TYPES: Mapping[str, Kind] = {
    "2": "integer",
    "4": "text",
    "5": "null",
    "6": "oid",
    "64": "ip",
    "65": "counter",
    "66": "gauge",
    "67": "ticks",
    "68": "opaque",
    "70": "counter64",
}
_LINE = re.compile(r"^\.?(\d+(?:\.\d+)*)\|(\d+)(x?)(:\w+)?\|(.*)$")
_INITIAL = re.compile(r"\b(?:initial|value)=(-?\d+)")
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")


def read_snmprec(source: Source) -> Iterator[Reading]:
    """What the walk says of a device called as the file is. Raises nothing: a line that is none is passed over."""
    walk = dict(_parse(source.data))
    profile = _identify(walk)
    if profile is not None:
        subject = f"{profile.of}/{_UNFIT.sub('_', PurePath(source.name).name.split('.')[0]) or 'recorded'}"
        yield from interpret(profile, profile.columns, _arrange(profile, walk), subject, profile.find_place(None), source.at)


def _parse(data: bytes) -> Iterator[tuple[Oid, Asn]]:
    for line in data.decode("utf-8", "replace").splitlines():
        found = _LINE.match(line.strip("\r\n"))
        kind = None if found is None else _TYPES.get(found[2])
        if found is not None and kind is not None and len(found[1]) < 1_000:
            value = _read_value(kind, found[5], in_hex=found[3] == "x", varied=bool(found[4]))
            if value is not None:
                yield parse_oid(found[1]), value


def _read_value(kind: Kind, text: str, *, in_hex: bool, varied: bool) -> Asn | None:
    """A value; None when the text is none. One that the recording's own simulator varies begins where it says."""
    if varied:
        begun = _INITIAL.search(text)
        text = begun[1] if begun else text
    try:
        if kind == "oid":
            return Asn(kind, parse_oid(text))
        if kind in {"integer", "counter", "gauge", "ticks", "counter64"}:
            return Asn(kind, int(text[:30]))
        return Asn(kind, binascii.unhexlify(text) if in_hex else text.encode())
    except ValueError:  # binascii.Error is one
        return None


def _identify(walk: Mapping[Oid, Asn]) -> Profile | None:
    said = walk.get(OBJECT_ID)
    product = said.value if said is not None and isinstance(said.value, tuple) else ()
    for profile in load_built_in():
        if any(product[: len(begin)] == begin for begin in map(parse_oid, profile.products)):
            return profile
    probes = [(profile, parse_oid(profile.probe)) for profile in load_built_in() if profile.probe is not None]
    return next((profile for profile, probe in probes if any(name[: len(probe)] == probe for name in walk)), None)


def _arrange(profile: Profile, walk: Mapping[Oid, Asn]) -> Table:
    columns = {parse_oid(oid): oid for oid in list_columns(profile.columns)}
    rows: dict[str, dict[Oid, Asn]] = {oid: {} for oid in columns.values()}
    lengths = sorted({len(column) for column in columns})
    for name, value in walk.items():
        for length in lengths:
            oid = columns.get(name[:length])
            if oid is not None and length < len(name):
                rows[oid][name[length:]] = value
    return {oid: Walked(found) for oid, found in rows.items()}


FORMATS: Mapping[str, Format] = {"snmprec": read_snmprec}
