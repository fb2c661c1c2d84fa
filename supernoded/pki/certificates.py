"""Certificates and revocation lists, made in memory: Ed25519 throughout, for TLS 1.3 and for signing (docs/decisions/0049)."""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NODE_USAGE = (ExtendedKeyUsageOID.CLIENT_AUTH,)  # what a node's certificate is for; a broker's alone cannot sign commands
BROKER_USAGE = (ExtendedKeyUsageOID.SERVER_AUTH,)
EARLIER = dt.timedelta(hours=1)  # for which a certificate counts before it was made: clocks of a site differ


@dataclass(frozen=True)
class Issuer:
    """An authority with its private key."""

    certificate: x509.Certificate
    key: Ed25519PrivateKey


def make_authority(cluster: str, key: Ed25519PrivateKey, now: float, days: float, *, serial: int | None = None) -> Issuer:
    """The certificate by which a cluster knows its nodes; `now` in Unix seconds, `serial` by chance where not given."""
    name = _name(f"{cluster} authority")
    usage = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    builder = (
        _begin(name, name, key.public_key(), now, days, serial)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
    )
    return Issuer(builder.sign(key, None), key)


def make_certificate(
    name: str,
    key: Ed25519PublicKey,
    issuer: Issuer,
    now: float,
    days: float,
    *,
    hosts: Sequence[str] = (),
    usage: Iterable[x509.ObjectIdentifier] = NODE_USAGE,
    serial: int | None = None,
) -> x509.Certificate:
    """A certificate for `name`; `hosts` are the names and addresses under which it is reached, `serial` is by chance where not given."""
    theirs = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key())
    builder = (
        _begin(_name(name), issuer.certificate.subject, key, now, days, serial)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usage), critical=False)
        .add_extension(theirs, critical=False)
    )
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
    return builder.sign(issuer.key, None)


def make_revocations(revoked: Mapping[int, float], issuer: Issuer, now: float, days: float) -> x509.CertificateRevocationList:
    """The list of what counts no more: serial number -> when it was revoked, in Unix seconds."""
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(issuer.certificate.subject)
        .last_update(_time(now) - EARLIER)
        .next_update(_time(now) + dt.timedelta(days=days))
    )
    for serial, at in sorted(revoked.items()):
        builder = builder.add_revoked_certificate(x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(_time(at)).build())
    return builder.sign(issuer.key, None)


def to_pem(thing: x509.Certificate | x509.CertificateRevocationList) -> str:
    """As a file holds it."""
    return thing.public_bytes(Encoding.PEM).decode()


def key_to_pem(key: Ed25519PrivateKey) -> str:
    """A private key as a file holds it: PKCS #8 without a passphrase."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _begin(
    subject: x509.Name, issuer: x509.Name, key: Ed25519PublicKey, now: float, days: float, serial: int | None
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number() if serial is None else serial)
        .not_valid_before(_time(now) - EARLIER)
        .not_valid_after(_time(now) + dt.timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _time(now: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(now, dt.UTC)
