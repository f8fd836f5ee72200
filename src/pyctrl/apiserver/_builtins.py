"""The strategies of the built-in kinds, one line or a few for each."""

from __future__ import annotations

from typing import Final

from . import _names as names
from ._builtins_strategy import Strategy
from ._status import STATUS_RESETS

_POD_FIELDS = {
    each: each
    for each in (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    )
}
_EVENT_FIELDS = {
    **{
        f"involvedObject.{each}": f"involvedObject.{each}"
        for each in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
    },
    "reason": "reason",
    "reportingComponent": "reportingComponent",
    "source": "source.component",
    "type": "type",
}

_GENERATION: Final = Strategy(has_generation=True)
_PLAIN: Final = Strategy()

_STRATEGIES: dict[tuple[str, str], Strategy] = {
    ("", "Namespace"): Strategy(
        name_rule=names.label, fields={"name": "metadata.name", "status.phase": "status.phase"}
    ),
    ("", "Node"): Strategy(keeps_status_on_create=True, fields={"spec.unschedulable": "spec.unschedulable"}),
    ("", "Pod"): Strategy(has_generation=True, status_keeps=("ownerReferences",), fields=_POD_FIELDS),
    ("", "Secret"): Strategy(fields={"type": "type"}),
    ("", "Service"): Strategy(name_rule=names.label_1035, fields={"spec.clusterIP": "spec.clusterIP", "spec.type": "spec.type"}),
    ("", "Event"): Strategy(fields=_EVENT_FIELDS),
    ("", "ReplicationController"): Strategy(has_generation=True, fields={"status.replicas": "status.replicas"}),
    ("apps", "Deployment"): Strategy(has_generation=True, annotations_count=True, status_keeps=("labels",)),
    ("apps", "ReplicaSet"): Strategy(has_generation=True, fields={"status.replicas": "status.replicas"}),
    ("apps", "StatefulSet"): _GENERATION,
    ("apps", "DaemonSet"): _GENERATION,
    ("batch", "Job"): Strategy(has_generation=True, fields={"status.successful": "status.succeeded"}),
    ("batch", "CronJob"): _GENERATION,
    ("networking.k8s.io", "Ingress"): _GENERATION,
    ("networking.k8s.io", "IngressClass"): _GENERATION,
    ("networking.k8s.io", "NetworkPolicy"): _GENERATION,
    ("policy", "PodDisruptionBudget"): _GENERATION,
    ("discovery.k8s.io", "EndpointSlice"): _GENERATION,
    ("scheduling.k8s.io", "PriorityClass"): _GENERATION,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): Strategy(has_generation=True, status_keeps=STATUS_RESETS),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _GENERATION,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _GENERATION,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): _GENERATION,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): _GENERATION,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): _GENERATION,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): _GENERATION,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): Strategy(has_generation=True, status_keeps=STATUS_RESETS),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): Strategy(
        has_generation=True, status_keeps=STATUS_RESETS
    ),
    ("certificates.k8s.io", "CertificateSigningRequest"): Strategy(fields={"spec.signerName": "spec.signerName"}),
    ("resource.k8s.io", "ResourceSlice"): Strategy(
        fields={"spec.nodeName": "spec.nodeName", "spec.driver": "spec.driver"}
    ),
    **{
        ("rbac.authorization.k8s.io", kind): Strategy(name_rule=names.path_segment)
        for kind in ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
    },
}


def strategy_of(group: str, kind: str) -> Strategy:
    """Give the strategy of a kind; most have nothing special."""
    return _STRATEGIES.get((group, kind), _PLAIN)
