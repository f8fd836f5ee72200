"""SPDY/3.1, as Kubernetes' clients and kubelets use it: frames, compressed headers, and streams over one connection."""

from pyctrl._spdy.connection import SPDYConnection, SPDYStream
from pyctrl._spdy.frames import SPDYProtocolError

__all__ = ["SPDYConnection", "SPDYProtocolError", "SPDYStream"]
