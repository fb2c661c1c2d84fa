"""Kubernetes: a node is held out of scheduling by a taint and a condition of our own; nothing else of it is touched."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Actuator, Http, Node, hookimpl
from supernoded_kubernetes.holding import Holding
from supernoded_kubernetes.patches import STRATEGIC
from supernoded_kubernetes.settings import ACCOUNT, IN_CLUSTER, SERVICE, KubernetesSettings


@hookimpl
def supernoded_settings() -> type[KubernetesSettings]:
    """`[plugins.kubernetes]`."""
    return KubernetesSettings


@hookimpl
def supernoded_actuators(settings: KubernetesSettings, node: Node) -> Sequence[Actuator]:
    """One for all nodes of the topology, wherever an API server is configured; none where it is not."""
    if not settings.url:
        return ()
    names = {one.name: settings.nodes.get(one.name, one.name) for one in node.topology.nodes}
    return (Holding(_open(settings, node), names, node.clock, settings.within_s),)


def _open(settings: KubernetesSettings, node: Node) -> Http:
    inside = settings.url == IN_CLUSTER
    return node.wires.http(
        SERVICE if inside else settings.url,
        token_file=settings.token_file or (f"{ACCOUNT}/token" if inside else ""),
        ca_file=settings.ca_file or (f"{ACCOUNT}/ca.crt" if inside else ""),
        insecure=settings.insecure,
        body_type=STRATEGIC,
    )
