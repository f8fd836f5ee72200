"""Markers: parts of a field's or a class's schema that its Python type does not express.

A field takes them in `Annotated`, a class in the class keyword ``marks``. Markers are data and validate nothing in
Python: `pyctrl.manifests.definition` writes them into the schema, which the API server enforces. pydantic's own
constraints (``Field(ge=…, max_length=…, pattern=…)``) need no marker: both sides enforce them.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from pyctrl.api._value_markers import SchemaMarker

__all__ = [
    "AGE",
    "AtLeastOneOf",
    "AtMostOneOf",
    "EmbeddedResource",
    "ExactlyOneOf",
    "ExternalDocs",
    "Immutable",
    "ListType",
    "MapType",
    "MetadataName",
    "NoServerDefault",
    "Nullable",
    "PreserveUnknownFields",
    "PrinterColumn",
    "PropertyCount",
    "Required",
    "ScaleSubresource",
    "SchemaType",
    "Schemaless",
    "ServerDefault",
    "ValidationRule",
]


@dataclass(frozen=True, slots=True)
class ListType(SchemaMarker):
    """How items of a list are identified when several managers apply it (``x-kubernetes-list-type``).

    ``set``: by their values, which are scalars. ``map``: by their ``keys``, Python names of fields of the items that
    are required or have a default. ``atomic``, the default: items are not identified, and the whole list has one owner.
    """

    type: Literal["atomic", "set", "map"]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MapType(SchemaMarker):
    """Whether each entry of a map, or each field of a class, has its own owner (``x-kubernetes-map-type``).

    ``granular``, the default: each has its own. ``atomic``: the whole map has one owner.
    """

    type: Literal["granular", "atomic"]


@dataclass(frozen=True, slots=True)
class ValidationRule(SchemaMarker):
    """A CEL rule of a field or of a class that the API server checks (``x-kubernetes-validations``).

    Args:
        rule: an expression over ``self``, and in a transition rule over ``oldSelf``.
        message: the error message when the rule is broken; one line.
        message_expression: a CEL expression that returns the message.
        reason: ``FieldValueInvalid`` (the server's default), ``FieldValueForbidden``, ``FieldValueRequired`` or
            ``FieldValueDuplicate``.
        field_path: the field that the error names, relative to here: ``.min``.
        optional_old_self: also check when there was no old value; ``oldSelf`` is then a CEL optional.
    """

    rule: str
    _: KW_ONLY
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool = False


@dataclass(frozen=True, slots=True, init=False)
class _FieldGroup(SchemaMarker):
    fields: tuple[str, ...]

    def __init__(self, *fields: str) -> None:
        object.__setattr__(self, "fields", fields)


class AtMostOneOf(_FieldGroup):
    """At most one of these optional fields of a class may be set. Fields have their names in Python."""

    __slots__ = ()


class ExactlyOneOf(_FieldGroup):
    """Exactly one of these optional fields of a class must be set. Fields have their names in Python."""

    __slots__ = ()


class AtLeastOneOf(_FieldGroup):
    """At least one of these optional fields of a class must be set. Fields have their names in Python."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Immutable(SchemaMarker):
    """A field that cannot be changed or unset once it is set."""


@dataclass(frozen=True, slots=True)
class Nullable(SchemaMarker):
    """Let the server keep a ``null``; without the marker it drops the null or replaces it by the default."""


@dataclass(frozen=True, slots=True)
class Required(SchemaMarker):
    """Whether the server requires a field. By default it requires fields without a default in Python."""

    required: bool = True


@dataclass(frozen=True, slots=True)
class ServerDefault(SchemaMarker):
    """The value, in JSON, that the server fills in for an absent field; without the marker, the default in Python."""

    value: Any


@dataclass(frozen=True, slots=True)
class NoServerDefault(SchemaMarker):
    """Keep a default out of the schema, so that the server does not fill it in; on a class, for all of its fields."""


@dataclass(frozen=True, slots=True)
class ExternalDocs(SchemaMarker):
    """A link to further documentation of a field."""

    url: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddedResource(SchemaMarker):
    """A complete Kubernetes object inside another one, with apiVersion, kind and metadata that the server checks."""


@dataclass(frozen=True, slots=True)
class PreserveUnknownFields(SchemaMarker):
    """Keep fields that the schema does not name, which the server otherwise drops. `Any` requires this marker."""


@dataclass(frozen=True, slots=True)
class Schemaless(SchemaMarker):
    """Ignore the Python type: the schema is made only from the markers and constraints beside this one."""


@dataclass(frozen=True, slots=True)
class SchemaType(SchemaMarker):
    """Set the ``type`` in the schema where the class does not determine it; `Format`, `Pattern` and so on add to it."""

    type: Literal["string", "integer", "number", "boolean", "object", "array"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyCount(SchemaMarker):
    """The minimum and maximum number of fields that an object of a class may have set; for a map use ``Field``."""

    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataName(SchemaMarker):
    """Restrictions on the names of a kind's objects beyond those of all names; in ``marks`` of the kind.

    Args:
        pattern: a regular expression that the name must match.
        max_length: in characters.
        min_length: in characters.
    """

    pattern: str = ""
    max_length: int | None = None
    min_length: int | None = None


@dataclass(frozen=True, slots=True)
class PrinterColumn:
    """A column of `kubectl get`; in the class keyword ``columns`` of a kind.

    Args:
            name: the heading.
            json_path: path from the object, such as ``.spec.size``. It is checked against the types.
            type: ``integer``, ``number``, ``string``, ``boolean`` or ``date``; by default the type found at the path.
            format: ``int32``, ``int64``, ``float``, ``double``, ``byte``, ``date``, ``date-time`` or ``password``.
            description: of the column, in the definition.
            priority: columns above 0 are shown only by ``-o wide``.
    """

    name: str
    json_path: str
    _: KW_ONLY
    type: str = ""
    format: str = ""
    description: str = ""
    priority: int = 0


#: The age of an object. kubectl shows this column when a kind has no others; many kinds end with it.
AGE = PrinterColumn("Age", ".metadata.creationTimestamp", type="date")


@dataclass(frozen=True, slots=True)
class ScaleSubresource:
    """Paths of the scale sub-resource; in the class keyword ``scale`` of a kind.

    Args:
        spec_replicas_path: the desired number of replicas; under ``.spec``.
        status_replicas_path: the actual number of replicas; under ``.status``.
        label_selector_path: a label selector as a string, which autoscalers need; under ``.spec`` or ``.status``.
    """

    spec_replicas_path: str = ".spec.replicas"
    status_replicas_path: str = ".status.replicas"
    label_selector_path: str = ""
