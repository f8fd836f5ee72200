"""Mutating webhooks that keep the label `pyctrl.io/shard` in what other programs write."""

from __future__ import annotations

from collections.abc import Iterable

from pyctrl.api import GroupVersionKind, Unstructured
from pyctrl.cache import SHARD_LABEL, Informer
from pyctrl.controller import Controller
from pyctrl.manager._sharding.shard_caches import uses_of
from pyctrl.webhook import AdmissionRequest, Defaulter, Operation, Registration, Webhooks, defaulting

__all__ = ["add_shard_webhooks"]

_OWNERS = "metadata.ownerReferences"
_HAS = "has(%s.metadata.labels) && '" + SHARD_LABEL + "' in %s.metadata.labels"
#: Most updates keep label and owners, and need no review.
_CHANGES = " || ".join(
    [
        "request.operation == 'CREATE'",
        f"!({_HAS % ('object', 'object')})",
        f"!({_HAS % ('oldObject', 'oldObject')})",
        f"object.metadata.labels['{SHARD_LABEL}'] != oldObject.metadata.labels['{SHARD_LABEL}']",
        f"has(object.{_OWNERS}) != has(oldObject.{_OWNERS})",
        f"(has(object.{_OWNERS}) && object.{_OWNERS} != oldObject.{_OWNERS})",
    ]
)


def add_shard_webhooks(webhooks: Webhooks, controllers: Iterable[Controller]) -> None:
    """Add a mutating webhook for each kind that controllers reconcile or own, for ``Sharding(memory="label")``.

    It labels owned objects when they are created, so that no cache misses them even for a moment, and takes back
    changes of the label. Objects that are reconciled have no uid yet when they are created; the leader labels them
    milliseconds later. If the webhook cannot be called the write goes on, and the replicas repair the label.

    Call it after the controllers were built; without sharding it adds nothing.
    """
    for informer, uses in uses_of(controllers).items():
        if uses.needs_all or informer.cluster:
            continue
        if uses.owners:
            informer.select_by_owner(uses.owners)
        webhooks.register(_registration(informer), defaulting(informer.gvk, _ShardLabel(informer)))


def _registration(informer: Informer) -> Registration:
    gvk: GroupVersionKind = informer.gvk
    return Registration(
        type="mutating",
        kind=gvk,
        plural=informer.resource.plural,
        namespaced=informer.resource.namespaced is not False,
        path=f"/shard-{gvk.group.replace('.', '-')}-{gvk.version}-{gvk.kind.lower()}",
        operations=(Operation.CREATE, Operation.UPDATE),
        failure_policy="Ignore",
        match_conditions=({"name": "changes-shard", "expression": _CHANGES},),
        verb="shard",
    )


class _ShardLabel(Defaulter[Unstructured]):
    """Sets the label, as far as it is known; removes any other value."""

    def __init__(self, informer: Informer) -> None:
        self._informer = informer

    def default(self, obj: Unstructured, request: AdmissionRequest, /) -> None:
        metadata = obj.metadata
        uid = metadata.uid if request.operation is Operation.UPDATE else ""  # the server gives a new one
        label = self._informer.shards.label(uid or "", metadata.owner_references)
        labels = {name: value for name, value in (metadata.labels or {}).items() if name != SHARD_LABEL}
        metadata.labels = labels if label is None else {**labels, SHARD_LABEL: label}
