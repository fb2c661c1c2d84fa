"""Authorities and keys of nodes for tests: the same ones each time, in memory and as files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from supernoded import settings
from supernoded.cluster.commands.sealing import SealKey
from supernoded.pki.certificates import Issuer, key_to_pem, make_authority, make_certificate, to_pem
from supernoded.pki.trust import Authority, read_identity

NOW = 1_800_000_000.0  # Unix seconds


def make_key(name: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


def make_issuer(cluster: str = "c0", now: float = NOW, days: float = 3650.0) -> Issuer:
    return make_authority(cluster, make_key(f"authority {cluster}"), now, days)


def trust(*issuers: Issuer, revoked: frozenset[int] = frozenset()) -> Authority:
    return Authority(tuple(issuer.certificate for issuer in issuers), revoked)


def make_seal_key(node: str, issuer: Issuer, now: float = NOW, days: float = 365.0) -> SealKey:
    key = make_key(node)
    certificate = make_certificate(node, key.public_key(), issuer, now, days)
    return SealKey(key, to_pem(certificate), read_identity(certificate))


def write_keys(folder: Path, node: str, issuer: Issuer, now: float = NOW, days: float = 365.0) -> settings.Keys:
    """The files of a node, and the table that names them."""
    own = make_seal_key(node, issuer, now, days)
    folder.mkdir(exist_ok=True)
    files = {name: folder / f"{node}.{name}" for name in ("key", "crt")} | {"ca": folder / "ca.crt"}
    for name, text in (("key", key_to_pem(own.key)), ("crt", own.certificate), ("ca", to_pem(issuer.certificate))):
        files[name].touch(mode=0o600)
        files[name].write_text(text)
    return settings.Keys(key_file=files["key"], certificate_file=files["crt"], ca_file=files["ca"])
