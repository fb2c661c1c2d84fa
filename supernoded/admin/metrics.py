"""The status in Prometheus' text format: every number comes from the Status message and so exists once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from supernoded.messages import Status
from supernoded.model import Mode, Severity, State


def render_metrics(status: Status) -> bytes:
    """The answer of `/metrics`, from a registry of its own."""
    registry = CollectorRegistry()
    registry.register(_StatusCollector(status))
    return generate_latest(registry)


class _StatusCollector(Collector):
    def __init__(self, status: Status) -> None:
        self._status = status

    def collect(self) -> Iterable[Metric]:
        status = self._status
        info = InfoMetricFamily("supernoded_daemon", "Which daemon this is.")
        info.add_metric([], {"node": status.node, "cluster": status.cluster, "version": status.version})
        yield info
        yield _gauge("supernoded_ready", "1 = ready and without trouble.", status.ready and not status.troubles)
        yield _gauge("supernoded_start_time_seconds", "When the daemon started, in Unix time.", status.started)
        yield from _collect_readings(status)
        yield from _collect_incidents(status)
        yield from _collect_journal(status)
        yield from _collect_session(status)


def _collect_readings(status: Status) -> Iterable[Metric]:
    states = {state.value: status.readings.get(state.value, 0) for state in State}
    yield _labelled("supernoded_readings", "Newest readings by state.", "state", states)
    failing = {sensor.name: int(bool(sensor.reason)) for sensor in status.sensors}
    yield _labelled("supernoded_sensor_failing", "1 = the sensor fails.", "sensor", failing)


def _collect_incidents(status: Status) -> Iterable[Metric]:
    severities = {severity.value: status.open_incidents.get(severity.value, 0) for severity in Severity}
    yield _labelled("supernoded_incidents_open", "Open incidents by severity.", "severity", severities)
    yield _gauge("supernoded_holds", "Subjects kept out of service.", status.holds)
    yield _gauge("supernoded_roles", "Roles this daemon holds.", len(status.roles))
    yield _gauge("supernoded_plugins_left_out", "Plugins installed but not running.", len(status.left_out))
    acting = {policy: int(mode is Mode.ACT) for policy, mode in status.modes.items()}
    yield _labelled("supernoded_policy_acts", "1 = the policy may act.", "policy", acting)


def _collect_journal(status: Status) -> Iterable[Metric]:
    yield _gauge("supernoded_journal_healthy", "1 = the journal takes what it is given.", not status.journal.reason)
    yield _gauge("supernoded_journal_waiting_rows", "Rows not yet written.", status.journal.waiting)
    yield _gauge("supernoded_journal_size_bytes", "Size of the journal.", status.journal.size)


def _collect_session(status: Status) -> Iterable[Metric]:
    if status.session is not None:
        yield _gauge("supernoded_session_connected", "1 = the MQTT session stands.", status.session.connected)
        yield _gauge("supernoded_session_outbox_messages", "Messages that wait for delivery.", status.session.outbox)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=float(value))


def _labelled(name: str, text: str, label: str, values: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key in sorted(values):
        family.add_metric([key], values[key])
    return family
