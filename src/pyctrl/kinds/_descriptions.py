"""Kubernetes' descriptions of the built-in kinds at run time, read from the package's data at first use."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic.fields import FieldInfo

from pyctrl import _schemas
from pyctrl.api import Model

__all__ = ["add_descriptions", "class_documentation", "describe_schema"]

_PACKAGE = "pyctrl.kinds."
_NONE: Mapping[str, str] = {}
_WIDTH = 80  # columns of a terminal, in which help() shows the text


def class_documentation(cls: type[Model]) -> str | None:
    """Return the docstring of a class; that of a generated class has its fields as well."""
    text = vars(cls).get("__doc__")
    if text is None or not _texts_of(cls):
        return text
    return "\n".join((inspect.cleandoc(text), "", "Attributes:", *_attributes(cls)))


def _attributes(cls: type[Model]) -> Iterator[str]:
    for name, info in add_descriptions(cls).items():
        type_ = inspect.formatannotation(info.annotation).replace(f"{cls.__module__}.", "")
        text = f"{name} ({type_}): {info.description or ''}"
        yield from textwrap.wrap(
            text,
            _WIDTH,
            initial_indent="    ",
            subsequent_indent="        ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def add_descriptions(cls: type[Model]) -> dict[str, FieldInfo]:
    """Return the fields of a class, after adding the descriptions of those that have none and are Kubernetes' own."""
    for name, info in cls.__pydantic_fields__.items():
        if info.description is None:
            wire = _wire_name(name, info)
            info.description = next((texts[wire] for texts in map(_texts_of, cls.__mro__) if wire in texts), None)
    return cls.__pydantic_fields__


def describe_schema(cls: type[Model], schema: dict[str, Any]) -> None:
    """Describe a class and its properties in its JSON schema, which has their names on the wire or in Python."""
    if text := vars(cls).get("__doc__"):
        schema["description"] = inspect.cleandoc(text)
    properties = schema.get("properties", {})
    for name, info in add_descriptions(cls).items():
        for key in (name, _wire_name(name, info)):
            if info.description and key in properties:
                properties[key]["description"] = info.description


def _wire_name(name: str, info: FieldInfo) -> str:
    """Return the name of a field on the wire."""
    return info.serialization_alias or name


def _texts_of(cls: type[object]) -> Mapping[str, str]:
    """Return the texts of a generated class by field on the wire, its own under ""; empty for any other class."""
    module = cls.__module__
    if not module.startswith(_PACKAGE) or module.startswith(f"{_PACKAGE}_"):
        return _NONE
    return _by_class().get(f"{module.removeprefix(_PACKAGE)}.{cls.__name__}", _NONE)


@cache
def _by_class() -> dict[str, Mapping[str, str]]:
    """Return the texts by class: those of `io.k8s.api.core.v1.PodSpec` are under `core.v1.PodSpec`."""
    return {".".join(name.split(".")[-3:]): texts for name, texts in _schemas.descriptions().items()}
