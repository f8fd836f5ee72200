"""The chain that a server has by default, in kube-apiserver's order."""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from pyctrl.apiserver._admission._plugins.certificate_approval import CertificateSigning
from pyctrl.apiserver._admission._plugins.namespace_lifecycle import NamespaceLifecycle
from pyctrl.apiserver._admission._plugins.owner_references_permission_enforcement import (
    OWNER_RIGHTS,
    OwnerReferencesPermissionEnforcement,
)
from pyctrl.apiserver._admission._plugins.persistent_volume_claim_resize import PersistentVolumeClaimResize
from pyctrl.apiserver._admission._plugins.priority import Priority
from pyctrl.apiserver._admission.chain import AdmissionChain, Plugin
from pyctrl.apiserver._admission.matching import MatchContext
from pyctrl.apiserver._admission.validating_policy import ValidatingAdmissionPolicies
from pyctrl.apiserver._admission.versioned_attributes import ObjectConverter, VersionConverter
from pyctrl.apiserver._admission.webhook_call import AdmissionReviewClient
from pyctrl.apiserver._admission.webhook_dispatcher import (
    MutatingAdmissionWebhook,
    ValidatingAdmissionWebhook,
    WebhookMatcher,
)
from pyctrl.apiserver._admission.webhook_source import WebhookConfigurations
from pyctrl.apiserver._storage.storage import Storage

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.served_resources import ServedResources
    from pyctrl.apiserver._webhooks import WebhookClient

#: The plugins that are off unless somebody wants them, by kube-apiserver's names.
AdmissionPluginName: TypeAlias = Literal["OwnerReferencesPermissionEnforcement"]

_GROUP = "admissionregistration.k8s.io"


def default_admission_chain(
    storage: Storage,
    registry: ServedResources,
    random: Random,
    client: WebhookClient,
    conversions: ObjectConverter,
    authorizer: Authorizer,
    enabled: Collection[AdmissionPluginName] = (),
) -> AdmissionChain:
    """Make the chain over a storage.

    Args:
        enabled: plugins that are off by default.

    Raises:
        ValueError: one of those is none.
    """
    _check_known(enabled)
    namespaces = storage.collection("", "namespaces")
    surroundings, versions = MatchContext(registry, namespaces), VersionConverter(conversions)
    matcher = WebhookMatcher(surroundings, versions, authorizer)
    asker = AdmissionReviewClient(client, registry.components, random)
    mutating = WebhookConfigurations(storage.collection(_GROUP, "mutatingwebhookconfigurations"))
    validating = WebhookConfigurations(storage.collection(_GROUP, "validatingwebhookconfigurations"))
    optional: list[Plugin] = (
        [OwnerReferencesPermissionEnforcement(registry, authorizer)] if OWNER_RIGHTS in enabled else []
    )
    return AdmissionChain(
        [
            NamespaceLifecycle(namespaces),
            Priority(storage.collection("scheduling.k8s.io", "priorityclasses")),
            *optional,
            PersistentVolumeClaimResize(storage.collection("storage.k8s.io", "storageclasses")),
            CertificateSigning(authorizer),
        ],
        [
            MutatingAdmissionWebhook(mutating, matcher, asker, versions),
            ValidatingAdmissionPolicies(storage, registry, surroundings, versions, authorizer),
            ValidatingAdmissionWebhook(validating, matcher, asker, versions),
        ],
    )


def _check_known(enabled: Collection[str]) -> None:
    optional = get_args(AdmissionPluginName)
    for name in enabled:
        if name not in optional:
            raise ValueError(f"there is no admission plugin {name!r} to enable; there is {', '.join(optional)}")
