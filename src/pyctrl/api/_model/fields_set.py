"""Fields of a model that must be written: those that were set, and those that were changed in place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache, partial
from typing import Any, cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pyctrl.api._model.pending import PENDING, own_dict

__all__ = ["allows_extra", "default_of", "update_fields_set"]

# None of these contains models. A look-up here takes a tenth of the time of isinstance with a pydantic class.
_ATOMS = frozenset((str, int, float, bool, type(None), datetime))


def update_fields_set(model: BaseModel) -> None:
    """Add changed fields to ``fields_set``, in this model and in those below (see `Model`).

    Pending fields were never read, and therefore never changed. Of the many fields that were not set, only those whose
    default can be changed in place are compared.
    """
    own = own_dict(model)
    if PENDING in own and own[PENDING].is_untouched:
        return
    kind: type[BaseModel] = type(model)
    written, extra = model.__pydantic_fields_set__, model.__pydantic_extra__
    for name in list(written):
        value = own.get(name, PENDING)  # PENDING: not decoded yet, or an extra
        type_: Any = type(value)
        if value is None:
            written.discard(name)
        elif type_ not in _ATOMS and _can_hold(type_):
            _update_value(value)
    empty, others = _changeable(kind)
    for name in empty:
        if (value := own.get(name)) and name not in written:
            _update_value(value)
            written.add(name)
    for name in others:
        value = own.get(name)
        type_ = type(value)
        if value is not None and name not in written and _can_change(type_):
            _update_value(value)
            if _is_changed(kind, name, value):
                written.add(name)
    if extra:
        for name in written & own.keys() & kind.__pydantic_fields__.keys():
            extra.pop(kind.__pydantic_fields__[name].serialization_alias or name, None)


@cache
def _changeable(kind: type[BaseModel]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the fields whose default can be changed in place: those that start as an empty list or dict; others."""
    empty, others = [], []
    for name, info in kind.__pydantic_fields__.items():
        if _default_factory(kind, name) in (list, dict):
            empty.append(name)
        elif info.default_factory is not None or type(info.default) not in _ATOMS:
            others.append(name)
    return tuple(empty), tuple(others)


def _update_value(value: Any) -> None:
    kind: Any = type(value)
    if kind is list:
        _update_items(value)
    elif kind is dict:
        _update_items(value.values())
    elif _is_model(kind):
        update_fields_set(value)
    else:
        _update_items(value.values() if isinstance(value, dict) else value)


def _update_items(items: Iterable[Any]) -> None:
    for item in items:
        kind: Any = type(item)
        if kind is dict:
            if item:  # saves a call for the many empty dicts of managedFields
                _update_items(item.values())
        elif kind not in _ATOMS and _can_hold(kind):
            _update_value(item)


@cache
def _can_change(kind: Any) -> bool:
    """Return whether a default of this type may have been changed in place."""
    return _can_hold(kind) or issubclass(kind, set)


@cache
def _can_hold(kind: Any) -> bool:
    """Return whether a value of this type can contain models."""
    return _is_model(kind) or issubclass(kind, (list, dict))


@cache
def _is_model(kind: Any) -> bool:
    from pyctrl.api._model.model import Model  # here: model.py imports this file

    return issubclass(kind, Model)


def _is_changed(kind: type[BaseModel], name: str, value: Any) -> bool:
    """Return whether a default that was never assigned has been changed in place."""
    factory = _default_factory(kind, name)
    if factory in (list, dict):
        return bool(value)
    default = _default_model(factory) if isinstance(factory, type) and _is_model(factory) else factory()
    type_: Any = type(value)
    if _is_model(type_):
        if value.__pydantic_fields_set__ != default.__pydantic_fields_set__:
            return True
        if type_ is type(default) and own_dict(value) == own_dict(default) and not value.__pydantic_extra__:
            return False  # the usual case; pydantic's comparison takes ten times as long
    return bool(value != default)


@cache
def _default_factory(kind: type[BaseModel], name: str) -> Callable[[], Any]:
    return default_of(kind.__pydantic_fields__[name])


@cache
def _default_model(kind: type[BaseModel]) -> BaseModel:
    """Return an instance to compare with; it is shared and must not change."""
    return kind()


def allows_extra(info: FieldInfo) -> bool:
    """Return whether a field's default factory takes the values of the other fields.

    Of a list or a model pydantic inspects the signature on each call, which takes 40 µs or more.
    """
    factory: Any = info.default_factory
    if factory in (list, dict) or (isinstance(factory, type) and _is_model(factory)):
        return False
    return bool(info.default_factory_takes_validated_data)


def default_of(info: FieldInfo) -> Callable[[], Any]:
    """Return the factory of a field's default."""
    if info.default_factory is None:
        default = info.default
        return (lambda: default) if type(default) in _ATOMS else partial(copy.deepcopy, default)
    if allows_extra(info):
        return partial(info.get_default, call_default_factory=True, validated_data={})
    factory: Any = info.default_factory
    is_list = isinstance(factory, partial) and (factory.func, factory.args) == (list, ())  # of built-in kinds
    return list if is_list else cast(Callable[[], Any], factory)
