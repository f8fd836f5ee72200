"""YAML with Helm template actions: a tree of plain data and template nodes, and its output.

A tree is data as for `yaml`, with the nodes below where the template has actions. Any ``{{`` in plain strings, such as
descriptions, is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = [
    "ConditionalEntry",
    "Entries",
    "Items",
    "OptionalMember",
    "Spread",
    "TemplateExpression",
    "Tree",
    "argument",
    "negated",
    "to_template",
]  # fmt: skip

Tree: TypeAlias = Any

_INDENT = 2
_END = "{{- end }}"
_WIDTH = 1 << 20  # characters: never fold lines, as a fold could split an action


@dataclass(frozen=True, slots=True)
class TemplateExpression:
    """A value that is the result of an action."""

    action: str


@dataclass(frozen=True, slots=True)
class OptionalMember:
    """A member that is present if its value is set: an object or a list or, if inline, a scalar."""

    values: str
    is_inline: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """Members or items that are the result of an action: a key of an object, or an item of a list.

    Attributes:
        action: the action.
        is_optional: whether the result may be empty; the action is a value then.
    """

    action: str
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class ConditionalEntry:
    """A member of an object, or an item of a list without a key, that is present under a condition; "" is always."""

    condition: str
    key: Any
    value: Tree


@dataclass(frozen=True, slots=True)
class Entries:
    """An object whose members depend on conditions; a key is repeated for each of its possible values."""

    members: tuple[ConditionalEntry, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A list whose items depend on conditions."""

    items: tuple[ConditionalEntry, ...]


def to_template(tree: Tree, names: Mapping[str, str]) -> str:
    """Return an object as a template.

    Args:
        tree: the object.
        names: actions, by the placeholders that they replace in strings.
    """
    return "".join(f"{_named(line, names)}\n" for line in _lines(tree, 0))


def _named(line: str, names: Mapping[str, str]) -> str:
    for word, action in names.items():
        line = line.replace(word, f"{{{{ {action} }}}}")
    return line


def _lines(tree: Tree, indent: int) -> Iterator[str]:
    """Yield the lines of an object or a list."""
    if _is_plain(tree):
        yield from _plain(tree, indent)
    elif isinstance(tree, Entries | dict):
        members = tree.members if isinstance(tree, Entries) else [ConditionalEntry("", *each) for each in tree.items()]
        yield from _conditional([(each.condition, _member(each.key, each.value, indent)) for each in members], indent)
    else:
        items = tree.items if isinstance(tree, Items) else [ConditionalEntry("", None, each) for each in tree]
        yield from _conditional([(each.condition, _item(each.value, indent)) for each in items], indent)


def _conditional(found: Sequence[tuple[str, Iterable[str]]], indent: int) -> Iterator[str]:
    """Yield lines under their conditions. Neighbours with equal or opposite conditions share an ``if``."""
    head, last = " " * indent, ""
    for condition, lines in found:
        if condition != last:
            if last and condition and (condition == negated(last) or last == negated(condition)):
                yield f"{head}{{{{- else }}}}"
            else:
                if last:
                    yield f"{head}{_END}"
                if condition:
                    yield f"{head}{{{{- if {condition} }}}}"
            last = condition
        yield from lines
    if last:
        yield f"{head}{_END}"


def negated(condition: str) -> str:
    """Return the negation of a condition."""
    if condition.startswith("eq "):
        return condition.replace("eq ", "ne ", 1)
    return f"not {argument(condition)}"


def argument(text: str) -> str:
    """Return a condition as an argument of another."""
    return f"({text})" if " " in text else text


def _with(values: str, line: str, indent: int) -> Iterator[str]:
    yield from (f"{' ' * indent}{{{{- with {values} }}}}", line, f"{' ' * indent}{_END}")


def _member(key: Any, value: Tree, indent: int) -> Iterator[str]:
    """Yield the lines of a member of an object."""
    head = " " * indent
    match key, value:
        case Spread(), _:
            yield from _spread(key, indent)
        case _, TemplateExpression(action):
            yield f"{head}{key}: {{{{ {action} }}}}"
        case _, OptionalMember(values, True):
            yield from _with(values, f"{head}{key}: {{{{ . | quote }}}}", indent)
        case _, OptionalMember(values):
            block = f"{head}{key}:\n{head}  {{{{- toYaml . | nindent {indent + _INDENT} }}}}"
            yield from _with(values, block, indent)
        case _:
            yield from _nested(key, value, indent)


def _nested(key: str, value: Tree, indent: int) -> Iterator[str]:
    if _is_plain(value):
        yield from _plain({key: value}, indent)
        return
    yield f"{' ' * indent}{key}:"
    is_list = isinstance(value, list | Items)
    yield from _lines(value, indent if is_list else indent + _INDENT)


def _item(value: Tree, indent: int) -> Iterator[str]:
    """Yield the lines of an item of a list; an item that begins with an action begins on a new line."""
    if isinstance(value, Spread):
        yield from _spread(value, indent)
        return
    if _is_plain(value):
        yield from _plain([value], indent)
        return
    if isinstance(value, TemplateExpression):
        yield f"{' ' * indent}- {{{{ {value.action} }}}}"
        return
    first, *rest = _lines(value, indent + _INDENT)
    if first.lstrip().startswith("{{"):
        yield from (f"{' ' * indent}-", first)
    else:
        yield f"{' ' * indent}- {first.lstrip()}"
    yield from rest


def _spread(spread: Spread, indent: int) -> Iterator[str]:
    head = " " * indent
    if spread.is_optional:
        yield from _with(spread.action, f"{head}{{{{- toYaml . | nindent {indent} }}}}", indent)
    else:
        yield f"{head}{{{{- {spread.action} | nindent {indent} }}}}"


def _is_plain(tree: Tree) -> bool:
    """Return whether a tree has no template nodes."""
    if isinstance(tree, dict):
        return all(isinstance(key, str) and _is_plain(value) for key, value in tree.items())
    if isinstance(tree, list):
        return all(map(_is_plain, tree))
    return tree is None or isinstance(tree, str | int | float)


def _plain(data: object, indent: int) -> list[str]:
    """Return data as lines of YAML, with ``{{`` escaped for the template engine."""
    text = re.sub(r"\{\{", '{{ "{{" }}', _dump(data))
    return [f"{' ' * indent}{line}" if line else "" for line in text.removesuffix("\n").split("\n")]


def _dump(data: object) -> str:
    import yaml  # lazy: not needed unless a file is written

    class Dumper(yaml.SafeDumper):
        """Dumper of multi-line strings as literal blocks, unless they end with a newline that an action would trim."""

        def ignore_aliases(self, data: object) -> bool:
            """Disable YAML aliases: one of two occurrences may be under a condition."""
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = None if "\n" not in value else '"' if value.endswith("\n") else "|"
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return yaml.dump(data, Dumper=Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)
