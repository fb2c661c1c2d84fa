"""What a broker's refusals mean and what to do about them: MQTT 5 reason codes and TLS failures as sentences. Pure."""

from __future__ import annotations

import re
import ssl

# MQTT 5.0, 3.2.2.2 (CONNACK) and 3.14.2.1 (DISCONNECT): code -> what it means and what to do.
LINK_REMEDY = {
    0x81: "malformed packet: is this an MQTT 5 broker?",
    0x82: "protocol error: is this an MQTT 5 broker?",
    0x84: "the broker does not speak MQTT 5: give it a v5 listener or name another port",
    0x85: "the broker rejects the client id: allow it, or lift a prefix rule (clientid_prefixes)",
    0x86: "bad user name or password: check mqtt.username and the contents of mqtt.password_file",
    0x87: "not authorised: the broker wants another user, password or client certificate: check mqtt.username and its access list",
    0x88: "the broker is not available: look at its log",
    0x89: "the broker is busy: look at its load",
    0x8A: "the broker has banned this client: lift the ban there",
    0x8B: "the broker is shutting down",
    0x8D: "the broker heard nothing for longer than mqtt.keepalive",
    0x8E: "another client has connected with the same client id",
    0x93: "more messages in flight than the broker takes: lower mqtt.inflight",
    0x95: "a packet was larger than the broker takes: raise its limit",
    0x97: "a quota of the broker is used up",
    0x98: "an administrator of the broker has ended the link",
    0x9F: "too many connections in a short time",
}
# 3.4.2.1 (PUBACK): what is wrong with this one message; any other failure is the link's.
MESSAGE_REMEDY = {
    0x87: "let the broker's access list allow this node to write the topic",
    0x90: "the broker does not take this topic name: check cluster and the node's name",
    0x95: "the message is larger than the broker takes: raise its limit",
    0x99: "the broker checks the payload's format and does not know this one",
}
TRANSIENT = frozenset({0x91, 0x97})  # packet id in use, quota: the same message may pass later
# X509_verify_cert_error codes of OpenSSL: what our side found wrong with the broker's certificate.
_OURS = {
    10: "it has expired: renew it on the broker (or set this node's clock right)",
    9: "it is not valid yet: set the clocks right",
    18: "it is self-signed and not in mqtt.ca_file",
    19: "its authority is not in mqtt.ca_file",
    20: "its authority is not in mqtt.ca_file",
    21: "its authority is not in mqtt.ca_file",
    23: "it has been revoked",
    62: "it does not name this host: put the name into the certificate, or write the name that it has into mqtt.host",
    64: "it does not name this address: put the address into the certificate, or write the name that it has into mqtt.host",
}
# TLS alerts (RFC 8446, 6.2) as OpenSSL names them: what the broker found wrong with ours.
_THEIRS = {
    "CERTIFICATE_REQUIRED": "it wants a client certificate and none was sent: set mqtt.certificate_file and mqtt.key_file",
    "HANDSHAKE_FAILURE": "it wants a client certificate, or no common cipher: set mqtt.certificate_file and mqtt.key_file",
    "CERTIFICATE_EXPIRED": "this node's certificate has expired: renew mqtt.certificate_file",
    "CERTIFICATE_REVOKED": "this node's certificate has been revoked: issue another one",
    "UNKNOWN_CA": "it does not know the authority of this node's certificate: add that to the broker's cafile, or use its own",
    "BAD_CERTIFICATE": "it does not accept this node's certificate: compare mqtt.certificate_file with the broker's cafile",
    "UNSUPPORTED_CERTIFICATE": "this node's certificate is not one for clients: issue it with the clientAuth usage",
    "CERTIFICATE_UNKNOWN": "it does not accept this node's certificate: compare mqtt.certificate_file with the broker's cafile",
    "DECRYPT_ERROR": "this node's certificate or key is damaged: issue them again",
    "PROTOCOL_VERSION": "no common TLS version: the broker needs TLS 1.2 or newer",
}
_ALERT = re.compile(r"^(?:SSLV3|TLSV1|TLSV13)_ALERT_(\w+)$")


def explain_tls(error: ssl.SSLError) -> str | None:
    """Which side refused what, and the remedy; None when the failure is not a refusal."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = _OURS.get(error.verify_code, f"{error.verify_message}: compare it with mqtt.ca_file")
        return f"this node refuses the broker's certificate: {why}"
    alert = _ALERT.match(error.reason or "")
    if alert is not None:
        why = _THEIRS.get(alert.group(1), "see its log")
        return f"the broker refuses this node (TLS alert {alert.group(1).lower()}): {why}"
    return None
