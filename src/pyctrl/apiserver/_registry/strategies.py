"""The strategies of the built-in kinds, one line or a few for each."""

from __future__ import annotations

from typing import Any, Final

from pyctrl._validation import names
from pyctrl.apiserver._apiextensions.definitions import (
    default_definition,
    definition_warnings,
    mark_terminating,
    prepare_definition,
    validate_definition,
)
from pyctrl.apiserver._meta.generation import STATUS_RESET_FIELDS
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry import configuration as config
from pyctrl.apiserver._registry import networking, pods, rbac, services, volumes, workloads
from pyctrl.apiserver._registry import other_defaults as others
from pyctrl.apiserver._registry import service_validation as service_rules
from pyctrl.apiserver._registry.admission_policies import (
    default_policy,
    default_policy_binding,
    validate_policy,
    validate_policy_binding,
)
from pyctrl.apiserver._registry.certificates import SIGNING_REQUESTS
from pyctrl.apiserver._registry.events import validate_event
from pyctrl.apiserver._registry.pod_ephemeral_containers import EPHEMERAL_CONTAINERS
from pyctrl.apiserver._registry.rare import OTHER_STRATEGIES
from pyctrl.apiserver._registry.strategy import Strategy
from pyctrl.apiserver._registry.webhook_configurations import default_webhooks, validate_webhooks


def _same(*fields: str) -> dict[str, str]:
    return {each: each for each in fields}


_POD_FIELDS = _same(
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
)
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_EVENT_FIELDS: dict[str, str | tuple[str, ...]] = {
    **_same(*(f"involvedObject.{each}" for each in _REFERENCE), "reason", "reportingComponent", "type"),
    "source": ("source.component", "reportingComponent"),
}
_NEW_EVENT_FIELDS = _same(*(f"regarding.{each}" for each in _REFERENCE), "reason", "reportingController", "type")

# Of metadata, on an update: what may not change, and the whole; in the orders that kinds have them.
_BOTH: Final = (MetadataCheck.CHANGE, MetadataCheck.WHOLE)
_WHOLE_FIRST: Final = (MetadataCheck.WHOLE, MetadataCheck.CHANGE)
_WHOLE: Final = (MetadataCheck.WHOLE,)

_PLAIN: Final = Strategy()


def _strategies(allocator: services.ServiceAllocator) -> dict[tuple[str, str], Strategy]:
    return {
        **_core(allocator),
        **_volumes(),
        **_apps(),
        **_batch(),
        **_rbac(),
        **_networking(),
        **_extensions(),
        **OTHER_STRATEGIES,
        ("autoscaling", "HorizontalPodAutoscaler"): Strategy(
            defaults=(others.default_autoscaler,), validates=(networking.validate_autoscaler,)
        ),
        ("scheduling.k8s.io", "PriorityClass"): Strategy(
            has_generation=True, defaults=(others.default_priority_class,)
        ),
        ("certificates.k8s.io", "CertificateSigningRequest"): SIGNING_REQUESTS,
    }


def _core(allocator: services.ServiceAllocator) -> dict[tuple[str, str], Strategy]:
    return {
        ("", "Namespace"): Strategy(
            name_rule=names.label,
            on_update=_WHOLE_FIRST,
            fields={"name": "metadata.name", "status.phase": "status.phase"},
            completes=(others.prepare_namespace,),
        ),
        ("", "Node"): Strategy(on_update=_WHOLE_FIRST, keeps_status_on_create=True, fields=_same("spec.unschedulable")),
        ("", "Pod"): Strategy(
            on_update=_BOTH,
            has_generation=True,
            status_keeps=("ownerReferences",),
            fields=_POD_FIELDS,
            defaults=(pods.default_pod,),
            completes=(pods.prepare_pod,),
            validates=(pods.validate_pod,),
            validates_status=(pods.validate_pod,),  # with the old one: a pod that is there may have more than a new one
            doors={"ephemeralcontainers": EPHEMERAL_CONTAINERS},
            resets={"ephemeralcontainers": {}},  # as upstream: owned is also what is put back
        ),
        ("", "ConfigMap"): Strategy(on_update=_BOTH, validates=(config.validate_config_map,)),
        ("", "Secret"): Strategy(
            on_update=_BOTH,
            fields=_same("type"),
            defaults=(config.default_secret,),
            validates=(config.validate_secret,),
            warns=config.secret_warnings,
        ),
        ("", "Service"): Strategy(
            name_rule=names.label,
            fields=_same("spec.clusterIP", "spec.type"),
            defaults=(services.default_service,),
            completes=(services.prepare_service,),
            validates=(service_rules.validate_service,),
            validates_status=(service_rules.validate_service_status,),
            warns=service_rules.service_warnings,
            stored=(allocator,),
        ),
        **_core_rest(),
    }


