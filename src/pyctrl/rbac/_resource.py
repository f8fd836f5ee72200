"""How a kind is called in rules: its plural, and whether it lives in namespaces."""

from __future__ import annotations

from typing import NamedTuple

from pyctrl.api import KindLike, kind_of
from pyctrl.kinds import BUILTIN_KINDS

__all__ = ["Resource", "resource_of"]


class Resource(NamedTuple):
    """What rules call a kind. ``namespaced`` is None where nobody knows, and then taken for true."""

    group: str
    plural: str
    namespaced: bool | None = None


def resource_of(kind: KindLike) -> Resource:
    """Return what rules call a kind. Asks no server.

    A class knows, and so does `pyctrl.kinds` of the built-in kinds. The plural of any other GroupVersionKind is
    guessed as Kubernetes does (k8s.io/apimachinery, UnsafeGuessKindToResource): give it a class where that is wrong.
    """
    gvk = kind_of(kind)
    info = getattr(kind, "resource", None)
    if info is not None:
        return Resource(gvk.group, info.plural, info.namespaced)
    builtin = BUILTIN_KINDS.get(gvk)
    if builtin is not None and builtin.plural:
        return Resource(gvk.group, builtin.plural, builtin.namespaced)
    return Resource(gvk.group, _guess(gvk.kind.lower()), None)


def _guess(singular: str) -> str:
    if singular.endswith("s"):
        return singular if singular == "endpoints" else f"{singular}es"
    return f"{singular[:-1]}ies" if singular.endswith("y") else f"{singular}s"
