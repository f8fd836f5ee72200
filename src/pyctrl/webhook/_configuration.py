"""What the API server has to be told: webhook configurations, and the conversion of definitions."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pyctrl.api import GroupVersionKind, KubernetesObject
from pyctrl.errors import BuilderError
from pyctrl.webhook._admission.admission import Operation

if TYPE_CHECKING:
    from pyctrl.webhook._webhooks import Webhooks

__all__ = ["FailurePolicy", "Registration", "Service", "Url", "configurations", "conversion_stanza"]

API_VERSION = "admissionregistration.k8s.io/v1"

#: What becomes of a write when the webhook cannot be asked: it fails, or goes on.
FailurePolicy: TypeAlias = Literal["Fail", "Ignore"]

_Class: TypeAlias = type[KubernetesObject]  # a Registration has a `type` of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One webhook as the API server has to know it.

    Attributes:
        type: ``mutating`` or ``validating``.
        kind: what it is asked about; an equivalent version is converted to this one first.
        plural: the kind's resource.
        namespaced: whether the kind lives in namespaces.
        path: where it answers.
        operations: about which writes.
        failure_policy: what becomes of a write when it cannot be asked.
        timeout_seconds: how long the API server waits, 1 to 30.
        reinvocation_policy: of a mutating one: whether it is asked again when a later one changed the object.
        namespace_selector, object_selector, match_conditions: what it is asked about, beside the kind, as on the wire.
        object_class: what its handler gets objects as; None: they are `Unstructured`.
    """

    type: Literal["mutating", "validating"]
    kind: GroupVersionKind
    plural: str
    namespaced: bool
    path: str
    operations: tuple[Operation, ...]
    failure_policy: FailurePolicy = "Fail"
    timeout_seconds: int = 10  # Kubernetes' default
    reinvocation_policy: Literal["Never", "IfNeeded"] = "Never"
    namespace_selector: Mapping[str, Any] = field(default_factory=dict)
    object_selector: Mapping[str, Any] = field(default_factory=dict)
    match_conditions: tuple[Mapping[str, str], ...] = ()
    object_class: _Class | None = None

    @property
    def name(self) -> str:
        """The webhook's name, which users read when it refuses: ``validate.podset.v1alpha1.apps.jicki.cn``."""
        verb = "mutate" if self.type == "mutating" else "validate"
        return f"{verb}.{self.kind.kind.lower()}.{self.kind.version}.{self.kind.group or 'core'}"


@dataclass(frozen=True, slots=True)
class Service:
    """The Service in front of the webhook server."""

    namespace: str
    name: str
    port: int = 443

    def client_config(self, path: str) -> dict[str, Any]:
        """Return the ``clientConfig`` of a path."""
        return {"service": {"namespace": self.namespace, "name": self.name, "path": path, "port": self.port}}

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names that its certificate has to have; API servers use the first."""
        name = f"{self.name}.{self.namespace}.svc"
        return (name, f"{name}.cluster.local")

    def is_meant_by(self, client_config: Mapping[str, Any]) -> bool:
        """Whether a ``clientConfig`` names it."""
        service = client_config.get("service") or {}
        return (service.get("namespace"), service.get("name")) == (self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Url:
    """The webhook server's own address, ``https://host:port``, for one outside of the cluster."""

    url: str

    def client_config(self, path: str) -> dict[str, Any]:
        """Return the ``clientConfig`` of a path."""
        if not self.url.startswith("https://"):
            raise BuilderError(f"an API server asks webhooks over https:// only; got {self.url!r}")
        return {"url": self.url.rstrip("/") + path}

    @property
    def host_names(self) -> tuple[str, ...]:
        """The name or address that its certificate has to have."""
        return (urlsplit(self.url).hostname or "",)

    def is_meant_by(self, client_config: Mapping[str, Any]) -> bool:
        """Whether a ``clientConfig`` names it."""
        return str(client_config.get("url") or "").startswith(self.url.rstrip("/") + "/")


def configurations(
    webhooks: Webhooks, *, name: str, target: Service | Url, ca_bundle: bytes = b""
) -> list[dict[str, Any]]:
    """Return the configurations that make an API server ask these webhooks, as they are on the wire.

    One MutatingWebhookConfiguration and one ValidatingWebhookConfiguration, each only if it has webhooks. They say
    ``sideEffects: None`` and ``matchPolicy: Equivalent``; the API server uses v1 of AdmissionReview.

    Args:
        webhooks: what was built.
        name: of both configurations, which are cluster-scoped.
        target: where the API server finds the webhook server.
        ca_bundle: PEM of the authorities of its certificate; without, somebody injects it (cert-manager), or the
            authorities of the API server's machine count.
    """
    made = []
    for type_, kind in (("mutating", "MutatingWebhookConfiguration"), ("validating", "ValidatingWebhookConfiguration")):
        entries = [_entry(each, target, ca_bundle) for each in webhooks.registrations if each.type == type_]
        if entries:
            made.append({"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "webhooks": entries})
    return made


def _entry(registration: Registration, target: Service | Url, ca_bundle: bytes) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": registration.name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client_config(target, registration.path, ca_bundle),
        "failurePolicy": registration.failure_policy,
        "matchPolicy": "Equivalent",
        "rules": [_rule(registration)],
        "sideEffects": "None",
        "timeoutSeconds": registration.timeout_seconds,
    }
    if registration.type == "mutating":
        entry["reinvocationPolicy"] = registration.reinvocation_policy
    selections = {
        "namespaceSelector": registration.namespace_selector,
        "objectSelector": registration.object_selector,
        "matchConditions": list(registration.match_conditions),
    }
    return {**entry, **{member: value for member, value in selections.items() if value}}


def _rule(registration: Registration) -> dict[str, Any]:
    return {
        "apiGroups": [registration.kind.group],
        "apiVersions": [registration.kind.version],
        "operations": list(map(str, registration.operations)),
        "resources": [registration.plural],
        "scope": "Namespaced" if registration.namespaced else "Cluster",
    }


def _client_config(target: Service | Url, path: str, ca_bundle: bytes) -> dict[str, Any]:
    config = target.client_config(path)
    return {**config, "caBundle": base64.b64encode(ca_bundle).decode()} if ca_bundle else config


def conversion_stanza(target: Service | Url, *, path: str = "/convert", ca_bundle: bytes = b"") -> dict[str, Any]:
    """Return the ``spec.conversion`` of a CustomResourceDefinition whose versions these webhooks convert."""
    client_config = _client_config(target, path, ca_bundle)
    return {"strategy": "Webhook", "webhook": {"clientConfig": client_config, "conversionReviewVersions": ["v1"]}}
