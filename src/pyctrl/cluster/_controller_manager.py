"""The controllers of kube-controller-manager, wired into a manager."""

from __future__ import annotations

from collections.abc import Callable

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
from pyctrl.cluster._controllers.garbagecollector.controller import add_garbage_collector
from pyctrl.cluster._controllers.job.controller import add_jobs
from pyctrl.cluster._controllers.job.orphan_pods import add_orphan_pods
from pyctrl.cluster._controllers.namespace import add_namespaces
from pyctrl.cluster._controllers.nodelifecycle import add_node_lifecycle
from pyctrl.cluster._controllers.podgc import add_pod_gc
from pyctrl.cluster._controllers.replicaset import add_replicasets, add_replicationcontrollers
from pyctrl.cluster._controllers.resourcequota.controller import add_resource_quotas
from pyctrl.cluster._controllers.rootcacertpublisher import PLACEHOLDER_CA
from pyctrl.cluster._controllers.service_endpoints import ServiceIndex
from pyctrl.cluster._controllers.serviceaccount import MakeToken, add_account_tokens
from pyctrl.cluster._controllers.servicecidrs import add_service_cidrs
from pyctrl.cluster._controllers.statefulset.controller import add_statefulsets
from pyctrl.cluster._controllers.tainteviction import add_taint_eviction
from pyctrl.cluster._controllers.ttlafterfinished import add_ttl_after_finished
from pyctrl.cluster._controllers.volume.ephemeral import add_ephemeral_volumes
from pyctrl.cluster._controllers.volume.persistentvolume import add_persistent_volumes
from pyctrl.cluster._controllers.volume.pvcprotection import add_pvc_protection
from pyctrl.manager import Manager

__all__ = ["add_controllers"]


def add_controllers(
    manager: Manager,
    *,
    root_ca: str = PLACEHOLDER_CA,
    make_token: MakeToken | None = None,
    authority: Callable[[], CertificateAuthority] | None = None,
) -> None:
    """Add the controllers of kube-controller-manager to a manager.

    Args:
        root_ca: the CA certificate, in PEM, that pods verify the API server with (ConfigMap ``kube-root-ca.crt``).
        make_token: signs the tokens of service account token Secrets with the API server's key. Without it, these
            Secrets stay empty.
        authority: returns the authority that issues the certificates of approved CertificateSigningRequests. It is
            called when the first is approved. Without it, none is issued.
    """
    add_namespaces(manager, root_ca=root_ca)
    add_garbage_collector(manager)
    add_replicasets(manager)
    add_replicationcontrollers(manager)
    add_deployments(manager)
    add_statefulsets(manager)
    add_daemonsets(manager)
    add_orphan_pods(manager)
    add_ttl_after_finished(manager)
    add_jobs(manager)
    add_cronjobs(manager)
    add_disruptions(manager)
    add_pvc_protection(manager)
    add_persistent_volumes(manager)
    add_ephemeral_volumes(manager)
    add_clusterrole_aggregation(manager)
    if make_token is not None:
        add_account_tokens(manager, make_token=make_token, root_ca=root_ca)
    services = ServiceIndex()
    add_endpointslices(manager, services)
    add_endpoints(manager, services)
    add_service_cidrs(manager)
    add_node_lifecycle(manager)
    add_taint_eviction(manager)
    add_pod_gc(manager)
    add_csr_approving(manager)
    add_csr_cleaner(manager)
    if authority is not None:
        add_csr_signing(manager, authority)
    add_resource_quotas(manager)
