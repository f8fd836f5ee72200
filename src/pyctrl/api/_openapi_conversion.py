"""Conversion of kubernetes_asyncio's models from and to JSON documents, and the kinds of their classes.

A model class has the types and the names of its fields in ``openapi_types`` and ``attribute_map``. Values are converted
as the library's ApiClient does, with these differences:

- Fields that a class does not know are kept beside it and written back, so that an update loses none.
- A required field that is missing is None, and is not an error.
- An object that is read has its apiVersion and kind, also as an item of a list.
- Times are written as the server writes them, and a time without a zone is taken as UTC.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import cache, cached_property
from typing import Any

import msgspec

from pyctrl._json import UNREADABLE, why_unreadable
from pyctrl.api._names import GroupVersionKind
from pyctrl.api._times import format_micro_time, format_time
from pyctrl.errors import DecodeError

__all__ = ["from_wire", "gvk_of", "set_metadata", "to_wire"]

_UNKNOWN = "_pyctrl_unknown_fields"  # attribute of a model: the members of its JSON that its class does not have
_VERSION = r"v\d+(?:(?:alpha|beta)\d+)?"
_MODULE = re.compile(rf"(?:([a-z_]+)_)?({_VERSION})_(\w+)")  # core_v1_event: the API, the version, the kind
_CLASS = re.compile(rf".*?{_VERSION}(.+)", re.IGNORECASE)  # CoreV1Event
_SHORT_GROUPS = ("apps", "autoscaling", "batch", "policy")  # groups without the suffix .k8s.io
_MICRO_TIMES = frozenset({"acquire_time", "event_time", "last_observed_time", "ping_time", "renew_time"})

Converter = Callable[[Any], Any]


class _Settings:
    """The configuration of the models that are decoded here: objects of a server are not validated."""

    client_side_validation = False

    def __deepcopy__(self, memo: object) -> _Settings:
        return self


_SETTINGS = _Settings()


# --- kinds ------------------------------------------------------------------------------------------------------------


@cache
def gvk_of(cls: Any) -> GroupVersionKind | None:
    """Return the kind of a model class; None if no API of its library reads or creates such objects.

    The class knows its version and kind only by name. Its group is that of the API class with methods for it:
    ``AppsV1Api.create_namespaced_deployment`` is for ``V1Deployment``.
    """
    model = _generated(cls)
    module = _MODULE.fullmatch(model.__module__.rpartition(".")[2])
    name = _CLASS.fullmatch(model.__name__)
    library = sys.modules.get(f"{model.__module__.partition('.')[0]}.client")
    is_object = {"api_version", "metadata"} <= model.openapi_types.keys()  # a part is none, nor is V1NamespaceStatus
    if module is None or name is None or library is None or not is_object:
        return None
    api, version, kind = module.groups()
    suffix = f"{version.capitalize()}Api"
    methods = tuple(f"{verb}{kind}" for verb in ("create_namespaced_", "create_", "read_"))
    for label, candidate in vars(library).items():
        stem = label.removesuffix(suffix)
        is_right = stem != label and (api is None or stem.lower() == api.replace("_", ""))
        if is_right and any(hasattr(candidate, method) for method in methods):
            return GroupVersionKind(_group(stem), version, name[1])
    return None


def _generated(cls: type) -> Any:
    """Return the library's class that a model class is or is derived from."""
    return next(base for base in cls.__mro__ if "openapi_types" in vars(base))


def _group(stem: str) -> str:
    """Return the group of an API class: Core, Apps, RbacAuthorization."""
    label = re.sub(r"(?<=[a-z])(?=[A-Z])", ".", stem).lower()
    if label == "core":
        return ""
    return label if label in _SHORT_GROUPS else f"{label}.k8s.io"


# --- from JSON --------------------------------------------------------------------------------------------------------


def from_wire(cls: type, data: bytes | str | Mapping[str, Any]) -> Any:
    """Decode an object of a model class. An item of a list may lack apiVersion and kind.

    Raises:
        DecodeError: the data is not JSON, a field is wrong, or the object is of another kind.
    """
    try:
        document = data if isinstance(data, Mapping) else msgspec.json.decode(data)
    except UNREADABLE as error:
        raise DecodeError(f"not JSON that can be decoded: {why_unreadable(error)}") from error
    obj = _reader(cls).read(document)
    expected = gvk_of(cls)
    if expected is not None:
        found = GroupVersionKind.parse(obj.api_version or expected.api_version, obj.kind or expected.kind)
        if found != expected:
            raise DecodeError(f"expected {expected}, got {found}")
        obj.api_version, obj.kind = expected.api_version, expected.kind
    return obj


