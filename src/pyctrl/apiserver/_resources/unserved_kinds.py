"""Kinds of versions that kube-apiserver knows and does not serve: its scheme has them, for conversions.

A body of such a version is refused in other words than one of an unknown version, and managed fields of such a
version are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["KINDS_WITHOUT_RESOURCE", "UNSERVED_KINDS"]

_TEXTS: Final = {
    "admission.k8s.io/v1": "AdmissionReview",
    "admission.k8s.io/v1beta1": "AdmissionReview",
    "admissionregistration.k8s.io/v1alpha1": (
        "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding"
    ),
    "admissionregistration.k8s.io/v1beta1": (
        "ValidatingWebhookConfiguration MutatingWebhookConfiguration ValidatingAdmissionPolicy "
        "ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding"
    ),
    "apps/v1beta1": "Deployment DeploymentRollback Scale StatefulSet ControllerRevision",
    "apps/v1beta2": "Deployment Scale StatefulSet DaemonSet ReplicaSet ControllerRevision",
    "authentication.k8s.io/v1alpha1": "SelfSubjectReview",
    "authentication.k8s.io/v1beta1": "SelfSubjectReview TokenReview",
    "authorization.k8s.io/v1beta1": (
        "SelfSubjectRulesReview SelfSubjectAccessReview SubjectAccessReview LocalSubjectAccessReview"
    ),
    "batch/v1beta1": "CronJob",
    "certificates.k8s.io/v1alpha1": "ClusterTrustBundle",
    "certificates.k8s.io/v1beta1": "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
    "coordination.k8s.io/v1alpha2": "LeaseCandidate",
    "coordination.k8s.io/v1beta1": "Lease LeaseCandidate",
    "discovery.k8s.io/v1beta1": "EndpointSlice",
    "events.k8s.io/v1beta1": "Event",
    "extensions/v1beta1": "Deployment DeploymentRollback Scale DaemonSet Ingress ReplicaSet NetworkPolicy",
    "flowcontrol.apiserver.k8s.io/v1beta1": "FlowSchema PriorityLevelConfiguration",
    "flowcontrol.apiserver.k8s.io/v1beta2": "FlowSchema PriorityLevelConfiguration",
    "flowcontrol.apiserver.k8s.io/v1beta3": "FlowSchema PriorityLevelConfiguration",
    "imagepolicy.k8s.io/v1alpha1": "ImageReview",
    "internal.apiserver.k8s.io/v1alpha1": "StorageVersion",
    "networking.k8s.io/v1beta1": "Ingress IngressClass IPAddress ServiceCIDR",
    "node.k8s.io/v1alpha1": "RuntimeClass",
    "node.k8s.io/v1beta1": "RuntimeClass",
    "policy/v1beta1": "PodDisruptionBudget Eviction",
    "rbac.authorization.k8s.io/v1alpha1": "Role RoleBinding ClusterRole ClusterRoleBinding",
    "rbac.authorization.k8s.io/v1beta1": "Role RoleBinding ClusterRole ClusterRoleBinding",
    "resource.k8s.io/v1alpha3": "DeviceTaintRule ResourcePoolStatusRequest",
    "resource.k8s.io/v1beta1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    "resource.k8s.io/v1beta2": "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice",
    "scheduling.k8s.io/v1alpha2": "Workload PodGroup",
    "scheduling.k8s.io/v1beta1": "PriorityClass",
    "storage.k8s.io/v1alpha1": "VolumeAttachment CSIStorageCapacity VolumeAttributesClass",
    "storage.k8s.io/v1beta1": (
        "StorageClass VolumeAttachment CSIDriver CSINode CSIStorageCapacity VolumeAttributesClass"
    ),
    "storagemigration.k8s.io/v1beta1": "StorageVersionMigration",
}

UNSERVED_KINDS: Final[Mapping[str, frozenset[str]]] = {key: frozenset(text.split()) for key, text in _TEXTS.items()}

#: Kinds of served versions that are no resources: bodies of subresources, and parameters.
KINDS_WITHOUT_RESOURCE: Final = frozenset(
    (
        *(("autoscaling/v1", "Scale"), ("policy/v1", "Eviction"), ("authentication.k8s.io/v1", "TokenRequest")),
        *(("v1", f"{each}Options") for each in ("PodAttach", "PodExec", "PodLog", "PodPortForward")),
        *(("v1", f"{each}ProxyOptions") for each in ("Node", "Pod", "Service")),
        *(("v1", each) for each in ("PodStatusResult", "RangeAllocation", "SerializedReference")),
    )
)
