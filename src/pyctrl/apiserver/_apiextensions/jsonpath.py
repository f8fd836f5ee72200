"""JSONPath of printer columns: the subset of kubectl's JSONPath that columns use."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from pyctrl.apiserver._schema.schema import JSON

__all__ = ["column_values"]


_TOKEN = re.compile(
    r"\.\.(?P<deep>[\w$-]+)"
    r"|\.(?P<name>(?:[\w$-]|\\.|(?<=[\w$-])/)+)"
    r"|\.(?P<star>\*)"
    r"|\[(?P<index>-?\d+)\]"
    r"|\[(?P<slice>-?\d*:-?\d*)\]"
    r"|\[(?P<all>\*)\]"
    r"|\[['\"](?P<key>[^'\"]+)['\"]\]"
    r"|\[\?\(\s*@(?P<left>(?:\.[\w$-]+)*)\s*(?:(?P<op>==|!=|<=|>=|<|>)\s*(?P<right>'[^']*'|\"[^\"]*\"|[\w.+-]+)\s*)?\)\]"
)
_Step = Callable[[JSON], Iterable[JSON]]


def column_values(obj: JSON, path: str) -> list[JSON]:
    """Return all values at a path; an invalid path has none."""
    found = [obj]
    for step in _steps(path):
        found = [inner for value in found for inner in step(value)]
    return found


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[_Step, ...]:
    text = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    text = text if text.startswith((".", "[")) else f".{text}"
    steps: list[_Step] = []
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            return (_no_values,)
        steps.append(_step(token))
        position = token.end()
    return tuple(steps)


def _step(token: re.Match[str]) -> _Step:
    if name := token["name"] or token["key"]:
        key = re.sub(r"\\(.)", r"\1", name)
        return lambda value: (value[key],) if isinstance(value, dict) and key in value else ()
    if token["star"] or token["all"]:
        return _children
    if token["deep"]:
        return lambda value: _deep(value, token["deep"])
    if token["index"] is not None:
        return lambda value: _at(value, int(token["index"]))
    if token["slice"] is not None:
        start, _, end = token["slice"].partition(":")
        part = slice(int(start) if start else None, int(end) if end else None)
        return lambda value: value[part] if isinstance(value, list) else ()
    return _filter(token["left"], token["op"], token["right"])


def _no_values(_value: JSON) -> Iterable[JSON]:
    return ()


def _children(value: JSON) -> Iterable[JSON]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()


def _at(value: JSON, index: int) -> Iterable[JSON]:
    return (value[index],) if isinstance(value, list) and -len(value) <= index < len(value) else ()


def _deep(value: JSON, name: str) -> Iterable[JSON]:
    found = [value[name]] if isinstance(value, dict) and name in value else []
    return [*found, *(inner for child in _children(value) for inner in _deep(child, name))]


def _filter(left: str, operator: str | None, right: str | None) -> _Step:
    names = [name for name in left.split(".") if name]
    wanted = _literal(right) if right is not None else None

    def holds(item: JSON) -> bool:
        for name in names:
            if not isinstance(item, dict) or name not in item:
                return False
            item = item[name]
        return operator is None or _compares(item, operator, wanted)

    return lambda value: [item for item in _children(value) if holds(item)]


def _literal(text: str) -> JSON:
    if text[0] in "'\"":
        return text[1:-1]
    try:
        return json.loads(text)
    except ValueError:
        return text


def _compares(value: JSON, operator: str, wanted: JSON) -> bool:
    if operator == "==":
        return bool(value == wanted)
    if operator == "!=":
        return bool(value != wanted)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isinstance(wanted, (int, float)):
        return False
    return {"<": value < wanted, "<=": value <= wanted, ">": value > wanted, ">=": value >= wanted}[operator]
