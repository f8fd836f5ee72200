"""The chain that a server has by default, in kube-apiserver's order."""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from pyctrl.apiserver._admission._asking import Asker
from pyctrl.apiserver._admission._chain import Admission, Plugin
from pyctrl.apiserver._admission._claim_resize import ClaimResize
from pyctrl.apiserver._admission._dispatch import MutatingWebhooks, Sifter, ValidatingWebhooks
from pyctrl.apiserver._admission._hooks import Hooks
from pyctrl.apiserver._admission._lifecycle import NamespaceLifecycle
from pyctrl.apiserver._admission._matching import Surroundings
from pyctrl.apiserver._admission._owner_rights import OWNER_RIGHTS, OwnerRights
from pyctrl.apiserver._admission._policies import Policies
from pyctrl.apiserver._admission._priority import Priority
from pyctrl.apiserver._admission._signer_rights import SignerRights
from pyctrl.apiserver._admission._versions import Versions
from pyctrl.apiserver._storage import Storage

if TYPE_CHECKING:
    from pyctrl.apiserver._authorization import Authorizer
    from pyctrl.apiserver._conversion_webhooks import ConversionWebhooks
    from pyctrl.apiserver._resources import Registry
    from pyctrl.apiserver._webhooks import WebhookClient

#: The plugins that are off unless somebody wants them, by kube-apiserver's names.
AdmissionPlugin: TypeAlias = Literal["OwnerReferencesPermissionEnforcement"]

_GROUP = "admissionregistration.k8s.io"


def default_admission(
    storage: Storage,
    registry: Registry,
    random: Random,
    client: WebhookClient,
    conversions: ConversionWebhooks,
    authorizer: Authorizer,
    enabled: Collection[AdmissionPlugin] = (),
) -> Admission:
    """Make the chain over a storage.

    Args:
        enabled: plugins that are off by default.

    Raises:
        ValueError: one of those is none.
    """
    _check_known(enabled)
    namespaces = storage.collection("", "namespaces")
    surroundings, versions = Surroundings(registry, namespaces), Versions(conversions)
    sifter = Sifter(surroundings, versions, authorizer)
    asker = Asker(client, registry.components, random)
    mutating = Hooks(storage.collection(_GROUP, "mutatingwebhookconfigurations"))
    validating = Hooks(storage.collection(_GROUP, "validatingwebhookconfigurations"))
    optional: list[Plugin] = [OwnerRights(registry, authorizer)] if OWNER_RIGHTS in enabled else []
    return Admission(
        [
            NamespaceLifecycle(namespaces),
            Priority(storage.collection("scheduling.k8s.io", "priorityclasses")),
            *optional,
            ClaimResize(storage.collection("storage.k8s.io", "storageclasses")),
            SignerRights(authorizer),
        ],
        [
            MutatingWebhooks(mutating, sifter, asker, versions),
            Policies(storage, registry, surroundings, versions, authorizer),
            ValidatingWebhooks(validating, sifter, asker, versions),
        ],
    )


def _check_known(enabled: Collection[str]) -> None:
    optional = get_args(AdmissionPlugin)
    for name in enabled:
        if name not in optional:
            raise ValueError(f"there is no admission plugin {name!r} to enable; there is {', '.join(optional)}")
