"""Objects of kubernetes_asyncio's model classes, such as ``V1Deployment``, beside pyctrl's own.

A model class has no GroupVersionKind and no codec; `_openapi_conversion.py` has both, and is imported when the first
model is seen. kubernetes_asyncio itself is never imported here: a program that has a model has imported it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar

from pyctrl.api._object import KubernetesObject
from pyctrl.api._unstructured import Object, Unstructured

__all__ = [
    "ObjectLike",
    "OpenApiModel",
    "as_object",
    "deep_copy",
    "is_model_class",
    "is_openapi_model",
    "keep_metadata",
]


class OpenApiModel(Protocol):
    """An object of a model class that OpenAPI Generator made, as kubernetes_asyncio has one for each built-in kind.

    Only objects with metadata are kinds: a ``V1Deployment`` is one, a ``V1PodSpec`` is not.
    """

    @property
    def api_version(self) -> str:
        """``group/version``, or None in items of lists."""
        ...

    @property
    def kind(self) -> str:
        """The kind's name, or None in items of lists."""
        ...

    @property
    def metadata(self) -> Any:
        """A ``V1ObjectMeta``."""
        ...

    def to_str(self) -> str:
        """Return the object as text."""
        ...


#: Any object that a client accepts: `Object`, or a model of kubernetes_asyncio.
ObjectLike: TypeAlias = KubernetesObject | Unstructured | OpenApiModel

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, of any class


def is_model_class(cls: object) -> bool:
    """Return whether a value is a model class of kubernetes_asyncio, or one of the same form."""
    return isinstance(cls, type) and hasattr(cls, "openapi_types") and hasattr(cls, "attribute_map")


def is_openapi_model(obj: object) -> TypeGuard[OpenApiModel]:
    """Return whether a value is an object of a model class."""
    return is_model_class(type(obj))


def as_object(obj: ObjectLike | Mapping[str, Any]) -> Object:
    """Return an object; a mapping and a model become Unstructured.

    Raises:
        TypeError: the argument is none of these.
    """
    if hasattr(obj, "gvk") and hasattr(obj, "to_wire"):  # isinstance is slow for pydantic's classes
        found: Any = obj
        typed: Object = found
        return typed
    if isinstance(obj, Mapping):
        return Unstructured.from_wire(obj)
    if not is_openapi_model(obj):
        raise TypeError(f"expected an object or its document, got {obj!r}")
    from pyctrl.api import _openapi_conversion  # here: most programs have no models

    return Unstructured.from_wire(_openapi_conversion.to_wire(obj))


def deep_copy(obj: O) -> O:
    """Return an independent copy of an object, of the same class."""
    made: Any = obj
    copied: O = copy.deepcopy(made) if is_openapi_model(obj) else made.deep_copy()
    return copied


def keep_metadata(obj: ObjectLike, changed: Object) -> None:
    """Write the metadata of ``changed``, which `as_object` made of ``obj``, back to a model. Other objects have it."""
    if obj is not changed:
        from pyctrl.api import _openapi_conversion

        _openapi_conversion.set_metadata(obj, changed.metadata.to_wire())
