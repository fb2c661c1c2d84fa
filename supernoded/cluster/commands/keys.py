"""Our key, our certificate and the authority, from the files of `[keys]`."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from supernoded import settings
from supernoded.cluster.commands.sealing import SealKey
from supernoded.errors import SealError, SettingsError
from supernoded.pki.trust import Authority, list_revoked, read_identity

T = TypeVar("T")

WARN = 30.0  # days before our certificate ends at which that becomes a trouble (ours)
DAY = 86_400.0
MOST_BYTES = 1_000_000  # of a file that are read; a list of 10,000 revoked certificates has some 500,000


class KeysError(SettingsError):
    """A file of `[keys]` cannot be used."""

    def __init__(self, key: str, path: Path | None, fault: str, remedy: str) -> None:
        super().__init__(f"keys.{key}: {path} {fault}; {remedy}")
        self.key, self.path, self.fault, self.remedy = key, path, fault, remedy


@dataclass(frozen=True)
class Keys:
    """What is signed with and who is believed. Without `own` this node commands no other, without `authority` none commands it."""

    own: SealKey | None = None
    authority: Authority | None = None
    list_ends: float | None = None  # when the next revocation list was to come, Unix seconds
    exposed: Path | None = None  # our key's file, where everybody on this machine can read it

    @property
    def fingerprint(self) -> str:
        """Of our key; empty without one."""
        return self.own.identity.fingerprint if self.own is not None else ""

    def find_trouble(self, now: float) -> str:
        """What will soon keep, or keeps, others from taking our commands (Unix seconds); empty = nothing."""
        if self.own is None or self.authority is None:
            return ""
        who = self.own.identity
        remedy = f"`supernodectl pki rotate {who.name}`, then copy the files to this node; no restart is needed"
        if fault := self.authority.find_fault(who, now):
            return f"{fault}; no node takes commands of this one: {remedy}"
        days = (who.ends - now) / DAY
        if days < WARN:
            return f"the certificate of this node ends in {days:.1f} days: {remedy}"
        if self.exposed is not None:
            return f"keys.key_file: everybody on this machine can read {self.exposed} and speak as {who.name}: `chmod 600 {self.exposed}`"
        if self.list_ends is not None and now > self.list_ends:
            return f"the revocation list is {(now - self.list_ends) / DAY:.1f} days too old: copy the newest crl.pem to keys.revoked_file"
        return ""


def read_keys(table: settings.Keys, node: str) -> Keys:
    """The keys of a node. Raises KeysError naming the file, the fault and the remedy."""
    own = _read_own(table.key_file, table.certificate_file, node) if table.key_file and table.certificate_file else None
    if table.ca_file is None:
        return Keys(own)
    certificates = tuple(_read("ca_file", table.ca_file, x509.load_pem_x509_certificates))
    lists = [] if table.revoked_file is None else [_read("revoked_file", table.revoked_file, x509.load_pem_x509_crl)]
    try:
        authority = Authority(certificates, list_revoked(lists, certificates))
    except SealError as error:
        raise KeysError("revoked_file", table.revoked_file, str(error), "name the list of the same authority as ca_file") from error
    if own is not None:
        _check_issuer(own, authority, table.certificate_file)
    ends = [one.next_update_utc.timestamp() for one in lists if one.next_update_utc is not None]
    return Keys(own, authority, min(ends, default=None), table.key_file if _is_exposed(table.key_file) else None)


def _is_exposed(file: Path | None) -> bool:
    try:
        return file is not None and bool(file.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH))
    except OSError:  # replaced just now: the next look finds the new one
        return False


def list_files(table: settings.Keys) -> list[Path]:
    """The files that `read_keys` reads."""
    return [file for file in (table.key_file, table.certificate_file, table.ca_file, table.revoked_file) if file is not None]


def _read_own(key_file: Path, certificate_file: Path, node: str) -> SealKey:
    remedy = f"make both anew with `supernodectl pki issue {node}`"
    key = _read("key_file", key_file, lambda data: load_pem_private_key(data, None))
    if not isinstance(key, Ed25519PrivateKey):
        raise KeysError("key_file", key_file, "holds no Ed25519 key", remedy)
    certificate = _read("certificate_file", certificate_file, x509.load_pem_x509_certificate)
    try:
        identity = read_identity(certificate)
    except SealError as error:
        raise KeysError("certificate_file", certificate_file, f"cannot be used: {error}", remedy) from error
    if identity.name != node:
        raise KeysError("certificate_file", certificate_file, f"is that of {identity.name[:80]!r}, and this node is {node}", remedy)
    if identity.key != key.public_key():
        raise KeysError("certificate_file", certificate_file, f"does not belong to the key in {key_file}", remedy)
    return SealKey(key, certificate.public_bytes(Encoding.PEM).decode(), identity)


def _check_issuer(own: SealKey, authority: Authority, file: Path | None) -> None:
    try:
        authority.identify(own.certificate)
    except SealError as error:
        remedy = "name the authority that has issued it in keys.ca_file, or issue it anew"
        raise KeysError("certificate_file", file, "is not signed by an authority in keys.ca_file", remedy) from error


def _read(key: str, path: Path, parse: Callable[[bytes], T]) -> T:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise KeysError(key, path, f"cannot be read, {error.strerror}", "create it, or make it readable for the daemon's user") from error
    if len(data) > MOST_BYTES:
        raise KeysError(key, path, f"has more than {MOST_BYTES} bytes", "name a PEM file")
    try:
        return parse(data)
    except TypeError as error:  # a passphrase is wanted
        raise KeysError(key, path, "is locked by a passphrase", "store it without one, readable to the daemon only") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeysError(key, path, f"is not the PEM that it should be ({' '.join(str(error).split())[:120]})", "write it anew") from error
