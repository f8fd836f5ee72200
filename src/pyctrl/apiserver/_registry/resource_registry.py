"""Registry of the resources of a server, with the built-in ones loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from pyctrl.apiserver._apiextensions.custom_type import served_types
from pyctrl.apiserver._registry.builtin_type import BuiltinResourceType, Described
from pyctrl.apiserver._registry.services import ServiceAllocator
from pyctrl.apiserver._registry.strategies import Strategies
from pyctrl.apiserver._resources.served_resources import ServedResources
from pyctrl.apiserver._schema.components import OpenAPIComponents
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["ResourceRegistry"]


class ResourceRegistry(ServedResources):
    """The resources of a server: all built-in ones, and those of definitions that are installed.

    Args:
        load: Loads a document of the API by its name; by default those of pyctrl.
    """

    def __init__(self, load: Callable[[str], Mapping[str, JSON]] | None = None) -> None:
        super().__init__(OpenAPIComponents(load) if load else _builtin_components())
        strategies = Strategies()
        self.allocator: ServiceAllocator = strategies.allocator  # the server reports stored services to it
        for group, version, resource in _described((load or _load)("discovery")):
            strategy = strategies.of(group, resource["responseKind"]["kind"])
            self.add_builtin(BuiltinResourceType(group, version, resource, self.components, strategy))

    def install(self, definition: Mapping[str, JSON]) -> None:
        """Serve the versions of an established definition in place of those that it had before."""
        self.replace(definition["metadata"]["name"], served_types(definition, self.components))


def _described(discovery: Mapping[str, JSON]) -> Iterator[tuple[str, str, Described]]:
    """Yield group, version and description of each built-in resource."""
    for documents in discovery.values():
        for group in documents:
            name = (group.get("metadata") or {}).get("name", "")
            for version in group["versions"]:
                for resource in version["resources"]:
                    yield name, version["version"], resource


@cache  # shared by all servers of this process, which only read it: compiling is most of a server's start
def _builtin_components() -> OpenAPIComponents:
    return OpenAPIComponents(_load)


@cache
def _load(name: str) -> Mapping[str, JSON]:
    from pyctrl._schemas import load  # the documents are read when the first registry is made, not on import

    found: Mapping[str, JSON] = load(name)
    return found
