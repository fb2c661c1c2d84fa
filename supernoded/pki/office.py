"""An authority as a folder: it makes the keys of nodes and brokers, revokes them, and hands out what each machine needs.

ca.crt ca.key crl.pem issued.json
nodes/<node>/     node.key node.crt ca.crt crl.pem supernoded.toml
brokers/<name>/   broker.key broker.crt ca.crt crl.pem acl mosquitto.conf
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath, PurePosixPath

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from supernoded.errors import PkiError
from supernoded.pki.certificates import (
    BROKER_USAGE,
    NODE_USAGE,
    Issuer,
    key_to_pem,
    make_authority,
    make_certificate,
    make_revocations,
    to_pem,
)
from supernoded.pki.folder import PUBLIC, SECRET, locked, make_folder, read_file, write_file
from supernoded.pki.handouts import write_acl, write_listener, write_snippet

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # as one level of a topic: cluster/topics.py
HOST = re.compile(r"[A-Za-z0-9:._-]{1,253}")  # a name or an address
NODE_AT, BROKER_AT = PurePosixPath("/etc/supernoded/keys"), PurePosixPath("/etc/mosquitto/supernoded")
DAY = 86_400.0


class Issued(msgspec.Struct, frozen=True, kw_only=True):
    """One certificate that was made. Times are Unix seconds."""

    name: str
    broker: bool = False
    hosts: tuple[str, ...] = ()
    at: str = ""  # the folder in which the machine keeps its files
    serial: str  # hexadecimal
    made: float
    ends: float
    revoked: float | None = None


class Register(msgspec.Struct, frozen=True, kw_only=True):
    """All of an authority."""

    cluster: str
    issued: tuple[Issued, ...] = ()


class Office:
    """Works on one folder. `make_key` gives a new private key, `now` is in Unix seconds."""

    def __init__(self, folder: Path, now: float, make_key: Callable[[], Ed25519PrivateKey] = Ed25519PrivateKey.generate) -> None:
        self.folder, self._now, self._make_key = folder, now, make_key

    def found(self, cluster: str, days: float, *, force: bool = False) -> Register:
        """Begin an authority. Raises PkiError when there is one already."""
        _check(NAME, cluster, "cluster name")
        make_folder(self.folder)
        with locked(self.folder):
            if not force and (self.folder / "ca.key").exists():
                raise PkiError(f"{self.folder}: holds an authority; with --force it is thrown away, and what it has issued counts no more")
            issuer = make_authority(cluster, self._make_key(), self._now, days)
            write_file(self.folder / "ca.key", key_to_pem(issuer.key), SECRET)
            write_file(self.folder / "ca.crt", to_pem(issuer.certificate))
            register = Register(cluster=cluster)
            self._keep(register, issuer)
        return register

    def issue(
        self, name: str, days: float, *, hosts: Sequence[str] = (), broker: bool = False, at: str = "", force: bool = False
    ) -> Issued:
        """A key and a certificate for a node or a broker. Raises PkiError when it has one that still counts."""
        with locked(self.folder):
            return self._issue(name, days, hosts, broker=broker, at=at, force=force)

    def rotate(self, name: str, days: float, *, broker: bool = False) -> Issued:
        """A new key and certificate in place of the old, which is revoked. Raises PkiError when there is none."""
        with locked(self.folder):
            old = self.find_last(name, broker=broker)
            return self._issue(name, days, old.hosts, broker=broker, at=old.at, force=True)

    def revoke(self, name: str, *, broker: bool = False) -> list[Issued]:
        """What has been issued to it counts no more, once the list has been copied. Raises PkiError when nothing of it counts now."""
        with locked(self.folder):
            register = self.read()
            gone = self._list_counting(register, name, broker=broker)
            if not gone:
                raise PkiError(f"nothing that counts was issued to {name}; `supernodectl pki list` shows all")
            self._keep(self._without(register, name, broker=broker), self._read_issuer())
        return [msgspec.structs.replace(one, revoked=self._now) for one in gone]

    def read(self) -> Register:
        """What was issued. Raises PkiError."""
        file = self.folder / "issued.json"
        try:
            return msgspec.json.decode(read_file(file, "the register"), type=Register)
        except msgspec.MsgspecError as error:
            raise PkiError(f"{file}: is damaged ({error}); bring it back from a copy") from error

    def find_last(self, name: str, *, broker: bool) -> Issued:
        """The newest of a name. Raises PkiError when there is none."""
        found = [one for one in self.read().issued if (one.name, one.broker) == (name, broker)]
        if not found:
            raise PkiError(f"nothing was issued to {name} yet; `supernodectl pki issue {name}` does")
        return found[-1]

    def find_folder(self, name: str, *, broker: bool) -> Path:
        """Where its files are."""
        return self.folder / ("brokers" if broker else "nodes") / name

    def _issue(self, name: str, days: float, hosts: Sequence[str], *, broker: bool, at: str, force: bool) -> Issued:
        _check(NAME, name, "broker name" if broker else "node name")
        for host in hosts:
            _check(HOST, host, "host")
        register, issuer, folder = self.read(), self._read_issuer(), self.find_folder(name, broker=broker)
        if not force and self._list_counting(register, name, broker=broker):
            raise PkiError(f"{name} has a certificate that counts, in {folder}; `supernodectl pki rotate {name}` makes a new one")
        key, all_hosts = self._make_key(), tuple(dict.fromkeys([*hosts, *([name] if broker else [])]))
        usage = BROKER_USAGE if broker else NODE_USAGE
        certificate = make_certificate(name, key.public_key(), issuer, self._now, days, hosts=all_hosts, usage=usage)
        made = Issued(
            name=name,
            broker=broker,
            hosts=all_hosts,
            at=at or str(BROKER_AT if broker else NODE_AT),
            serial=f"{certificate.serial_number:x}",
            made=self._now,
            ends=certificate.not_valid_after_utc.timestamp(),
        )
        make_folder(folder.parent)
        make_folder(folder)
        old = self._without(register, name, broker=broker)
        self._register(msgspec.structs.replace(old, issued=(*old.issued, made)))  # before its files: what exists can be revoked
        write_file(folder / ("broker.key" if broker else "node.key"), key_to_pem(key), SECRET)
        write_file(folder / ("broker.crt" if broker else "node.crt"), to_pem(certificate))
        self._keep(self.read(), issuer)
        return made

    def _list_counting(self, register: Register, name: str, *, broker: bool) -> list[Issued]:
        return [one for one in register.issued if (one.name, one.broker) == (name, broker) and one.revoked is None and one.ends > self._now]

    def _without(self, register: Register, name: str, *, broker: bool) -> Register:
        """The register with all of a name revoked."""
        issued = [
            msgspec.structs.replace(one, revoked=self._now) if (one.name, one.broker) == (name, broker) and one.revoked is None else one
            for one in register.issued
        ]
        return msgspec.structs.replace(register, issued=tuple(issued))

    def _register(self, register: Register) -> None:
        write_file(self.folder / "issued.json", msgspec.json.format(msgspec.json.encode(register)).decode() + "\n", SECRET)

    def _keep(self, register: Register, issuer: Issuer) -> None:
        """Write the register, the list, and what follows from them for everybody."""
        self._register(register)
        days = (issuer.certificate.not_valid_after_utc.timestamp() - self._now) / DAY  # a list that ran out would shut everybody out
        gone = {int(one.serial, 16): one.revoked for one in register.issued if one.revoked is not None}
        shared = {"ca.crt": to_pem(issuer.certificate), "crl.pem": to_pem(make_revocations(gone, issuer, self._now, max(days, 1.0)))}
        write_file(self.folder / "crl.pem", shared["crl.pem"])
        brokers = [one for one in register.issued if one.broker and one.revoked is None]
        for one in {(one.name, one.broker): one for one in register.issued}.values():  # the newest of each
            folder = self.find_folder(one.name, broker=one.broker)
            texts = {**shared, **_write_handouts(register.cluster, one, brokers[0].hosts[0] if brokers else "")}
            for name, text in texts.items() if folder.is_dir() else ():
                write_file(folder / name, text, PUBLIC)

    def _read_issuer(self) -> Issuer:
        files = self.folder / "ca.crt", self.folder / "ca.key"
        try:
            certificate = x509.load_pem_x509_certificate(read_file(files[0], "the authority's certificate"))
            key = load_pem_private_key(read_file(files[1], "the authority's key"), None)
        except (ValueError, TypeError) as error:
            raise PkiError(f"{self.folder}: ca.crt or ca.key is damaged ({error}); bring it back from a copy") from error
        if not isinstance(key, Ed25519PrivateKey) or certificate.public_key() != key.public_key():
            raise PkiError(f"{self.folder}: ca.key does not belong to ca.crt; bring both back from a copy")
        return Issuer(certificate, key)


def _write_handouts(cluster: str, one: Issued, broker: str) -> dict[str, str]:
    at = PurePath(one.at)
    if one.broker:
        return {"acl": write_acl(cluster), "mosquitto.conf": write_listener(at)}
    return {"supernoded.toml": write_snippet(cluster, one.name, at, broker)}


def _check(pattern: re.Pattern[str], text: str, what: str) -> None:
    if pattern.fullmatch(text) is None:
        raise PkiError(f"{text[:80]!r} cannot be a {what}: letters, digits, '.', '_', '-', and at most 64 of them")
