"""The built-in kinds by name; a group is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

from pyctrl.api import GroupVersionKind, KubernetesObject, Scheme
from pyctrl.kinds._table import KINDS

__all__ = ["BUILTIN_KINDS", "BuiltinKind", "builtin_scheme"]


class BuiltinKind(NamedTuple):
    """Where a built-in kind is served. `plural` is "" for kinds that exist only as a sub-resource, such as Eviction."""

    module: str
    plural: str
    namespaced: bool

    def load(self, kind: str) -> type[KubernetesObject]:
        """Import the module and return the class of this name."""
        cls: type[KubernetesObject] = getattr(import_module(f"pyctrl.kinds.{self.module}"), kind)
        return cls


#: Every built-in kind; reading it imports no group.
BUILTIN_KINDS: Mapping[GroupVersionKind, BuiltinKind] = {
    GroupVersionKind(*names): BuiltinKind(*where) for names, where in KINDS.items()
}


def builtin_scheme() -> Scheme:
    """Return a scheme with all built-in kinds, whose groups are imported on demand; add your own kinds to it."""
    return _BuiltinScheme()


class _BuiltinScheme(Scheme):
    def type_for(self, gvk: GroupVersionKind) -> type[KubernetesObject] | None:
        known = super().type_for(gvk)
        if known is None and (builtin := BUILTIN_KINDS.get(gvk)) is not None:
            known = builtin.load(gvk.kind)
            self.add(known)
        return known

    def require(self, gvk: GroupVersionKind) -> type[KubernetesObject]:
        return self.type_for(gvk) or super().require(gvk)

    def __contains__(self, gvk: object) -> bool:
        return super().__contains__(gvk) or gvk in BUILTIN_KINDS

    def __iter__(self) -> Iterator[GroupVersionKind]:
        yield from dict.fromkeys((*super().__iter__(), *BUILTIN_KINDS))
