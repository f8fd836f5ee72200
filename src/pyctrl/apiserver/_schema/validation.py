"""Validation of values against a schema, in the order and words of kube-apiserver's OpenAPI validation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal

from pyctrl._go.text import shown_value
from pyctrl._validation.formats import is_of_format
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    invalid_value,
    not_supported,
    required,
    too_long,
    too_many,
    type_invalid,
)
from pyctrl.apiserver._schema.ratcheting import ABSENT, is_unchanged, items_by_key
from pyctrl.apiserver._schema.schema import JSON, SchemaNode, ValueValidations, list_key

__all__ = ["validate", "validate_list_types"]


_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
_FORMATS_OF = {"integer": "int64", "number": "float64"}
_RANGES = {"int32": 1 << 31, "int64": 1 << 63}
_OVER_FLOAT32 = float((1 << 128) - (1 << 103))  # rounds to infinity
_OVER_FLOAT64 = 1 << 1024
_MOST_WHOLE = (1 << 53) - 1  # a larger float is no integer
_EMBEDDED = ("apiVersion", "kind")
_TEXT = frozenset({None, "string"})
_NUMBERS = frozenset({None, "integer", "number"})


def validate(node: SchemaNode, value: JSON, base: str = "", *, old: JSON = ABSENT) -> list[FieldError]:
    """Return the errors of a value.

    Args:
        node: The schema of the value.
        value: The value.
        base: The field of a value that is not a whole object.
        old: The value that it replaces. Errors in unchanged parts are ignored (ratcheting).
    """
    causes: list[FieldError] = []
    _validate(node, value, "", causes, old)
    if base:
        return [cause._replace(field=f"{base}.{cause.field}" if cause.field else base) for cause in causes]
    return [cause if cause.field else cause._replace(field="<nil>") for cause in causes]


def _validate(node: SchemaNode, value: JSON, path: str, causes: list[FieldError], old: JSON = ABSENT) -> int:
    """Add errors to `causes`; return the number of visited nodes, by which `_best` compares alternatives."""
    if old is not ABSENT and is_unchanged(node, value, old):
        _always_required(node, value, path, causes)
        return 1
    if value is None:
        _null(node, path, causes)
        return 1
    _type(node, value, path, causes)
    checks = node.checks
    kind = type(value)
    if checks is not None:
        _branches(checks, value, path, causes)
        _scalar(node, checks, kind, value, path, causes)
    elif kind in (float, int) and _is_out_of_type(node, value, ""):
        causes.append(_out_of_type(node, path))
    visited = 1
    if kind is list and (node.items is not None or checks is not None):
        visited += _array(node, value, path, causes, old)
    if checks is not None and checks.enum is not None:
        _enum(checks.enum, value, path, causes)
    if kind is dict:
        visited += _object(node, value, path, causes, old if type(old) is dict else {})
    return visited


def _always_required(node: SchemaNode, value: JSON, path: str, causes: list[FieldError]) -> None:
    """Add the missing required fields of embedded objects, which are not ratcheted."""
    if not node.embeds:
        return
    if isinstance(value, dict):
        prefix = f"{path}." if path else ""
        if node.embedded:
            causes.extend(required(prefix + key) for key in _EMBEDDED if key not in value)
        for key, item in value.items():
            if (child := node.child(key)) is not None:
                _always_required(child, item, prefix + key, causes)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            _always_required(node.items, item, f"{path}[{index}]", causes)


def _null(node: SchemaNode, path: str, causes: list[FieldError]) -> None:
    if node.type is not None and not node.nullable:
        causes.append(_wrong_type(path, node.type, "null"))
    elif node.int_or_string and not node.nullable:
        causes.append(_wrong_type(path, "integer,string", "null"))
    if node.checks is not None and node.checks.enum is not None:
        _enum(node.checks.enum, None, path, causes)


def _type(node: SchemaNode, value: JSON, path: str, causes: list[FieldError]) -> None:
    found = _kind(value)
    wanted = node.type
    if node.int_or_string:
        if found not in ("integer", "string") and not _is_whole(value):
            causes.append(_wrong_type(path, "integer,string", found))
    elif wanted is not None and found != wanted and not _is_close(wanted, found, value):
        if _is_accepted(node, found):
            return
        if node.checks is not None and node.checks.format and found not in ("string", "array"):
            causes.append(_wrong_type(path, node.checks.format, _FORMATS_OF.get(found, "")))
        else:
            causes.append(_wrong_type(path, wanted, found))


def _is_accepted(node: SchemaNode, found: str) -> bool:
    """Return whether kube-apiserver accepts a value of another type: strings and lists, if the schema has a format.

    The validation of the format then rejects invalid strings. It does not apply to lists: 1.36 accepts ``[]`` for a
    date-time.
    """
    if node.checks is None or not node.checks.format or node.type in ("integer", "number"):
        return False
    return found in ("string", "array")


def _is_close(wanted: str, found: str, value: JSON) -> bool:
    return (wanted == "number" and found == "integer") or (wanted == "integer" and _is_whole(value))


def _is_whole(value: JSON) -> bool:
    return type(value) is float and value.is_integer() and abs(value) <= _MOST_WHOLE


def _kind(value: JSON) -> str:
    """Return the kind of a value, as Go decodes it."""
    return "number" if _exceeds_int64(value) else _KINDS[type(value)]


def _wrong_type(path: str, wanted: str, found: str) -> FieldError:
    return type_invalid(path, found, f'{path} in body must be of type {wanted}: "{found}"')


def _out_of_type(node: SchemaNode, path: str, format_: str = "", what: str = "Checked") -> FieldError:
    form = f"with format {format_}" if format_ else "(default format)"
    return invalid_value("", "", f"{what} value must be of type {node.type or ''} {form} in {path}")


def _is_out_of_type(node: SchemaNode, value: float, format_: str) -> bool:
    if node.type == "integer":
        limit = _RANGES.get(format_, _RANGES["int64"])
        if type(value) is float:  # upstream reads the shortest decimal of a float
            return not value.is_integer() or not -limit <= Decimal(repr(value)) < limit
        return not -limit <= value < limit
    return format_ in ("float", "float32") and abs(value) >= _OVER_FLOAT32


def _scalar(
    node: SchemaNode, checks: ValueValidations, kind: type, value: JSON, path: str, causes: list[FieldError]
) -> None:
    if kind is str and node.type in _TEXT:
        _string(checks, value, path, causes)
    elif kind in (int, float) and node.type in _NUMBERS:
        _number(node, checks, value, path, causes)


def _string(checks: ValueValidations, value: str, path: str, causes: list[FieldError]) -> None:
    """Add the first error of length and pattern, and the error of the format."""
    if checks.max_length is not None and len(value) > checks.max_length:
        causes.append(too_long(path, checks.max_length))
    elif checks.min_length is not None and len(value) < checks.min_length:
        why = f"{path} in body should be at least {checks.min_length} chars long"
        causes.append(invalid_value(path, value, why))
    elif checks.pattern is not None and not checks.pattern.matches(value):
        causes.append(invalid_value(path, value, f"{path} in body should match '{checks.pattern_text}'"))
    if checks.format and not is_of_format(checks.format, value):
        causes.append(
            type_invalid(path, value, f"{path} in body must be of type {checks.format}: {shown_value(value)}")
        )


def _number(node: SchemaNode, checks: ValueValidations, value: float, path: str, causes: list[FieldError]) -> None:
    if _exceeds_int64(value) and abs(value) < _OVER_FLOAT64:
        value = float(value)
    if _is_out_of_type(node, value, checks.format):
        causes.append(_out_of_type(node, path, checks.format))
    if checks.multiple_of:
        _multiple(_bound("MultipleOf", checks.multiple_of, node, value, path, causes), value, path, causes)
    if checks.minimum is not None:
        least = _bound("Minimum boundary", checks.minimum, node, value, path, causes)
        if value < least or (checks.exclusive_minimum and value == least):
            words = "greater than" if checks.exclusive_minimum else "greater than or equal to"
            causes.append(invalid_value(path, value, f"{path} in body should be {words} {_plain(least)}"))
    if checks.maximum is not None:
        most = _bound("Maximum boundary", checks.maximum, node, value, path, causes)
        if value > most or (checks.exclusive_maximum and value == most):
            words = "less than" if checks.exclusive_maximum else "less than or equal to"
            causes.append(invalid_value(path, value, f"{path} in body should be {words} {_plain(most)}"))


def _bound(what: str, bound: float, node: SchemaNode, value: float, path: str, causes: list[FieldError]) -> float:
    """Return a bound as kube-apiserver compares a value with it: for a whole number, without its fraction.

    A bound that is not of the type is an error at every value, and is compared as it is.
    """
    format_ = node.checks.format if node.checks is not None else ""
    if _is_out_of_type(node, bound, format_):
        causes.append(_out_of_type(node, path, format_, what))
        return bound
    return int(bound) if type(value) is int else bound


def _multiple(factor: float, value: float, path: str, causes: list[FieldError]) -> None:
    if factor == 0:  # a fraction of one
        causes.append(invalid_value(path, 0, f"factor MultipleOf declared for {path} must be positive: 0"))
    elif not _is_multiple(value, factor):
        causes.append(invalid_value(path, value, f"{path} in body should be a multiple of {_plain(factor)}"))


def _is_multiple(value: float, factor: float) -> bool:
    quotient = value / factor
    if abs(quotient) > _MOST_WHOLE and type(value) is float:
        return False
    return abs(quotient - round(quotient)) < 1e-9 * max(1.0, abs(quotient))


def _exceeds_int64(value: JSON) -> bool:
    """Return whether a value is an integer of more than 64 bits, which Go decodes as a float."""
    return type(value) is int and not -_RANGES["int64"] <= value < _RANGES["int64"]


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(number)


def _enum(allowed: tuple[JSON, ...], value: JSON, path: str, causes: list[FieldError]) -> None:
    """Add the error of a value that is not allowed. Null never is, not even where the list has it."""
    is_listed = any(type(each) is type(value) and each == value for each in allowed) or _same_number(allowed, value)
    if value is None or not is_listed:
        texts = [each if isinstance(each, str) else shown_value(each) for each in allowed]
        causes.append(not_supported(path, value, texts))


def _same_number(allowed: tuple[JSON, ...], value: JSON) -> bool:
    return type(value) in (int, float) and any(type(each) in (int, float) and each == value for each in allowed)


def _array(node: SchemaNode, value: list[JSON], path: str, causes: list[FieldError], old: JSON) -> int:
    visited, items, checks = 0, node.items, node.checks
    if items is not None and node.type in (None, "array"):
        known = items_by_key(node, old)
        for index, item in enumerate(value):
            before = known.get(list_key(item, node.map_keys, items), ABSENT) if known else ABSENT
            visited += _validate(items, item, f"{path}[{index}]", causes, before)
    if checks is not None:
        if checks.min_items is not None and len(value) < checks.min_items:
            why = f"{path} in body should have at least {checks.min_items} items"
            causes.append(invalid_value(path, len(value), why))
        if checks.max_items is not None and len(value) > checks.max_items:
            causes.append(too_many(path, len(value), checks.max_items))
    return visited


def _object(
    node: SchemaNode, value: dict[str, JSON], path: str, causes: list[FieldError], old: Mapping[str, JSON]
) -> int:
    properties, additional, visited = node.properties, node.additional, 0
    if node.checks is not None:
        _size(node.checks, len(value), path, causes)
    prefix = f"{path}." if path else ""
    if node.closed or additional is not None:
        for key, item in value.items():
            if key not in properties:
                if additional is not None:
                    visited += _validate(additional, item, prefix + key, causes, old.get(key, ABSENT))
                else:
                    causes.append(invalid_value(path, key, f"{prefix}{key} in body is a forbidden property"))
    if properties:
        for key, item in value.items():
            if (child := properties.get(key)) is not None:
                visited += _validate(child, item, prefix + key, causes, old.get(key, ABSENT))
    causes.extend(required(prefix + key) for key in _required_keys(node) if key not in value)
    return visited


def _required_keys(node: SchemaNode) -> Iterable[str]:
    if not node.embedded:
        return node.required
    return (*node.required, *(key for key in _EMBEDDED if key not in node.required))


def _size(checks: ValueValidations, size: int, path: str, causes: list[FieldError]) -> None:
    if checks.min_properties is not None and size < checks.min_properties:
        why = f"{path} in body should have at least {checks.min_properties} properties"
        causes.append(invalid_value(path, size, why))
    if checks.max_properties is not None and size > checks.max_properties:
        causes.append(too_many(path, size, checks.max_properties))


# -- allOf, anyOf, oneOf, not ----------------------------------------------------------------------------------


def _branches(checks: ValueValidations, value: JSON, path: str, causes: list[FieldError]) -> None:
    if checks.any_of:
        _any_of(checks.any_of, value, path, causes)
    if checks.one_of:
        _one_of(checks.one_of, value, path, causes)
    if checks.all_of:
        _all_of(checks.all_of, value, path, causes)
    if checks.not_ is not None and not _attempts((checks.not_,), value, path)[0][0]:
        causes.append(_composite(path, "must not validate the schema (not)"))


def _composite(path: str, words: str) -> FieldError:
    return invalid_value("", "", f'"{path}" {words}')


def _attempts(schemas: tuple[SchemaNode, ...], value: JSON, path: str) -> list[tuple[list[FieldError], int]]:
    found = []
    for schema in schemas:
        causes: list[FieldError] = []
        visited = _validate(schema, value, path, causes)
        found.append((causes, visited))
    return found


def _best(attempts: list[tuple[list[FieldError], int]]) -> list[FieldError]:
    """Return the errors of the attempt that visited most nodes; of equals, the first."""
    return max(attempts, key=lambda attempt: attempt[1])[0]


def _any_of(schemas: tuple[SchemaNode, ...], value: JSON, path: str, causes: list[FieldError]) -> None:
    attempts = _attempts(schemas, value, path)
    if all(found for found, _ in attempts):
        causes.append(_composite(path, "must validate at least one schema (anyOf)"))
        causes.extend(_best(attempts))


def _one_of(schemas: tuple[SchemaNode, ...], value: JSON, path: str, causes: list[FieldError]) -> None:
    attempts = _attempts(schemas, value, path)
    valid = sum(not found for found, _ in attempts)
    if valid == 0:
        causes.append(_composite(path, "must validate one and only one schema (oneOf). Found none valid"))
        causes.extend(_best(attempts))
    elif valid > 1:
        words = f"must validate one and only one schema (oneOf). Found {valid} valid alternatives"
        causes.append(_composite(path, words))


def _all_of(schemas: tuple[SchemaNode, ...], value: JSON, path: str, causes: list[FieldError]) -> None:
    attempts = _attempts(schemas, value, path)
    for found, _ in attempts:
        causes.extend(found)
    valid = sum(not found for found, _ in attempts)
    if valid != len(attempts):
        tail = "" if valid else ". None validated"
        causes.append(_composite(path, f"must validate all the schemas (allOf){tail}"))


# -- lists of type set and map ---------------------------------------------------------------------------------


def validate_list_types(node: SchemaNode, value: JSON, path: str = "") -> list[FieldError]:
    """Return the errors of duplicate items in lists of type set and map."""
    causes: list[FieldError] = []
    if node.keyed:
        _list_types(node, value, path, causes)
    return causes


def _list_types(node: SchemaNode, value: JSON, path: str, causes: list[FieldError]) -> None:
    if type(value) is dict:
        for key, item in value.items():
            if type(item) in (dict, list) and (child := node.child(key)) is not None:
                below = f"{path}[{key}]" if key not in node.properties else f"{path}.{key}" if path else key
                _list_types(child, item, below, causes)
    elif type(value) is list and node.items is not None:
        if node.list_type != "atomic":
            _duplicates(node, value, path, causes)
        if node.items.type in ("object", "array"):
            for index, item in enumerate(value):
                _list_types(node.items, item, f"{path}[{index}]", causes)


def _duplicates(node: SchemaNode, value: list[JSON], path: str, causes: list[FieldError]) -> None:
    """Add the error of the second of equal items, or of items with equal keys."""
    shown = value
    if node.list_type == "map":
        for index, item in enumerate(value):
            if item is not None and type(item) is not dict:
                causes.append(
                    invalid_value(f"{path}[{index}]", item, "must be an object for an array of list-type map")
                )
                return
        shown = [{key: item[key] for key in sorted(node.map_keys) if item and key in item} for item in value]
    seen = Counter[str]()
    for index, item in enumerate(shown):
        text = shown_value(item)
        seen[text] += 1
        if seen[text] == 2:
            causes.append(duplicate(f"{path}[{index}]", item))
