"""Strategic merge patch: a merge patch whose lists may merge by a key that the kind's schema names.

The directives have the semantics of kube-apiserver: `$patch: delete|replace` in maps and list items,
`$deleteFromPrimitiveList/NAME`, `$setElementOrder/NAME` and `$retainKeys`. Values that the live object lacks are copied
from the patch, without nulls and directives.

Of the patch strategies in a schema (`x-kubernetes-patch-strategy`), `merge` concerns lists and `replace` maps. The
third one, `retainKeys`, is for clients: kubectl adds the directive `$retainKeys` to its patches of such fields. The
server applies that directive wherever a patch has it.
"""

from __future__ import annotations

from collections.abc import Callable

from pyctrl._go.text import go_text
from pyctrl.apiserver import _errors as answers
from pyctrl.apiserver._schema.defaulting import copied
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

__all__ = ["strategic_merge"]

_PATCH, _RETAIN = "$patch", "$retainKeys"
_ORDER, _DELETE = "$setElementOrder/", "$deleteFromPrimitiveList/"
_MAP = "map[string]interface {}"  # the Go type of a JSON object


def strategic_merge(live: dict[str, JSON], patch: dict[str, JSON], schema: SchemaNode) -> dict[str, JSON]:
    """Return the live object with the patch merged into it; neither argument is changed.

    Raises:
        StatusError: 500, as in kube-apiserver: the patch has an unknown directive, or an item without its merge key.
            400: `$retainKeys` is no list, or lacks a key that the patch sets beside it.
    """
    return _merge_map(live, patch, schema)


def _merge_map(live: dict[str, JSON], patch: dict[str, JSON], node: SchemaNode | None) -> dict[str, JSON]:
    directive = patch.get(_PATCH)
    if directive == "replace":
        return {key: copied(value) for key, value in patch.items() if key != _PATCH}
    if directive == "delete":
        return {}
    if _PATCH in patch:
        raise _unknown_directive(patch)
    merged = dict(live)
    _retain_keys(merged, patch)
    ordered = {key.removeprefix(_ORDER) for key in patch if key.startswith(_ORDER)}
    for name in sorted(ordered):
        _order(merged, name, patch, node)
    for key, value in patch.items():
        if key.startswith(_DELETE):
            _delete_values(merged, key.removeprefix(_DELETE), value, node)
        elif key != _RETAIN and not key.startswith(_ORDER) and key not in ordered:
            _merge_field(merged, key, value, node.child(key) if node is not None else None)
    return merged


def _unknown_directive(patch: dict[str, JSON]) -> answers.StatusError:
    return answers.unknown_error(f"unknown patch type: {go_text(patch[_PATCH])} in map: {go_text(patch)}")


def _retain_keys(merged: dict[str, JSON], patch: dict[str, JSON]) -> None:
    """`$retainKeys`: remove the keys of the live map that it does not list."""
    if _RETAIN not in patch:
        return
    keys = patch[_RETAIN]
    if not isinstance(keys, list) or any(_is_set(key, patch) and key not in keys for key in patch):
        raise answers.bad_request("invalid patch format of retainKeys")
    for key in [key for key in merged if key not in keys]:
        del merged[key]


def _is_set(key: str, patch: dict[str, JSON]) -> bool:
    return patch[key] is not None and key != _RETAIN and not _is_list_directive(key)


def _merge_field(merged: dict[str, JSON], key: str, value: JSON, node: SchemaNode | None) -> None:
    live = merged.get(key)
    if value is None:
        merged.pop(key, None)
    elif live is None or type(live) is not type(value):
        merged.pop(key, None)
        if not _is_directive(value):
            merged[key] = _without_directives(value)
    elif isinstance(value, list) and node is not None and node.merge:
        merged[key] = _merge_list(live, value, node)
    elif isinstance(value, dict):
        merged[key] = copied(value) if node is not None and node.replace else _merge_map(live, value, node)
    else:
        merged[key] = copied(value)


