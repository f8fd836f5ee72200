"""Objects in YAML and JSON files, with the line and column of each field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pyctrl.apiserver import read_yaml_nodes

if TYPE_CHECKING:
    import yaml

__all__ = ["Document", "Position", "read_manifest_objects"]


DEEPEST = 200  # levels of nesting; real objects have far fewer, and functions that walk objects are recursive

_JSON = (str, int, float, dict, list, type(None))


class Position(NamedTuple):
    """A line and a column of a text, both starting at 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An object and its origin: the file (or another name of the source), and the number of the document in it."""

    source: str
    number: int
    obj: Mapping[str, Any]
    node: yaml.Node

    def find(self, path: str, *, key: bool = False) -> Position:
        """Return the position of a field, given its path in the server's form: `spec.ports[0].name`.

        A missing field has the position of its innermost existing parent. A scalar has the position of its value, or of
        its key if ``key`` is true; other values have that of their key.
        """
        found = _Node(self.node, self.node.start_mark)
        rest = "" if path == "<nil>" else path.removeprefix(".")
        while rest and (step := _step(found.node, rest)) is not None:
            found, rest = step
        is_value = not rest and not key and _is_scalar(found.node)
        mark = found.node.start_mark if is_value else found.mark
        return Position(mark.line + 1, mark.column + 1)

    def repeated(self) -> Iterator[tuple[str, Position]]:
        """Yield the paths of duplicate keys, and their positions."""
        yield from _repeated(self.node, "")


class _Node(NamedTuple):
    node: yaml.Node
    mark: yaml.Mark  # of the key or the item


def read_manifest_objects(text: bytes, source: str, *, lenient: bool = False) -> Iterator[Document]:
    """Yield the objects of a YAML or JSON text, which may have several documents. The items of a List are yielded.

    Args:
        text: the text.
        source: its name in messages.
        lenient: skip documents that are not objects, such as patches and settings that lie among manifests.

    Raises:
        ValueError: the text is neither YAML nor JSON, or a document is not an object.
    """
    number = 0
    try:
        for part in _json_texts(text) or [text]:
            for value, node in read_yaml_nodes(part):
                number += 1
                for obj, place in _objects(value, node):
                    if lenient and not _is_object(obj):
                        continue
                    yield Document(source=source, number=number, obj=_checked(obj, place), node=place)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        if b"{{" not in text:
            raise
        raise ValueError(f"{error} (a template? make its objects first: helm template CHART | …)") from error


def _is_object(obj: Any) -> bool:
    return isinstance(obj, dict) and ("kind" in obj or "apiVersion" in obj)


def _checked(obj: Any, node: yaml.Node) -> Mapping[str, Any]:
    if isinstance(obj, dict):
        if _depth(obj) > DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} levels deep")
        return obj
    line = node.start_mark.line + 1 if node.start_mark else 1
    why = f"line {line}: expected an object with apiVersion and kind, found {type(obj).__name__}"
    raise ValueError(why)


def _depth(obj: Any) -> int:
    depth, level = 0, [obj]
    while level and depth <= DEEPEST:
        parts = [part for each in level for part in (each.values() if isinstance(each, dict) else each)]
        if alien := next((part for part in parts if not isinstance(part, _JSON)), None):
            raise ValueError(f"JSON has no {type(alien).__name__}")
        level = [part for part in parts if isinstance(part, (dict, list))]
        depth += 1
    return depth


def _json_texts(text: bytes) -> list[bytes]:
    """Split consecutive JSON documents, keeping lines and columns. Return an empty list for other texts."""
    if not text.lstrip().startswith(b"{"):
        return []
    try:
        rest = text.decode()
        decoder, at, parts = json.JSONDecoder(), 0, list[bytes]()
        while tail := rest[at:].lstrip():
            at = len(rest) - len(tail)
            _, end = decoder.raw_decode(rest, at)
            before = rest[:at]
            blank = "\n" * before.count("\n") + " " * (at - before.rfind("\n") - 1)
            parts.append(f"{blank}{rest[at:end]}".replace("\t", " ").encode())
            at = end
    except ValueError:  # YAML may begin with a brace too
        return []
    return parts


def _objects(value: Any, node: yaml.Node) -> Iterator[tuple[Any, yaml.Node]]:
    if value is None:
        return
    if isinstance(value, dict) and value.get("kind") == "List" and isinstance(value.get("items"), list):
        items = next(each for key, each in node.value if key.value == "items")
        yield from zip(value["items"], items.value, strict=True)
    else:
        yield value, node


def _step(node: yaml.Node, rest: str) -> tuple[_Node, str] | None:
    """Return the node at the next part of a path: an index, a key in brackets, or the longest matching key."""
    if rest.startswith("["):
        inside, _, after = rest[1:].partition("]")
        if isinstance(node.value, list) and not _is_mapping(node):
            if not inside.isdigit() or int(inside) >= len(node.value):
                return None
            item = node.value[int(inside)]
            return _Node(item, item.start_mark), after.removeprefix(".")
        return _of_key(node, inside, after.removeprefix("."))
    if not _is_mapping(node):
        return None
    keys = [str(key.value) for key, _ in node.value]
    fitting = [key for key in keys if key and rest.startswith(key) and (rest[len(key) :] or ".")[0] in ".["]
    if not fitting:
        return None
    longest = max(fitting, key=len)
    return _of_key(node, longest, rest[len(longest) :].removeprefix("."))


def _of_key(node: yaml.Node, name: str, rest: str) -> tuple[_Node, str] | None:
    for key, value in reversed(node.value if _is_mapping(node) else []):  # the last of duplicate keys counts
        if str(key.value) == name:
            return _Node(value, key.start_mark), rest
    return None


def _is_mapping(node: yaml.Node) -> bool:
    return str(getattr(node, "id", "")) == "mapping"


def _is_scalar(node: yaml.Node) -> bool:
    return str(getattr(node, "id", "")) == "scalar"


def _repeated(node: yaml.Node, path: str) -> Iterator[tuple[str, Position]]:
    if _is_scalar(node):
        return
    if not _is_mapping(node):
        for index, item in enumerate(node.value):
            yield from _repeated(item, f"{path}[{index}]")
        return
    seen = set[str]()
    for key, value in node.value:
        name = str(key.value)
        where = f"{path}.{name}" if path else name
        if name in seen and key.tag != "tag:yaml.org,2002:merge":
            yield where, Position(key.start_mark.line + 1, key.start_mark.column + 1)
        seen.add(name)
        yield from _repeated(value, where)
