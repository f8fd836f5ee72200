"""The objects of a program, by file, and in the order in which they are applied."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from pyctrl.packaging._objects import rbac as rbac_objects
from pyctrl.packaging._objects import webhooks as webhook_objects
from pyctrl.packaging._objects import workload
from pyctrl.packaging._objects.samples import generated_samples, missing_samples
from pyctrl.packaging._project import Project

__all__ = ["PARTS", "ObjectsOfFile", "Part", "install", "parts"]

Object = dict[str, Any]

#: A part of the objects that can be generated separately.
Part: TypeAlias = Literal["crd", "rbac", "manager", "webhook", "apiservice", "samples"]

PARTS: tuple[Part, ...] = get_args(Part)

#: Dependencies first. Webhook configurations come last, because the API server calls webhooks from then on.
_ORDER = (
    *("Namespace", "CustomResourceDefinition", "ServiceAccount", "Role", "ClusterRole", "RoleBinding"),
    *("ClusterRoleBinding", "Service", "Issuer", "Certificate", "NetworkPolicy", "PodDisruptionBudget"),
    *("Deployment", "ServiceMonitor"),
    *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "APIService"),
)


@dataclass(frozen=True, slots=True)
class ObjectsOfFile:
    """The objects of one file below ``config/``."""

    part: Part
    path: str
    objects: tuple[Object, ...]


def parts(project: Project, wanted: Collection[Part] = PARTS) -> list[ObjectsOfFile]:
    """Return the objects of a program by file, with kubebuilder's file names.

    Args:
        project: the program.
        wanted: only these parts.
    """
    makers = {
        "crd": _definitions,
        "rbac": _rbac,
        "manager": _workload,
        "webhook": _webhooks,
        "apiservice": _api_services,
        "samples": _samples,
    }
    return [
        ObjectsOfFile(part, path, objects)
        for part in PARTS
        if part in wanted
        for path, objects in makers[part](project)
    ]


def install(project: Project, wanted: Collection[Part] = PARTS) -> list[Object]:
    """Return the objects in the order in which they are applied; samples only if no other part is wanted.

    Samples are the author's, and generated ones for kinds that have none.
    """
    asked: Collection[Part] = [part for part in wanted if part != "samples"] or wanted
    if "samples" in asked:
        return [*(each.obj for each in project.samples), *missing_samples(project)]
    found = [obj for sheet in parts(project, asked) for obj in sheet.objects]
    return sorted(found, key=lambda obj: _ORDER.index(obj["kind"]) if obj["kind"] in _ORDER else len(_ORDER))


_Files: TypeAlias = Iterator[tuple[str, tuple[Object, ...]]]


def _definitions(project: Project) -> _Files:
    for definition in project.definitions:
        spec = definition["spec"]
        yield (
            f"crd/bases/{spec['group']}_{spec['names']['plural']}.yaml",
            (webhook_objects.with_ca_injection(project, definition),),
        )


def _rbac(project: Project) -> _Files:
    yield "rbac/service_account.yaml", (rbac_objects.service_account(project),)
    if found := rbac_objects.roles(project):
        yield "rbac/role.yaml", tuple(found)
        yield "rbac/role_binding.yaml", tuple(rbac_objects.bindings(project))
    yield "rbac/leader_election_role.yaml", (rbac_objects.election_role(project),)
    yield "rbac/leader_election_role_binding.yaml", (rbac_objects.election_binding(project),)
    if project.settings.metrics == "https":
        yield "rbac/metrics_auth_role.yaml", (rbac_objects.metrics_role(project),)
        yield "rbac/metrics_auth_role_binding.yaml", (rbac_objects.metrics_binding(project),)
        yield "rbac/metrics_reader_role.yaml", (rbac_objects.metrics_reader(project),)
    if project.served_kinds:
        yield "rbac/auth_delegator_role_binding.yaml", (rbac_objects.auth_delegator_binding(project),)
        yield "rbac/auth_reader_role_binding.yaml", (rbac_objects.auth_reader_binding(project),)
    for kind in project.all_kinds:
        for who, role in rbac_objects.kind_roles(project, kind).items():
            yield f"rbac/{project.short(kind).replace('-', '_')}_{who}_role.yaml", (role,)


def _workload(project: Project) -> _Files:
    settings = project.settings
    yield "manager/manager.yaml", (workload.namespace(project), workload.deployment(project))
    if settings.shards == "auto":
        yield "manager/pod_disruption_budget.yaml", (workload.disruption_budget(project),)
    if settings.metrics != "off":
        yield "default/metrics_service.yaml", (workload.metrics_service(project),)
        if settings.prometheus:
            yield "prometheus/monitor.yaml", (workload.monitor(project),)
        if settings.network_policy:
            yield "network-policy/allow-metrics-traffic.yaml", (workload.metrics_policy(project),)
    if settings.network_policy and project.webhooks is not None:
        yield "network-policy/allow-webhook-traffic.yaml", (workload.webhook_policy(project),)
    if settings.network_policy and project.served_kinds:
        yield "network-policy/allow-apiserver-traffic.yaml", (workload.apiserver_policy(project),)


def _webhooks(project: Project) -> _Files:
    if project.webhooks is None:
        return
    if project.has_admission:
        yield "webhook/manifests.yaml", tuple(webhook_objects.webhook_configurations(project))
    yield "webhook/service.yaml", (webhook_objects.service(project),)
    if project.settings.webhook_certificates == "cert-manager":
        yield "certmanager/issuer.yaml", (webhook_objects.issuer(project),)
        yield "certmanager/certificate-webhook.yaml", (webhook_objects.certificate(project),)


def _api_services(project: Project) -> _Files:
    if not project.served_kinds:
        return
    from pyctrl.packaging._objects import apiservice  # here: most programs have no extension API server

    yield "apiservice/apiservice.yaml", tuple(apiservice.objects_of_apiservices(project))
    yield "apiservice/service.yaml", (apiservice.service(project),)


def _samples(project: Project) -> _Files:
    for path, made in generated_samples(project):
        yield path, (made,)
