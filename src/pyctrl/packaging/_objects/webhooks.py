"""Webhook configurations, and the Service and certificates of the webhook server."""

from __future__ import annotations

from typing import Any

from pyctrl.packaging._objects.workload import WEBHOOKS
from pyctrl.packaging._project import Project
from pyctrl.program import certificate_secret
from pyctrl.webhook import configurations

__all__ = ["certificate", "issuer", "service", "webhook_configurations", "with_ca_injection"]

Object = dict[str, Any]

_INJECT = "cert-manager.io/inject-ca-from"


def webhook_configurations(project: Project) -> list[Object]:
    """Return the webhook configurations."""
    assert project.webhooks is not None  # checked by the caller
    found = configurations(project.webhooks, name=project.webhook_configuration, target=project.webhook_service)
    for each in found:
        each["metadata"]["labels"] = project.labels
    return [with_ca_injection(project, each) for each in found]


def with_ca_injection(project: Project, obj: Object) -> Object:
    """Return an object with cert-manager's CA injection annotation, if cert-manager is used and it calls webhooks."""
    is_asked = obj["kind"] != "CustomResourceDefinition" or "conversion" in obj["spec"]
    if project.settings.webhook_certificates != "cert-manager" or project.webhooks is None or not is_asked:
        return obj
    metadata = obj["metadata"]
    injected = {_INJECT: f"{project.webhook_service.namespace}/{project.called('serving-cert')}"}
    annotations = dict(sorted({**metadata.get("annotations", {}), **injected}.items()))
    return {**obj, "metadata": dict(sorted({**metadata, "annotations": annotations}.items()))}


def service(project: Project) -> Object:
    """Return the Service of the webhook server.

    With conversion webhooks it also selects pods that are not ready: a pod is ready once its caches are synced, which
    needs conversions of objects that are stored in another version.
    """
    where = project.webhook_service
    port = {"port": where.port, "protocol": "TCP", "targetPort": WEBHOOKS}
    spec: Object = {"ports": [port], "selector": project.selector}
    if project.webhooks is not None and project.webhooks.conversions:
        spec = {"ports": [port], "publishNotReadyAddresses": True, "selector": project.selector}
    made = project.make("v1", "Service", where.name, namespaced=True, spec=spec)
    made["metadata"]["namespace"] = where.namespace
    return made


def issuer(project: Project) -> Object:
    """Return the Issuer of the certificate, which is self-signed."""
    spec: Object = {"selfSigned": {}}
    return project.make("cert-manager.io/v1", "Issuer", project.called("selfsigned-issuer"), namespaced=True, spec=spec)


def certificate(project: Project) -> Object:
    """Return the Certificate; cert-manager keeps it in the Secret that the pods mount."""
    spec = {
        "dnsNames": list(project.webhook_service.host_names),
        "issuerRef": {"kind": "Issuer", "name": project.called("selfsigned-issuer")},
        "secretName": certificate_secret(project.webhook_service).name,
    }
    return project.make("cert-manager.io/v1", "Certificate", project.called("serving-cert"), namespaced=True, spec=spec)
