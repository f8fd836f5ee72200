"""The default admission chain, in kube-apiserver's order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

from pyctrl.apiserver._admission._plugins.always_deny import AlwaysDeny
from pyctrl.apiserver._admission._plugins.always_pull_images import AlwaysPullImages
from pyctrl.apiserver._admission._plugins.certificate_approval import CertificateApproval, CertificateSigning
from pyctrl.apiserver._admission._plugins.certificate_subject_restriction import CertificateSubjectRestriction
from pyctrl.apiserver._admission._plugins.default_ingress_class import DefaultIngressClass
from pyctrl.apiserver._admission._plugins.default_storage_class import DefaultStorageClass
from pyctrl.apiserver._admission._plugins.default_toleration_seconds import DefaultTolerationSeconds
from pyctrl.apiserver._admission._plugins.deny_service_external_ips import DenyServiceExternalIPs
from pyctrl.apiserver._admission._plugins.event_rate_limit import EventRateLimit
from pyctrl.apiserver._admission._plugins.extended_resource_toleration import ExtendedResourceToleration
from pyctrl.apiserver._admission._plugins.limit_pod_hard_anti_affinity_topology import LimitPodHardAntiAffinityTopology
from pyctrl.apiserver._admission._plugins.limit_ranger import LimitRanger
from pyctrl.apiserver._admission._plugins.namespace_existence import NamespaceAutoProvision, NamespaceExists
from pyctrl.apiserver._admission._plugins.namespace_lifecycle import NamespaceLifecycle
from pyctrl.apiserver._admission._plugins.node_declared_feature_validator import NodeDeclaredFeatureValidator
from pyctrl.apiserver._admission._plugins.node_restriction import NodeRestriction
from pyctrl.apiserver._admission._plugins.owner_references_permission_enforcement import (
    OwnerReferencesPermissionEnforcement,
)
from pyctrl.apiserver._admission._plugins.param_authorization import ParamAuthorization
from pyctrl.apiserver._admission._plugins.persistent_volume_claim_resize import PersistentVolumeClaimResize
from pyctrl.apiserver._admission._plugins.pod_node_selector import PodNodeSelector
from pyctrl.apiserver._admission._plugins.pod_resize_validator import PodResizeValidator
from pyctrl.apiserver._admission._plugins.pod_security import PodSecurity
from pyctrl.apiserver._admission._plugins.pod_toleration_restriction import PodTolerationRestriction
from pyctrl.apiserver._admission._plugins.pod_topology_labels import PodTopologyLabels
from pyctrl.apiserver._admission._plugins.priority import Priority
from pyctrl.apiserver._admission._plugins.resource_quota import ResourceQuota
from pyctrl.apiserver._admission._plugins.runtime_class import RuntimeClass
from pyctrl.apiserver._admission._plugins.service_account import ServiceAccount
from pyctrl.apiserver._admission._plugins.storage_object_in_use_protection import StorageObjectInUseProtection
from pyctrl.apiserver._admission._plugins.taint_nodes_by_condition import TaintNodesByCondition
from pyctrl.apiserver._admission.chain import AdmissionChain, DynamicPlugin, Plugin
from pyctrl.apiserver._admission.configuration import AdmissionConfiguration
from pyctrl.apiserver._admission.image_policy_webhook import ImagePolicyWebhook
from pyctrl.apiserver._admission.matching import MatchContext
from pyctrl.apiserver._admission.mutating_policy import MutatingAdmissionPolicies
from pyctrl.apiserver._admission.plugin_names import IN_ORDER
from pyctrl.apiserver._admission.policy_source import PolicySourceContext
from pyctrl.apiserver._admission.validating_policy import ValidatingAdmissionPolicies
from pyctrl.apiserver._admission.versioned_attributes import CustomObjectConverter, VersionConverter
from pyctrl.apiserver._admission.webhook_call import AdmissionReviewClient
from pyctrl.apiserver._admission.webhook_dispatcher import (
    MutatingAdmissionWebhook,
    ValidatingAdmissionWebhook,
    WebhookMatcher,
)
from pyctrl.apiserver._admission.webhook_source import WebhookConfigurations
from pyctrl.apiserver._storage.storage import Collection as StoredCollection
from pyctrl.apiserver._storage.storage import Storage
from pyctrl.apiserver._webhooks import WebhookUsers

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.served_resources import ServedResources
    from pyctrl.apiserver._webhooks import WebhookClient

__all__ = ["default_admission_chain"]


_GROUP: Final = "admissionregistration.k8s.io"


@dataclass(frozen=True, slots=True)
class _Server:
    """The parts of a server that plugins use."""

    storage: Storage
    registry: ServedResources
    random: Random
    authorizer: Authorizer
    configuration: AdmissionConfiguration

    def core(self, resource: str) -> StoredCollection:
        return self.storage.collection("", resource)

    def storage_classes(self) -> StoredCollection:
        return self.storage.collection("storage.k8s.io", "storageclasses")


#: Built-in plugins by name. `AlwaysAdmit` does nothing; neither do plugins for features that are off by default.
_PLUGINS: Final[Mapping[str, Callable[[_Server], Plugin]]] = {
    "NamespaceAutoProvision": lambda at: NamespaceAutoProvision(at.core("namespaces"), at.registry, at.random),
    "NamespaceLifecycle": lambda at: NamespaceLifecycle(at.core("namespaces")),
    "NamespaceExists": lambda at: NamespaceExists(at.core("namespaces")),
    "LimitPodHardAntiAffinityTopology": lambda _: LimitPodHardAntiAffinityTopology(),
    "LimitRanger": lambda at: LimitRanger(at.core("limitranges")),
    "ServiceAccount": lambda at: ServiceAccount(at.core("serviceaccounts"), at.random),
    "NodeRestriction": lambda at: NodeRestriction(at.storage, at.authorizer),
    "TaintNodesByCondition": lambda _: TaintNodesByCondition(),
    "AlwaysPullImages": lambda _: AlwaysPullImages(),
    "PodSecurity": lambda at: PodSecurity(at.core("namespaces"), at.core("pods"), at.configuration.pod_security),
    "PodNodeSelector": lambda at: PodNodeSelector(at.core("namespaces"), at.configuration.node_selectors),
    "Priority": lambda at: Priority(at.storage.collection("scheduling.k8s.io", "priorityclasses")),
    "DefaultTolerationSeconds": lambda _: DefaultTolerationSeconds(),
    "PodTolerationRestriction": lambda at: PodTolerationRestriction(
        at.core("namespaces"), at.configuration.pod_tolerations
    ),
    "EventRateLimit": lambda at: EventRateLimit(at.configuration.event_limits),
    "ExtendedResourceToleration": lambda _: ExtendedResourceToleration(),
    "DefaultStorageClass": lambda at: DefaultStorageClass(at.storage_classes()),
    "StorageObjectInUseProtection": lambda _: StorageObjectInUseProtection(),
    "OwnerReferencesPermissionEnforcement": lambda at: OwnerReferencesPermissionEnforcement(at.registry, at.authorizer),
    "PersistentVolumeClaimResize": lambda at: PersistentVolumeClaimResize(at.storage_classes()),
    "RuntimeClass": lambda at: RuntimeClass(at.storage.collection("node.k8s.io", "runtimeclasses")),
    "CertificateApproval": lambda at: CertificateApproval(at.authorizer),
    "CertificateSigning": lambda at: CertificateSigning(at.authorizer),
    "CertificateSubjectRestriction": lambda _: CertificateSubjectRestriction(),
    "DefaultIngressClass": lambda at: DefaultIngressClass(at.storage.collection("networking.k8s.io", "ingressclasses")),
    "DenyServiceExternalIPs": lambda _: DenyServiceExternalIPs(),
    "PodTopologyLabels": lambda at: PodTopologyLabels(at.core("nodes")),
    "NodeDeclaredFeatureValidator": lambda at: NodeDeclaredFeatureValidator(at.core("nodes")),
    "PodResizeValidator": lambda at: PodResizeValidator(at.core("nodes")),
}
_LAST_PLUGINS: Final[Mapping[str, Callable[[_Server], Plugin]]] = {
    "ResourceQuota": lambda at: ResourceQuota(at.storage, at.registry, at.configuration.limited_resources),
    "AlwaysDeny": lambda _: AlwaysDeny(),
}


def default_admission_chain(
    storage: Storage,
    registry: ServedResources,
    random: Random,
    client: WebhookClient,
    conversions: CustomObjectConverter,
    authorizer: Authorizer,
    enabled: Collection[str],
    configuration: AdmissionConfiguration,
) -> AdmissionChain:
    """Return the admission chain of a storage.

    Args:
        enabled: The plugins, as `enabled_plugins` returns them.
        configuration: The configurations of plugins.

    Raises:
        ValueError: A plugin is enabled that needs a configuration and has none.
    """
    configuration.check(enabled)
    server = _Server(storage, registry, random, authorizer, configuration)
    dynamic = _dynamic_plugins(server, client, conversions)
    return AdmissionChain(
        [
            ParamAuthorization(storage, registry, authorizer),
            *(make(server) for name, make in _in_order(_PLUGINS) if name in enabled),
        ],
        [plugin for name, plugin in dynamic.items() if name in enabled],
        [make(server) for name, make in _in_order(_LAST_PLUGINS) if name in enabled],
    )


def _in_order(
    plugins: Mapping[str, Callable[[_Server], Plugin]],
) -> list[tuple[str, Callable[[_Server], Plugin]]]:
    return [(name, plugins[name]) for name in IN_ORDER if name in plugins]


def _dynamic_plugins(
    server: _Server, client: WebhookClient, conversions: CustomObjectConverter
) -> dict[str, DynamicPlugin]:
    """Return webhooks and policies by name, in order."""
    storage, registry, authorizer = server.storage, server.registry, server.authorizer
    match_context, versions = MatchContext(registry, server.core("namespaces")), VersionConverter(conversions)
    matcher = WebhookMatcher(match_context, versions, authorizer)
    policies = PolicySourceContext(storage, registry, match_context)
    configuration = server.configuration

    def review_client(plugin: str) -> AdmissionReviewClient:
        users = configuration.webhook_users.get(plugin) or WebhookUsers({})
        return AdmissionReviewClient(client, registry.components, server.random, users)

    images = configuration.image_policy
    mutating = WebhookConfigurations(storage.collection(_GROUP, "mutatingwebhookconfigurations"))
    validating = WebhookConfigurations(storage.collection(_GROUP, "validatingwebhookconfigurations"))
    return {
        **({} if images is None else {"ImagePolicyWebhook": ImagePolicyWebhook(images, client, server.random)}),
        "MutatingAdmissionPolicy": MutatingAdmissionPolicies(policies, versions, authorizer),
        "MutatingAdmissionWebhook": MutatingAdmissionWebhook(
            mutating, matcher, review_client("MutatingAdmissionWebhook"), versions
        ),
        "ValidatingAdmissionPolicy": ValidatingAdmissionPolicies(policies, versions, authorizer),
        "ValidatingAdmissionWebhook": ValidatingAdmissionWebhook(
            validating, matcher, review_client("ValidatingAdmissionWebhook"), versions
        ),
    }
