"""Whom to believe: a certificate is taken for its name when an authority that we know has signed it and it still counts. No I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from supernoded.errors import SealError

TOLERANCE = 2.0  # seconds by which the clocks of two nodes may differ (ours)
MOST_PEM = 8_192  # characters of a certificate; ours have some 700
MOST_KNOWN = 4_096  # certificates that are remembered as checked


@dataclass(frozen=True)
class Identity:
    """What a certificate says: whose key this is, and from when to when that holds (Unix seconds)."""

    name: str
    key: Ed25519PublicKey
    serial: int
    begins: float
    ends: float

    @property
    def fingerprint(self) -> str:
        """Of the key alone, so that a renewed certificate has the same: the first 16 digits of its SHA-256."""
        return hashlib.sha256(self.key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]


@dataclass(frozen=True)
class Authority:
    """Who vouches for nodes, and the serial numbers of what has been revoked."""

    certificates: tuple[x509.Certificate, ...]
    revoked: frozenset[int] = frozenset()
    _known: dict[str, Identity] = field(default_factory=dict, repr=False, compare=False)

    def identify(self, pem: str) -> Identity:
        """Who holds this certificate, whether or not it still counts. Raises SealError when no authority of ours has signed it."""
        known = self._known.get(pem)
        if known is None:
            certificate = _parse(pem)
            if not any(_has_signed(authority, certificate) for authority in self.certificates):
                raise SealError("its certificate is signed by no authority of ours: issue it with this cluster's")
            known = read_identity(certificate)
            if len(self._known) < MOST_KNOWN:
                self._known[pem] = known
        return known

    def find_fault(self, who: Identity, now: float) -> str:
        """Why a certificate of ours does not count now (Unix seconds); empty = it does."""
        if who.serial in self.revoked:
            return f"the certificate of {who.name} (serial {who.serial:x}) has been revoked"
        if now > who.ends + TOLERANCE:
            return f"the certificate of {who.name} ran out {now - who.ends:.0f} s ago by this node's clock: issue another one"
        if now < who.begins - TOLERANCE:
            wait = f"{who.begins - now:.0f} s by this node's clock"
            return f"the certificate of {who.name} is not valid for another {wait}: set the clocks right"
        return ""


def read_identity(certificate: x509.Certificate) -> Identity:
    """What a node's certificate says. Raises SealError when it is none for a node."""
    names = [attribute.value for attribute in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    if len(names) != 1 or not isinstance(names[0], str):
        raise SealError("its certificate does not name one node")
    try:
        key = certificate.public_key()
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except (ValueError, x509.ExtensionNotFound, x509.UnsupportedGeneralNameType) as error:
        raise SealError(f"the certificate of {names[0]} is none of a node ({error})") from error
    if not isinstance(key, Ed25519PublicKey) or ExtendedKeyUsageOID.CLIENT_AUTH not in usage:
        raise SealError(f"the certificate of {names[0]} is none of a node: an Ed25519 key and the usage clientAuth are wanted")
    begins, ends = certificate.not_valid_before_utc.timestamp(), certificate.not_valid_after_utc.timestamp()
    return Identity(names[0], key, certificate.serial_number, begins, ends)


def list_revoked(lists: Iterable[x509.CertificateRevocationList], authorities: Iterable[x509.Certificate]) -> frozenset[int]:
    """The serial numbers on revocation lists. Raises SealError for a list that none of the authorities has signed."""
    signers, found = list(authorities), set[int]()
    for one in lists:
        if not any(_has_signed_list(authority, one) for authority in signers):
            raise SealError("is signed by none of the authorities")
        found |= {entry.serial_number for entry in one}
    return frozenset(found)


def _parse(pem: str) -> x509.Certificate:
    if len(pem) > MOST_PEM:
        raise SealError(f"its certificate has {len(pem)} characters, at most {MOST_PEM} are read")
    try:
        (certificate,) = x509.load_pem_x509_certificates(pem.encode())
    except ValueError as error:  # no PEM, no certificate in it, or several
        raise SealError("it carries no certificate that can be read") from error
    return certificate


def _has_signed(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _has_signed_list(authority: x509.Certificate, revocations: x509.CertificateRevocationList) -> bool:
    key = authority.public_key()
    return revocations.issuer == authority.subject and isinstance(key, Ed25519PublicKey) and revocations.is_signature_valid(key)
