"""What `supernodectl pki` makes, judged by openssl."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from supernoded.pki.office import Office


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    office = Office(tmp_path, time.time())
    office.found("c7", 100.0)
    for node in ("n0", "n1"):
        office.issue(node, 10.0)
    office.issue("b0", 10.0, broker=True, hosts=["10.0.0.1"])
    office.revoke("n1")
    return tmp_path


def openssl(*words: str | Path) -> str:
    result = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False)
    return result.stdout + result.stderr


def verify(folder: Path, purpose: str, file: str) -> str:
    trusted = ("-CAfile", folder / "ca.crt", "-crl_check", "-CRLfile", folder / "crl.pem")
    return openssl("verify", "-x509_strict", "-purpose", purpose, *trusted, folder / file)


def test_each_for_its_purpose(folder: Path) -> None:
    assert verify(folder, "sslclient", "nodes/n0/node.crt").endswith(": OK\n")
    assert verify(folder, "sslserver", "brokers/b0/broker.crt").endswith(": OK\n")
    assert "certificate purpose" in verify(folder, "sslserver", "nodes/n0/node.crt")
    assert "certificate purpose" in verify(folder, "sslclient", "brokers/b0/broker.crt")


def test_revoked(folder: Path) -> None:
    assert "certificate revoked" in verify(folder, "sslclient", "nodes/n1/node.crt")


def test_the_key_is_that_of_the_certificate(folder: Path) -> None:
    public = openssl("pkey", "-in", folder / "nodes/n0/node.key", "-pubout")
    assert "BEGIN PUBLIC KEY" in public
    assert openssl("x509", "-in", folder / "nodes/n0/node.crt", "-noout", "-pubkey") == public
