"""TLS towards a device, whatever is spoken over it."""

from __future__ import annotations

import ssl

from supernoded.errors import WireError


def make_tls(name: str, ca_file: str = "", *, insecure: bool = False) -> ssl.SSLContext:
    """Blocking: reads files. `ca_file` = who signs certificates, empty = whoever the machine trusts; `insecure` = any will do.

    Raises WireError naming the device.
    """
    try:
        tls = ssl.create_default_context(cafile=ca_file or None)
    except OSError as error:  # ssl.SSLError is one
        raise WireError(f"{name}: ca_file {ca_file} cannot be used: {error}") from error
    if insecure:
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    return tls
