"""Helm's rendering of our charts in Python, so that tests of values need no helm.

`tools/helm_check.py` compares this module with helm.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C implementation, if available

_ACTION = re.compile(r"\{\{(-(?=\s))?\s*(.*?)\s*((?<=\s)-)?\}\}", re.DOTALL)
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[()|]|:=|[^\s()|]+')


@dataclass
class Node:
    """A text, or an action with its body and the body of its ``else``."""

    action: str = ""
    text: str = ""
    inner: list[Node] = field(default_factory=list)
    other: list[Node] = field(default_factory=list)


class Release:
    """A chart with values and a name, as passed to ``helm template``."""

    def __init__(self, texts: Mapping[str, str], values: Mapping[str, Any], *, name: str, namespace: str) -> None:
        chart = yaml.safe_load(texts["Chart.yaml"])
        self._root = {
            "Values": _over(yaml.safe_load(texts["values.yaml"]), values),
            "Release": {"Name": name, "Namespace": namespace, "Service": "Helm"},
            "Chart": {key[0].upper() + key[1:]: value for key, value in chart.items()},
        }
        self._defined: dict[str, list[Node]] = {}
        self._texts = texts
        for path in texts:
            if path.endswith(".tpl"):
                self.render(path)

    def render(self, path: str) -> str:
        """Render one template."""
        return self._run(_parsed(self._texts[path]), self._root, {"$": self._root})

    def value(self, text: str) -> Any:
        """Return the value of an action."""
        return self._value(text, self._root, {"$": self._root})

    def objects(self) -> list[dict[str, Any]]:
        """Return the objects of all templates."""
        paths = [path for path in self._texts if re.fullmatch(r"templates/.*\.yaml", path)]
        return [obj for path in paths for obj in yaml.load_all(self.render(path), LOADER) if obj is not None]

    def _run(self, nodes: list[Node], dot: Any, names: dict[str, Any]) -> str:
        return "".join(self._node(node, dot, names) for node in nodes)

    def _node(self, node: Node, dot: Any, names: dict[str, Any]) -> str:
        word, _, rest = node.action.partition(" ")
        match word:
            case "":
                return node.text
            case "define":
                self._defined[json.loads(rest)] = node.inner
                return ""
            case "if" | "with":
                found = self._value(rest, dot, names)
                if not found:
                    return self._run(node.other, dot, names)
                return self._run(node.inner, found if word == "with" else dot, names)
            case "range":
                name, _, rest = rest.partition(" := ")
                return "".join(
                    self._run(node.inner, each, {**names, name: each}) for each in self._value(rest, dot, names)
                )
        if match := re.match(r"(\$\w+) :?= (.*)", node.action):
            names[match[1]] = self._value(match[2], dot, names)
            return ""
        return str(self._value(node.action, dot, names))

    def _value(self, text: str, dot: Any, names: Mapping[str, Any]) -> Any:
        return self._pipeline(iter(_WORD.findall(text)), dot, names)

    def _pipeline(self, words: Iterator[str], dot: Any, names: Mapping[str, Any]) -> Any:
        """Return the value of a pipeline, up to its closing bracket."""
        commands: list[list[Any]] = [[]]
        for word in words:
            if word == ")":
                break
            if word == "|":
                commands.append([])
            elif word == "(":
                commands[-1].append(self._pipeline(words, dot, names))
            else:
                is_function = not commands[-1] and word[0].isalpha()
                commands[-1].append(self._function(word) if is_function else _operand(word, dot, names))
        result: list[Any] = []
        for first, *arguments in commands:
            result = [first(*arguments, *result) if callable(first) else first]
        return result[0]

    def _function(self, name: str) -> Callable[..., Any]:
        if name == "include":
            return lambda what, dot: self._run(self._defined[what], dot, {"$": dot})
        return _FUNCTIONS[name]


def _parsed(text: str) -> list[Node]:
    """Return the nodes of a template."""
    stack, at, is_trimmed = [Node()], 0, False
    places = [stack[0].inner]
    for found in [*_ACTION.finditer(text), None]:
        between = text[at : found.start() if found else None]
        between = between.lstrip() if is_trimmed else between
        places[-1].append(Node(text=between.rstrip() if found and found[1] else between))
        if found is None:
            break
        at, is_trimmed, action = found.end(), bool(found[3]), found[2]
        if action == "end":
            stack.pop()
            places.pop()
        elif action == "else":
            places[-1] = stack[-1].other
        elif not action.startswith("/*"):
            node = Node(action=action)
            places[-1].append(node)
            if action.split()[0] in ("if", "with", "range", "define"):
                stack.append(node)
                places.append(node.inner)
    assert len(stack) == 1, "an action has no end"
    return stack[0].inner


def _operand(word: str, dot: Any, names: Mapping[str, Any]) -> Any:
    if word[0] == '"':
        return json.loads(word)
    if word.isdigit():
        return int(word)
    head, *path = word.split(".")
    value = dot if not head else names[head]
    for each in filter(None, path):
        value = value.get(each)  # as in Go, a field of nil is an error
    return "" if value is None else value


def _over(values: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(values)
    for key, value in others.items():
        is_object = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = _over(found[key], value) if is_object else value
    return found


def _nindent(width: int, text: str) -> str:
    return "\n" + "\n".join(" " * width + line for line in text.split("\n"))


def _to_yaml(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=False).removesuffix("\n").removesuffix("\n...")


def _fail(message: str) -> None:
    raise RuntimeError(message)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "and": lambda *values: next((each for each in values if not each), values[-1]),
    "contains": lambda part, text: part in text,
    "default": lambda default, value="": value or default,
    "eq": lambda a, b: a == b,
    "fail": _fail,
    "gt": lambda a, b: a > b,
    "join": lambda separator, values: separator.join(values),
    "len": len,
    "ne": lambda a, b: a != b,
    "nindent": _nindent,
    "not": lambda value: not value,
    "or": lambda *values: next((each for each in values if each), values[-1]),
    "printf": lambda form, *values: form % values,
    "quote": json.dumps,
    "replace": lambda old, new, text: text.replace(old, new),
    "sha256sum": lambda text: hashlib.sha256(text.encode()).hexdigest(),
    "toYaml": _to_yaml,
    "trimSuffix": lambda suffix, text: text.removesuffix(suffix),
    "trunc": lambda count, text: text[:count],
}


# -- differences between a release and an installation ---------------------------------------------------------------

_LABELS = ("helm.sh/chart", "app.kubernetes.io/")


def plain(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return sorted objects without the differences between helm and `install`."""
    found = [_plain(obj) for obj in objects if obj["kind"] != "Namespace"]
    return sorted(found, key=lambda obj: [obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]])


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, str):
        return value.replace("-watch-role", "-manager-role")  # has this name to coexist with another one
    if not isinstance(value, dict):
        return value
    kept = {key: _plain(each) for key, each in value.items() if not key.startswith((*_LABELS, "helm.sh/"))}
    return {key: each for key, each in kept.items() if each or key not in ("labels", "annotations")}
