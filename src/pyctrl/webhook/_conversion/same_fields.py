"""What two versions of a kind say in the same way, carried from one to the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, get_args, get_origin

from pydantic_core import to_jsonable_python

from pyctrl.api import KubernetesObject, Model
from pyctrl.errors import DecodeError

__all__ = ["model_in", "named", "same_fields"]

T = TypeVar("T", bound=KubernetesObject)

_ENVELOPE = ("apiVersion", "kind", "metadata")
_CURE = (
    "a field with another type in the other version is left out with same_fields(..., without=[PATH]), and one that "
    "has to be there is given with values={PATH: VALUE}"
)


def same_fields(
    obj: KubernetesObject,
    kind: type[T],
    *,
    without: Collection[str] = (),
    values: Mapping[str, Any] = MappingProxyType({}),
) -> T:
    """Return an object of another version that has the fields which both versions have, under the same names.

    It is what a function of a `Spoke` begins with; what differs, it says afterwards. Metadata is left out, which a
    `Conversion` carries over. A field that only the old version names is left out, too, on every level; what neither
    names stays.

        def v1_to_v2(old: v1.CronTab) -> v2.CronTab:
            new = same_fields(old, v2.CronTab, without=["spec.schedule"])  # a text in v1, an object in v2
            new.spec.schedule = parsed(old.spec.schedule)
            return new

    A field that the other version requires has to be there from the beginning, and is given its value:
    ``values={"spec.schedule": parsed(old.spec.schedule)}``.

    Args:
        obj: the object.
        kind: the class of the other version.
        without: paths of fields that are not carried over: they have another type or another meaning in the other
            version. Names are those of Python or of the wire; paths go through lists and maps (``spec.parts.weight``).
        values: what fields of the new object are, by their paths, instead of what the old one has there.

    Raises:
        DecodeError: the other version requires a field that this one has not, or has another type of value; says which,
            and what to do.
        ValueError: a path leads to no field; says which fields there are.
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
    """Take a field out of what is the wire form of a value."""
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
    """Put a value into the wire form of an object of a class."""
    name, alias = named(cls, steps[0], path)
    if len(steps) == 1:
        wire[alias] = value
        return
    inner = model_in(cls.__pydantic_fields__[name].annotation)
    if inner is None:
        raise ValueError(
            f"{path!r}: {name} of {cls.__name__} is no object with fields; give the value of the whole field"
        )
    if not isinstance(wire.get(alias), dict):
        wire[alias] = {}
    _put(inner, wire[alias], steps[1:], value, path)


def named(cls: type[Model], step: str, path: str) -> tuple[str, str]:
    """Return the name of a field, in Python and on the wire. Raises ValueError: the class has none of this name."""
    fields = {name: field.serialization_alias or name for name, field in cls.__pydantic_fields__.items()}
    found = next(((name, alias) for name, alias in fields.items() if step in (name, alias)), None)
    if found is None:
        raise ValueError(f"{path!r}: {cls.__name__} has no field {step!r}; it has {', '.join(fields)}")
    return found


def model_in(annotation: Any) -> type[Model] | None:
    """Return the class of an annotation that is one, or an optional one."""
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
    return to_jsonable_python(value)


def _leave_out(old: Any, new: Any) -> None:
    """Take out of one tree, which has the values of the other, what only that one's classes name."""
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
    """Return the value of the field that is called so on the wire; None: there is none."""
    fields = type(model).__pydantic_fields__.items()
    found = next((name for name, field in fields if (field.serialization_alias or name) == alias), None)
    return getattr(model, found) if found is not None else None
