"""Descriptions of classes and fields from docstrings and `Field(description=…)`."""

from __future__ import annotations

import inspect
import re
from typing import Generic

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pyctrl.api import CustomResource, KubernetesObject, Model
from pyctrl.manifests._schema.locations import source_of

__all__ = ["describe_class", "describe_field"]

_BASES = (object, str, int, float, Generic, BaseModel, Model, KubernetesObject, CustomResource)
_LIBRARIES = ("enum", "pydantic")
# The first section in Google's, NumPy's or Sphinx's form: the text after it is for readers of the code.
_SECTION = re.compile(
    r"^(?:(?:Args|Arguments|Attributes|Class keywords?|Examples?|Fields|Notes?|Parameters|Raises|References|Returns|"
    r"See Also|Warns|Yields):?\s*(?:\n-+\s*)?$|:\w+[^:\n]*:|\.\. \w+::)",
    re.MULTILINE,
)


def describe_class(cls: type[object]) -> str:
    """Return the docstring of a class, or of its nearest base with one; of pyctrl's own classes, the first line."""
    for each in cls.__mro__:
        text = each.__dict__.get("__doc__")
        if text and each not in _BASES and each.__module__.partition(".")[0] not in _LIBRARIES:
            return _clean(text).partition("\n")[0] if _is_of_api(each) else _clean(text)
    return ""


def describe_field(cls: type[object], name: str, info: FieldInfo) -> str:
    """Return the description of a field, or the docstring below it; and its deprecation."""
    description = info.description
    if description is None:
        written = (source_of(each) for each in cls.__mro__ if not _is_of_api(each))
        description = next((source.docstrings.get(name, "") for source in written if name in source.lines), "")
    warning = f"Deprecated: {info.deprecated}" if isinstance(info.deprecated, str) else ""
    return "\n\n".join(filter(None, (_clean(description), warning)))


def _is_of_api(cls: type[object]) -> bool:
    """Return whether a class is pyctrl's own, whose texts below its fields are for readers of programs."""
    return cls.__module__.startswith("pyctrl.api.")


def _clean(text: str) -> str:
    text = inspect.cleandoc(text)
    section = _SECTION.search(text)
    return (text[: section.start()] if section else text).strip()
