"""The webhook definitions of a ClusterServiceVersion. OLM creates their Services and configurations."""

from __future__ import annotations

from typing import Any

from pyctrl.errors import CommandFailed
from pyctrl.packaging._objects.webhooks import webhook_configurations
from pyctrl.packaging._objects.workload import WEBHOOKS
from pyctrl.packaging._project import Project

__all__ = ["converted", "service_name", "webhook_definitions"]

Object = dict[str, Any]

_TYPES = {
    "MutatingWebhookConfiguration": "MutatingAdmissionWebhook",
    "ValidatingWebhookConfiguration": "ValidatingAdmissionWebhook",
}
#: The fields of a webhook that are copied; OLM sets the others.
_SAME = (
    "admissionReviewVersions", "failurePolicy", "matchPolicy", "objectSelector", "reinvocationPolicy", "rules",
    "sideEffects", "timeoutSeconds",
)  # fmt: skip
_LOST = ("namespaceSelector", "matchConditions")


def service_name(project: Project) -> str:
    """Return the name of the Service that OLM creates for the webhooks."""
    return f"{project.account.name.replace('.', '-')}-service"


def converted(project: Project) -> list[Object]:
    """Return the definitions whose versions the program converts."""
    return [each for each in project.definitions if "conversion" in each["spec"]]


def webhook_definitions(project: Project) -> list[Object]:
    """Return the webhook definitions of a ClusterServiceVersion.

    Raises:
        CommandFailed: a webhook has a namespaceSelector or matchConditions, which OLM does not support.
    """
    if project.webhooks is None:
        return []
    admission = [
        _admission(project, configuration["kind"], webhook)
        for configuration in webhook_configurations(project)
        for webhook in configuration["webhooks"]
    ]
    return admission + [_conversion(project, each) for each in converted(project)]


def _admission(project: Project, kind: str, webhook: Object) -> Object:
    if lost := [each for each in _LOST if each in webhook]:
        raise CommandFailed(
            f"webhook {webhook['name']} has {lost[0]}, which the Operator Lifecycle Manager does not support: it would "
            "be called for more requests than it should. Check the condition in the handler instead"
        )
    same = {key: webhook[key] for key in _SAME if key in webhook}
    path = webhook["clientConfig"]["service"]["path"]
    return {**_place(project, webhook["name"], path), "type": _TYPES[kind], **same}


def _conversion(project: Project, definition: Object) -> Object:
    webhook = definition["spec"]["conversion"]["webhook"]
    name = definition["metadata"]["name"]
    return {
        **_place(project, f"convert.{name}", webhook["clientConfig"]["service"]["path"]),
        "type": "ConversionWebhook",
        "admissionReviewVersions": webhook["conversionReviewVersions"],
        "conversionCRDs": [name],
        "sideEffects": "None",
    }


def _place(project: Project, name: str, path: str) -> Object:
    return {
        "generateName": name,
        "deploymentName": project.account.name,
        "containerPort": 443,
        "targetPort": WEBHOOKS,
        "webhookPath": path,
    }
