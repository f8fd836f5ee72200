"""Serialization of models whose fields were set to what their types do not say: pydantic's warnings, without values."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

__all__ = ["quiet_json", "quietly"]

R = TypeVar("R")
Warnings = bool | Literal["none", "warn", "error"]

#: One complaint a line; the value is between, as its repr, and may look like anything, hence the last ``input_type``.
_COMPLAINT = re.compile(r"Expected `([^`]*)`.*?\[(?:field_name='([^']*)', )?input_value=.*, input_type=(\w+)\]")


def quietly(model: BaseModel, dump: Callable[[Any], R], told: Warnings = True) -> R:
    """Serialize a model; warnings of pydantic are repeated without values, which may be those of a Secret.

    Args:
        model: what is serialized.
        dump: does it, with pydantic's parameter ``warnings``.
        told: that parameter, as the caller wants it.

    Takes 2 µs more than pydantic does, so it is only for classes of which `may_hide_values` is true.
    """
    if told not in (True, "warn"):
        return dump(told)
    try:
        return dump("error")
    except PydanticSerializationError as error:
        found = [_in_words(*match) for match in _COMPLAINT.findall(str(error))]
    result = dump("none")  # raises what is no warning
    if found:
        warnings.warn(
            f"{type(model).__name__} is not what its type says: {'; '.join(found)}", UserWarning, stacklevel=4
        )
    return result


def quiet_json(model: BaseModel) -> bytes:
    """Serialize what was set of a model, under the names of the wire; see `quietly`."""
    dump = model.__pydantic_serializer__.to_json
    return quietly(model, lambda told: dump(model, by_alias=True, exclude_unset=True, warnings=told))


def _in_words(expected: str, field: str, got: str) -> str:
    return f"{field or 'a value'}: expected {expected}, got {got}"
