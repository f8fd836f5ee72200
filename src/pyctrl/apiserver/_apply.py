"""Server-side apply: a manager states the fields it has an opinion on, and owns them.

The server merges, takes away what the manager no longer states, and refuses when another manager's fields would change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import _answers as answers
from ._defaulting import copied
from ._fieldset import (
    Comparison,
    Fields,
    below,
    difference,
    field,
    fields_of,
    has,
    intersection,
    is_granular,
    item,
    paths,
    union,
    with_named_fields,
    without,
)
from ._identity import timestamp
from ._last_applied import conceded
from ._managed_fields import Entry, Managed, Manager, owned, reset_fields
from ._schema import JSON, Node

if TYPE_CHECKING:
    from ._resources import ResourceType

BEFORE_FIRST_APPLY = "before-first-apply"


def apply_patch(
    live: dict[str, JSON] | None,
    patch: dict[str, JSON],
    *,
    type: ResourceType,
    field_manager: str,
    force: bool,
    subresource: str | None = None,
) -> dict[str, JSON]:
    """Give the live object (None: there is none yet) with the patch applied and its managed fields kept.

    Raises:
        Refused: 409 with a cause for each field that another manager owns, unless `force`; 500, as kube-apiserver
            has it, when the patch does not fit the schema.
    """
    node = type.schema
    _check_declared(node, patch, type)
    before = _unmanaged(live) if live is not None else type.blank()
    who = Manager(name=field_manager, operation="Apply", api_version=type.api_version, subresource=subresource or "")
    managed = _managed_before(live, type)
    reset = reset_fields(type, subresource)
    last = managed.find(who)
    stated = owned(without(fields_of(node, patch), reset))
    managed.put(who, stated, last.time if last else None)
    new: dict[str, JSON] = _merged(node, before, patch)
    if last is not None and last.fields:
        new = _pruned(node, new, managed, without(last.fields, reset))
    allowed = conceded(node, before, field_manager) if live is not None and not force else {}
    _settle(managed, who, Comparison(node, before, new), reset, allowed, force=force)
    if live is None or new != before:
        managed.put(who, stated, timestamp())
    managed.write(new.setdefault("metadata", {}))
    return new


def _unmanaged(obj: Mapping[str, JSON]) -> dict[str, JSON]:
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}


def _managed_before(live: Mapping[str, JSON] | None, type: ResourceType) -> Managed:
    """Give the entries of the live object; one that was never tracked belongs to a manager of its own kind."""
    if live is None:
        return Managed({})
    managed = Managed(live["metadata"])
    if not managed.entries:
        everything = owned(Comparison(type.schema, type.blank(), _unmanaged(live)).changed)
        manager = Manager(name=BEFORE_FIRST_APPLY, operation="Update", api_version=type.api_version, subresource="")
        managed.put(manager, everything, timestamp())
    return managed


def _settle(
    managed: Managed, who: Manager, comparison: Comparison, reset: Fields, allowed: Fields, *, force: bool
) -> None:
    """Find whose fields change, refuse or take them; those that are `allowed` to be taken are nobody's to defend."""
    changed, removed = without(comparison.changed, reset), without(comparison.removed, reset)
    clashes = [(entry, intersection(entry.fields, changed)) for entry in managed.others(who)]
    clashes = [(entry, left) for entry, fields in clashes if (left := difference(fields, allowed))]
    if clashes and not force:
        raise _conflict(clashes)
    managed.take_from_others(who, changed, removed)


def _conflict(clashes: list[tuple[Entry, Fields]]) -> answers.Refused:
    clashes = sorted(clashes, key=lambda clash: str(clash[0].manager))
    found = [(str(entry.manager), path) for entry, fields in clashes for path in paths(fields)]
    causes = [answers.Cause("FieldManagerConflict", f"conflict with {who}", path) for who, path in found]
    if len(found) == 1:
        who, path = found[0]
        return answers.apply_conflict(f"Apply failed with 1 conflict: conflict with {who}: {path}", causes)
    lines: list[str] = []
    for who, path in found:
        head = f"conflicts with {who}:"
        lines += [f"- {path}"] if head in lines else [head, f"- {path}"]
    return answers.apply_conflict(f"Apply failed with {len(found)} conflicts: {chr(10).join(lines)}", causes)


# -- merge -----------------------------------------------------------------------------------------------------


def _merged(node: Node | None, live: JSON, patch: JSON) -> JSON:
    """Lay the patch over the live value: maps key by key, keyed lists item by item, everything else whole."""
    if type(live) is not type(patch) or not is_granular(node, patch):
        return copied(patch)
    if isinstance(patch, list):
        return _merged_list(node, live, patch) if node is not None else copied(patch)
    merged = dict(live)
    for key, value in patch.items():
        child = node.child(key) if node is not None else None
        merged[key] = _merged(child, live[key], value) if key in live else copied(value)
    return merged


