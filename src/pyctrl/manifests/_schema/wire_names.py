"""Names of fields on the wire and in CEL expressions."""

from __future__ import annotations

import re

from pydantic import BaseModel
from pydantic.fields import FieldInfo

__all__ = ["cel_name", "wire_name", "wire_names"]

_RESERVED = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"),
        *("let", "loop", "package", "namespace", "return", "var", "void", "while"),
    )
)
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


def wire_name(name: str, info: FieldInfo) -> str:
    """Return the name of a field on the wire."""
    return info.serialization_alias or info.alias or name


def wire_names(cls: type[BaseModel]) -> dict[str, str]:
    """Map the Python names of a class's fields to their names on the wire."""
    return {name: wire_name(name, info) for name, info in cls.model_fields.items()}


def cel_name(wire: str) -> str:
    """Return a field's name in CEL expressions, which escape some names."""
    if wire in _RESERVED:
        return f"__{wire}__"
    return re.sub(r"__|[./-]", lambda found: _ESCAPES[found[0]], wire)
