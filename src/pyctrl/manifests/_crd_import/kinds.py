"""The class of a kind in one version, from its definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyctrl.manifests._crd_import.classes import Classes, SourceClass, SourceField
from pyctrl.manifests._crd_import.fields import class_of, fields_of, markers_of
from pyctrl.manifests._crd_import.python_names import guessed_names
from pyctrl.manifests._crd_import.python_types import note_unsupported_of_object
from pyctrl.manifests._crd_import.source_layout import Expression, call, keyword, literal, sequence, subscript

__all__ = ["kind_class"]

Schema = Mapping[str, Any]

_ENVELOPE = ("apiVersion", "kind", "metadata")
_ANNOTATIONS = ("api-approved.kubernetes.io",)  # of the definition; others describe the tool that made it


def kind_class(definition: Schema, version: Schema, name: str, classes: Classes) -> SourceClass:
    """Return the class of a kind, and create the classes of its parts."""
    schema: Schema = (version.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}
    classes.reserve(name)
    properties = {key: each for key, each in (schema.get("properties") or {}).items() if key not in _ENVELOPE}
    made = SourceClass(name=name, bases=(), description=schema.get("description") or "")
    if _has_class(properties.get("spec")):
        base, made.fields = _with_spec(schema, properties, classes)
    else:
        base = classes.use("KubernetesObject")
        made.fields = fields_of(_part(schema, properties), (), classes, is_kind=True)
    note_unsupported_of_object(schema, (), classes)
    for part in ("spec", "status"):
        if _has_class(properties.get("spec")) and (properties.get(part) or {}).get("nullable"):
            classes.note("nullable", (part,))
    if _has_class(properties.get("status")) and properties["status"].get("default") is not None:
        classes.note("default", ("status",))
    if "status" not in properties and "status" in (version.get("subresources") or {}):
        classes.note("that there is no status, although it has a sub-resource")
    made.bases = (base, *_keywords(definition, version, name, classes), *_markers(schema, classes))
    classes.found.append(made)
    return made


def _has_class(schema: Schema | None) -> bool:
    return schema is not None and schema.get("type") == "object" and not schema.get("additionalProperties")


def _part(schema: Schema, properties: Mapping[str, Schema]) -> Schema:
    required = [key for key in schema.get("required") or () if key in properties]
    return {**schema, "properties": properties, "required": required, "x-kubernetes-validations": None}


def _with_spec(
    schema: Schema, properties: Mapping[str, Schema], classes: Classes
) -> tuple[Expression, list[SourceField]]:
    required = set(schema.get("required") or ())
    spec = class_of(properties["spec"], ("spec",), classes)
    parts: list[Expression] = [spec]
    if _has_class(properties.get("status")):
        parts.append(class_of(properties["status"], ("status",), classes, is_status=True))
    rest = {key: each for key, each in properties.items() if key != "spec" and not (key == "status" and parts[1:])}
    fields = [
        *_spec_field(spec, properties["spec"], classes, is_required="spec" in required),
        *_status_field(parts, classes, is_required="status" in required),
        *fields_of(_part(schema, rest), (), classes, is_kind=True),
    ]
    return subscript(classes.use("CustomResource"), *parts), fields


def _spec_field(spec: str, schema: Schema, classes: Classes, *, is_required: bool) -> Iterator[SourceField]:
    """Yield the spec if it differs from that of `CustomResource`, which requires a spec that has a required field."""
    properties = schema.get("properties") or {}
    needed = [key for key in schema.get("required") or () if properties.get(key, {}).get("default") is None]
    has_defaults = any(each.get("default") is not None for each in properties.values())
    default = schema.get("default")
    if needed and not is_required:
        marks = [call(classes.use("Required"), "False")]
        if default is not None:
            marks = [call(classes.use("ServerDefault"), literal(default))]
        yield SourceField(name="spec", annotation=subscript(classes.use("Annotated"), spec, *marks))
    elif not needed and is_required and default is None:
        yield SourceField(name="spec", annotation=spec)
    elif not needed and has_defaults and default is None:
        annotation = subscript(classes.use("Annotated"), spec, call(classes.use("NoServerDefault")))
        yield SourceField(name="spec", annotation=annotation, value=call(classes.use("Field"), default_factory=spec))
    elif default is not None and (default != {} or not has_defaults or is_required):
        beside = [call(classes.use("ServerDefault"), literal(default))]
        beside += [call(classes.use("Required"))] if is_required else []
        yield SourceField(
            name="spec",
            annotation=subscript(classes.use("Annotated"), spec, *beside),
            value=None if needed else call(classes.use("Field"), default_factory=spec),
        )


def _status_field(parts: list[Expression], classes: Classes, *, is_required: bool) -> Iterator[SourceField]:
    if is_required and len(parts) > 1:
        annotation = subscript(classes.use("Annotated"), parts[1], call(classes.use("Required")))
        yield SourceField(
            name="status", annotation=annotation, value=call(classes.use("Field"), default_factory=parts[1])
        )


# -- parts of a definition beside the schema ------------------------------------------------------------------------


def _keywords(definition: Schema, version: Schema, name: str, classes: Classes) -> Iterator[Expression]:
    spec, names = definition["spec"], definition["spec"]["names"]
    kind = names["kind"]
    guessed = guessed_names(kind)
    keywords: dict[str, Any] = {"group": spec["group"], "version": version["name"]}
    keywords |= {"kind": kind} if name != kind else {}
    keywords |= {key: names[key] for key in ("plural", "singular") if names.get(key, "") not in ("", guessed[key])}
    keywords |= {"scope": "Cluster"} if spec["scope"] == "Cluster" else {}
    yield from (keyword(key, literal(value)) for key, value in keywords.items())
    for key, ours in (("shortNames", "short_names"), ("categories", "categories")):
        if names.get(key):
            yield keyword(ours, sequence(*map(literal, names[key])))
    yield from _of_version(definition, version, classes)
    if (names.get("listKind") or f"{kind}List") != f"{kind}List":
        classes.note(f"listKind {names['listKind']}")


def _of_version(definition: Schema, version: Schema, classes: Classes) -> Iterator[Expression]:
    subresources = version.get("subresources") or {}
    properties = ((version.get("schema") or {}).get("openAPIV3Schema") or {}).get("properties") or {}
    is_custom = _has_class(properties.get("spec"))
    if ("status" in subresources) != is_custom:
        yield keyword("subresources", sequence(*(['"status"'] if "status" in subresources else [])))
    if columns := version.get("additionalPrinterColumns"):
        yield keyword("columns", sequence(*(_column(each, classes) for each in columns)))
    if scale := subresources.get("scale"):
        paths = [scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath") or ""]
        known_paths = paths if paths[2] else paths[:2]
        yield keyword("scale", call(classes.use("ScaleSubresource"), *map(literal, known_paths)))
    if fields := version.get("selectableFields"):
        yield keyword("selectable_fields", sequence(*(literal(each["jsonPath"]) for each in fields)))
    if not version.get("served"):
        yield keyword("served", "False")
    if version.get("storage") and len(definition["spec"]["versions"]) > 1:
        yield keyword("stored", "True")
    if version.get("deprecated"):
        yield keyword("deprecated", literal(version.get("deprecationWarning") or True))
    annotations = (definition["metadata"].get("annotations") or {}).items()
    if kept := {key: value for key, value in annotations if key in _ANNOTATIONS}:
        yield keyword("annotations", literal(kept))


def _column(column: Schema, classes: Classes) -> Expression:
    if column == {"name": "Age", "jsonPath": ".metadata.creationTimestamp", "type": "date"}:
        return classes.use("AGE")
    words = {key: literal(column[key]) for key in ("type", "format", "description", "priority") if column.get(key)}
    return call(classes.use("PrinterColumn"), literal(column["name"]), literal(column["jsonPath"]), **words)


def _markers(schema: Schema, classes: Classes) -> Iterator[Expression]:
    marks = markers_of(schema, classes)
    name = (((schema.get("properties") or {}).get("metadata") or {}).get("properties") or {}).get("name") or {}
    words = {"pattern": "pattern", "maxLength": "max_length", "minLength": "min_length"}
    if limits := {ours: literal(name[theirs]) for theirs, ours in words.items() if name.get(theirs)}:
        marks.append(call(classes.use("MetadataName"), **limits))
    if marks:
        yield keyword("marks", sequence(*marks))
