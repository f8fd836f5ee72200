"""Where a kind is served, and the paths that lead there."""

from __future__ import annotations

from dataclasses import dataclass

from pyctrl.api import GroupVersionKind, GroupVersionResource
from pyctrl.client._keys import check_segment

__all__ = ["ResourceMapping", "path_for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceMapping:
    """How the server offers a kind: its plural, its scope, what can be done with it."""

    gvk: GroupVersionKind
    plural: str
    namespaced: bool
    verbs: frozenset[str] = frozenset()
    subresources: frozenset[str] = frozenset()
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @property
    def gvr(self) -> GroupVersionResource:
        """The resource, with group and version."""
        return GroupVersionResource(self.gvk.group, self.gvk.version, self.plural)


def path_for(mapping: ResourceMapping, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Return the path of an object, or of the collection when there is no name; not yet escaped for a URL.

    A collection without a namespace is that of all namespaces. The namespace of a cluster-scoped kind is left out,
    so that a request's key fits both scopes.

    Raises:
        ValueError: when an object of a namespaced kind is named without its namespace, or a part has a slash.
    """
    parts = [mapping.gvr.path]
    if mapping.namespaced and namespace:
        parts += ["namespaces", check_segment(namespace)]
    elif mapping.namespaced and name:
        raise ValueError(f"{mapping.gvk.kind} {name!r} needs a namespace: it is a namespaced kind")
    parts.append(mapping.plural)
    if name:
        parts.append(check_segment(name))
    if subresource:
        parts += [check_segment(part) for part in subresource.split("/")]
    return "/".join(parts)
