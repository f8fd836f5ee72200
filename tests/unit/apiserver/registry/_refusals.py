"""Errors of validations as text."""

from __future__ import annotations

from collections.abc import Iterable

from pyctrl.apiserver._errors import FieldError

_LONGEST = 96  # as long messages name a whole pattern or all values


def refusals(errors: Iterable[FieldError]) -> list[str]:
    """Return each error as a Status prints it, the path of the field and the message, up to 96 characters."""
    return [f"{each.field}: {each.message}"[:_LONGEST] for each in errors]
