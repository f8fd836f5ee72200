"""Validation of apply configurations against the schema of their kind, with structured-merge-diff's messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pyctrl._go.text import quoted
from pyctrl.apiserver import _errors as answers
from pyctrl.apiserver._fieldmanager.fieldset import item_element, path_element_text
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["GoValue", "check_configuration", "configuration_undecodable", "typed_problems"]


class GoValue(NamedTuple):
    """A value that JSON does not have, as Go shows it in errors: its type, and its formats `%v` and `%#v`."""

    type: str
    plain: str
    syntax: str


_OMITS_KEYS = "associative list with keys has an element that omits all key fields"
_EVERY_KIND = ("apiVersion", "kind", "metadata")
_SCALARS = {"string": (str,), "boolean": (bool,), "integer": (int, float), "number": (int, float)}
_GO_TYPES = {str: "string", bool: "bool", int: "int64", float: "float64"}


def check_configuration(patch: dict[str, JSON], type: ResourceType) -> None:
    """Refuse undeclared fields, values of the wrong type, and list items without keys or with duplicate keys.

    Raises:
        StatusError: 500, with all problems.
    """
    if problems := typed_problems(type.schema, patch):
        raise answers.unknown_error(f"failed to create typed patch object ({_named(patch, type)}): {problems}")


def configuration_undecodable(
    patch: dict[str, JSON], type: ResourceType, unfit: answers.UndecodableBody
) -> answers.StatusError:
    """500: the object with a configuration applied does not decode as its kind."""
    if type.is_custom:
        return unfit
    kind = f"{type.group}/{type.version}, Kind={type.kind}"
    why = f"unable to convert unstructured object to {kind}: {unfit.converted}"
    return answers.unknown_error(f"failed to convert new object ({_named(patch, type)}) to proper version: {why}")


def _named(patch: dict[str, JSON], type: ResourceType) -> str:
    """Return the namespace, name and kind of a configuration."""
    metadata = patch.get("metadata")
    found = metadata if isinstance(metadata, dict) else {}
    names = (each if isinstance(each := found.get(key), str) else "" for key in ("namespace", "name"))
    return f"{'/'.join(names)}; {type.group}/{type.version}, Kind={type.kind}"


def typed_problems(node: SchemaNode | None, value: JSON, *, needs_keys: bool = True) -> str:
    """Return why a configuration does not fit its schema, with all problems; "" if it does.

    Args:
        needs_keys: Items of a list of type map need a key. Without it an absent key is the zero of its type.
    """
    found = [text for text in _problems(node, value, "") if needs_keys or _OMITS_KEYS not in text]
    return "\n  ".join(("errors:", *found)) if len(found) > 1 else "".join(found)


def _problems(node: SchemaNode | None, value: JSON, path: str, *, preserves: bool = False) -> Iterator[str]:
    """Yield the problems of a value.

    Args:
        preserves: A node above preserves unknown fields, which structured-merge-diff extends to all nodes below it.
    """
    if node is None or node.open or value is None:
        return
    if node.int_or_string and not isinstance(value, GoValue):
        return  # structured-merge-diff accepts any value of a schema without a type; decoding refuses it
    if node.int_or_string or (node.go and node.go.scalar and node.go.scalar != "bytes"):
        if node.go and isinstance(
            value, (dict, list, GoValue)
        ):  # in custom resources structured-merge-diff accepts any value
            yield f"{path}: expected any scalar, got {_go_value(value)}"
    elif node.type == "array":
        yield from _list_problems(node, value, path, preserves=preserves or node.preserve)
    elif node.type == "object" or node.properties or node.additional:
        yield from _map_problems(node, value, path, preserves=preserves or node.preserve)
    elif node.type in _SCALARS:
        yield from _scalar_problems(node.type, value, path)


def _scalar_problems(wanted: str, value: JSON, path: str) -> Iterator[str]:
    types = _SCALARS[wanted]
    if isinstance(value, types) and isinstance(value, bool) is (wanted == "boolean"):
        return
    if wanted in ("integer", "number"):
        yield f"{path}: expected numeric (int or float), got {_go_type(value)}"
    elif wanted == "string":
        yield f"{path}: expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
    else:
        yield f"{path}: expected boolean, got {_go_value(value)}"


def _map_problems(node: SchemaNode, value: JSON, path: str, *, preserves: bool) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: expected map, got {_go_value(value)}"
        return
    takes_any_key = preserves or not (node.properties or node.closed)
    for key, each in sorted(value.items()):  # Go begins a small map at a random item; this is the order it often has
        child = node.child(key)
        if child is None and not takes_any_key and not (path == "" and key in _EVERY_KIND):
            yield f"{path}.{key}: field not declared in schema"
            return  # as upstream: further problems of this map are not reported
        yield from _problems(child, each, f"{path}.{key}", preserves=preserves)


def _list_problems(node: SchemaNode, value: JSON, path: str, *, preserves: bool) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path}: expected list, got {_go_value(value)}"
        return
    seen = set[str]()
    for index, each in enumerate(value):
        element = f"[{index}]"
        if node.list_type != "atomic":
            if problem := _missing_key_problem(node, each):
                yield f"{path}: element {index}: {problem}"
                return
            key = item_element(node, index, each)
            element = path_element_text(key)
            if key in seen:
                yield f"{path}: duplicate entries for key {element}"
            seen.add(key)
        yield from _problems(node.items, each, f"{path}{element}", preserves=preserves)


def _missing_key_problem(node: SchemaNode, value: JSON) -> str:
    """Return why an item of a list of type map or set has no identity; "" when it has one."""
    if node.list_type == "map":
        if value is None:
            return "associative list with keys may not have a null element"
        if not isinstance(value, dict):
            return "associative list with keys may not have non-map elements"
        if not item_element(node, 0, value).startswith("k:"):
            names = " ".join(f'"{name}"' for name in node.map_keys)
            return f"{_OMITS_KEYS} [{names}] (and doesn't have default values for any key fields)"
        return ""
    if isinstance(value, dict):
        return "associative list without keys has an element that's a map type"
    if isinstance(value, list):
        return "not supported: associative list with lists as elements"
    return "associative list without keys has an element that's an explicit null" if value is None else ""


# -- text of values in Go ----------------------------------------------------------------------------------------


def _go_type(value: JSON) -> str:
    if isinstance(value, GoValue):
        return value.type
    if isinstance(value, dict):
        return "map[string]interface {}"
    return "[]interface {}" if isinstance(value, list) else _GO_TYPES[type(value)]


def _go_syntax(value: JSON) -> str:
    """Return a value in Go's `%#v` format."""
    if isinstance(value, GoValue):
        return value.syntax
    if isinstance(value, dict):
        inside = ", ".join(f"{quoted(key)}:{_go_syntax(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{inside}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_go_syntax, value))}}}"
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(value) if isinstance(value, str) else str(value)


def _go_value(value: JSON) -> str:
    return f"&{{{_go_plain(value)}}}"


def _go_plain(value: JSON) -> str:
    """Return a value in Go's `%v` format."""
    if isinstance(value, GoValue):
        return value.plain
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{_go_plain(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_go_plain, value))}]"
    if value is None:
        return "<nil>"
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
