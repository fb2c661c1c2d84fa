"""TLS to the broker: the context from files, and a probe that finds out why a handshake failed."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path

import msgspec

from supernoded.cluster.link.reasons import explain_tls
from supernoded.errors import CertificateRefusedError, SessionError

PROBE = 3.0  # seconds: a refusal comes within one round trip after the handshake


class TlsFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Which PEM files to use. Without `ca` the machine's own authorities count."""

    ca: str = ""
    certificate: str = ""
    key: str = ""


class _Socket(ssl.SSLSocket):
    """Closes itself when a handshake fails: paho leaves it to the garbage collector."""

    def do_handshake(self, block: bool = False) -> None:
        """See `ssl.SSLSocket`."""
        try:
            super().do_handshake(block)
        except OSError:
            self.close()
            raise


def build_context(files: TlsFiles) -> ssl.SSLContext:
    """Read the files. Raises SessionError naming the one that cannot be used."""
    for name, path in (("ca_file", files.ca), ("certificate_file", files.certificate), ("key_file", files.key)):
        if path and not Path(path).is_file():
            raise SessionError(f"mqtt.{name}: there is no file {path}")
    try:
        context = ssl.create_default_context(cafile=files.ca or None)
    except (ssl.SSLError, OSError) as error:
        raise SessionError(f"mqtt.ca_file: {files.ca} holds no PEM certificates that can be read ({error})") from error
    context.sslsocket_class = _Socket
    try:
        if files.certificate:
            context.load_cert_chain(files.certificate, files.key or None, password=_no_passphrase)
    except (ssl.SSLError, OSError) as error:
        what = f"mqtt.certificate_file: {files.certificate} and its key {files.key or '(in the same file)'}"
        raise SessionError(f"{what} cannot be used together ({error})") from error
    return context


def _no_passphrase() -> str:
    raise SessionError("mqtt.key_file: the key is locked by a passphrase: store it without one, readable to the daemon only")


async def probe(host: str, port: int, context: ssl.SSLContext) -> SessionError | None:
    """Shake hands once more and tell what is wrong; None when TLS is not to blame.

    With TLS 1.3 the handshake ends for the client before the broker has judged the client's certificate, so its refusal comes as
    an alert on the first read: hence the read. OpenSSL tells it only here; behind paho it is a lost connection like any other.
    """
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(PROBE):
            reader, writer = await asyncio.open_connection(host, port, ssl=context)
            await reader.read(1)
    except ssl.SSLError as error:
        why = explain_tls(error)
        if why is not None:
            return CertificateRefusedError(f"broker {host}:{port}: {why}")
        return SessionError(f"broker {host}:{port} speaks no TLS here ({error.reason}): name its TLS port, or leave out mqtt.ca_file")
    except (TimeoutError, OSError):
        return None
    finally:
        if writer is not None:
            writer.transport.abort()
            with suppress(OSError, TimeoutError):
                await writer.wait_closed()
    return None
