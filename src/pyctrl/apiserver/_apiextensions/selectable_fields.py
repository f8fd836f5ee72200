"""Validation of the selectable fields of a definition."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pyctrl._go.text import quoted
from pyctrl.apiserver._errors import FieldError, invalid_value, required
from pyctrl.apiserver._schema.field_paths import steps
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_selectable_fields"]

MAX_SELECTABLE_FIELDS = 8


def validate_selectable_fields(versions: list[dict[str, JSON]], shared: Collection[str]) -> Iterator[FieldError]:
    """Validate the selectable fields of all versions.

    As upstream, where a field that all versions share is at the top level, they need a schema at the same level:
    versions that share one of the two and differ in the other are refused.

    Args:
        shared: The fields that all versions share.
    """
    if "selectableFields" in shared:
        if not versions or not versions[0].get("selectableFields"):
            return
        if "schema" in shared:
            yield from _selectable(versions[0]["selectableFields"], "spec.selectableFields", versions[0])
        else:
            yield invalid_value("spec.selectableFields", "", "may only be set when validations.schema is included")
        return
    for index, version in enumerate(versions):
        where = f"spec.versions[{index}].selectableFields"
        if not version.get("selectableFields"):
            continue
        if "schema" in shared:
            yield invalid_value(where, "", "may only be set when `version.schema.openAPIV3Schema` is not included")
        else:
            yield from _selectable(version["selectableFields"], where, version)


def _selectable(found: list[Mapping[str, JSON]], path: str, version: Mapping[str, JSON]) -> Iterator[FieldError]:
    schema: Mapping[str, JSON] = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    seen = set[tuple[str, ...]]()
    for index, each in enumerate(found):
        text, where = each.get("jsonPath", ""), f"{path}[{index}].jsonPath"
        if not text:
            yield required(where)
            continue
        names, field = _find_field(text, schema)
        if isinstance(field, str):
            yield invalid_value(where, text, f"is an invalid path: {field}")
            continue
        if names[:1] == ("metadata",):
            yield invalid_value(where, text, "must not point to fields in metadata")
        if field.get("type") not in ("string", "boolean", "integer"):
            allowed = "Enum string fields and strings with formats are allowed."
            yield invalid_value(where, text, f"must point to a field of type string, boolean or integer. {allowed}")
        if names in seen:
            yield FieldError("FieldValueDuplicate", f"Duplicate value: {quoted(text)}", where)
        seen.add(names)
    if len(seen) > MAX_SELECTABLE_FIELDS:
        why = f"Too many: {len(seen)}: must have at most {MAX_SELECTABLE_FIELDS} items"
        yield FieldError("FieldValueTooMany", why, path)


def _find_field(text: str, schema: Mapping[str, JSON]) -> tuple[tuple[str, ...], Mapping[str, JSON] | str]:
    """Return the names in a path and the schema of its field, or why it is not the path of a field."""
    if not text.startswith((".", "[")):
        return (), f"expected [ or . but got: {text.partition('.')[0]}"
    names: tuple[str, ...] = ()
    for step in steps(text) or (0,):
        if isinstance(step, int):
            return names, "array notation is not allowed"
        found = (schema.get("properties") or {}).get(step)
        if found is None:
            return names, "does not refer to a valid field"
        schema, names = found, (*names, step)
    return names, schema
