"""Admission plugin NamespaceLifecycle: rejects creates in missing or terminating namespaces."""

from __future__ import annotations

from pyctrl.apiserver._admission.attributes import CREATE, DELETE, Attributes
from pyctrl.apiserver._errors import FieldError, not_found
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["NamespaceLifecycle"]


IMMORTAL_NAMESPACES = frozenset({"default", "kube-system", "kube-public"})
_ACCESS_REVIEWS = "localsubjectaccessreviews"  # also allowed for a namespace that does not exist


class NamespaceLifecycle:
    """Plugin that protects namespaces; the first of the chain, as in kube-apiserver."""

    def __init__(self, namespaces: Collection) -> None:
        self._namespaces = namespaces

    def handles(self, group: str, resource: str) -> bool:
        """Return True: the plugin handles all resources."""
        return True

    def mutate(self, attributes: Attributes) -> None:
        """Reject creates in a missing (404) or terminating (403) namespace, and deletes of system namespaces (403)."""
        target = attributes.request.target
        if attributes.operation == CREATE:
            if target.namespace and target.resource != _ACCESS_REVIEWS:
                self._check(attributes, target.namespace)
        elif (
            attributes.operation == DELETE
            and target.resource == "namespaces"
            and not target.group
            and attributes.name in IMMORTAL_NAMESPACES
        ):
            raise attributes.forbidden("this namespace may not be deleted")

    def validate(self, attributes: Attributes) -> None:
        """Do nothing."""

    def _check(self, attributes: Attributes, namespace: str) -> None:
        found = self._namespaces.find("", namespace)
        if found is None:
            raise not_found("namespaces", namespace)
        if b'"deletionTimestamp"' in found.data and "deletionTimestamp" in found.decode()["metadata"]:
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            cause = FieldError(
                "NamespaceTerminating", f"namespace {namespace} is being terminated", "metadata.namespace"
            )
            raise attributes.forbidden(why, cause)
