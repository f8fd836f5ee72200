"""Resource mapping: the resource under which the server offers a kind."""

from __future__ import annotations

from dataclasses import dataclass

from pyctrl.api import GroupVersionKind, GroupVersionResource

__all__ = ["ResourceMapping"]


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
