"""The keys of a simulated site: an authority and one key a node, the same for the same seed, so that a play can be played again."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sim_hardware.drives.folder import KEYS
from sim_hardware.rack import Rack
from supernoded.pki.certificates import Issuer, key_to_pem, make_authority, make_certificate, to_pem

MADE_AT = 1_700_000_000.0  # before any play in virtual time, and before today
DAYS = 36_500.0
AUTHORITY = "authority"


def write_keys(rack: Rack, node: str, folder: Path, seed: int = 0) -> dict[str, Any]:
    """Write a node's key and certificate into the site's folder, and give the table `[keys]`; a lone node needs none. Raises OSError."""
    if len(rack.nodes) == 1:
        return {}
    home = folder / KEYS
    home.mkdir(mode=0o700, exist_ok=True)
    issuer, key = make_issuer(seed), make_key(seed, node)
    certificate = make_certificate(node, key.public_key(), issuer, MADE_AT, DAYS, serial=_draw_serial(seed, node))
    files = {"key_file": (f"{node}.key", key_to_pem(key)), "certificate_file": (f"{node}.crt", to_pem(certificate))}
    files["ca_file"] = ("ca.crt", to_pem(issuer.certificate))
    for name, text in files.values():
        (home / name).touch(mode=0o600)
        (home / name).write_text(text, encoding="utf-8")
    return {key: str(home / name) for key, (name, _) in files.items()}


def make_issuer(seed: int) -> Issuer:
    """The authority of a site."""
    return make_authority("simulated", make_key(seed, AUTHORITY), MADE_AT, DAYS, serial=_draw_serial(seed, AUTHORITY))


def make_key(seed: int, name: str) -> Ed25519PrivateKey:
    """The private key of a node or of the authority: by arithmetic from the seed, so good for nothing but a play."""
    return Ed25519PrivateKey.from_private_bytes(_draw(seed, f"key {name}").to_bytes(32, "big"))


def _draw_serial(seed: int, name: str) -> int:
    """At most 20 bytes (RFC 5280, 4.1.2.2)."""
    return _draw(seed, f"serial {name}") >> 97


def _draw(seed: int, what: str) -> int:
    return int.from_bytes(hashlib.sha256(f"supernode-sim {seed} {what}".encode()).digest(), "big")
