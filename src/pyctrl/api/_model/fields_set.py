"""What of a model has to be written: what was set, and what was changed in place."""

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

# None of these has something below; isinstance with a pydantic class takes ten times as long as looking here.
_ATOMS = frozenset((str, int, float, bool, type(None), datetime))


def update_fields_set(model: BaseModel) -> None:
    """Bring ``fields_set`` up to what must be written, here and below (see `Model`).

    What is pending was never looked at, and therefore never changed. Of the many fields that were not set, only those
    are looked at whose default can be changed in place.
    """
    own = own_dict(model)
    if PENDING in own and own[PENDING].is_untouched:
        return
    kind: type[BaseModel] = type(model)
    written, extra = model.__pydantic_fields_set__, model.__pydantic_extra__
    for name in list(written):
        value = own.get(name, PENDING)  # pending, or of the extras
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
    """Return the fields whose default can be changed in place: those that begin as an empty list or dict; others."""
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
            if item:  # most of the many dicts of managedFields are not worth a call
                _update_items(item.values())
        elif kind not in _ATOMS and _can_hold(kind):
            _update_value(item)


@cache
def _can_change(kind: Any) -> bool:
    """Whether a default of this type may have been changed in place."""
    return _can_hold(kind) or issubclass(kind, set)


@cache
def _can_hold(kind: Any) -> bool:
    """Whether there can be models in what is of this type."""
    return _is_model(kind) or issubclass(kind, (list, dict))


@cache
def _is_model(kind: Any) -> bool:
    from pyctrl.api._model.model import Model  # here: it is written by what is in this file

    return issubclass(kind, Model)


def _is_changed(kind: type[BaseModel], name: str, value: Any) -> bool:
    """Say whether a default that was never assigned has been changed in place."""
    factory = _default_factory(kind, name)
    if factory in (list, dict):
        return bool(value)
    default = _default_model(factory) if isinstance(factory, type) and _is_model(factory) else factory()
    type_: Any = type(value)
    if _is_model(type_):
        if value.__pydantic_fields_set__ != default.__pydantic_fields_set__:
            return True
        if type_ is type(default) and own_dict(value) == own_dict(default) and not value.__pydantic_extra__:
            return False  # as nearly always; pydantic takes ten times as long to find out
    return bool(value != default)


@cache
def _default_factory(kind: type[BaseModel], name: str) -> Callable[[], Any]:
    return default_of(kind.__pydantic_fields__[name])


@cache
def _default_model(kind: type[BaseModel]) -> BaseModel:
    """Make a model to compare with; nobody else gets it."""
    return kind()


def allows_extra(info: FieldInfo) -> bool:
    """Say whether what makes a field's default wants to see the other fields.

    Of a list, or of a model, pydantic works out the signature each time that it is asked, for 40 µs or more.
    """
    factory: Any = info.default_factory
    if factory in (list, dict) or (isinstance(factory, type) and _is_model(factory)):
        return False
    return bool(info.default_factory_takes_validated_data)


def default_of(info: FieldInfo) -> Callable[[], Any]:
    """Return what makes the default of a field."""
    if info.default_factory is None:
        default = info.default
        return (lambda: default) if type(default) in _ATOMS else partial(copy.deepcopy, default)
    if allows_extra(info):
        return partial(info.get_default, call_default_factory=True, validated_data={})
    factory: Any = info.default_factory
    is_list = isinstance(factory, partial) and (factory.func, factory.args) == (list, ())  # as built-in kinds have it
    return list if is_list else cast(Callable[[], Any], factory)
