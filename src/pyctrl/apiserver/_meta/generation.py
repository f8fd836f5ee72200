"""Comparison of object states: changed content, the generation, and metadata that a write keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "STATUS_RESET_FIELDS",
    "bump_generation",
    "keep_metadata",
    "same_content",
    "same_json",
]

_NOT_CONTENT = frozenset({"metadata", "status", "apiVersion", "kind"})
STATUS_RESET_FIELDS = ("labels", "annotations", "finalizers", "ownerReferences", "generation", "selfLink")


def keep_metadata(new: dict[str, JSON], old: Mapping[str, JSON], keys: Sequence[str]) -> None:
    """Restore these fields of metadata to their old values."""
    for key in keys:
        if key in old:
            new[key] = old[key]
        else:
            new.pop(key, None)


def _content_changed(new: Mapping[str, JSON], old: Mapping[str, JSON], *, with_status: bool = False) -> bool:
    """Return whether anything but metadata differs; status counts only with `with_status`."""
    if len(new) != len(old) and new.keys() - _NOT_CONTENT != old.keys() - _NOT_CONTENT:
        return True
    skipped = _NOT_CONTENT - {"status"} if with_status else _NOT_CONTENT
    return any(not same_json(value, old.get(key)) for key, value in new.items() if key not in skipped) or any(
        key not in new for key in old if key not in skipped
    )


def bump_generation(
    new: dict[str, JSON], old: Mapping[str, JSON], *, metadata: Sequence[str] = (), with_status: bool = False
) -> None:
    """Set the generation of `new`, incremented if the spec or one of these fields of metadata changed."""
    changed = _content_changed(new, old, with_status=with_status)
    changed = changed or any(new["metadata"].get(each) != old["metadata"].get(each) for each in metadata)
    before = old["metadata"].get("generation", 0)
    generation = before + 1 if changed else before
    if generation:
        new["metadata"]["generation"] = generation


def same_content(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> bool:
    """Compare two objects without resourceVersion and the times of managed fields."""
    return same_json(_comparable(new), _comparable(old))


def same_json(left: JSON, right: JSON) -> bool:
    """Compare as JSON does: 1 equals 1.0, but not `true`, as it does in Python."""
    if left != right:
        return False
    if type(left) is dict and type(right) is dict:
        is_same_text = msgspec.json.encode(left) == msgspec.json.encode(right)  # the usual case, at a tenth of the cost
        return is_same_text or all(same_json(value, right[key]) for key, value in left.items())
    if type(left) is list and type(right) is list:
        return all(map(same_json, left, right))
    return isinstance(left, bool) is isinstance(right, bool)


def _comparable(obj: Mapping[str, JSON]) -> dict[str, JSON]:
    metadata = {key: value for key, value in obj["metadata"].items() if key != "resourceVersion"}
    if entries := metadata.get("managedFields"):
        metadata["managedFields"] = [{key: value for key, value in each.items() if key != "time"} for each in entries]
    return {**obj, "metadata": metadata}
