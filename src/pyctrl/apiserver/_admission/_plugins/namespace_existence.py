"""Admission plugins NamespaceExists and NamespaceAutoProvision."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._errors import not_found
from pyctrl.apiserver._meta.system_fields import fill_system_fields
from pyctrl.apiserver._resources.resource_type import with_type_meta
from pyctrl.apiserver._storage.storage import Collection

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.served_resources import ServedResources

__all__ = ["NamespaceAutoProvision", "NamespaceExists"]


class NamespaceExists(Plugin):
    """Rejects writes in a namespace that does not exist."""

    def __init__(self, namespaces: Collection) -> None:
        self._namespaces = namespaces

    def handles(self, group: str, resource: str) -> bool:
        """Return True: the plugin handles all resources."""
        return True

    def validate(self, attributes: Attributes) -> None:
        """Reject (404) a write in a missing namespace."""
        name = attributes.request.target.namespace
        if name and self._namespaces.find("", name) is None:
            raise not_found("namespaces", name)


class NamespaceAutoProvision(Plugin):
    """Creates the namespace of a new object if it does not exist."""

    def __init__(self, namespaces: Collection, registry: ServedResources, random: Random) -> None:
        self._namespaces = namespaces
        self._registry = registry
        self._random = random

    def handles(self, group: str, resource: str) -> bool:
        """Return True: the plugin handles all resources."""
        return True

    def mutate(self, attributes: Attributes) -> None:
        """Create the namespace, unless the request is a dry run."""
        name = attributes.request.target.namespace
        if attributes.operation != CREATE or attributes.dry_run or not name:
            return
        if self._namespaces.find("", name) is None:
            resource = self._registry.require("", "v1", "namespaces")
            namespace: dict[str, Any] = {"metadata": {"name": name}}
            resource.decode(namespace, field_validation="Ignore", warnings=[])
            fill_system_fields(namespace["metadata"], self._random)
            resource.prepare_create(namespace, warnings=[], decoded_fields=None, user=None)
            self._namespaces.put(with_type_meta(namespace, resource), resource)
