from __future__ import annotations

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from supernoded.admin.metrics import render_metrics
from supernoded.messages import Status
from tests.unit.admin.fake_desk import STATUS


def samples(status: Status) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(render_metrics(status).decode())
    return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}


def test_every_number_is_the_status_one() -> None:
    told = samples(STATUS)
    assert told["supernoded_readings", "good"] == 42
    assert told["supernoded_readings", "stale"] == 0
    assert told["supernoded_incidents_open", "warning"] == 2
    assert told["supernoded_sensor_failing", "fabric.ib"] == 1
    assert told["supernoded_sensor_failing", "host.load"] == 0
    assert told["supernoded_session_connected",] == 0
    assert told["supernoded_session_outbox_messages",] == 7
    assert told["supernoded_journal_healthy",] == 1
    assert told["supernoded_policy_acts", "thermal"] == 1
    assert told["supernoded_policy_acts", "link_ber"] == 0
    assert told["supernoded_ready",] == 0  # it has a trouble
    assert told["supernoded_daemon_info", "lab", "n0", "0.1.0"] == 1


def test_two_daemons_share_nothing() -> None:
    other = msgspec.structs.replace(STATUS, troubles=(), session=None)
    samples(STATUS)
    assert samples(other)["supernoded_ready",] == 1
    assert ("supernoded_session_connected",) not in samples(other)
