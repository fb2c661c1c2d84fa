"""Certificates made for one test: authorities, servers and clients, good and bad."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, in memory and as PEM files."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    certificate_file: str
    key_file: str


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def issue(folder: Path, common: str, issuer: Pair | None = None, *, address: str = "127.0.0.1", days: int = 30) -> Pair:
    """A certificate for `common`; an authority when it has no issuer; expired when `days` is negative."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = dt.datetime.now(dt.UTC)
    first = now + min(0, days - 30) * DAY - DAY
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(common))
        .issuer_name(_name(common) if issuer is None else issuer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(first)
        .not_valid_after(now + days * DAY)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if issuer is not None:
        names = [x509.DNSName(common), x509.IPAddress(ip_address(address))]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    certificate = builder.sign(key if issuer is None else issuer.key, hashes.SHA256())
    paths = folder / f"{common}.crt", folder / f"{common}.key"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return Pair(certificate, key, str(paths[0]), str(paths[1]))
