from __future__ import annotations

import base64

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster.commands.sealing import open_seal, seal
from supernoded.cluster.topics import PayloadError, Sealed, decode, encode
from supernoded.errors import SealError
from supernoded.pki.certificates import BROKER_USAGE, make_certificate, to_pem
from tests.unit.cluster.nodekeys import NOW, make_issuer, make_key, make_seal_key, trust

ISSUER, OTHER = make_issuer(), make_issuer("c1")
N0, N1 = make_seal_key("n0", ISSUER), make_seal_key("n1", ISSUER)
TRUST = trust(ISSUER)
DAY = 86_400.0


def make(body: str = "do it") -> Sealed:
    return seal(body, N0, "life1", NOW)


def refusal(sealed: Sealed, now: float = NOW, revoked: frozenset[int] = frozenset()) -> SealError:
    with pytest.raises(SealError) as caught:
        open_seal(sealed, trust(ISSUER, revoked=revoked), now)
    return caught.value


@given(st.text())
def test_what_is_sealed_is_opened(body: str) -> None:
    sealed = decode(encode(make(body)), Sealed)
    sender, found = open_seal(sealed, TRUST, NOW)
    assert (sender.name, sender.fingerprint, found) == ("n0", N0.identity.fingerprint, body)


@given(st.data())
def test_no_flipped_byte_passes(data: st.DataObject) -> None:
    """Whatever is changed on the way: either it is refused, or it says the same of the same sender."""
    wire = bytearray(encode(make()))
    place = data.draw(st.integers(0, len(wire) - 1))
    wire[place] ^= data.draw(st.integers(1, 255))
    try:
        sender, body = open_seal(decode(bytes(wire), Sealed), TRUST, NOW)
    except (SealError, PayloadError):
        return
    assert (sender.name, sender.key, body) == ("n0", N0.identity.key, "do it")


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=200), st.text(max_size=20))
def test_garbage_is_refused_with_a_sentence(body: str, signature: str, certificate: str, node: str) -> None:
    sealed = Sealed(node=node, life="", at=0.0, body=body, signature=signature, certificate=certificate)
    with pytest.raises(SealError, match="certificate"):
        open_seal(sealed, TRUST, NOW)


@given(st.text(max_size=100))
def test_any_other_signature_is_refused(signature: str) -> None:
    error = refusal(msgspec.structs.replace(make(), signature=signature))
    assert "its signature is not that of n0" in str(error)
    assert not error.sender


def test_a_swapped_certificate() -> None:
    assert "its signature is not that of n1" in str(refusal(msgspec.structs.replace(make(), certificate=N1.certificate)))


def test_another_authority() -> None:
    error = refusal(seal("do it", make_seal_key("n0", OTHER), "life1", NOW))
    assert "no authority of ours" in str(error)
    assert not error.sender


def test_an_authority_of_the_same_name_is_another() -> None:
    twin = make_issuer()
    forged = type(twin)(twin.certificate, make_key("thief"))
    assert "no authority of ours" in str(refusal(seal("do it", make_seal_key("n0", forged), "life1", NOW)))


def test_several_certificates_are_none() -> None:
    sealed = msgspec.structs.replace(make(), certificate=N0.certificate + N1.certificate)
    assert "no certificate that can be read" in str(refusal(sealed))
    assert "at most 8192 are read" in str(refusal(msgspec.structs.replace(sealed, certificate="x" * 9000)))


def test_in_another_name() -> None:
    error = refusal(msgspec.structs.replace(make(), node="n1"))
    assert "says that it comes from n1, its certificate is that of n0" in str(error)
    assert error.sender == "n0"


@pytest.mark.parametrize(("now", "words"), [(NOW + 366 * DAY, "ran out"), (NOW - DAY, "is not valid for another")])
def test_out_of_its_time(now: float, words: str) -> None:
    error = refusal(make(), now)
    assert words in str(error)
    assert error.sender == "n0"


def test_a_clock_that_is_two_seconds_off_does_no_harm() -> None:
    ends = N0.identity.ends
    assert open_seal(make(), TRUST, ends + 1.9).body == "do it"
    assert "ran out" in str(refusal(make(), ends + 2.1))


def test_revoked() -> None:
    error = refusal(make(), revoked=frozenset({N0.identity.serial}))
    assert "has been revoked" in str(error)
    assert error.sender == "n0"
    assert open_seal(seal("x", N1, "life1", NOW), trust(ISSUER, revoked=frozenset({N0.identity.serial})), NOW).sender.name == "n1"


def test_a_brokers_certificate_signs_nothing() -> None:
    certificate = make_certificate("n0", make_key("n0").public_key(), ISSUER, NOW, 365.0, usage=BROKER_USAGE)
    assert "is none of a node" in str(refusal(msgspec.structs.replace(make(), certificate=to_pem(certificate))))


def test_the_authoritys_own_certificate_signs_nothing() -> None:
    assert "is none of a node" in str(refusal(msgspec.structs.replace(make(), certificate=to_pem(ISSUER.certificate))))


def test_another_kind_of_key() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    builder = x509.CertificateBuilder().subject_name(N0_NAME).issuer_name(ISSUER.certificate.subject).public_key(key.public_key())
    moment = ISSUER.certificate.not_valid_before_utc
    builder = builder.serial_number(1).not_valid_before(moment).not_valid_after(ISSUER.certificate.not_valid_after_utc)
    usage = x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH])
    certificate = builder.add_extension(usage, critical=False).sign(ISSUER.key, None)
    assert "an Ed25519 key" in str(refusal(msgspec.structs.replace(make(), certificate=to_pem(certificate))))


N0_NAME = x509.load_pem_x509_certificate(N0.certificate.encode()).subject


def test_the_signature_is_over_the_body_as_it_is() -> None:
    """So that another language can check it without a library of ours."""
    sealed = make("{}")
    N0.identity.key.verify(base64.b64decode(sealed.signature), b"{}")
