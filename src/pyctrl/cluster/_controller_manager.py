"""The controllers of kube-controller-manager, wired into a manager."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from pyctrl.apiserver import CertificateAuthority
from pyctrl.cluster._controllers.certificates.approver import add_csr_approving
from pyctrl.cluster._controllers.certificates.cleaner import add_csr_cleaner
from pyctrl.cluster._controllers.certificates.signer import add_csr_signing
from pyctrl.cluster._controllers.clusterroleaggregation import add_clusterrole_aggregation
from pyctrl.cluster._controllers.cronjob.controller import add_cronjobs
from pyctrl.cluster._controllers.daemonset.controller import add_daemonsets
from pyctrl.cluster._controllers.deployment.controller import add_deployments
from pyctrl.cluster._controllers.disruption import add_disruptions
from pyctrl.cluster._controllers.endpoints.controller import add_endpoints
from pyctrl.cluster._controllers.endpointslice.controller import add_endpointslices
from pyctrl.cluster._controllers.endpointslicemirroring import add_endpointslice_mirroring
from pyctrl.cluster._controllers.garbagecollector.controller import add_garbage_collector
from pyctrl.cluster._controllers.job.controller import add_jobs
from pyctrl.cluster._controllers.job.orphan_pods import add_orphan_pods
from pyctrl.cluster._controllers.namespace import add_namespaces
from pyctrl.cluster._controllers.nodelifecycle import add_node_lifecycle
from pyctrl.cluster._controllers.podautoscaler.controller import add_horizontal_pod_autoscalers
from pyctrl.cluster._controllers.podgc import add_pod_gc
from pyctrl.cluster._controllers.replicaset import add_replicasets, add_replicationcontrollers
from pyctrl.cluster._controllers.resourcequota.controller import add_resource_quotas
from pyctrl.cluster._controllers.rootcacertpublisher import PLACEHOLDER_CA, add_root_ca_publisher
from pyctrl.cluster._controllers.service_endpoints import ServiceIndex
from pyctrl.cluster._controllers.serviceaccount import MakeToken, add_account_tokens, add_service_accounts
from pyctrl.cluster._controllers.servicecidrs import add_service_cidrs
from pyctrl.cluster._controllers.statefulset.controller import add_statefulsets
from pyctrl.cluster._controllers.tainteviction import add_taint_eviction
from pyctrl.cluster._controllers.ttl import add_ttl
from pyctrl.cluster._controllers.ttlafterfinished import add_ttl_after_finished
from pyctrl.cluster._controllers.validatingadmissionpolicystatus.controller import (
    add_validating_admission_policy_status,
)
from pyctrl.cluster._controllers.volume.ephemeral import add_ephemeral_volumes
from pyctrl.cluster._controllers.volume.persistentvolume import add_persistent_volumes
from pyctrl.cluster._controllers.volume.pvcprotection import add_pvc_protection
from pyctrl.cluster._controllers.volume.vacprotection import add_vac_protection
from pyctrl.manager import Manager

__all__ = ["ControllerName", "add_controllers", "controller_names"]

#: The names of controllers, those of kube-controller-manager's flag `--controllers`
#: (cmd/kube-controller-manager/names/controller_names.go).
ControllerName: TypeAlias = Literal[
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "ephemeral-volume-controller",
    "garbage-collector-controller",
    "horizontal-pod-autoscaler-controller",
    "job-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "persistentvolume-binder-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "service-cidr-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "statefulset-controller",
    "taint-eviction-controller",
    "ttl-after-finished-controller",
    "ttl-controller",
    "validatingadmissionpolicy-status-controller",
    "volumeattributesclass-protection-controller",
]


def add_controllers(
    manager: Manager,
    *,
    controllers: Collection[ControllerName] | None = None,
    root_ca: str = PLACEHOLDER_CA,
    make_token: MakeToken | None = None,
    authority: Callable[[], CertificateAuthority] | None = None,
    latest_heartbeat: Callable[[str], float | None] = lambda _: None,
) -> None:
    """Add the controllers of kube-controller-manager to a manager.

    Args:
        controllers: the controllers to add, by kube-controller-manager's names; by default all.
        root_ca: the CA certificate, in PEM, that pods verify the API server with (ConfigMap ``kube-root-ca.crt``).
        make_token: signs the tokens of service account token Secrets with the API server's key. Without it, these
            Secrets stay empty.
        authority: returns the authority that issues the certificates of approved CertificateSigningRequests. It is
            called when the first is approved. Without it, none is issued.
        latest_heartbeat: returns when a node was last alive, by the loop's clock, if its lease does not show it.

    Raises:
        ValueError: There is no controller of one of the names.
    """
    chosen = controller_names(controllers)
    context = ControllerContext(manager, root_ca, make_token, authority, latest_heartbeat)
    for name, add in _ADD.items():
        if name in chosen:
            add(context)


def controller_names(names: Collection[ControllerName] | None) -> frozenset[ControllerName]:
    """Return the names of controllers, of all by default.

    Raises:
        ValueError: There is no controller of one of the names.
    """
    known: tuple[ControllerName, ...] = get_args(ControllerName)
    if names is None:
        return frozenset(known)
    if unknown := sorted(set(names).difference(known)):
        raise ValueError(f"expected names of controllers, got {', '.join(unknown)}; there are: {', '.join(known)}")
    return frozenset(names)


@dataclass
class ControllerContext:
    """What the functions that add a controller take (kube-controller-manager's ControllerContext)."""

    manager: Manager
    root_ca: str
    make_token: MakeToken | None
    authority: Callable[[], CertificateAuthority] | None
    latest_heartbeat: Callable[[str], float | None]

    @cached_property
    def services(self) -> ServiceIndex:
        """The index that the controllers of Endpoints and of EndpointSlices share."""
        return ServiceIndex()


def _add_jobs(context: ControllerContext) -> None:
    add_orphan_pods(context.manager)
    add_jobs(context.manager)


def _add_account_tokens(context: ControllerContext) -> None:
    if context.make_token is not None:
        add_account_tokens(context.manager, make_token=context.make_token, root_ca=context.root_ca)


def _add_csr_signing(context: ControllerContext) -> None:
    if context.authority is not None:
        add_csr_signing(context.manager, context.authority)


_ADD: Mapping[ControllerName, Callable[[ControllerContext], object]] = MappingProxyType(
    {
        "namespace-controller": lambda context: add_namespaces(context.manager),
        "serviceaccount-controller": lambda context: add_service_accounts(context.manager),
        "root-ca-certificate-publisher-controller": lambda context: add_root_ca_publisher(
            context.manager, root_ca=context.root_ca
        ),
        "garbage-collector-controller": lambda context: add_garbage_collector(context.manager),
        "replicaset-controller": lambda context: add_replicasets(context.manager),
        "replicationcontroller-controller": lambda context: add_replicationcontrollers(context.manager),
        "deployment-controller": lambda context: add_deployments(context.manager),
        "statefulset-controller": lambda context: add_statefulsets(context.manager),
        "daemonset-controller": lambda context: add_daemonsets(context.manager),
        "job-controller": _add_jobs,
        "ttl-after-finished-controller": lambda context: add_ttl_after_finished(context.manager),
        "cronjob-controller": lambda context: add_cronjobs(context.manager),
        "disruption-controller": lambda context: add_disruptions(context.manager),
        "horizontal-pod-autoscaler-controller": lambda context: add_horizontal_pod_autoscalers(context.manager),
        "persistentvolumeclaim-protection-controller": lambda context: add_pvc_protection(context.manager),
        "volumeattributesclass-protection-controller": lambda context: add_vac_protection(context.manager),
        "persistentvolume-binder-controller": lambda context: add_persistent_volumes(context.manager),
        "ephemeral-volume-controller": lambda context: add_ephemeral_volumes(context.manager),
        "clusterrole-aggregation-controller": lambda context: add_clusterrole_aggregation(context.manager),
        "serviceaccount-token-controller": _add_account_tokens,
        "endpointslice-controller": lambda context: add_endpointslices(context.manager, context.services),
        "endpointslice-mirroring-controller": lambda context: add_endpointslice_mirroring(context.manager),
        "endpoints-controller": lambda context: add_endpoints(context.manager, context.services),
        "node-lifecycle-controller": lambda context: add_node_lifecycle(
            context.manager, latest_heartbeat=context.latest_heartbeat
        ),
        "ttl-controller": lambda context: add_ttl(context.manager),
        "taint-eviction-controller": lambda context: add_taint_eviction(context.manager),
        "pod-garbage-collector-controller": lambda context: add_pod_gc(context.manager),
        "certificatesigningrequest-approving-controller": lambda context: add_csr_approving(context.manager),
        "certificatesigningrequest-cleaner-controller": lambda context: add_csr_cleaner(context.manager),
        "certificatesigningrequest-signing-controller": _add_csr_signing,
        "resourcequota-controller": lambda context: add_resource_quotas(context.manager),
        "service-cidr-controller": lambda context: add_service_cidrs(context.manager),
        "validatingadmissionpolicy-status-controller": lambda context: add_validating_admission_policy_status(
            context.manager
        ),
    }
)
