"""What a class was declared for: the kind in ``class PodSetReconciler(Reconciler[PodSet])``."""

from __future__ import annotations

from typing import cast, get_args, get_origin

from pyctrl.api._object import KubernetesObject

__all__ = ["kind_argument"]


def kind_argument(cls: type, generic: type) -> type[KubernetesObject] | None:
    """Return the kind that a class or one of its bases names as the argument of a generic class, None without one."""
    for each in cls.__mro__:
        for base in vars(each).get("__orig_bases__", ()):
            origin = get_origin(base)
            if isinstance(origin, type) and issubclass(origin, generic):
                kind = next(iter(get_args(base)), None)
                if isinstance(kind, type) and hasattr(kind, "gvk"):
                    return cast(type[KubernetesObject], kind)
    return None
