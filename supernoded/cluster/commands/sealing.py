"""Seal what one node says to another, and open it: signature, certificate, authority. Pure; see docs/decisions/0049."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from supernoded.cluster.topics import Sealed
from supernoded.errors import SealError
from supernoded.pki.trust import Authority, Identity


@dataclass(frozen=True)
class SealKey:
    """What a node seals with: its key and the certificate that goes along."""

    key: Ed25519PrivateKey
    certificate: str  # PEM
    identity: Identity


class Opened(NamedTuple):
    """What was in a seal, and whose it was."""

    sender: Identity
    body: str


def seal(body: str, key: SealKey, life: str, at: float) -> Sealed:
    """`body` as its sender signs it; `life` is the daemon's and `at` its time, in Unix seconds."""
    signature = base64.b64encode(key.key.sign(body.encode())).decode()
    return Sealed(node=key.identity.name, life=life, at=at, body=body, signature=signature, certificate=key.certificate)


def open_seal(sealed: Sealed, authority: Authority, now: float) -> Opened:
    """Who has sealed what; `now` in Unix seconds. Raises SealError with a sentence; its `sender` is set where the signature was good."""
    sender = authority.identify(sealed.certificate)
    try:
        sender.key.verify(base64.b64decode(sealed.signature, validate=True), sealed.body.encode())
    except (
        InvalidSignature,
        binascii.Error,
        ValueError,
    ) as error:  # ValueError: a signature that is no ASCII, a body with a lone surrogate
        raise SealError(f"its signature is not that of {sender.name}: it was changed on the way, or another has sent it") from error
    if sealed.node != sender.name:
        raise SealError(f"it says that it comes from {sealed.node[:80]}, its certificate is that of {sender.name}", sender.name)
    fault = authority.find_fault(sender, now)
    if fault:
        raise SealError(fault, sender.name)
    return Opened(sender, sealed.body)
