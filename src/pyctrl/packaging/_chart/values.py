"""Values of a chart: values.yaml, its schema, and the merge with an edited values.yaml."""

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
    """One value: its name, default, description and schema."""

    name: str
    default: Any
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Section:
    """A group of values under one name."""

    name: str
    values: tuple[Value, ...]
    description: str = ""


Values: TypeAlias = Sequence[Value | Section]

_INDENT = "  "


def values_text(values: Values) -> str:
    """Return values.yaml, with the description of each value as a comment."""
    return "\n".join(_block(each, "") for each in values)


def _block(value: Value | Section, indent: str) -> str:
    description = "".join(f"{indent}# {line}\n" for line in value.description.splitlines())
    if isinstance(value, Section):
        members = "".join(_block(each, indent + _INDENT) for each in value.values)
        return f"{description}{indent}{value.name}:\n{members}"
    from pyctrl.rbac import to_yaml  # lazy: imports yaml

    if value.default == "":
        return f'{description}{indent}{value.name}: ""\n'  # double quotes, as is usual in charts
    lines = to_yaml([{value.name: value.default}]).removeprefix("---\n").splitlines()
    return description + "".join(f"{indent}{line}\n" for line in lines)


# -- the schema ------------------------------------------------------------------------------------------------------


def schema_of(values: Values, others: Mapping[str, Any]) -> str:
    """Return values.schema.json, which rejects unknown values, so that misspelt ones are found.

    Args:
        values: the values of the chart.
        others: an edited values.yaml; values that its author added are accepted.
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
    description = {"description": " ".join(value.description.split())} if value.description else {}
    if isinstance(value, Value):
        return {**description, **value.schema}
    inner = others.get(value.name) if isinstance(others, Mapping) else None
    return {**description, **_closed(value.values, inner)}


# -- edited values ---------------------------------------------------------------------------------------------------


def with_missing(text: str, values: Values, place: str) -> str:
    """Return an edited values.yaml, unchanged except for added missing values.

    Args:
        text: values.yaml.
        values: the values of the chart.
        place: the name of the file, for messages.

    Raises:
        CommandFailed: the file is not a YAML object, or a section is in flow style, to which no line can be added; the
            message names the missing values.
    """
    nodes, lines = _members(_composed(text, place)), text.splitlines()
    found: list[tuple[int, str]] = []
    for each in values:
        if each.name not in nodes:
            found.append((len(lines), "\n" * bool(lines) + _block(each, "")))
        elif isinstance(each, Section):
            found += _missing(each, nodes[each.name], f"{place}: {each.name}")
    found.sort(key=lambda each: each[0])
    for line, added in reversed(found):  # from the end, so that earlier line numbers stay valid
        lines[line:line] = added.splitlines()
    return "".join(f"{line}\n" for line in lines)


def read_values(text: str, place: str) -> Object:
    """Return the data of values.yaml. Raises CommandFailed if it is not a YAML object."""
    import yaml  # lazy, as in pyctrl.rbac

    return dict(yaml.safe_load(text) or {}) if _composed(text, place) is not None else {}


def _composed(text: str, place: str) -> Any:
    import yaml  # lazy, as in pyctrl.rbac

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise CommandFailed(f"{place}: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise CommandFailed(f"{place}: nested too deeply") from error
    if node is not None and not isinstance(node, yaml.MappingNode):
        raise CommandFailed(f"{place}: expected an object with a member for each value")
    return node


def _members(node: Any) -> dict[str, Any]:
    return {key.value: value for key, value in node.value} if node is not None else {}


def _missing(section: Section, node: Any, place: str) -> list[tuple[int, str]]:
    """Return the missing values of a section, each with its insertion line: the one after the last member."""
    import yaml  # lazy, as in pyctrl.rbac

    is_object = isinstance(node, yaml.MappingNode)
    missing = [each for each in section.values if not is_object or each.name not in _members(node)]
    if not missing:
        return []
    if not is_object or node.flow_style or not node.value:
        wanted = ", ".join(f"{each.name}: {json.dumps(each.default)}" for each in missing)
        raise CommandFailed(f"{place} lacks {wanted}; add it there, one member per line")
    indent = " " * int(node.value[0][0].start_mark.column)
    return [(_end(node), "".join(_block(each, indent) for each in missing))]


def _end(node: Any) -> int:
    """Return the line after a node, before any comments that follow."""
    if isinstance(node.value, list) and node.value and not node.flow_style:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.line) + bool(node.end_mark.column)
