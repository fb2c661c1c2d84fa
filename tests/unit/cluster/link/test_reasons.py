from __future__ import annotations

import ssl

import pytest

from supernoded.cluster.link.reasons import explain_tls


def alert(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, "text")
    error.reason = reason
    return error


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "set mqtt.certificate_file"),
        ("SSLV3_ALERT_CERTIFICATE_EXPIRED", "renew mqtt.certificate_file"),
        ("TLSV1_ALERT_UNKNOWN_CA", "broker's cafile"),
        ("SSLV3_ALERT_SOMETHING_NEW", "see its log"),
    ],
)
def test_an_alert_is_the_brokers_refusal(reason: str, words: str) -> None:
    text = explain_tls(alert(reason))
    assert text is not None
    assert text.startswith("the broker refuses this node")
    assert words in text


def test_what_is_no_refusal_is_not_explained_as_one() -> None:
    assert explain_tls(alert("WRONG_VERSION_NUMBER")) is None
