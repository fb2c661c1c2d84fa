"""The User-based Security Model of SNMP v3 (RFC 3414), with SHA-1 or SHA-256 (RFC 7860) and AES-128 (RFC 3826). Pure.

By hand: pysnmp's own comes with an engine that keeps files, reads the machine's clock and loads MIBs, a second of the event loop.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

import msgspec
from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES

from supernoded_snmp.ber import SEQUENCE, BerError, Field, join, read_number, span_fields, take_fields, write_field, write_number

OCTETS, MODEL, LARGEST = 0x04, 3, 65_507
AUTHENTIC, PRIVATE, REPORTABLE = 1, 2, 4  # msgFlags
HASHES: Mapping[str, tuple[str, int]] = {"sha": ("sha1", 12), "sha256": ("sha256", 24)}  # hash, and bytes of it that are sent
SHORTEST = 8  # characters of a passphrase (RFC 3414, 11.2)
_STRETCHED = 1_048_576  # bytes (RFC 3414, A.2)


class Keys(msgspec.Struct, frozen=True):
    """Those of one user at one engine. `secret` empty = nothing is encrypted."""

    hash: str
    sent: int
    authentic: bytes
    secret: bytes

    def __repr__(self) -> str:
        return "keys"  # never what they are


class Incoming(msgspec.Struct, frozen=True):
    """A message as it came, not yet believed."""

    message: int
    flags: int
    engine: bytes
    boots: int
    time: int
    salt: bytes
    digest: tuple[int, int]  # where it stands
    data: Field


def make_keys(engine: bytes, name: str, authentic: str, secret: str) -> Keys:
    """The user's keys at this engine. `name` is one of HASHES."""
    algorithm, sent = HASHES[name]
    return Keys(algorithm, sent, _localise(algorithm, authentic, engine), _localise(algorithm, secret, engine)[:16] if secret else b"")


def _stretch(algorithm: str, passphrase: str) -> bytes:
    data = passphrase.encode()
    return hashlib.new(algorithm, (data * (_STRETCHED // len(data) + 1))[:_STRETCHED]).digest()


def _localise(algorithm: str, passphrase: str, engine: bytes) -> bytes:
    key = _stretch(algorithm, passphrase)
    return hashlib.new(algorithm, key + engine + key).digest()


def write_discovery(message: int, pdu: bytes) -> bytes:
    """A request that an engine answers with its name and its time."""
    return _write(message, REPORTABLE, (b"", 0, 0), "", b"", b"", join(write_field(OCTETS, b""), write_field(OCTETS, b""), pdu))


def write_message(message: int, engine: bytes, boots: int, time: int, user: str, keys: Keys, salt: bytes, pdu: bytes) -> bytes:
    """A request that is signed, and encrypted where there is a key for that."""
    data, flags = join(write_field(OCTETS, engine), write_field(OCTETS, b""), pdu), AUTHENTIC | REPORTABLE
    if keys.secret:
        data, flags = write_field(OCTETS, _turn(keys, boots, time, salt, data, encrypt=True)), flags | PRIVATE
    salt = salt if keys.secret else b""
    whole = _write(message, flags, (engine, boots, time), user, bytes(keys.sent), salt, data)
    end = len(whole) - len(data) - len(write_field(OCTETS, salt))
    return whole[: end - keys.sent] + _sign(keys, whole) + whole[end:]


def _write(message: int, flags: int, engine: tuple[bytes, int, int], user: str, digest: bytes, salt: bytes, data: bytes) -> bytes:
    name, boots, time = engine
    head = join(write_number(message), write_number(LARGEST), write_field(OCTETS, bytes((flags,))), write_number(MODEL))
    security = join(
        write_field(OCTETS, name),
        write_number(boots),
        write_number(time),
        write_field(OCTETS, user.encode()),
        write_field(OCTETS, digest),
        write_field(OCTETS, salt),
    )
    return join(write_number(MODEL), head, write_field(OCTETS, security), data)


def read_message(datagram: bytes) -> Incoming:
    """What came. Raises BerError."""
    (whole,) = _span(datagram, 0, len(datagram), 1)
    version, head, security, data = _span(datagram, *whole[:2], 4)
    (inside,) = _span(datagram, *security[:2], 1)
    engine, boots, time, _, digest, salt = _span(datagram, *inside[:2], 6)
    message, _, flags, model = take_fields(datagram[head[0] : head[1]], 4)
    if (_cut(datagram, version), read_number(model), len(flags.data)) != (bytes((MODEL,)), MODEL, 1):
        raise BerError("no message of SNMP v3 with the User-based Security Model")
    return Incoming(
        message=read_number(message),
        flags=flags.data[0],
        engine=_cut(datagram, engine),
        boots=int.from_bytes(_cut(datagram, boots)[:5], "big"),
        time=int.from_bytes(_cut(datagram, time)[:5], "big"),
        salt=_cut(datagram, salt),
        digest=(digest[0], digest[1]),
        data=Field(data[2], _cut(datagram, data)),
    )


def is_authentic(datagram: bytes, incoming: Incoming, keys: Keys) -> bool:
    """Whether the engine itself has signed it."""
    begin, end = incoming.digest
    if not incoming.flags & AUTHENTIC or end - begin != keys.sent:
        return False
    return hmac.compare_digest(datagram[begin:end], _sign(keys, datagram[:begin] + bytes(keys.sent) + datagram[end:]))


def open_scoped(incoming: Incoming, keys: Keys | None) -> Field:
    """The PDU inside. Raises BerError."""
    data = incoming.data
    if data.tag == OCTETS:
        if keys is None or not keys.secret or len(incoming.salt) != 8:
            raise BerError("encrypted, and there is no key for it")
        (data,) = take_fields(_turn(keys, incoming.boots, incoming.time, incoming.salt, data.data, encrypt=False), 1)
    if data.tag != SEQUENCE:
        raise BerError("no scoped PDU: another key, or none")
    return take_fields(data.data, 3)[2]


def _sign(keys: Keys, whole: bytes) -> bytes:
    return hmac.digest(keys.authentic, whole, keys.hash)[: keys.sent]


def _turn(keys: Keys, boots: int, time: int, salt: bytes, data: bytes, *, encrypt: bool) -> bytes:
    cipher = Cipher(AES(keys.secret), CFB((boots % 2**32).to_bytes(4, "big") + (time % 2**32).to_bytes(4, "big") + salt))
    worker = cipher.encryptor() if encrypt else cipher.decryptor()
    return worker.update(data) + worker.finalize()


def _span(data: bytes, begin: int, end: int, count: int) -> list[tuple[int, int, int]]:
    found = list(span_fields(data, begin, end))
    if len(found) != count:
        raise BerError(f"{len(found)} fields where {count} are due")
    return found


def _cut(data: bytes, span: tuple[int, int, int]) -> bytes:
    return data[span[0] : span[1]]