def _without_directives(value: JSON) -> JSON:
    """Return a value of the patch for a field that the live object does not have: without nulls and directives."""
    if isinstance(value, dict):
        return {
            key: _without_directives(each)
            for key, each in value.items()
            if each is not None and not _is_list_directive(key) and not _is_directive(each)
        }
    if isinstance(value, list):
        return [_without_directives(each) for each in value if not _is_directive(each)]
    return value


def _is_directive(value: JSON) -> bool:
    return isinstance(value, dict) and _PATCH in value


def _is_list_directive(key: str) -> bool:
    return key.startswith((_ORDER, _DELETE))


# -- lists -----------------------------------------------------------------------------------------------------


def _merge_list(live: list[JSON], patch: list[JSON], node: SchemaNode) -> list[JSON]:
    key = node.merge_key
    if _element_kind(live, patch) != _MAP:
        merged = [*live, *(each for each in patch if each not in live)]
        return _ordered(merged, patch, live, _itself)
    if not key:
        raise answers.unknown_error("cannot merge lists without merge key for struct")
    items = _items(patch)
    if items is None:
        return [copied(each) for each in patch if _PATCH not in each]
    gone = [_key_of(each, key) for each in items if _is_deletion(each)]
    merged = [each for each in live if _key_of(each, key) not in gone]
    stated = [each for each in items if not _is_deletion(each)]
    for each in stated:
        value = _key_of(each, key)
        index = next((i for i, old in enumerate(merged) if old.get(key) == value), None)
        if index is None:
            merged.append(_without_directives(each))
        else:
            merged[index] = _merge_map(merged[index], each, node.items)
    return _ordered(merged, stated, live, lambda each: each.get(key))


def _element_kind(live: list[JSON], patch: list[JSON]) -> str:
    """Return the Go kind of the elements of two lists, "" when they have none.

    Raises:
        StatusError: 500, the kinds differ, or the elements are lists.
    """
    kind = ""
    for each in (*live, *patch):
        found = _go_kind(each)
        if not kind and isinstance(each, list):
            raise answers.unknown_error("lists of lists are not supported")
        if kind and found != kind:
            both = f"[{go_text(live)} {go_text(patch)}]"
            raise answers.unknown_error(f"list element types are not identical: {both}")
        kind = found
    return kind


def _items(patch: list[JSON]) -> list[dict[str, JSON]] | None:
    """Return the items of a patch of a list of maps; None when they replace the list."""
    for each in patch:
        directive = each.get(_PATCH)
        if directive == "merge":
            raise answers.unknown_error("merging lists cannot yet be specified in the patch")
        if _PATCH in each and directive not in ("replace", "delete"):
            raise _unknown_directive(each)
    return None if any(each.get(_PATCH) == "replace" for each in patch) else patch


def _is_deletion(item: dict[str, JSON]) -> bool:
    return item.get(_PATCH) == "delete"


def _itself(each: JSON) -> JSON:
    return each


def _key_of(each: dict[str, JSON], key: str) -> JSON:
    if key not in each:
        raise answers.unknown_error(f"map: {go_text(each)} does not contain declared merge key: {key}")
    return each[key]


def _ordered(merged: list[JSON], wanted: list[JSON], live: list[JSON], key: Callable[[JSON], JSON]) -> list[JSON]:
    """Order a merged list: items of the patch in its order, other items before those that they preceded in `live`."""
    wanted_keys = [key(each) for each in wanted]
    live_keys = [key(each) for each in live]
    named = sorted((each for each in merged if key(each) in wanted_keys), key=lambda each: wanted_keys.index(key(each)))
    others = [each for each in merged if key(each) not in wanted_keys]
    result: list[JSON] = []
    while named and others:
        ours, theirs = key(others[0]), key(named[0])
        is_before = ours in live_keys and theirs in live_keys and live_keys.index(ours) < live_keys.index(theirs)
        result.append((others if is_before else named).pop(0))
    return [*result, *named, *others]


