"""OwnerReferencesPermissionEnforcement: only who may delete changes owners, and holds the deletion of owners back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from pyctrl._go.text import quoted
from pyctrl.api import Access
from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.served_resources import ServedResources

OWNER_RIGHTS: Final = "OwnerReferencesPermissionEnforcement"


class OwnerReferencesPermissionEnforcement:
    """Asks for `delete` of what gets other owners, and for `update` of the `finalizers` of owners that it holds back.

    The texts are kube-apiserver's 1.36, its Go values among them. Unlike there, where kinds are read anew twice a
    minute, a kind can own as soon as its definition is served.
    """

    def __init__(self, registry: ServedResources, authorizer: Authorizer) -> None:
        self._registry = registry
        self._authorizer = authorizer

    def concerns(self, group: str, resource: str) -> bool:
        """Everything may have owners."""
        return True

    def mutate(self, attributes: Attributes) -> None:
        """Nothing is changed."""

    def validate(self, attributes: Attributes) -> None:
        """Refuse (403) owners that the user may not set or remove; a kubelet's status of a pod is left alone."""
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
        """Say what somebody does who writes the finalizers of an owner."""
        group, resource, is_namespaced = self._resource(owner, attributes)
        namespace = attributes.namespace if is_namespaced else ""
        return Access("update", group, resource, "finalizers", namespace, owner.get("name", ""))

    def _resource(self, owner: dict[str, Any], attributes: Attributes) -> tuple[str, str, bool]:
        version, kind = owner.get("apiVersion", ""), owner.get("kind", "")
        group, _, short = version.rpartition("/")
        for known in self._registry.of_group(group, short):
            if kind in (known.kind, known.kind.lower()):
                return group, known.plural, known.namespaced
            if kind == f"{known.kind}List":  # kube-apiserver guesses its plural
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
    """Give the owners whose deletion is to wait for the object, and did not have to before."""
    blocked = {owner.get("uid") for owner in old if owner.get("blockOwnerDeletion")}
    return (owner for owner in new if owner.get("blockOwnerDeletion") and owner.get("uid") not in blocked)