def _merged_list(node: Node, live: list[JSON], patch: list[JSON]) -> list[JSON]:
    """Merge two lists by their items' keys, in the patch's order where it has one and the live one's elsewhere."""
    ours = {item(node, index, each): each for index, each in enumerate(live)}
    theirs = {item(node, index, each): each for index, each in enumerate(patch)}
    order = _merged_order(list(ours), list(theirs))
    return [
        _merged(node.items, ours[key], theirs[key])
        if key in ours and key in theirs
        else copied(theirs[key])
        if key in theirs
        else ours[key]
        for key in order
    ]


def _merged_order(live: list[str], patch: list[str]) -> list[str]:
    """Interleave: before each shared item come the live-only items that stood before it, then the patch's new ones."""
    shared = [key for key in patch if key in set(live)]
    wanted, merged, order = set(patch), set[str](), list[str]()
    ours, theirs, awaited = 0, 0, 0
    while ours < len(live) or theirs < len(patch):
        key = live[ours] if ours < len(live) else None
        if key is not None and theirs < len(patch):
            if key == patch[theirs]:
                order.append(key)
                merged.add(key)
                ours, theirs, awaited = ours + 1, theirs + 1, awaited + 1
                continue
            if key in wanted and awaited < len(shared) and shared[awaited] != key:
                ours += 1  # shared, but its turn is when the patch's order says
                continue
        if key is not None and key not in wanted:
            order.append(key)
            ours += 1
            continue
        if key is not None and key in merged:
            ours += 1
        if theirs < len(patch):
            order.append(patch[theirs])
            merged.add(patch[theirs])
            awaited += awaited < len(shared) and shared[awaited] == patch[theirs]
            theirs += 1
    return order


# -- prune -----------------------------------------------------------------------------------------------------


def _pruned(node: Node, merged: dict[str, JSON], managed: Managed, last: Fields) -> dict[str, JSON]:
    """Take away what the manager stated last time, states no longer, and nobody else owns."""
    last = with_named_fields(last, node)
    pruned = _removed(node, merged, last) or {}
    everything = with_named_fields(fields_of(node, merged), node)
    kept = with_named_fields(fields_of(node, pruned), node)
    for entry in managed.entries:
        kept = union(kept, with_named_fields(entry.fields, node))
    pruned = _removed(node, merged, difference(everything, kept)) or {}
    kept = with_named_fields(fields_of(node, pruned), node)
    gone = intersection(difference(everything, kept), last)
    remaining: dict[str, JSON] = _removed(node, merged, gone) or {}
    return remaining


def _removed(node: Node | None, value: JSON, gone: Fields) -> JSON:
    """Give the value without some fields; None when nothing is left."""
    if not gone or not is_granular(node, value):
        return value
    if isinstance(value, list):
        kept = []
        for index, each in enumerate(value):
            key = item(node, index, each) if node is not None else f"i:{index}"
            if not has(gone, key):
                kept.append(_removed(node.items if node is not None else None, each, below(gone, key)))
        return kept or None
    rest: dict[str, JSON] = {}
    for name, each in value.items():
        key = field(name)
        if not has(gone, key):
            rest[name] = _removed(node.child(name) if node is not None else None, each, below(gone, key))
    return rest or None


# -- the patch fits the schema ---------------------------------------------------------------------------------


def _check_declared(node: Node, patch: dict[str, JSON], type: ResourceType) -> None:
    """Refuse fields the schema does not declare and list items without their keys."""
    found = _undeclared(node, patch, "")
    if found:
        metadata = patch.get("metadata") or {}
        place = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
        kind = f"{type.api_version}, Kind={type.kind}"
        raise answers.unclassified(f"failed to create typed patch object ({place}; {kind}): {found}")


def _undeclared(node: Node | None, value: JSON, path: str) -> str | None:
    if node is None or node.open:
        return None
    if isinstance(value, dict) and (node.properties or node.additional) and not node.int_or_string:
        for key, each in value.items():
            child = node.child(key)
            if child is None and not node.preserve and not (path == "" and key in ("apiVersion", "kind", "metadata")):
                return f"{path}.{key}: field not declared in schema"
            if found := _undeclared(child, each, f"{path}.{key}"):
                return found
    elif isinstance(value, list) and node.items is not None:
        for index, each in enumerate(value):
            key = item(node, index, each)
            if node.list_type == "map" and key.startswith("i:"):
                names = ", ".join(f'"{name}"' for name in node.map_keys)
                return (
                    f"{path}: element {index}: associative list with keys has an element that omits key field {names} "
                    "(and doesn't have default value)"
                )
            place = next(iter(paths({key: {}}))) if node.list_type != "atomic" else f"[{index}]"
            if found := _undeclared(node.items, each, f"{path}{place}"):
                return found
    return None
