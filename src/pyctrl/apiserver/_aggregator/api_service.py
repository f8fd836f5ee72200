"""APIServices, as the aggregator reads them: where a group version is served, and with which priorities."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Self

from pyctrl.apiserver._resources.served_resources import version_rank
from pyctrl.apiserver._webhooks import ServiceReference

__all__ = ["APIService"]

_PORT = 443


@dataclass(frozen=True, slots=True, kw_only=True)
class APIService:
    """One APIService. Without a service, this server serves its group version itself."""

    name: str
    group: str
    version: str
    group_priority: int
    version_priority: int
    service: ServiceReference | None
    ca: bytes  # PEM; empty for the certificate authorities of the system
    skips_tls_verify: bool
    is_available: bool

    @classmethod
    def from_object(cls, obj: dict[str, Any]) -> Self:
        """Read an object of apiregistration.k8s.io/v1."""
        spec = obj.get("spec") or {}
        service = spec.get("service")
        conditions = (obj.get("status") or {}).get("conditions") or ()
        return cls(
            name=obj["metadata"]["name"],
            group=spec.get("group", ""),
            version=spec.get("version", ""),
            group_priority=spec.get("groupPriorityMinimum", 0),
            version_priority=spec.get("versionPriority", 0),
            service=_reference(service) if service else None,
            ca=_decoded(spec.get("caBundle") or ""),
            skips_tls_verify=bool(spec.get("insecureSkipTLSVerify")),
            is_available=any(each.get("type") == "Available" and each.get("status") == "True" for each in conditions),
        )

    @property
    def version_order(self) -> tuple[object, ...]:
        """The sort key among the versions of a group: the highest priority first, then Kubernetes' order."""
        return -self.version_priority, version_rank(self.version)

    def serves_like(self, other: APIService | None) -> bool:
        """Return whether two states of an APIService differ in their status only."""
        return other is not None and _without_status(self) == _without_status(other)


def _without_status(api: APIService) -> tuple[object, ...]:
    return api.service, api.ca, api.skips_tls_verify, api.group_priority, api.version_priority


def _reference(service: dict[str, Any]) -> ServiceReference:
    return ServiceReference(service.get("namespace", ""), service.get("name", ""), service.get("port") or _PORT)


def _decoded(bundle: str) -> bytes:
    try:
        return base64.b64decode(bundle)
    except binascii.Error:
        return b""
