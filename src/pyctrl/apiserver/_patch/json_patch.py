"""JSON patch (RFC 6902) as in kube-apiserver, with the errors of its library evanphx/json-patch.

It differs from the RFC, for patches of clients and of webhooks: `replace` sets an absent member, `test` treats an
absent member as null, `copy` of an absent member adds null, an index may count from the end of a list, and numbers are
equal only when they are written alike (1 is not 1.0).
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pyctrl._json import json_equal

__all__ = ["PatchFailed", "PatchTestFailed", "apply_json_patch"]

_MISSING = "missing value"
_INVALID_INDEX = "invalid index referenced"
_ABSENT: Any = object()
_INTEGER = re.compile(r"[+-]?[0-9]+")
_KINDS = ("add", "remove", "replace", "move", "test", "copy")


class PatchFailed(Exception):
    """A patch that does not apply, with the error message of the library."""


class PatchTestFailed(PatchFailed):
    """A patch with a `test` whose value differs."""


def apply_json_patch(document: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """Return the document with the operations applied; the argument is not changed.

    Raises:
        PatchFailed: An operation does not apply.
    """
    patch = _JSONPatcher(copy.deepcopy(document))
    for operation in operations:
        patch.apply(operation)
    return patch.document


class _JSONPatcher:
    def __init__(self, document: Any) -> None:
        self.document = document

    def apply(self, operation: Mapping[str, Any]) -> None:
        kind, path = operation.get("op"), operation.get("path")
        if not isinstance(kind, str):
            kind = "unknown"
        if kind not in _KINDS:
            raise PatchFailed(f"Unexpected kind: {kind}")
        if not isinstance(path, str):
            detail = "operation missing path field: " if kind in ("replace", "test") else ""
            raise PatchFailed(f"{kind} operation failed to decode path: {detail}{_MISSING}")
        if kind in ("move", "copy"):
            self._transfer(kind, operation, path)
        else:
            getattr(self, f"_{kind}")(path, copy.deepcopy(operation.get("value")))

    def _add(self, path: str, value: Any) -> None:
        place, key = self._find(path, f'add operation does not apply: doc is missing path: "{path}"')
        _insert(place, key, value, f"error in add for path: '{path}'")

    def _remove(self, path: str, _value: Any) -> None:
        place, key = self._find(path, f'remove operation does not apply: doc is missing path: "{path}"')
        _take(place, key, f"error in remove for path: '{path}'")

    def _replace(self, path: str, value: Any) -> None:
        if not path:
            if not isinstance(value, (dict, list)):
                raise PatchFailed("replace operation value must be object or array")
            self.document = value
            return
        place, key = self._find(path, f"replace operation does not apply: doc is missing path: {path}")
        if isinstance(place, dict):
            place[key] = value
            return
        if _get(place, key, "") is _ABSENT:
            raise PatchFailed(f"replace operation does not apply: doc is missing key: {path}: {_MISSING}")
        place[_index(key, "")] = value

    def _test(self, path: str, value: Any) -> None:
        found = self.document
        if path:
            place, key = self._find(path, f"test operation does not apply: is missing path: {path}")
            found = _get(place, key, f"error in test for path: '{path}'")
            if found is _ABSENT and isinstance(place, list):
                raise PatchFailed(f"error in test for path: '{path}': {_out_of_range(key)}")
        # The library compares the texts of scalars.
        if not json_equal(None if found is _ABSENT else found, value):
            raise PatchTestFailed(f"testing value {path} failed: test failed")

    def _transfer(self, kind: str, operation: Mapping[str, Any], path: str) -> None:
        source = operation.get("from")
        if not isinstance(source, str):
            why = f"operation, missing from field: {_MISSING}"
            raise PatchFailed(f"{kind} operation failed to decode from: {why}")
        place, key = self._find(source, f"{kind} operation does not apply: doc is missing from path: {source}")
        context = f"error in move for path: '{key}'" if kind == "move" else f"error in copy for from: '{source}'"
        if kind == "move":
            value = _take(place, key, context)
        else:
            found = _get(place, key, context)
            if found is _ABSENT and isinstance(place, list):
                raise PatchFailed(f"{context}: {_out_of_range(key)}")
            value = None if found is _ABSENT else copy.deepcopy(found)
        place, key = self._find(path, f"{kind} operation does not apply: doc is missing destination path: {path}")
        _insert(place, key, value, context if kind == "move" else "error while adding value during copy")

    def _find(self, path: str, context: str) -> tuple[Any, str]:
        """Return the container of the last step of a path, and that step."""
        steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]
        place = self.document
        for step in steps[1:-1]:
            place = _get(place, step, "", lenient=True)
            if not isinstance(place, (dict, list)):
                raise PatchFailed(f"{context}: {_MISSING}")
        if len(steps) < 2:
            raise PatchFailed(f"{context}: {_MISSING}")
        return place, steps[-1]


def _get(place: Any, key: str, context: str, *, lenient: bool = False) -> Any:
    if isinstance(place, dict):
        return place.get(key, _ABSENT)
    if lenient and not _INTEGER.fullmatch(key):
        return _ABSENT
    index = _index(key, context)
    return place[index] if -len(place) <= index < len(place) else _ABSENT


def _insert(place: Any, key: str, value: Any, context: str) -> None:
    if isinstance(place, dict):
        place[key] = value
    elif key == "-":
        place.append(value)
    else:
        index = _index(key, f"{context}: value was not a proper array index: '{key}'")
        size = len(place) + 1  # counted from the end, -1 is behind the last item
        if not -size <= index < size:
            raise PatchFailed(f"{context}: {_out_of_range(key)}")
        place.insert(index if index >= 0 else index + size, value)


def _take(place: Any, key: str, context: str) -> Any:
    found = _get(place, key, context)
    if found is not _ABSENT:
        return place.pop(key) if isinstance(place, dict) else place.pop(_index(key, context))
    if isinstance(place, dict):
        raise PatchFailed(f"{context}: Unable to remove nonexistent key: {key}: {_MISSING}")
    raise PatchFailed(f"{context}: {_out_of_range(key)}")


def _out_of_range(key: str) -> str:
    return f"Unable to access invalid index: {int(key)}: {_INVALID_INDEX}"


def _index(key: str, context: str) -> int:
    if _INTEGER.fullmatch(key):
        return int(key)
    prefix = f"{context}: " if context else ""
    raise PatchFailed(f'{prefix}strconv.Atoi: parsing "{key}": invalid syntax')
