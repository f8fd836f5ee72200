"""Server-side apply: merges an apply configuration and records its manager as the owner of its fields.

Fields that the manager applied before and leaves out now are removed. A change of fields that other managers own is a
conflict.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyctrl._fields_v1 import field_element
from pyctrl.apiserver import _errors as answers
from pyctrl.apiserver._fieldmanager.fieldset import (
    Comparison,
    FieldSet,
    difference,
    ensure_named_fields_are_members,
    has_member,
    intersection,
    is_granular,
    item_element,
    ordered,
    paths,
    recursive_difference,
    to_field_set,
    union,
    with_prefix,
)
from pyctrl.apiserver._fieldmanager.last_applied import allowed_conflicts_from_last_applied
from pyctrl.apiserver._fieldmanager.managed_fields import (
    Managed,
    ManagedEntry,
    ManagerIdentifier,
    strip_meta,
    without_managed_fields,
)
from pyctrl.apiserver._fieldmanager.versions import Comparisons, ConversionError, VersionedObject, convert
from pyctrl.apiserver._meta.generation import same_json
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._schema.defaulting import copied
from pyctrl.apiserver._schema.raw_json import without_texts
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["merge_values", "server_side_apply"]

BEFORE_FIRST_APPLY = "before-first-apply"


def server_side_apply(
    live: dict[str, JSON] | None,
    patch: dict[str, JSON],
    *,
    type: ResourceType,
    field_manager: str,
    force: bool,
    subresource: str | None = None,
) -> dict[str, JSON]:
    """Return the live object (None: it does not exist) with the patch applied and its managed fields updated.

    Args:
        patch: An apply configuration that fits the schema (`check_configuration`).

    Raises:
        StatusError: 409 with a cause for each field that another manager owns, unless `force`; 500 if the object has
            managed fields of a version that its definition does not have.
    """
    node = type.schema
    before = without_managed_fields(live) if live is not None else type.blank()
    manager = ManagerIdentifier(
        name=field_manager, operation="Apply", api_version=type.api_version, subresource=subresource or ""
    )
    reset = type.reset_fields(subresource)
    managed = _managed_before(live, before, type, reset, manager.subresource)
    last, last_time = managed.find(manager), _time_of(manager, live)
    applied = ordered(recursive_difference(to_field_set(node, patch), reset))
    managed.put(manager, applied, last_time)  # with metadata itself: pruning must keep it
    new: dict[str, JSON] = merge_values(node, before, patch)
    if last is not None and last.fields:
        new = _pruned(VersionedObject(type, new), managed, last, subresource)
    applied = strip_meta(applied)
    managed.put(manager, applied, last_time)
    allowed = allowed_conflicts_from_last_applied(node, before, field_manager) if live is not None and not force else {}
    comparisons = Comparisons(type, before if live is not None else None, new, subresource)
    _resolve_conflicts(managed, manager, comparisons, allowed, force=force)
    if live is None or not same_json(new, before):
        managed.put(manager, applied, timestamp())
    managed.write(new.setdefault("metadata", {}))
    return without_texts(new, type.raw_paths)


def _time_of(manager: ManagerIdentifier, live: Mapping[str, JSON] | None) -> str | None:
    """Return the time of the last apply of a manager, also of one in a version that the kind does not have."""
    last = None if live is None else Managed(live["metadata"]).find(manager)
    return None if last is None else last.time


def _managed_before(
    live: Mapping[str, JSON] | None, before: dict[str, JSON], type: ResourceType, reset: FieldSet, subresource: str
) -> Managed:
    """Return the entries of the live object; the fields of an untracked one belong to BEFORE_FIRST_APPLY.

    Args:
        before: The live object without its entries.

    Raises:
        StatusError: 500, the object cannot be converted to the version of an entry.
    """
    if live is None:
        return Managed({})
    managed = Managed(live["metadata"])
    if not managed.entries:
        changed = Comparison(type.schema, type.blank(), before).changed
        everything = strip_meta(recursive_difference(changed, reset))
        manager = ManagerIdentifier(
            name=BEFORE_FIRST_APPLY, operation="Update", api_version=type.api_version, subresource=subresource
        )
        managed.put(manager, everything, timestamp())
    try:
        managed.drop_unknown_versions(VersionedObject(type, before))
    except ConversionError as failed:
        raise answers.unknown_error(str(failed)) from failed
    return managed


def _resolve_conflicts(
    managed: Managed, manager: ManagerIdentifier, comparisons: Comparisons, allowed: FieldSet, *, force: bool
) -> None:
    """Refuse a change of fields that others own, or with `force` take them. Fields in `allowed` do not conflict."""
    clashes = list[tuple[ManagedEntry, FieldSet]]()
    try:
        for entry in managed.others(manager):
            changed, _ = comparisons.at(entry.manager.api_version) or ({}, {})
            if left := difference(intersection(entry.fields, changed), allowed):
                clashes.append((entry, left))
        if not clashes or force:
            managed.remove_from_others(manager, comparisons)
            return
    except ConversionError as failed:
        raise answers.unknown_error(f"failed to convert new object: {failed}") from failed
    raise _conflict(clashes)


def _conflict(clashes: list[tuple[ManagedEntry, FieldSet]]) -> answers.StatusError:
    clashes = sorted(clashes, key=lambda clash: str(clash[0].manager))
    found = [(str(entry.manager), path) for entry, fields in clashes for path in paths(fields)]
    causes = [answers.FieldError("FieldManagerConflict", f"conflict with {who}", path) for who, path in found]
    if len(found) == 1:
        who, path = found[0]
        return answers.apply_conflict(f"Apply failed with 1 conflict: conflict with {who}: {path}", causes)
    lines: list[str] = []
    for who, path in found:
        head = f"conflicts with {who}:"
        lines += [f"- {path}"] if head in lines else [head, f"- {path}"]
    return answers.apply_conflict(f"Apply failed with {len(found)} conflicts: {chr(10).join(lines)}", causes)


# -- merge -----------------------------------------------------------------------------------------------------


def merge_values(node: SchemaNode | None, live: JSON, patch: JSON) -> JSON:
    """Merge the patch into the live value: maps by key, keyed lists by item, everything else as a whole.

    A null does not replace a granular value.
    """
    if patch is None and live and is_granular(node, live):
        return live
    if type(live) is not type(patch) or not is_granular(node, patch):
        return copied(patch)
    if isinstance(patch, list):
        return _merged_list(node, live, patch) if node is not None else copied(patch)
    merged = dict(live)
    for key, value in patch.items():
        child = node.child(key) if node is not None else None
        merged[key] = merge_values(child, live[key], value) if key in live else copied(value)
    return merged


def _merged_list(node: SchemaNode, live: list[JSON], patch: list[JSON]) -> list[JSON]:
    """Merge two lists by the keys of their items, in the order of the patch, then of the live list.

    Before an item of both lists come the items of the live list that precede it, then the new items of the patch. Live
    items with duplicate keys stay, unless the patch has an item with these keys, which replaces all of them.
    """
    ours = [(item_element(node, index, each), each) for index, each in enumerate(live)]
    theirs = {item_element(node, index, each): each for index, each in enumerate(patch)}
    known = dict(ours)
    repeated = {key for key, count in Counter(key for key, _ in ours).items() if count > 1}
    shared = deque(key for key in theirs if key in known)
    waiting, merged = deque(theirs), list[JSON]()

    def take() -> None:
        key = waiting.popleft()
        if shared and shared[0] == key:
            shared.popleft()
        is_new = key not in known or key in repeated
        merged.append(copied(theirs[key]) if is_new else merge_values(node.items, known[key], theirs[key]))

    for key, each in ours:
        if key not in theirs:
            merged.append(each)
        elif key in shared:
            while waiting and shared and shared[0] == key and waiting[0] != key:
                take()
            if waiting and waiting[0] == key:
                take()
    while waiting:
        take()
    return merged


# -- prune -----------------------------------------------------------------------------------------------------


def _pruned(new: VersionedObject, managed: Managed, last: ManagedEntry, subresource: str | None) -> dict[str, JSON]:
    """Remove fields that the manager applied last time, does not apply now, and no other manager owns.

    Raises:
        StatusError: 500, the object cannot be converted to the version of the last apply or of another manager.
    """
    try:
        merged = convert(new, last.manager.api_version)
    except ConversionError as failed:
        why = f"failed to convert merged object to last applied version: {failed}"
        raise answers.unknown_error(f"failed to prune fields: {why}") from failed
    if merged is None:
        return new.content
    try:
        return _pruned_at_last_version(new.type.api_version, merged, managed, last, subresource)
    except ConversionError as failed:
        raise answers.unknown_error(f"failed to prune fields: {failed}") from failed


def _pruned_at_last_version(
    version: str, merged: VersionedObject, managed: Managed, last: ManagedEntry, subresource: str | None
) -> dict[str, JSON]:
    """Prune the merged object, which is in the version of the last apply, and convert it to `version`."""
    node = merged.type.schema
    last_fields = recursive_difference(last.fields, merged.type.reset_fields(subresource))
    last_fields = ensure_named_fields_are_members(last_fields, node)
    pruned = VersionedObject(merged.type, _removed(node, merged.content, last_fields) or {})
    pruned = _with_owned(merged, pruned, managed)
    found = convert(pruned, merged.type.api_version)
    assert found is not None, "the object was in this version before"
    remaining = ensure_named_fields_are_members(to_field_set(node, found.content), node)
    everything = ensure_named_fields_are_members(to_field_set(node, merged.content), node)
    gone = intersection(difference(everything, remaining), last_fields)
    result = convert(VersionedObject(merged.type, _removed(node, merged.content, gone) or {}), version)
    assert result is not None, "the object came from this version"
    return result.content


def _with_owned(merged: VersionedObject, pruned: VersionedObject, managed: Managed) -> VersionedObject:
    """Put back what other managers own, version by version: first that of the objects."""
    others = dict.fromkeys(each.manager.api_version for each in managed.entries)
    for version in sorted(others, key=merged.type.api_version.__ne__):
        merged_there, pruned_there = _convert_at(merged, version, "merged"), _convert_at(pruned, version, "pruned")
        if merged_there is None or pruned_there is None:
            continue
        merged, pruned, node = merged_there, pruned_there, merged_there.type.schema
        everything = ensure_named_fields_are_members(to_field_set(node, merged.content), node)
        kept = ensure_named_fields_are_members(to_field_set(node, pruned.content), node)
        for entry in managed.entries:
            if entry.manager.api_version == version:
                kept = union(kept, ensure_named_fields_are_members(entry.fields, node))
        pruned = VersionedObject(merged.type, _removed(node, merged.content, difference(everything, kept)) or {})
    return pruned


def _convert_at(obj: VersionedObject, version: str, what: str) -> VersionedObject | None:
    try:
        return convert(obj, version)
    except ConversionError as failed:
        why = f"failed to convert {what} object at version {version}: {failed}"
        raise ConversionError(f"failed add back owned items: {why}") from failed


def _removed(node: SchemaNode | None, value: JSON, gone: FieldSet) -> JSON:
    """Return the value without the fields in `gone`.

    A value that becomes empty is None. A value further down that becomes empty stays, as an empty map or list.
    """
    if type(value) is not dict and type(value) is not list:
        return value
    if not value or not is_granular(node, value):
        return None
    return _without(node, value, gone) or None


def _without(node: SchemaNode | None, value: JSON, gone: FieldSet) -> JSON:
    """Return a map or list without the fields in `gone`."""
    if type(value) is list:
        item_node = node.items if node is not None else None
        parts = [
            (index, item_element(node, index, each) if node is not None else f"i:{index}", item_node)
            for index, each in enumerate(value)
        ]
    else:
        parts = [(name, field_element(name), node.child(name) if node is not None else None) for name in value]
    remaining = list[tuple[str | int, JSON]]()
    for place, key, child in parts:
        if has_member(gone, key):
            continue
        each = value[place]
        if below := with_prefix(gone, key):
            each = _emptied(each, _removed(child, each, below))
        remaining.append((place, each))
    return [each for _, each in remaining] if type(value) is list else dict(remaining)


def _emptied(before: JSON, after: JSON) -> JSON:
    return type(before)() if after is None and type(before) in (dict, list) else after
