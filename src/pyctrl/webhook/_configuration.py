"""Webhook configurations, and the conversion stanza of CustomResourceDefinitions."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from pyctrl.api import GroupVersionKind, KubernetesObject
from pyctrl.errors import BuilderError
from pyctrl.webhook._admission.admission import Operation

__all__ = ["FailurePolicy", "HasRegistrations", "Registration", "Service", "Url", "configurations", "conversion_stanza"]

API_VERSION = "admissionregistration.k8s.io/v1"

#: Whether a write fails or proceeds when the webhook cannot be called.
FailurePolicy: TypeAlias = Literal["Fail", "Ignore"]

_Class: TypeAlias = type[KubernetesObject]  # `type` is a field of Registration


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One admission webhook, as the webhook configurations describe it.

    Attributes:
        type: ``mutating`` or ``validating``.
            kind: the kind to review; an equivalent version is converted to this one first.
            plural: the kind's resource.
            namespaced: whether the kind is namespaced.
            path: the webhook's path on the server.
            operations: the operations to review.
            failure_policy: whether a write fails or proceeds when the webhook cannot be called.
            timeout_seconds: the API server's timeout, 1 to 30.
            reinvocation_policy: for mutating webhooks: whether to call again when a later one changed the object.
            namespace_selector, object_selector, match_conditions: further restrictions beside the kind, in wire form.
            object_class: the class that its handler gets objects as; None for `Unstructured`.
            verb: the beginning of its name; by default ``mutate`` or ``validate``.
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
    verb: str = ""

    @property
    def name(self) -> str:
        """The webhook's name, which users see when it denies: ``validate.podset.v1alpha1.apps.jicki.cn``."""
        verb = self.verb or ("mutate" if self.type == "mutating" else "validate")
        return f"{verb}.{self.kind.kind.lower()}.{self.kind.version}.{self.kind.group or 'core'}"


@dataclass(frozen=True, slots=True)
class Service:
    """The Service of the webhook server."""

    namespace: str
    name: str
    port: int = 443

    def client_config(self, path: str) -> dict[str, Any]:
        """Return the ``clientConfig`` for a path."""
        return {"service": {"namespace": self.namespace, "name": self.name, "path": path, "port": self.port}}

    @property
    def host_names(self) -> tuple[str, ...]:
        """The host names that the certificate must have; API servers use the first."""
        name = f"{self.name}.{self.namespace}.svc"
        return (name, f"{name}.cluster.local")

    def is_meant_by(self, client_config: Mapping[str, Any]) -> bool:
        """Return whether a ``clientConfig`` names this Service."""
        service = client_config.get("service") or {}
        return (service.get("namespace"), service.get("name")) == (self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Url:
    """The address of a webhook server outside the cluster, ``https://host:port``."""

    url: str

    def client_config(self, path: str) -> dict[str, Any]:
        """Return the ``clientConfig`` for a path."""
        if not self.url.startswith("https://"):
            raise BuilderError(f"an API server calls webhooks over https:// only; got {self.url!r}")
        return {"url": self.url.rstrip("/") + path}

    @property
    def host_names(self) -> tuple[str, ...]:
        """The host name or address that the certificate must have."""
        return (urlsplit(self.url).hostname or "",)

    def is_meant_by(self, client_config: Mapping[str, Any]) -> bool:
        """Return whether a ``clientConfig`` names this URL."""
        return str(client_config.get("url") or "").startswith(self.url.rstrip("/") + "/")


class HasRegistrations(Protocol):
    """A registry of webhooks, such as `Webhooks`."""

    @property
    def registrations(self) -> Sequence[Registration]:
        """The registrations of its admission webhooks."""


def configurations(
    webhooks: HasRegistrations, *, name: str, target: Service | Url, ca_bundle: bytes = b""
) -> list[dict[str, Any]]:
    """Return the webhook configurations of these webhooks, in wire form.

    One MutatingWebhookConfiguration and one ValidatingWebhookConfiguration, each only if it has webhooks. They have
    ``sideEffects: None`` and ``matchPolicy: Equivalent``; the API server uses v1 of AdmissionReview.

    Args:
        webhooks: the webhooks that were built.
        name: of both configurations, which are cluster-scoped.
        target: the address of the webhook server.
        ca_bundle: PEM of the CAs of the server's certificate; if empty, cert-manager or another controller injects
            it, or the API server uses the system's CAs.
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
    """Return the ``spec.conversion`` of a CustomResourceDefinition whose versions the webhooks convert."""
    client_config = _client_config(target, path, ca_bundle)
    return {"strategy": "Webhook", "webhook": {"clientConfig": client_config, "conversionReviewVersions": ["v1"]}}