def _core_rest() -> dict[tuple[str, str], Strategy]:
    return {
        ("", "Endpoints"): Strategy(on_update=_BOTH, defaults=(others.default_endpoints,)),
        ("", "ServiceAccount"): Strategy(on_update=_BOTH),
        ("", "LimitRange"): Strategy(on_update=_WHOLE),
        ("", "Event"): Strategy(on_create=None, on_update=(), fields=_EVENT_FIELDS, validates=(validate_event,)),
        ("events.k8s.io", "Event"): Strategy(fields=_NEW_EVENT_FIELDS, validates=(validate_event,)),
        ("", "ReplicationController"): Strategy(
            has_generation=True,
            fields=_same("status.replicas"),
            defaults=(workloads.default_replication_controller,),
        ),
    }


def _volumes() -> dict[tuple[str, str], Strategy]:
    storage = "storage.k8s.io"
    return {
        ("", "PersistentVolumeClaim"): Strategy(
            on_update=_BOTH,
            defaults=(volumes.default_claim,),
            completes=(volumes.prepare_claim,),
            validates=(volumes.validate_claim,),
            warns=volumes.claim_warnings,
        ),
        ("", "PersistentVolume"): Strategy(
            on_update=(MetadataCheck.WHOLE, MetadataCheck.WHOLE),
            defaults=(volumes.default_volume,),
            completes=(volumes.prepare_volume,),
            validates=(volumes.validate_volume,),
            warns=volumes.volume_warnings,
        ),
        (storage, "StorageClass"): Strategy(
            on_update=_WHOLE_FIRST,
            defaults=(volumes.default_storage_class,),
            validates=(volumes.validate_storage_class,),
        ),
        (storage, "CSINode"): Strategy(on_update=_WHOLE),
        (storage, "VolumeAttachment"): Strategy(on_update=_WHOLE),
    }


def _apps() -> dict[tuple[str, str], Strategy]:
    return {
        ("apps", "Deployment"): Strategy(
            has_generation=True,
            annotations_count=True,
            status_keeps=("labels",),
            defaults=(workloads.default_deployment,),
            validates=(workloads.validate_deployment,),
        ),
        ("apps", "ReplicaSet"): Strategy(
            has_generation=True,
            fields=_same("status.replicas"),
            defaults=(workloads.default_replica_set,),
            validates=(workloads.validate_replica_set,),
        ),
        ("apps", "ControllerRevision"): Strategy(on_update=_BOTH),
        ("apps", "StatefulSet"): Strategy(
            name_rule=names.label,
            has_generation=True,
            defaults=(workloads.default_stateful_set,),
            validates=(workloads.validate_stateful_set,),
        ),
        ("apps", "DaemonSet"): Strategy(
            has_generation=True,
            defaults=(workloads.default_daemon_set,),
            completes=(workloads.prepare_daemon_set,),
            validates=(workloads.validate_daemon_set,),
        ),
    }


def _batch() -> dict[tuple[str, str], Strategy]:
    return {
        ("batch", "Job"): Strategy(
            on_update=_WHOLE_FIRST,
            has_generation=True,
            fields={"status.successful": "status.succeeded"},
            defaults=(workloads.default_job,),
            completes=(workloads.prepare_job,),
            validates=(workloads.validate_job,),
            stored=(workloads.label_job,),
        ),
        ("batch", "CronJob"): Strategy(
            has_generation=True, defaults=(workloads.default_cron_job,), validates=(workloads.validate_cron_job,)
        ),
    }