class _Reader:
    """Makes models of one class. Fields are compiled at first use, because some classes contain themselves."""

    def __init__(self, cls: type) -> None:
        self._cls: Any = cls

    @cached_property
    def _fields(self) -> dict[str, tuple[str, Converter]]:
        """The attribute and the converter of each member of the JSON."""
        names, types = self._cls.attribute_map, self._cls.openapi_types
        return {names[attribute]: (attribute, _converter(types[attribute], self._cls)) for attribute in names}

    def read(self, document: Any) -> Any:
        """Return a model. Members that are null are left out."""
        if not isinstance(document, Mapping):
            raise DecodeError(f"{self._cls.__name__}: expected a JSON object, got {type(document).__name__}")
        known, unknown = {}, {}
        for name, value in document.items():
            field = self._fields.get(name)
            if field is None:
                unknown[name] = value
            elif value is not None:
                known[field[0]] = self._convert(name, field[1], value)
        model = self._cls(**known, local_vars_configuration=_SETTINGS)
        if unknown:
            setattr(model, _UNKNOWN, unknown)
        return model

    def _convert(self, name: str, convert: Converter, value: Any) -> Any:
        try:
            return convert(value)
        except (AttributeError, TypeError, ValueError) as error:  # the value is not shown: it may be secret
            raise DecodeError(
                f"{self._cls.__name__}.{name}: a {type(value).__name__} does not fit its type: {type(error).__name__}"
            ) from error


_reader = cache(_Reader)


def _converter(declared: str, cls: type) -> Converter:
    """Return the converter of a type in ``openapi_types``: ``str``, ``list[V1Container]``, ``dict(str, str)``."""
    if declared.startswith("list["):
        return _list_of(_converter(declared[5:-1], cls))
    if declared.startswith("dict("):
        return _dict_of(_converter(declared[5:-1].partition(", ")[2], cls))
    if declared in _NATIVE:
        return _NATIVE[declared]
    models = sys.modules[_generated(cls).__module__.rpartition(".")[0]]
    return _reader(getattr(models, declared)).read


def _list_of(convert: Converter) -> Converter:
    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise TypeError(value)
        return [convert(item) for item in value]

    return read


def _dict_of(convert: Converter) -> Converter:
    return lambda value: {name: convert(item) for name, item in value.items()}


def _text(value: Any) -> str:
    if isinstance(value, (dict, list)):
        raise TypeError(value)
    return str(value)  # a quantity may be a number


_NATIVE: dict[str, Converter] = {
    "str": _text,
    "int": int,
    "float": float,
    "bool": bool,
    "object": lambda value: value,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
}


# --- to JSON ----------------------------------------------------------------------------------------------------------


def to_wire(model: Any) -> dict[str, Any]:
    """Return an object as JSON-ready dicts and lists. A missing apiVersion and kind are those of its class.

    Raises:
        TypeError: a field has a value that JSON cannot express.
    """
    document = _members(model)
    cls: Any = type(model)
    gvk = gvk_of(cls)
    if gvk is not None:
        document = {"apiVersion": gvk.api_version, "kind": gvk.kind, **document}
    return document


def _members(model: Any) -> dict[str, Any]:
    values = ((attribute, name, getattr(model, attribute)) for attribute, name in model.attribute_map.items())
    known = {name: _encode(value, attribute) for attribute, name, value in values if value is not None}
    return {**getattr(model, _UNKNOWN, {}), **known}


def _encode(value: Any, attribute: str = "") -> Any:
    match value:
        case None | str() | bool() | int() | float():
            return value
        case Mapping():
            return {name: _encode(item) for name, item in value.items()}
        case list() | tuple():
            return [_encode(item) for item in value]
        case datetime():
            is_micro = bool(value.microsecond) or attribute in _MICRO_TIMES
            return format_micro_time(value) if is_micro else format_time(value)
        case date():
            return value.isoformat()
    if hasattr(value, "openapi_types"):
        return _members(value)
    if hasattr(value, "to_wire"):  # a part of one of pyctrl's kinds
        return value.to_wire()
    raise TypeError(f"{attribute or 'an item'} has a value that JSON cannot express: a {type(value).__name__}")


def set_metadata(model: Any, metadata: Mapping[str, Any]) -> None:
    """Replace the metadata of a model, in place if it has some."""
    new = _converter(model.openapi_types["metadata"], type(model))(metadata)
    if model.metadata is None:
        model.metadata = new
        return
    for attribute in new.attribute_map:
        setattr(model.metadata, attribute, getattr(new, attribute))
