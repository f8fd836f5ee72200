"""What can be wrong with a field, in the words that Kubernetes has for it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Self

from pyctrl.errors import Cause

__all__ = ["FieldError"]


class FieldError(Cause):
    """One mistake in one field, to be raised with `pyctrl.errors.Rejected`.

        raise Rejected(FieldError.invalid("spec.size", 3, "must be even"))

    Users read ``spec.size: Invalid value: 3: must be even``, as of the API server's own validation. The field is a
    path as on the wire: ``spec.containers[0].image``.
    """

    __slots__ = ()

    @classmethod
    def invalid(cls, field: str, value: Any, detail: str) -> Self:
        """Say that a value breaks a rule."""
        return cls(reason="FieldValueInvalid", message=f"Invalid value: {_shown(value)}: {detail}", field=field)

    @classmethod
    def required(cls, field: str, detail: str = "") -> Self:
        """Say that a value is missing."""
        return cls(reason="FieldValueRequired", message=_with("Required value", detail), field=field)

    @classmethod
    def forbidden(cls, field: str, detail: str) -> Self:
        """Say that nothing may be set here, or nothing changed: ``field is immutable``."""
        return cls(reason="FieldValueForbidden", message=f"Forbidden: {detail}", field=field)

    @classmethod
    def duplicate(cls, field: str, value: Any) -> Self:
        """Say that a value is there already, where each may be there once."""
        return cls(reason="FieldValueDuplicate", message=f"Duplicate value: {_shown(value)}", field=field)

    @classmethod
    def not_supported(cls, field: str, value: Any, supported: Iterable[str]) -> Self:
        """Say that a value is none of those that are known."""
        known = ", ".join(map(_shown, supported))
        message = f"Unsupported value: {_shown(value)}" + (f": supported values: {known}" if known else "")
        return cls(reason="FieldValueNotSupported", message=message, field=field)

    @classmethod
    def not_found(cls, field: str, value: Any) -> Self:
        """Say that what a value refers to is not there."""
        return cls(reason="FieldValueNotFound", message=f"Not found: {_shown(value)}", field=field)

    @classmethod
    def too_many(cls, field: str, number: int, most: int) -> Self:
        """Say that a list is too long."""
        message = f"Too many: {number}: must have at most {most} items"
        return cls(reason="FieldValueTooMany", message=message, field=field)

    @classmethod
    def too_long(cls, field: str, most: int) -> Self:
        """Say that a text is too long."""
        return cls(reason="FieldValueTooLong", message=f"Too long: may not be more than {most} bytes", field=field)


def _with(message: str, detail: str) -> str:
    return f"{message}: {detail}" if detail else message


def _shown(value: Any) -> str:
    """Show a value as JSON, whatever it is."""
    wire = value.to_wire() if hasattr(value, "to_wire") else value
    return json.dumps(wire, ensure_ascii=False, default=str)
