"""The chain that a server has by default, in kube-apiserver's order."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from pyctrl.apiserver._storage import Storage

from ._asking import Asker
from ._chain import Admission
from ._claim_resize import ClaimResize
from ._dispatch import MutatingWebhooks, Sifter, ValidatingWebhooks
from ._hooks import Hooks
from ._lifecycle import NamespaceLifecycle
from ._matching import Surroundings
from ._policies import Policies
from ._priority import Priority
from ._versions import Versions

if TYPE_CHECKING:
    from pyctrl.apiserver._authorization import Authorizer
    from pyctrl.apiserver._conversion_webhooks import ConversionWebhooks
    from pyctrl.apiserver._resources import Registry
    from pyctrl.apiserver._webhooks import WebhookClient

_GROUP = "admissionregistration.k8s.io"


def default_admission(
    storage: Storage,
    registry: Registry,
    random: Random,
    client: WebhookClient,
    conversions: ConversionWebhooks,
    authorizer: Authorizer,
) -> Admission:
    """Make the chain over a storage."""
    namespaces = storage.collection("", "namespaces")
    surroundings, versions = Surroundings(registry, namespaces), Versions(conversions)
    sifter = Sifter(surroundings, versions, authorizer)
    asker = Asker(client, registry.components, random)
    mutating = Hooks(storage.collection(_GROUP, "mutatingwebhookconfigurations"))
    validating = Hooks(storage.collection(_GROUP, "validatingwebhookconfigurations"))
    return Admission(
        [
            NamespaceLifecycle(namespaces),
            Priority(storage.collection("scheduling.k8s.io", "priorityclasses")),
            ClaimResize(storage.collection("storage.k8s.io", "storageclasses")),
        ],
        [
            MutatingWebhooks(mutating, sifter, asker, versions),
            Policies(storage, registry, surroundings, versions, authorizer),
            ValidatingWebhooks(validating, sifter, asker, versions),
        ],
    )
