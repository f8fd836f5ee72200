"""Patches of JSON documents: RFC 7396 merge patches (computed and applied) and RFC 6902 JSON patches (applied)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from pyctrl.errors import PatchError

__all__ = ["json_patch_apply", "merge_patch_apply", "merge_patch_diff"]


def merge_patch_diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the smallest merge patch that turns `before` into `after`; `{}` when they are equal.

    Removed members become null, objects are compared member by member, and every other value, including a list, is
    replaced as a whole. A merge patch cannot express a null in `after`: the member becomes absent, which is how an API
    server reads a null. The patch shares nothing with the arguments.
    """
    patch: dict[str, Any] = {name: None for name, value in before.items() if name not in after and value is not None}
    for name, new in after.items():
        old = before.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            if part := merge_patch_diff(old, new):
                patch[name] = part
        elif not _same(old, new):
            patch[name] = _copy(new)
    return patch


def _copy(value: Any) -> Any:
    """Copy a JSON value; faster than `copy.deepcopy`, which has to handle cycles."""
    kind = type(value)
    if kind is dict:
        return {name: _copy(item) for name, item in value.items()}
    if kind is list:
        return [_copy(item) for item in value]
    return value if kind in _ATOMS else copy.deepcopy(value)


_ATOMS = frozenset((str, int, float, bool, type(None)))


def _same(old: Any, new: Any) -> bool:
    """Compare as JSON does: `true` is not 1, but 1 is 1.0."""
    if type(old) is str or type(new) is str:  # the common case
        return bool(old == new)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(_same(value, new[name]) for name, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new))
    return isinstance(old, bool) is isinstance(new, bool) and bool(old == new)


def merge_patch_apply(target: Any, patch: Any) -> Any:
    """Return `target` with a merge patch applied; neither argument is changed.

    The parts of the result that the patch does not touch are shared with `target`, not copied.
    """
    if not isinstance(patch, Mapping):
        return _copy(patch)
    result: dict[str, Any] = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge_patch_apply(result.get(name), value)
    return result


def json_patch_apply(document: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """Return `document` with a JSON patch applied, all operations or none; neither argument is changed.

    Raises:
        PatchError: An operation is malformed, its path does not exist, or is a `test` that fails; the message names it.
    """
    import jsonpatch  # here: only programs that send or serve JSON patches import it
    from jsonpointer import JsonPointerException

    if isinstance(operations, (str, bytes, Mapping)) or not isinstance(operations, Sequence):
        raise PatchError(f"a JSON patch is a list of operations, not {_brief(operations)}")
    result = copy.deepcopy(document)
    for number, operation in enumerate(operations):
        if not isinstance(operation, Mapping):
            raise PatchError(f"operation {number} of the JSON patch is an object with op and path, not {operation!r}")
        try:
            result = jsonpatch.JsonPatch([copy.deepcopy(dict(operation))]).apply(result, in_place=True)
        except (jsonpatch.JsonPatchException, JsonPointerException, TypeError, KeyError, IndexError) as error:
            raise PatchError(
                f"operation {number} of the JSON patch, {_brief(operation)}, cannot be applied: {error}"
            ) from error
    return result


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
