"""Resource mapping: a kind and the resource that serves it."""

from __future__ import annotations

from dataclasses import dataclass

from pyctrl.api import GroupVersionKind, GroupVersionResource

__all__ = ["ResourceMapping"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceMapping:
    """The resource of a kind: plural, scope, verbs and sub-resources (meta.RESTMapping of client-go)."""

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
        """Group, version and plural of the resource."""
        return GroupVersionResource(self.gvk.group, self.gvk.version, self.plural)
