"""Descriptions of kinds in a ClusterServiceVersion: owned kinds, required kinds, and examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from pyctrl.api import CustomResource, KindLike, kind_of
from pyctrl.packaging._objects.samples import missing_samples
from pyctrl.packaging._project import Project

__all__ = ["display_name", "examples", "owned", "required"]

Object = dict[str, Any]

_UI = "urn:alm:descriptor:com.tectonic.ui"

#: The x-descriptors of well-known fields for the OpenShift console.
_WELL_KNOWN = {
    "conditions": "urn:alm:descriptor:io.kubernetes.conditions",
    "phase": "urn:alm:descriptor:io.kubernetes.phase",
    "resources": f"{_UI}:resourceRequirements",
}
_TYPES = {"boolean": f"{_UI}:booleanSwitch", "integer": f"{_UI}:number", "number": f"{_UI}:number"}


def examples(project: Project) -> str:
    """Return the samples of each version of each kind, as JSON, without a namespace, which users choose.

    They are the author's samples, and generated ones for versions that have none.
    """
    served = {
        (definition["spec"]["group"], version["name"], definition["spec"]["names"]["kind"])
        for definition, version in _served(project)
    }
    found = [deepcopy(each.obj) for each in project.samples] + missing_samples(project)
    found = [each for each in found if (*each["apiVersion"].split("/", 1), each["kind"]) in served]
    for each in found:
        each["metadata"].pop("namespace", None)
    return json.dumps(found, indent=2, ensure_ascii=False)


def owned(project: Project) -> list[Object]:
    """Return the descriptions of the operator's own kinds, in each served version."""
    return [_owned(project, definition, version) for definition, version in _served(project)]


def _served(project: Project) -> Iterator[tuple[Object, Object]]:
    for definition in project.definitions:
        for version in definition["spec"]["versions"]:
            if version["served"]:
                yield definition, version


def _owned(project: Project, definition: Object, version: Object) -> Object:
    names, schema = definition["spec"]["names"], version["schema"]["openAPIV3Schema"]
    found = {
        "kind": names["kind"],
        "name": definition["metadata"]["name"],
        "version": version["name"],
        "displayName": display_name(names["kind"]),
        "description": schema.get("description") or display_name(names["kind"]),
        "resources": _resources(project, definition),
        "specDescriptors": list(_descriptors(schema, version, "spec")),
        "statusDescriptors": list(_descriptors(schema, version, "status")),
    }
    return {key: value for key, value in found.items() if value}


def _resources(project: Project, definition: Object) -> list[Object]:
    """Return the kinds that the controllers of a kind own or watch; the console shows their objects."""
    spec = definition["spec"]
    name = (spec["group"], spec["names"]["kind"])
    kinds = {kind_of(each.kind): each.kind for each in project.followed if each.by == name}
    return [{"kind": gvk.kind, "name": _plural(kinds[gvk]), "version": gvk.version} for gvk in sorted(kinds)]


def _plural(kind: KindLike) -> str:
    """Return the plural of a custom kind; "" for built-in kinds, which need no name."""
    return kind.resource.plural if isinstance(kind, type) and issubclass(kind, CustomResource) else ""


def required(project: Project) -> list[Object]:
    """Return the descriptions of the kinds of other operators that it needs.

    OLM installs an operator that provides them. Kinds that are optional, or that the program names without a class, are
    left out.
    """
    own = {each["metadata"]["name"] for each in project.definitions}
    found = {}
    for each in project.followed:
        kind, gvk = each.kind, kind_of(each.kind)
        name = f"{_plural(kind)}.{gvk.group}"
        if _plural(kind) and name not in own and not each.is_optional:
            text = getattr(kind, "__doc__", None) or display_name(gvk.kind)
            found[gvk] = {
                "kind": gvk.kind,
                "name": name,
                "version": gvk.version,
                "displayName": display_name(gvk.kind),
                "description": text.strip().partition("\n")[0],
            }
    return [found[gvk] for gvk in sorted(found)]


# -- fields ----------------------------------------------------------------------------------------------------------


def _descriptors(schema: Mapping[str, Any], version: Object, part: str) -> Iterator[Object]:
    """Yield the descriptors of the fields of the spec or status."""
    replicas = version.get("subresources", {}).get("scale", {}).get("specReplicasPath")
    for name, field in sorted(schema["properties"].get(part, {}).get("properties", {}).items()):
        shown = [f"{_UI}:podCount"] if replicas == f".{part}.{name}" else _shown(name, field)
        found = {
            "path": name,
            "displayName": field.get("title") or display_name(name),
            "description": field.get("description"),
            "x-descriptors": shown,
        }
        yield {key: value for key, value in found.items() if value}


def _shown(name: str, field: Mapping[str, Any]) -> list[str]:
    if name in _WELL_KNOWN:
        return [_WELL_KNOWN[name]]
    if field.get("type") == "string" and "enum" in field:
        return [f"{_UI}:select:{each}" for each in field["enum"] if each is not None]
    kind = _TYPES.get(field.get("type", ""))
    return [kind] if kind else []


def display_name(name: str) -> str:
    """Return a display name: ``containerPort`` becomes Container Port, ``my-operator`` My Operator."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return " ".join(part[0].upper() + part[1:] for part in parts) or name