def _rbac() -> dict[tuple[str, str], Strategy]:
    role = Strategy(name_rule=names.path_segment, on_update=_WHOLE_FIRST, validates=(rbac.validate_role,))
    binding = Strategy(
        name_rule=names.path_segment,
        on_update=_WHOLE_FIRST,
        defaults=(rbac.default_binding,),
        validates=(rbac.validate_binding,),
    )
    group = "rbac.authorization.k8s.io"
    return {
        (group, "Role"): role,
        (group, "ClusterRole"): role,
        (group, "RoleBinding"): binding,
        (group, "ClusterRoleBinding"): binding,
    }


def _networking() -> dict[tuple[str, str], Strategy]:
    return {
        ("networking.k8s.io", "Ingress"): Strategy(
            has_generation=True, on_update=_BOTH, validates=(networking.validate_ingress,)
        ),
        ("networking.k8s.io", "NetworkPolicy"): Strategy(
            has_generation=True,
            defaults=(others.default_network_policy,),
            validates=(networking.validate_network_policy,),
        ),
        ("policy", "PodDisruptionBudget"): Strategy(
            has_generation=True,
            on_create=None,
            on_update=(),
            validates=(networking.validate_budget,),
            validates_status=(),
        ),
        ("discovery.k8s.io", "EndpointSlice"): Strategy(
            has_generation=True, on_update=_WHOLE, defaults=(others.default_endpoint_slice,)
        ),
    }


def _extensions() -> dict[tuple[str, str], Strategy]:
    admission = "admissionregistration.k8s.io"
    admits: dict[str, Any] = {
        "has_generation": True,
        "on_create": MetadataCheck.PLAIN_WHOLE,
        "on_update": (MetadataCheck.PLAIN_WHOLE,),
    }
    webhooks = Strategy(**admits, defaults=(default_webhooks,), validates=(validate_webhooks,))
    policy = Strategy(**admits)
    return {
        ("apiextensions.k8s.io", "CustomResourceDefinition"): Strategy(
            on_create=MetadataCheck.PLAIN_WHOLE,
            on_update=(MetadataCheck.PLAIN_CHANGE,),
            has_generation=True,
            status_keeps=STATUS_RESET_FIELDS,
            defaults=(default_definition,),
            completes=(prepare_definition,),
            validates=(validate_definition,),
            warns=definition_warnings,
            begin_deletion=mark_terminating,
        ),
        (admission, "ValidatingWebhookConfiguration"): webhooks,
        (admission, "MutatingWebhookConfiguration"): webhooks,
        (admission, "ValidatingAdmissionPolicy"): Strategy(
            **admits, defaults=(default_policy,), validates=(validate_policy,)
        ),
        (admission, "ValidatingAdmissionPolicyBinding"): Strategy(
            **admits, defaults=(default_policy_binding,), validates=(validate_policy_binding,)
        ),
        (admission, "MutatingAdmissionPolicy"): policy,
        (admission, "MutatingAdmissionPolicyBinding"): policy,
        ("coordination.k8s.io", "Lease"): Strategy(
            on_create=MetadataCheck.PLAIN_WHOLE,
            on_update=(MetadataCheck.PLAIN_CHANGE,),
            validates=(networking.validate_lease,),
        ),
        ("node.k8s.io", "RuntimeClass"): Strategy(
            on_create=MetadataCheck.PLAIN_WHOLE, on_update=(MetadataCheck.PLAIN_WHOLE, MetadataCheck.PLAIN_CHANGE)
        ),
    }


class Strategies:
    """The strategies of one server: what services are given is counted here."""

    def __init__(self) -> None:
        self.allocator: services.ServiceAllocator = services.ServiceAllocator()
        self._known = _strategies(self.allocator)

    def of(self, group: str, kind: str) -> Strategy:
        """Give the strategy of a kind; most have nothing special."""
        return self._known.get((group, kind), _PLAIN)
