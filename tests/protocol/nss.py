"""The certificate database of a server that is built with NSS, as Debian's upsd is."""

from __future__ import annotations

import subprocess
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import PrivateFormat, pkcs12

from tests.protocol.certificates import Pair

NAME, PASSWORD = "server", "database"


def make_database(folder: Path, pair: Pair, authority: Pair) -> None:
    """Fill a new folder with the certificate `NAME`, its key, and who signed it. NSS takes a key from a PKCS #12 file alone."""
    folder.mkdir(mode=0o700)
    secret, packed = folder / "password", folder / "pair.p12"
    secret.write_text(f"{PASSWORD}\n")
    cipher = PrivateFormat.PKCS12.encryption_builder().key_cert_algorithm(pkcs12.PBES.PBESv2SHA256AndAES256CBC).hmac_hash(hashes.SHA256())
    sealed = cipher.kdf_rounds(1000).build(PASSWORD.encode())
    packed.write_bytes(pkcs12.serialize_key_and_certificates(NAME.encode(), pair.key, pair.certificate, [authority.certificate], sealed))
    _run("certutil", "-N", "-d", f"sql:{folder}", "-f", str(secret))
    _run("pk12util", "-i", str(packed), "-d", f"sql:{folder}", "-k", str(secret), "-w", str(secret))


def _run(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout.decode()}"
