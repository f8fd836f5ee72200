"""The default admission chain, in kube-apiserver's order."""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from pyctrl.apiserver._admission._plugins.certificate_approval import CertificateSigning
from pyctrl.apiserver._admission._plugins.certificate_subject_restriction import CertificateSubjectRestriction
from pyctrl.apiserver._admission._plugins.namespace_lifecycle import NamespaceLifecycle
from pyctrl.apiserver._admission._plugins.owner_references_permission_enforcement import (
    PLUGIN_NAME as OWNER_REFERENCES_PERMISSION_ENFORCEMENT,
)
from pyctrl.apiserver._admission._plugins.owner_references_permission_enforcement import (
    OwnerReferencesPermissionEnforcement,
)
from pyctrl.apiserver._admission._plugins.persistent_volume_claim_resize import PersistentVolumeClaimResize
from pyctrl.apiserver._admission._plugins.priority import Priority
from pyctrl.apiserver._admission.chain import AdmissionChain, Plugin
from pyctrl.apiserver._admission.matching import MatchContext
from pyctrl.apiserver._admission.validating_policy import ValidatingAdmissionPolicies
from pyctrl.apiserver._admission.versioned_attributes import CustomObjectConverter, VersionConverter
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

__all__ = ["AdmissionPluginName", "default_admission_chain"]


#: Plugins that are disabled by default, by kube-apiserver's names.
AdmissionPluginName: TypeAlias = Literal["OwnerReferencesPermissionEnforcement"]

_GROUP = "admissionregistration.k8s.io"


def default_admission_chain(
    storage: Storage,
    registry: ServedResources,
    random: Random,
    client: WebhookClient,
    conversions: CustomObjectConverter,
    authorizer: Authorizer,
    enabled: Collection[AdmissionPluginName] = (),
) -> AdmissionChain:
    """Return the default admission chain of a storage.

    Args:
        enabled: Plugins to enable that are disabled by default.

    Raises:
        ValueError: A plugin in `enabled` does not exist.
    """
    _check_known(enabled)
    namespaces = storage.collection("", "namespaces")
    match_context, versions = MatchContext(registry, namespaces), VersionConverter(conversions)
    matcher = WebhookMatcher(match_context, versions, authorizer)
    review_client = AdmissionReviewClient(client, registry.components, random)
    mutating = WebhookConfigurations(storage.collection(_GROUP, "mutatingwebhookconfigurations"))
    validating = WebhookConfigurations(storage.collection(_GROUP, "validatingwebhookconfigurations"))
    optional: list[Plugin] = (
        [OwnerReferencesPermissionEnforcement(registry, authorizer)]
        if OWNER_REFERENCES_PERMISSION_ENFORCEMENT in enabled
        else []
    )
    return AdmissionChain(
        [
            NamespaceLifecycle(namespaces),
            Priority(storage.collection("scheduling.k8s.io", "priorityclasses")),
            *optional,
            PersistentVolumeClaimResize(storage.collection("storage.k8s.io", "storageclasses")),
            CertificateSigning(authorizer),
            CertificateSubjectRestriction(),
        ],
        [
            MutatingAdmissionWebhook(mutating, matcher, review_client, versions),
            ValidatingAdmissionPolicies(storage, registry, match_context, versions, authorizer),
            ValidatingAdmissionWebhook(validating, matcher, review_client, versions),
        ],
    )


def _check_known(enabled: Collection[str]) -> None:
    optional = get_args(AdmissionPluginName)
    for name in enabled:
        if name not in optional:
            raise ValueError(f"unknown admission plugin {name!r}; the optional plugins are {', '.join(optional)}")
