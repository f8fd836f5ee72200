"""Paths into objects: printer columns, the scale sub-resource, selectable fields."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from pyctrl.api import KubernetesObject, PrinterColumn, ScaleSubresource
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.schema import JSON, Schema

__all__ = ["columns_of", "scale_of", "selectable_of"]

#: Fields of metadata whose column type is not ``string``.
_METADATA = {
    "creationTimestamp": Schema(type="string", format="date-time"),
    "deletionTimestamp": Schema(type="string", format="date-time"),
    "deletionGracePeriodSeconds": Schema(type="integer"),
    "generation": Schema(type="integer"),
}
_STEP = re.compile(r"\.(?P<name>(?:[^.\[\\]|\\.)+)|\['(?P<quoted>[^']*)'\]|\[(?P<index>[^\]']*|\?\(.*?\))\]")
_ANYTHING = Schema(preserve_unknown_fields=True)


def columns_of(kind: type[KubernetesObject], root: Schema, problems: Problems) -> list[JSON]:
    """Return the printer columns of a kind, with the types found at their paths."""
    return [_column(kind, column, root, problems) for column in kind.resource.columns]


def scale_of(kind: type[KubernetesObject], scale: ScaleSubresource, root: Schema, problems: Problems) -> dict[str, str]:
    """Return the paths of the scale sub-resource."""
    wire = {"specReplicasPath": scale.spec_replicas_path, "statusReplicasPath": scale.status_replicas_path}
    wanted = dict.fromkeys(wire.values(), "integer")
    if scale.label_selector_path:
        wire["labelSelectorPath"] = scale.label_selector_path
        wanted[scale.label_selector_path] = "string"
    for path, expected in wanted.items():
        found = _find(root, path, Location(kind), f"scale= has the path {path}", problems)
        if found is not None and found != _ANYTHING and found.type != expected:
            what = f"scale= has the path {path}, whose type is {found.type or 'unknown'}, not {expected}"
            problems.report(Location(kind), what, "name a field of that type")
    return wire


def selectable_of(kind: type[KubernetesObject], root: Schema, problems: Problems) -> list[JSON]:
    """Return the fields of a kind that field selectors may name."""
    paths = kind.resource.selectable_fields
    for path in paths:
        _find(root, path, Location(kind), f"selectable_fields= has {path}", problems)
    return [{"jsonPath": path} for path in paths]


def _column(kind: type[KubernetesObject], column: PrinterColumn, root: Schema, problems: Problems) -> dict[str, JSON]:
    found = _find(root, column.json_path, Location(kind), f"the column {column.name} has {column.json_path}", problems)
    wire: dict[str, JSON] = {"name": column.name, "jsonPath": column.json_path}
    wire["type"] = column.type or _column_type(found or _ANYTHING)
    wire |= {key: text for key in ("format", "description") if (text := getattr(column, key))}
    return wire | ({"priority": column.priority} if column.priority else {})


def _column_type(schema: Schema) -> str:
    if schema.type == "string" and schema.format in ("date-time", "date"):
        return "date"
    return schema.type if schema.type in ("integer", "number", "boolean") else "string"


def _find(root: Schema, path: str, place: Location, what: str, problems: Problems) -> Schema | None:
    """Return the schema at a path; None, with a problem reported, if there is none."""
    steps = list(_STEP.finditer(path))
    if not steps or "".join(step[0] for step in steps) != path:
        problems.report(place, f"{what}, which is not a path", "write it from the root of the object: .spec.size")
        return None
    schema = root
    for index, step in enumerate(steps):
        name = step["name"] or step["quoted"]
        below = schema.items if name is None else _child(schema, name, is_metadata=index == 1 and _is_metadata(steps))
        if below is None:
            cure = _suggestion(name, schema, path[: step.start()])
            problems.report(place, f"{what}, which does not exist", cure)
            return None
        schema = below
    return schema


def _is_metadata(steps: Sequence[re.Match[str]]) -> bool:
    return steps[0]["name"] == "metadata"


def _child(schema: Schema, name: str, *, is_metadata: bool) -> Schema | None:
    if is_metadata:
        return _METADATA.get(name, _ANYTHING)
    if name in schema.properties:
        return schema.properties[name]
    return schema.additional_properties or (_ANYTHING if schema.preserve_unknown_fields else None)


def _suggestion(name: str | None, schema: Schema, path: str) -> str:
    near = difflib.get_close_matches(name or "", schema.properties, n=1)
    if near:
        return f"did you mean {path}.{near[0]}?"
    return f"{path or 'the object'} has {', '.join(sorted(schema.properties)) or 'no fields'}"
