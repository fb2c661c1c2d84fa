"""The nodes of a Kubernetes API server: shown and patched, over HTTP."""

from sim_hardware.devices.kubernetes.server import TOKEN, ApiServer
from sim_hardware.devices.kubernetes.service import Service

__all__ = ["TOKEN", "ApiServer", "Service"]
