"""Field errors in Kubernetes' own words, as apimachinery's field.Error."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Self

from pyctrl.errors import Cause

__all__ = ["FieldError"]


class FieldError(Cause):
    """One error of one field, to be raised with `pyctrl.errors.Rejected`.

        raise Rejected(FieldError.invalid("spec.size", 3, "must be even"))

    Users read ``spec.size: Invalid value: 3: must be even``, as in the API server's own validation errors. The field is
    a path on the wire: ``spec.containers[0].image``.
    """

    __slots__ = ()

    @classmethod
    def invalid(cls, field: str, value: Any, detail: str) -> Self:
        """Return the error of a value that breaks a rule."""
        return cls(reason="FieldValueInvalid", message=f"Invalid value: {_shown(value)}: {detail}", field=field)

    @classmethod
    def required(cls, field: str, detail: str = "") -> Self:
        """Return the error of a missing value."""
        return cls(reason="FieldValueRequired", message=_with("Required value", detail), field=field)

    @classmethod
    def forbidden(cls, field: str, detail: str) -> Self:
        """Return the error of a field that may not be set or changed: ``field is immutable``."""
        return cls(reason="FieldValueForbidden", message=f"Forbidden: {detail}", field=field)

    @classmethod
    def duplicate(cls, field: str, value: Any) -> Self:
        """Return the error of a value that occurs twice where it must be unique."""
        return cls(reason="FieldValueDuplicate", message=f"Duplicate value: {_shown(value)}", field=field)

    @classmethod
    def not_supported(cls, field: str, value: Any, supported: Iterable[str]) -> Self:
        """Return the error of a value that is not one of the supported values."""
        known = ", ".join(map(_shown, supported))
        message = f"Unsupported value: {_shown(value)}" + (f": supported values: {known}" if known else "")
        return cls(reason="FieldValueNotSupported", message=message, field=field)

    @classmethod
    def not_found(cls, field: str, value: Any) -> Self:
        """Return the error of a value that refers to an object that does not exist."""
        return cls(reason="FieldValueNotFound", message=f"Not found: {_shown(value)}", field=field)

    @classmethod
    def too_many(cls, field: str, number: int, most: int) -> Self:
        """Return the error of a list that is too long."""
        message = f"Too many: {number}: must have at most {most} items"
        return cls(reason="FieldValueTooMany", message=message, field=field)

    @classmethod
    def too_long(cls, field: str, most: int) -> Self:
        """Return the error of a string that is too long."""
        return cls(reason="FieldValueTooLong", message=f"Too long: may not be more than {most} bytes", field=field)


def _with(message: str, detail: str) -> str:
    return f"{message}: {detail}" if detail else message


def _shown(value: Any) -> str:
    """Return a value as JSON, or as its repr."""
    wire = value.to_wire() if hasattr(value, "to_wire") else value
    return json.dumps(wire, ensure_ascii=False, default=str)