def _order(merged: dict[str, JSON], name: str, patch: dict[str, JSON], node: SchemaNode | None) -> None:
    """`$setElementOrder`: merge the list and order its items as the client has them."""
    order, live, stated = patch[f"{_ORDER}{name}"], merged.get(name), patch.get(name)
    for each in (order, *(fields[name] for fields in (merged, patch) if name in fields)):
        if not isinstance(each, list):
            raise answers.unknown_error(f"expected a []interface {{}}, but received a {_go_kind(each)}")
    child = _list_node(node, name)
    if child is None or (live is None and stated is None):
        return
    if isinstance(stated, list):
        _check_order(stated, order, child.merge_key)
    if stated is not None:
        _merge_field(merged, name, stated, child)
    if not _element_kind(live or [], stated or []):
        raise answers.unknown_error("no elements in any of the given slices")
    found = merged.get(name)
    if isinstance(found, list):
        if key := child.merge_key:
            _check_keys(found, order, key)
        merged[name] = _ordered(found, order, live or [], (lambda each: each.get(key)) if key else _itself)


def _check_keys(merged: list[JSON], order: list[JSON], key: str) -> None:
    """Refuse an order with something else than maps, unless each item of the list is found before it."""
    for each in merged:
        value = _key_of(each, key)
        for index, wanted in enumerate(order):
            if not isinstance(wanted, dict):
                raise answers.unknown_error(f"value for key {index} is not a map")
            if key in wanted and wanted[key] == value:
                break


def _check_order(stated: list[JSON], order: list[JSON], key: str) -> None:
    """Refuse a patch whose items of a list are not in the order of its `$setElementOrder`."""
    if not order:
        return
    items = [each for each in stated if not (key and _is_deletion(_map(each)))]
    position = 0
    for each in items:
        if isinstance(each, dict) and _PATCH in each:
            continue
        while position < len(order) and not _is_same(each, order[position], key):
            position += 1
        if position == len(order):
            raise answers.unknown_error(
                f"The order in patch list:\n{go_text(stated)}\n doesn't match {_ORDER[:-1]} list:\n{go_text(order)}\n"
            )
        position += 1


def _is_same(each: JSON, wanted: JSON, key: str) -> bool:
    return bool(_key_of(_map(each), key) == _key_of(_map(wanted), key)) if key else bool(each == wanted)


def _map(value: JSON) -> dict[str, JSON]:
    if not isinstance(value, dict):
        raise answers.unknown_error(f"expected a map[string]interface {{}}, but received a {_go_kind(value)}")
    return value


def _list_node(node: SchemaNode | None, name: str) -> SchemaNode | None:
    """Return the node of a list to order.

    Raises:
        StatusError: 500, the Go type has no such field, or it is neither a list nor a pointer.
    """
    if node is None:
        return None
    if node.additional is not None:
        raise answers.unknown_error("merging an object in json but data type is not struct, instead is: map")
    if name not in node.properties and node.go is not None and node.go.struct:
        why = f'unable to find api field in struct {node.go.struct} for the json field "{name}"'
        raise answers.unknown_error(why)
    child = node.child(name)
    if child is not None and child.type != "array" and child.go is not None and child.go.drop_zero:
        raise answers.unknown_error("expected slice or array type, but got: struct")
    return child


def _delete_values(merged: dict[str, JSON], key: str, values: JSON, node: SchemaNode | None) -> None:
    """`$deleteFromPrimitiveList`: remove values of a list. With null the list is removed, and maps are merged."""
    live, child = merged.get(key), node.child(key) if node is not None else None
    if values is None:
        merged.pop(key, None)
    elif isinstance(live, list) and isinstance(values, list) and child is not None:
        if _element_kind(live, values) == _MAP:
            merged[key] = _merge_list(live, values, child)
        else:
            merged[key] = [each for each in live if each not in values]


# -- Go types -------------------------------------------------------------------------------------------------


def _go_kind(value: JSON) -> str:
    kinds = ((bool, "bool"), (int, "int64"), (float, "float64"), (str, "string"), (dict, _MAP))
    return next((name for kind, name in kinds if isinstance(value, kind)), "%!s(<nil>)")
