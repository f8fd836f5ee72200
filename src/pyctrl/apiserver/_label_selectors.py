"""The rules of label selectors, wherever a kind has one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyctrl.apiserver import _names as names
from pyctrl.apiserver._answers import Cause, field_forbidden, invalid_value, required
from pyctrl.apiserver._metadata import validate_labels
from pyctrl.apiserver._schema import JSON


def validate_selector(selector: Mapping[str, JSON], path: str) -> Iterator[Cause]:
    """Check `matchLabels` and `matchExpressions`."""
    yield from validate_labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        yield from _expression(expression, f"{path}.matchExpressions[{index}]")


def _expression(expression: Mapping[str, JSON], path: str) -> Iterator[Cause]:
    operator, values = expression.get("operator", ""), expression.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield field_forbidden(f"{path}.values", why)
    else:
        yield invalid_value(f"{path}.operator", operator, "not a valid selector operator")
    for why in names.qualified_name(expression.get("key", "")):
        yield invalid_value(f"{path}.key", expression.get("key", ""), why)
    for index, value in enumerate(values):
        for why in names.label_value(value):
            yield invalid_value(f"{path}.values[{index}]", value, why)
