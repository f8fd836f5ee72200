"""Strategic merge patch: a merge patch whose lists may merge by a key that the kind's schema names.

Directives are carried out as kube-apiserver does: `$patch: delete|replace|merge` in maps and list items,
`$deleteFromPrimitiveList/NAME`, `$setElementOrder/NAME`, `$retainKeys`. In a list, items that are new come first.
"""

from __future__ import annotations

from . import _answers as answers
from ._defaulting import copied
from ._schema import JSON, Node

_PATCH, _RETAIN = "$patch", "$retainKeys"
_ORDER, _DELETE = "$setElementOrder/", "$deleteFromPrimitiveList/"


def strategic_merge(live: dict[str, JSON], patch: dict[str, JSON], schema: Node) -> dict[str, JSON]:
    """Give the live object with the patch merged into it; neither is changed.

    Raises:
        Refused: The patch has a directive that is not one, or a list item without its merge key.
    """
    return _map(live, patch, schema)


def _map(live: dict[str, JSON], patch: dict[str, JSON], node: Node | None) -> dict[str, JSON]:
    directive = patch.get(_PATCH)
    if directive is not None:
        if directive == "replace":
            return {key: copied(value) for key, value in patch.items() if key != _PATCH}
        if directive == "delete":
            return {}
        if directive != "merge":
            raise answers.bad_request(f"Unknown patch type found: {directive}")
    merged = dict(live)
    _retain(merged, patch)
    for key, value in patch.items():
        if key in (_PATCH, _RETAIN):
            continue
        if key.startswith(_DELETE):
            _delete_values(merged, key.removeprefix(_DELETE), value)
        elif not key.startswith(_ORDER):
            _field(merged, key, value, node.child(key) if node is not None else None)
    for key, value in patch.items():
        if key.startswith(_ORDER):
            _reorder(merged, key.removeprefix(_ORDER), value, patch, node)
    return merged


def _retain(merged: dict[str, JSON], patch: dict[str, JSON]) -> None:
    """`$retainKeys`: only these keys of the live map stay."""
    keys = patch.get(_RETAIN)
    if keys is None:
        return
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise answers.bad_request("invalid patch format of $retainKeys: must be a list of strings")
    for key in [key for key in merged if key not in keys]:
        del merged[key]


def _field(merged: dict[str, JSON], key: str, value: JSON, node: Node | None) -> None:
    if value is None:
        merged.pop(key, None)
        return
    live = merged.get(key)
    if isinstance(value, dict):
        merged[key] = _map(live if isinstance(live, dict) else {}, value, node)
    elif isinstance(value, list) and node is not None and node.merge:
        merged[key] = _list(live if isinstance(live, list) else [], value, node)
    else:
        merged[key] = _without_directives(value)


def _without_directives(value: JSON) -> JSON:
    return copied(value)


def _list(live: list[JSON], patch: list[JSON], node: Node) -> list[JSON]:
    if not node.merge_key:
        return _values(live, patch)
    replaces, items = _split(patch)
    if replaces:
        return [copied(each) for each in items]
    key = node.merge_key
    gone = [_key_of(each, key) for each in items if each.get(_PATCH) == "delete"]
    merged = [each for each in live if not (isinstance(each, dict) and key in each and each[key] in gone)]
    new: list[JSON] = []
    for each in items:
        if each.get(_PATCH) == "delete":
            continue
        value = _key_of(each, key)
        index = next((i for i, old in enumerate(merged) if isinstance(old, dict) and old.get(key) == value), None)
        if index is None:
            new.append(_map({}, each, node.items))
        else:
            merged[index] = _map(merged[index], each, node.items)
    return _new_first(merged, new)


def _new_first(merged: list[JSON], new: list[JSON]) -> list[JSON]:
    return [*new, *merged]


def _split(patch: list[JSON]) -> tuple[bool, list[dict[str, JSON]]]:
    """Tell whether the patch replaces the list, and give its items."""
    items: list[dict[str, JSON]] = []
    replaces = False
    for each in patch:
        if not isinstance(each, dict):
            raise answers.bad_request("invalid patch: list items that merge by a key must be objects")
        if each.get(_PATCH) == "replace":
            replaces = True
        elif each.get(_PATCH) not in (None, "delete", "merge"):
            raise answers.bad_request(f"Unknown patch type found: {each[_PATCH]}")
        else:
            items.append(each)
    return replaces, items


def _key_of(each: dict[str, JSON], key: str) -> JSON:
    if key not in each:
        raise answers.unclassified(f"map: {_go_map(each)} does not contain declared merge key: {key}")
    return each[key]


def _go_map(value: JSON) -> str:
    """Print a value as Go's `%v` does."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{_go_map(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(_go_map(each) for each in value) + "]"
    return {True: "true", False: "false", None: "<nil>"}.get(value, str(value)) if not isinstance(value, str) else value


def _values(live: list[JSON], patch: list[JSON]) -> list[JSON]:
    """Merge lists of plain values: each once, live ones first."""
    merged = list(live)
    merged.extend(each for each in patch if each not in merged)
    return merged


def _delete_values(merged: dict[str, JSON], key: str, values: JSON) -> None:
    live = merged.get(key)
    if isinstance(live, list) and isinstance(values, list):
        merged[key] = [each for each in live if each not in values]


def _reorder(merged: dict[str, JSON], key: str, order: JSON, patch: dict[str, JSON], node: Node | None) -> None:
    """`$setElementOrder`: items stand as the client has them; ones it does not know keep their neighbours."""
    live, child = merged.get(key), node.child(key) if node is not None else None
    if not isinstance(live, list) or not isinstance(order, list) or child is None:
        return
    name = child.merge_key
    keys = [each.get(name) if name and isinstance(each, dict) else each for each in order]

    def key_of(each: JSON) -> JSON:
        return each.get(name) if name and isinstance(each, dict) else each

    known = [each for value in keys for each in live if key_of(each) == value]
    result = [each for each in live if key_of(each) not in keys]
    _interleave(result, known, live)
    merged[key] = result


def _interleave(others: list[JSON], known: list[JSON], live: list[JSON]) -> None:
    """Put known items, in their new order, where the unknown ones between them stood."""
    places = {id(each): index for index, each in enumerate(live)}
    result: list[JSON] = []
    waiting = list(others)
    for each in known:
        while waiting and places[id(waiting[0])] < places[id(each)]:
            result.append(waiting.pop(0))
        result.append(each)
    others[:] = [*result, *waiting]
