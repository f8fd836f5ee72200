"""Copies the fields that two versions of a kind have in common."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any, TypeVar, get_args, get_origin

from pydantic_core import to_jsonable_python

from pyctrl.api import KubernetesObject, Model, Quantity, format_duration
from pyctrl.errors import DecodeError

__all__ = ["model_in", "named", "same_fields"]

T = TypeVar("T", bound=KubernetesObject)

_ENVELOPE = ("apiVersion", "kind", "metadata")
_CURE = (
    "a field with another type in the other version is left out with same_fields(..., without=[PATH]), and a required "
    "one gets its value with values={PATH: VALUE}"
)


def same_fields(
    obj: KubernetesObject,
    kind: type[T],
    *,
    without: Collection[str] = (),
    values: Mapping[str, Any] = MappingProxyType({}),
) -> T:
    """Return an object of another version with the fields that both versions have under the same name.

    A function of a `Spoke` starts with it and then sets the fields that differ. Metadata is left out, because a
    `Conversion` carries it over. Fields that only the old version names are left out too, on every level; fields that
    neither version names are kept.

        def v1_to_v2(old: v1.CronTab) -> v2.CronTab:
            new = same_fields(old, v2.CronTab, without=["spec.schedule"])  # a text in v1, an object in v2
            new.spec.schedule = parsed(old.spec.schedule)
            return new

    A field that the other version requires must get its value here:
    ``values={"spec.schedule": parsed(old.spec.schedule)}``.

    Args:
        obj: the object.
        kind: the class of the other version.
        without: paths of fields that are not carried over, because they have another type or meaning in the other
            version. Names are those of Python or of the wire; paths go through lists and maps
            (``spec.parts.weight``).
        values: values of fields of the new object by path; they replace the old ones.

    Raises:
        DecodeError: the other version requires a field that this one lacks, or a field has another type there. The
            message names the field and the remedy.
        ValueError: a path names no field; the message lists the fields.
    """
    wire = {name: value for name, value in obj.to_wire().items() if name not in _ENVELOPE}
    for path in without:
        _drop(obj, wire, path.split("."), path)
    for path, value in values.items():
        _put(kind, wire, path.split("."), _to_wire(value), path)
    try:
        made = kind.from_wire({"apiVersion": kind.gvk.api_version, "kind": kind.gvk.kind, **wire})
    except DecodeError as error:
        raise DecodeError(f"{error}; {_CURE}") from error
    _leave_out(obj, made)
    return made


def _drop(value: Any, wire: Any, steps: Sequence[str], path: str) -> None:
    """Remove a field from the wire form of a value."""
    if isinstance(value, Model) and isinstance(wire, dict):
        name, alias = named(type(value), steps[0], path)
        if len(steps) == 1:
            wire.pop(alias, None)
        elif alias in wire:
            _drop(getattr(value, name), wire[alias], steps[1:], path)
    elif isinstance(value, list) and isinstance(wire, list):
        for each, item in zip(value, wire, strict=True):
            _drop(each, item, steps, path)
    elif isinstance(value, dict) and isinstance(wire, dict):
        for key in value.keys() & wire.keys():
            _drop(value[key], wire[key], steps, path)


def _put(cls: type[Model], wire: dict[str, Any], steps: Sequence[str], value: Any, path: str) -> None:
    """Set a value in the wire form of an object of a class."""
    name, alias = named(cls, steps[0], path)
    if len(steps) == 1:
        wire[alias] = value
        return
    inner = model_in(cls.__pydantic_fields__[name].annotation)
    if inner is None:
        raise ValueError(
            f"{path!r}: {name} of {cls.__name__} is not an object with fields; give the value of the whole field"
        )
    if not isinstance(wire.get(alias), dict):
        wire[alias] = {}
    _put(inner, wire[alias], steps[1:], value, path)


def named(cls: type[Model], step: str, path: str) -> tuple[str, str]:
    """Return a field's names in Python and on the wire. Raises ValueError if the class has no such field."""
    fields = {name: field.serialization_alias or name for name, field in cls.__pydantic_fields__.items()}
    found = next(((name, alias) for name, alias in fields.items() if step in (name, alias)), None)
    if found is None:
        raise ValueError(f"{path!r}: {cls.__name__} has no field {step!r}; it has {', '.join(fields)}")
    return found


def model_in(annotation: Any) -> type[Model] | None:
    """Return the model class of an annotation, which may be optional; None for other types."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    is_container = isinstance(get_origin(annotation), type) and issubclass(get_origin(annotation), (list, dict))
    inner = () if is_container else get_args(annotation)
    return next((found for each in inner if (found := model_in(each)) is not None), None)


def _to_wire(value: Any) -> Any:
    if isinstance(value, Model):
        return value.to_wire()
    if isinstance(value, Mapping):
        return {key: _to_wire(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_wire(each) for each in value]
    if isinstance(value, Quantity):
        return str(value)
    if isinstance(value, timedelta):
        return format_duration(value)
    return to_jsonable_python(value)


def _leave_out(old: Any, new: Any) -> None:
    """Remove from the new tree the fields that only the classes of the old one name; both have the same values."""
    if isinstance(old, Model) and isinstance(new, Model):
        unknown = new.__pydantic_extra__ or {}
        for name, field in type(old).__pydantic_fields__.items():
            alias = field.serialization_alias or name
            unknown.pop(alias, None)
            if (there := _field(new, alias)) is not None:
                _leave_out(getattr(old, name), there)
    elif isinstance(old, list) and isinstance(new, list):
        for before, after in zip(old, new, strict=False):
            _leave_out(before, after)
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() & new.keys():
            _leave_out(old[key], new[key])


def _field(model: Model, alias: str) -> Any:
    """Return the value of the field with this name on the wire, or None."""
    fields = type(model).__pydantic_fields__.items()
    found = next((name for name, field in fields if (field.serialization_alias or name) == alias), None)
    return getattr(model, found) if found is not None else None
