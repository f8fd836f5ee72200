"""What two versions of a kind say in the same way, carried from one to the other."""

from __future__ import annotations

from typing import Any, TypeVar

from pyctrl.api import KubernetesObject, Model

__all__ = ["same_fields"]

T = TypeVar("T", bound=KubernetesObject)

_ENVELOPE = ("apiVersion", "kind", "metadata")


def same_fields(obj: KubernetesObject, kind: type[T]) -> T:
    """Return an object of another version that has the fields which both versions have, under the same names.

    It is what a function of a `Spoke` begins with; what differs, it says afterwards. Metadata is left out, which a
    `Conversion` carries over. A field that only the old version names is left out, too, on every level; what neither
    names stays.

        def v1_to_v2(old: v1.CronTab) -> v2.CronTab:
            new = same_fields(old, v2.CronTab)
            new.spec.schedule = old.spec.cron_spec
            return new

    Raises:
        DecodeError: the other version wants a field that this one has not, or another type of value; says which.
    """
    wire = {name: value for name, value in obj.to_wire().items() if name not in _ENVELOPE}
    made = kind.from_wire({"apiVersion": kind.gvk.api_version, "kind": kind.gvk.kind, **wire})
    _leave_out(obj, made)
    return made


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
