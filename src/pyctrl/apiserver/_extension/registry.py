"""Registry of an extension API server: resources that are described like custom ones, and nothing built in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType, served_types
from pyctrl.apiserver._extension.subresource_functions import FunctionREST, SubresourceFunctions
from pyctrl.apiserver._registry.resource_registry import builtin_components
from pyctrl.apiserver._resources.resource_storage import ResourceStorage
from pyctrl.apiserver._resources.resource_type import ConnectedSubresource, RESTFactory
from pyctrl.apiserver._resources.served_resources import ServedResources
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["ExtensionResourceRegistry"]


class ExtensionResourceRegistry(ServedResources):
    """The resources of an extension API server. It is empty at first: `install` adds resources."""

    def __init__(self) -> None:
        super().__init__(builtin_components())

    def install(
        self,
        definition: Mapping[str, JSON],
        *,
        storage: ResourceStorage | None = None,
        subresources: Mapping[str, SubresourceFunctions] = MappingProxyType({}),
        connected: tuple[ConnectedSubresource, ...] = (),
    ) -> None:
        """Serve a resource.

        Args:
            definition: The CustomResourceDefinition that describes the resource. It is not served itself.
            storage: The storage of the objects; None for the storage of the server.
            subresources: The subresources besides status and scale.
            connected: The same subresources for discovery.
        """
        rest = {name: partial(FunctionREST, each) for name, each in subresources.items()}
        types = served_types(definition, self.components)
        for each in types:
            _extend(each, storage, rest, connected)
        self.replace(definition["metadata"]["name"], types)


def _extend(
    each: CustomResourceType,
    storage: ResourceStorage | None,
    rest: Mapping[str, RESTFactory],
    connected: tuple[ConnectedSubresource, ...],
) -> None:
    each.rest, each.connected = rest, connected
    each.subresources |= rest.keys()
    if storage is not None:
        each.rest_storage, each.verbs = storage, storage.verbs
        each.allows_unconditional_update = True  # the objects may have no versions
