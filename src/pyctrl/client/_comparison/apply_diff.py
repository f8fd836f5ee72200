"""Apply diff: the first field that a server-side apply would change, found from the live object's managed fields.

The server records the fields that each owner has applied in ``metadata.managedFields``, as a tree called FieldsV1 (see
`pyctrl._fields_v1`). A leaf is owned as a whole. An apply changes nothing when it sets exactly the fields that its
owner has, each to the value that the object has. Defaults of the server have no owner and are not compared.

No schema is needed: the tree tells a list of type map from a single value. Where the tree does not decide, the result
is a difference, since an apply that was not needed does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from pyctrl._fields_v1 import UNOWNED_METADATA, field_element
from pyctrl._json import UNREADABLE, json_equal
from pyctrl.api import GroupVersionKind
from pyctrl.client._comparison.semantic_equality import Path, is_empty_value, semantically_equal

__all__ = ["first_difference"]

Fields: TypeAlias = Mapping[str, Any]

_PRECONDITIONS = ("resourceVersion", "uid")  # the server refuses an apply with other values


def first_difference(
    kind: GroupVersionKind,
    desired: Mapping[str, Any],
    live: Mapping[str, Any],
    *,
    field_owner: str,
    has_status: bool,
) -> str | None:
    """Return the path of the first field that applying ``desired`` may change; None when nothing would change.

    Args:
        kind: the kind of both documents.
        desired: the document to apply.
        live: the existing object, with its managed fields.
        field_owner: the owner that would apply it.
        has_status: the status is a sub-resource, which an apply of the object does not change.
    """
    metadata = desired.get("metadata") or {}
    there = live.get("metadata") or {}
    for name in _PRECONDITIONS:
        if metadata.get(name) and metadata[name] != there.get(name):
            return f"metadata.{name}"
    entries = there.get("managedFields")
    if not entries:
        return "metadata.managedFields"
    mine = next((entry for entry in entries if _is_own_entry(entry, field_owner)), None)
    if mine is not None and mine.get("apiVersion") != kind.api_version:
        return "apiVersion"
    fields = (mine or {}).get("fieldsV1") or {}
    others: list[Fields] = [entry.get("fieldsV1") or {} for entry in entries if entry is not mine]
    return _FieldComparison(kind).members(_applied_fields(desired, has_status=has_status), live, fields, others, ())


def _is_own_entry(entry: Mapping[str, Any], field_owner: str) -> bool:
    return entry.get("manager") == field_owner and entry.get("operation") == "Apply" and not entry.get("subresource")


def _applied_fields(desired: Mapping[str, Any], *, has_status: bool) -> dict[str, Any]:
    """Return the part of a document that an apply would own."""
    unowned = {"apiVersion", "kind", "metadata"} | ({"status"} if has_status else set())
    stated = {name: value for name, value in desired.items() if name not in unowned}
    metadata = {name: value for name, value in (desired.get("metadata") or {}).items() if name not in UNOWNED_METADATA}
    return {**stated, "metadata": metadata} if metadata else stated


class _FieldComparison:
    """Compares the desired document, the live object and the owned fields; returns the path of the first difference."""

    def __init__(self, kind: GroupVersionKind) -> None:
        self._kind = kind

    def members(
        self, wanted: Mapping[str, Any], live: Mapping[str, Any], mine: Fields, others: list[Fields], path: Path
    ) -> str | None:
        """Compare two maps."""
        for element in mine:
            if element != "." and not (element.startswith("f:") and element[2:] in wanted):
                return _path_text((*path, element[2:]))  # no longer applied
        for name, value in wanted.items():
            element, below = f"f:{name}", (*path, name)
            if element not in mine:
                return _path_text(below)  # not owned yet
            if found := self._value(value, live.get(name), mine[element], _below(others, element), below):
                return found
        return None

    def _value(self, wanted: Any, live: Any, mine: Fields, others: list[Fields], path: Path) -> str | None:
        if any(element != "." for element in mine):
            if isinstance(wanted, Mapping) and isinstance(live, Mapping):
                return self.members(wanted, live, mine, others, path)
            if isinstance(wanted, list) and isinstance(live, list):
                return self._items(wanted, live, mine, others, path)
            return _path_text(path)
        return None if self._is_same_whole(wanted, live, others, path) else _path_text(path)

    def _is_same_whole(self, wanted: Any, live: Any, others: list[Fields], path: Path) -> bool:
        """Compare a value that is owned as a whole."""
        if is_empty_value(wanted) and live is None:
            return True  # if another owner had removed it, this owner would have lost it
        is_split = any(element != "." for fields in others for element in fields)
        if wanted in ({}, []):
            return live == wanted or (is_split and type(live) is type(wanted))
        if is_split:
            return False  # it was applied empty before; now it has members
        if json_equal(wanted, live):
            return True
        # Two spellings of one value are equal for this owner, but a conflict with another owner.
        return not others and semantically_equal(self._kind, wanted, live, path)

    def _items(self, wanted: list[Any], live: list[Any], mine: Fields, others: list[Fields], path: Path) -> str | None:
        """Compare two lists whose items are owned separately: equal with the same items in the same order."""
        elements = [element for element in mine if element != "."]
        last = -1
        for item in wanted:
            element = _path_element_of(item, elements, mine)
            place = _index_of(element, live) if element is not None else None
            if element is None or place is None or place <= last:
                return _path_text(path)
            elements.remove(element)
            last = place
            found = self._item(item, live[place], mine[element], _below(others, element), path)
            if found:
                return found
        return _path_text(path) if elements else None

    def _item(self, wanted: Any, live: Any, mine: Fields, others: list[Fields], path: Path) -> str | None:
        if isinstance(wanted, Mapping) and isinstance(live, Mapping) and mine:
            return self.members(wanted, live, mine, others, path)
        return None if json_equal(wanted, live) else _path_text(path)


def _below(others: list[Fields], element: str) -> list[Fields]:
    return [fields[element] for fields in others if element in fields]


def _path_text(path: Path) -> str:
    return ".".join(path)


def _path_element_of(item: Any, elements: list[str], mine: Fields) -> str | None:
    """Return the element of an applied item; None when there is none, or several fit."""
    fitting = [element for element in elements if _matches_element(item, element, mine[element])]
    return fitting[0] if len(fitting) == 1 else None


def _matches_element(item: Any, element: str, below: Fields) -> bool:
    value = _decode_element(element)
    if element.startswith("v:"):
        return json_equal(item, value)
    if not element.startswith("k:") or not isinstance(item, Mapping):
        return False  # an index does not identify an item after the list changed
    # A key that the item omits, such as a port's protocol, is defaulted by the server: then it is not owned either.
    return all(
        json_equal(item[name], each) if name in item else field_element(name) not in below
        for name, each in value.items()
    )


def _index_of(element: str, live: list[Any]) -> int | None:
    value = _decode_element(element)
    for place, item in enumerate(live):
        if element.startswith("v:"):
            if json_equal(item, value):
                return place
        elif isinstance(item, Mapping) and all(json_equal(item.get(name), each) for name, each in value.items()):
            return place
    return None


def _decode_element(element: str) -> Any:
    try:
        return msgspec.json.decode(element[2:])
    except UNREADABLE:
        return None
