"""TLS to a real mosquitto: which side refused what, in words, and without a stray line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.mqtt import AiomqttFabric
from supernoded.cluster.link.tls import TlsFiles
from supernoded.errors import CertificateRefusedError, SessionError
from tests.protocol.certificates import Pair, issue
from tests.protocol.mosquitto import Mosquitto
from tests.protocol.test_mqtt import LOG, WILL, fabric, refusal


@dataclass(frozen=True)
class Site:
    broker: Mosquitto
    authority: Pair
    folder: Path

    async def serve(self, server: Pair, *lines: str) -> None:
        ca = self.authority.certificate_file
        self.broker.lines = [f"cafile {ca}", f"certfile {server.certificate_file}", f"keyfile {server.key_file}", *lines]
        await self.broker.start()

    def link(self, client: Pair | None = None, authority: Pair | None = None) -> AiomqttFabric:
        ca = (authority or self.authority).certificate_file
        pair = (client.certificate_file, client.key_file) if client is not None else ("", "")
        return fabric(self.broker.port, tls=TlsFiles(ca=ca, certificate=pair[0], key=pair[1]))


@pytest.fixture
def site(mosquitto: Mosquitto, tmp_path: Path) -> Site:
    return Site(mosquitto, issue(tmp_path, "authority"), tmp_path)


async def refused(of: AiomqttFabric) -> str:
    with pytest.raises(CertificateRefusedError) as caught:
        async with of.connect("n0-a", WILL):
            pytest.fail("it connected")
    return str(caught.value)


async def test_a_client_certificate_that_is_accepted(site: Site, quiet: None) -> None:
    await site.serve(issue(site.folder, "broker", site.authority), "require_certificate true", "use_identity_as_username true")
    async with site.link(issue(site.folder, "n0", site.authority)).connect("n0-a", WILL) as link:
        await link.publish(Message(topic="a", payload=b"x"))


async def test_no_client_certificate(site: Site, quiet: None) -> None:
    await site.serve(issue(site.folder, "broker", site.authority), "require_certificate true")
    text = await refused(site.link())
    assert text.startswith(f"broker 127.0.0.1:{site.broker.port}: the broker refuses this node")
    assert "set mqtt.certificate_file and mqtt.key_file" in text


async def test_a_client_certificate_of_another_authority(site: Site, quiet: None) -> None:
    await site.serve(issue(site.folder, "broker", site.authority), "require_certificate true")
    text = await refused(site.link(issue(site.folder, "n0", issue(site.folder, "stranger"))))
    assert "the broker refuses this node" in text
    assert "broker's cafile" in text


async def test_an_expired_client_certificate(site: Site, quiet: None) -> None:
    await site.serve(issue(site.folder, "broker", site.authority), "require_certificate true")
    text = await refused(site.link(issue(site.folder, "n0", site.authority, days=-2)))
    assert "this node's certificate has expired: renew mqtt.certificate_file" in text


async def test_a_broker_of_another_authority(site: Site, quiet: None) -> None:
    await site.serve(issue(site.folder, "broker", site.authority))
    text = await refused(site.link(authority=issue(site.folder, "stranger")))
    assert "this node refuses the broker's certificate: its authority is not in mqtt.ca_file" in text


async def test_an_expired_broker(site: Site, quiet: None) -> None:
    await site.serve(issue(site.folder, "broker", site.authority, days=-2))
    assert "this node refuses the broker's certificate: it has expired" in await refused(site.link())


async def test_a_broker_of_another_name(site: Site, quiet: None) -> None:
    await site.serve(issue(site.folder, "broker", site.authority, address="192.0.2.1"))
    assert "this node refuses the broker's certificate: it does not name this address" in await refused(site.link())
    ca = TlsFiles(ca=site.authority.certificate_file)
    assert "it does not name this host" in await refused(AiomqttFabric("localhost", site.broker.port, LOG, tls=ca))


async def test_tls_to_a_port_without(site: Site, quiet: None) -> None:
    await site.broker.start()
    assert "TLS" in await refusal(site.link())


async def test_no_tls_to_a_port_with(site: Site, quiet: None) -> None:
    await site.serve(issue(site.folder, "broker", site.authority))
    assert "does it want TLS?" in await refusal(fabric(site.broker.port))


async def test_a_denied_user_behind_good_certificates_is_no_matter_of_tls(site: Site, quiet: None) -> None:
    await site.serve(issue(site.folder, "broker", site.authority), "allow_anonymous false")
    assert "not authorised" in await refusal(site.link())


async def test_files_that_cannot_be_used(site: Site, quiet: None) -> None:
    n0, n1 = (issue(site.folder, name, site.authority) for name in ("n0", "n1"))
    garbage = site.folder / "garbage.pem"
    garbage.write_text("no certificate\n")
    ca = site.authority.certificate_file
    cases = {
        "mqtt.ca_file: there is no file /nowhere": TlsFiles(ca="/nowhere"),
        f"mqtt.ca_file: {garbage} holds no PEM": TlsFiles(ca=str(garbage)),
        "mqtt.key_file: there is no file /nowhere": TlsFiles(ca=ca, certificate=n0.certificate_file, key="/nowhere"),
        "cannot be used together": TlsFiles(ca=ca, certificate=n0.certificate_file, key=n1.key_file),
    }
    for words, files in cases.items():
        with pytest.raises(SessionError) as caught:
            async with fabric(1, tls=files).connect("n0-a", WILL):
                pytest.fail("it connected")
        assert words in str(caught.value)
