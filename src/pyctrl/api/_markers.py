"""Marks: what the schema of a definition says about a field or a class beyond what its Python type says.

A field takes them in `Annotated`, a class in the class keyword ``marks``. They are data, and validate nothing in
Python: `pyctrl.manifests.definition` writes them into the schema, where the API server heeds them. pydantic's own
constraints (``Field(ge=…, max_length=…, pattern=…)``) need no mark: both sides heed them.
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
    """Say how the parts of a list are told apart when two parties apply it (``x-kubernetes-list-type``).

    ``set``: by their values, which are scalars. ``map``: by the ``keys``, fields of the items by their names in Python
    that are required or have a default. ``atomic``, as without a mark: not at all, the list has one owner.
    """

    type: Literal["atomic", "set", "map"]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MapType(SchemaMarker):
    """Say whether each entry of a map, or each field of a class, has its own owner (``x-kubernetes-map-type``).

    ``granular``, as without a mark: it has. ``atomic``: the whole has one.
    """

    type: Literal["granular", "atomic"]


@dataclass(frozen=True, slots=True)
class ValidationRule(SchemaMarker):
    """A rule in CEL that the API server checks (``x-kubernetes-validations``), of a field or of a class.

    Args:
        rule: an expression over ``self``, and over ``oldSelf`` in a rule of changes.
        message: what the server answers when the rule is broken; one line.
        message_expression: an expression that makes the message.
        reason: ``FieldValueInvalid`` (the server's default), ``FieldValueForbidden``, ``FieldValueRequired`` or
            ``FieldValueDuplicate``.
        field_path: which field is to blame, from here: ``.min``.
        optional_old_self: check also when there was no old value; ``oldSelf`` is then an optional of CEL.
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
    """Of these optional fields of a class, by their names in Python, not two may be set."""

    __slots__ = ()


class ExactlyOneOf(_FieldGroup):
    """Of these optional fields of a class, by their names in Python, one must be set and no other."""

    __slots__ = ()


class AtLeastOneOf(_FieldGroup):
    """Of these optional fields of a class, by their names in Python, one must be set."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Immutable(SchemaMarker):
    """A field that cannot change once it is set, nor be unset."""


@dataclass(frozen=True, slots=True)
class Nullable(SchemaMarker):
    """Let the server keep a ``null``; it drops one otherwise, or puts the default in its place."""


@dataclass(frozen=True, slots=True)
class Required(SchemaMarker):
    """Say whether the server insists on a field; by default it does when there is no default in Python."""

    required: bool = True


@dataclass(frozen=True, slots=True)
class ServerDefault(SchemaMarker):
    """What the server fills in where the field is absent, in JSON; by default that is the default in Python."""

    value: Any


@dataclass(frozen=True, slots=True)
class NoServerDefault(SchemaMarker):
    """Keep the default in Python to Python, so that the server fills in nothing; on a class, for all of its fields."""


@dataclass(frozen=True, slots=True)
class ExternalDocs(SchemaMarker):
    """Where more is written about a field."""

    url: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddedResource(SchemaMarker):
    """A whole object of Kubernetes inside of this one: with apiVersion, kind and metadata, which the server checks."""


@dataclass(frozen=True, slots=True)
class PreserveUnknownFields(SchemaMarker):
    """Keep what the schema does not name; without the mark the server drops it. The consent that `Any` needs."""


@dataclass(frozen=True, slots=True)
class Schemaless(SchemaMarker):
    """Forget what the Python type says: only the marks and constraints beside this one make the schema."""


@dataclass(frozen=True, slots=True)
class SchemaType(SchemaMarker):
    """Set the ``type`` in the schema, where the class does not tell it; `Format`, `Pattern` and so on add to it."""

    type: Literal["string", "integer", "number", "boolean", "object", "array"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyCount(SchemaMarker):
    """How many fields of a class an object may have, at least and at most; of a map, say it with ``Field``."""

    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataName(SchemaMarker):
    """What the names of a kind's objects have to be, beyond what all names have to be; in ``marks`` of the kind.

    Args:
        pattern: a regular expression that the name matches.
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
        json_path: from the object, such as ``.spec.size``. It is checked against the types.
        type: ``integer``, ``number``, ``string``, ``boolean`` or ``date``; by default what is found at the path.
        format: ``int32``, ``int64``, ``float``, ``double``, ``byte``, ``date``, ``date-time`` or ``password``.
        description: for readers of the definition.
        priority: columns above 0 are shown by ``-o wide`` only.
    """

    name: str
    json_path: str
    _: KW_ONLY
    type: str = ""
    format: str = ""
    description: str = ""
    priority: int = 0


#: How old an object is: the column that kubectl shows when there is no other, and that many kinds end with.
AGE = PrinterColumn("Age", ".metadata.creationTimestamp", type="date")


@dataclass(frozen=True, slots=True)
class ScaleSubresource:
    """Where the scale sub-resource finds its numbers; in the class keyword ``scale`` of a kind.

    Args:
        spec_replicas_path: how many there shall be; under ``.spec``.
        status_replicas_path: how many there are; under ``.status``.
        label_selector_path: a text that selects the pods, which autoscalers need; under ``.spec`` or ``.status``.
    """

    spec_replicas_path: str = ".spec.replicas"
    status_replicas_path: str = ".status.replicas"
    label_selector_path: str = ""
