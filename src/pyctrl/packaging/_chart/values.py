"""What a chart leaves to whoever installs it: values with what they mean, and the schema that they are held to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyctrl.errors import CommandFailed

__all__ = ["Section", "Value", "Values", "read_values", "schema_of", "values_text", "with_missing"]

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Value:
    """One value: what it is without anybody saying, what it means, and its schema."""

    name: str
    default: Any
    told: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Section:
    """Values of one name."""

    name: str
    values: tuple[Value, ...]
    told: str = ""


Values: TypeAlias = Sequence[Value | Section]

_INDENT = "  "


def values_text(values: Values) -> str:
    """Return values.yaml, with what each value means above it."""
    return "\n".join(_block(each, "") for each in values)


def _block(value: Value | Section, indent: str) -> str:
    told = "".join(f"{indent}# {line}\n" for line in value.told.splitlines())
    if isinstance(value, Section):
        members = "".join(_block(each, indent + _INDENT) for each in value.values)
        return f"{told}{indent}{value.name}:\n{members}"
    from pyctrl.rbac import to_yaml  # here: see pyctrl.rbac

    if value.default == "":
        return f'{told}{indent}{value.name}: ""\n'  # as charts have it
    lines = to_yaml([{value.name: value.default}]).removeprefix("---\n").splitlines()
    return told + "".join(f"{indent}{line}\n" for line in lines)


# -- the schema ------------------------------------------------------------------------------------------------------


def schema_of(values: Values, others: Mapping[str, Any]) -> str:
    """Return values.schema.json: a value that there is not is refused, so that none is misspelt.

    Args:
        values: those of the chart.
        others: values.yaml as it is; what somebody has added to it for templates of their own is taken as it is.
    """
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", **_closed(values, others)}
    schema["properties"] = {**schema["properties"], "global": {"description": "Of all charts.", "type": "object"}}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _closed(values: Values, others: Any) -> Object:
    named = {each.name: _schema(each, others) for each in values}
    theirs = [name for name in others if name not in named] if isinstance(others, Mapping) else []
    sections = [each.name for each in values if isinstance(each, Section)]
    return {
        "type": "object",
        "properties": {**named, **{str(name): {} for name in theirs}},
        "additionalProperties": False,
        **({"required": sections} if sections else {}),
    }


def _schema(value: Value | Section, others: Any) -> Object:
    told = {"description": " ".join(value.told.split())} if value.told else {}
    if isinstance(value, Value):
        return {**told, **value.schema}
    inner = others.get(value.name) if isinstance(others, Mapping) else None
    return {**told, **_closed(value.values, inner)}


# -- values that somebody has changed --------------------------------------------------------------------------------


def with_missing(text: str, values: Values, place: str) -> str:
    """Return values.yaml as it is, each line of it, and with the values that it has not.

    Args:
        text: values.yaml.
        values: what a chart has.
        place: what the file is called.

    Raises:
        CommandFailed: it is no object in YAML, or nothing can be added to it in lines; says what to add.
    """
    nodes, lines = _members(_composed(text, place)), text.splitlines()
    found: list[tuple[int, str]] = []
    for each in values:
        if each.name not in nodes:
            found.append((len(lines), "\n" * bool(lines) + _block(each, "")))
        elif isinstance(each, Section):
            found += _missing(each, nodes[each.name], f"{place}: {each.name}")
    found.sort(key=lambda each: each[0])
    for line, added in reversed(found):  # from the end: lines before it keep their places
        lines[line:line] = added.splitlines()
    return "".join(f"{line}\n" for line in lines)


def read_values(text: str, place: str) -> Object:
    """Return what values.yaml has. Raises CommandFailed: it is no object in YAML."""
    import yaml  # here: see values_text

    return dict(yaml.safe_load(text) or {}) if _composed(text, place) is not None else {}


def _composed(text: str, place: str) -> Any:
    import yaml  # here: see values_text

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise CommandFailed(f"{place}: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise CommandFailed(f"{place}: it is nested too deeply") from error
    if node is not None and not isinstance(node, yaml.MappingNode):
        raise CommandFailed(f"{place}: an object was expected, with a member for each value")
    return node


def _members(node: Any) -> dict[str, Any]:
    return {key.value: value for key, value in node.value} if node is not None else {}


def _missing(section: Section, node: Any, place: str) -> list[tuple[int, str]]:
    """Give what a section has not, with the line that it goes before: that behind its last member."""
    import yaml  # here: see values_text

    is_object = isinstance(node, yaml.MappingNode)
    missing = [each for each in section.values if not is_object or each.name not in _members(node)]
    if not missing:
        return []
    if not is_object or node.flow_style or not node.value:
        wanted = ", ".join(f"{each.name}: {json.dumps(each.default)}" for each in missing)
        raise CommandFailed(f"{place} has to have {wanted}; write it there, one member in a line")
    indent = " " * int(node.value[0][0].start_mark.column)
    return [(_end(node), "".join(_block(each, indent) for each in missing))]


def _end(node: Any) -> int:
    """Return the line behind a node; comments that follow are not of it."""
    if isinstance(node.value, list) and node.value and not node.flow_style:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.line) + bool(node.end_mark.column)
