"""Signatures of models: their fields as keyword parameters, as type checkers see them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

__all__ = ["signature_of"]

_VARIADIC = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)


def signature_of(cls: type[BaseModel]) -> Signature:
    """Return the signature of a model's constructor.

    pydantic's has the names on the wire, and takes any further argument: `**extra_data`. That is for fields of a newer
    server; a misspelt name in a program is a mistake.
    """
    _, *own = signature(cls.__init__).parameters.values()
    found = {each.name: each for each in own if each.kind not in _VARIADIC}
    if any(each.kind is Parameter.VAR_KEYWORD for each in own):
        found |= {each.name: each for each in _field_parameters(cls) if each.name not in found}
    return Signature([*found.values()], return_annotation=None)


def _field_parameters(cls: type[BaseModel]) -> Iterator[Parameter]:
    for name, info in cls.__pydantic_fields__.items():
        annotation = info.rebuild_annotation()
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=_default(info), annotation=annotation)


def _default(info: FieldInfo) -> Any:
    if info.is_required():
        return Parameter.empty
    return info.default if info.default_factory is None else _New(info.default_factory)


class _New:
    """The default of a field that is made for each object; its repr is the expression, or `<factory>`."""

    def __init__(self, factory: Any) -> None:
        made = factory.func if isinstance(factory, partial) else factory
        name = f"{made.__name__}()" if isinstance(made, type) else "<factory>"
        self._text = {"list()": "[]", "dict()": "{}"}.get(name, name)

    def __repr__(self) -> str:
        return self._text
