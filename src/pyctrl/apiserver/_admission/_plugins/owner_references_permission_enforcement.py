"""Admission plugin OwnerReferencesPermissionEnforcement: permissions for changes of owner references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyctrl._go.text import quoted
from pyctrl.api import Access
from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.served_resources import ServedResources

__all__ = ["OwnerReferencesPermissionEnforcement"]


class OwnerReferencesPermissionEnforcement:
    """Requires `delete` on an object for changes of its owners, and `update` on `finalizers` of owners that it blocks.

    The messages are those of kube-apiserver 1.36, including printed Go values. kube-apiserver refreshes its known kinds
    every 30 seconds; here a kind can be an owner as soon as its definition is served.
    """

    def __init__(self, registry: ServedResources, authorizer: Authorizer) -> None:
        self._registry = registry
        self._authorizer = authorizer

    def handles(self, group: str, resource: str) -> bool:
        """Return True: every object can have owners."""
        return True

    def mutate(self, attributes: Attributes) -> None:
        """Do nothing."""

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) changes of owners that the user is not allowed to make; updates of pods' status are exempt."""
        if attributes.operation not in (CREATE, UPDATE) or _is_pod_status(attributes):
            return
        new, old = _owners(attributes.object), _owners(attributes.old)
        if new == old:
            return
        if attributes.operation == UPDATE:
            self._check(attributes, _deletion(attributes), "cannot set an ownerRef on a resource you can't delete")
        for owner in _newly_blocked(new, old):
            why = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
            self._check(attributes, self._finalizing(owner, attributes), why)

    def _check(self, attributes: Attributes, access: Access, why: str) -> None:
        decision = self._authorizer.decide(attributes.user, access)
        if not decision.is_allowed:
            raise attributes.forbidden(f"{why}: {decision.reason}, {decision.error or '<nil>'}")

    def _finalizing(self, owner: dict[str, Any], attributes: Attributes) -> Access:
        """Return the access that an update of an owner's finalizers needs."""
        group, resource, is_namespaced = self._resource(owner, attributes)
        namespace = attributes.namespace if is_namespaced else ""
        return Access("update", group, resource, "finalizers", namespace, owner.get("name", ""))

    def _resource(self, owner: dict[str, Any], attributes: Attributes) -> tuple[str, str, bool]:
        version, kind = owner.get("apiVersion", ""), owner.get("kind", "")
        group, _, short = version.rpartition("/")
        for known in self._registry.of_group(group, short):
            if kind in (known.kind, known.kind.lower()):
                return group, known.plural, known.namespaced
            if kind == f"{known.kind}List":  # kube-apiserver guesses the plural
                return group, f"{kind.lower()}s", known.namespaced
        raise attributes.forbidden(
            f"cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {version} "
            f"Kind {kind}: no matches for kind {quoted(kind)} in version {quoted(version)}"
        )


def _is_pod_status(attributes: Attributes) -> bool:
    target = attributes.request.target
    return (target.group, target.resource, target.subresource) == ("", "pods", "status")


def _owners(obj: dict[str, Any] | None) -> list[dict[str, Any]]:
    return ((obj or {}).get("metadata") or {}).get("ownerReferences") or []


def _deletion(attributes: Attributes) -> Access:
    target = attributes.request.target
    resource, subresource = target.resource, target.subresource
    return Access("delete", target.group, resource, subresource, attributes.namespace, attributes.name)


def _newly_blocked(new: list[dict[str, Any]], old: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Return the owners with blockOwnerDeletion that did not have it before."""
    blocked = {owner.get("uid") for owner in old if owner.get("blockOwnerDeletion")}
    return (owner for owner in new if owner.get("blockOwnerDeletion") and owner.get("uid") not in blocked)
