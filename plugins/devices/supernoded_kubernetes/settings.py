"""The table `[plugins.kubernetes]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

IN_CLUSTER = "in-cluster"  # as url: the API server as a pod sees it
SERVICE = "https://kubernetes.default.svc"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"  # where a pod finds its token and the authority


class KubernetesSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the API server is, and how one is let in. Nothing is asked of it, as delivered."""

    url: str = ""  # "https://host:6443", or "in-cluster"; empty = Kubernetes is let be
    token_file: str = ""  # bearer token; read anew when it is refused
    ca_file: str = ""  # who signs its certificate
    insecure: bool = False  # any certificate will do, and the token may go over http
    nodes: Mapping[str, str] = {}  # our name of a node = that of the cluster, where they differ
    within_s: Annotated[float, msgspec.Meta(ge=0.2, le=2.9)] = 1.0  # time for each call (ours); the daemon gives an order 3 s
