"""Pure data: names, metadata, objects typed and untyped, selectors, quantities, patches, owners. No I/O.

Everything here works without a cluster and without an event loop. `KubernetesObject` is the base of typed kinds
(`CustomResource` of yours, `pyctrl.kinds` has the built-in ones), `Unstructured` holds any kind, `Metadata[T]` only
the metadata. All three keep what they do not know: decode, change one field, encode, and that field is all that
has changed.

Nothing is imported before it is used: selectors, patches and quantities need no pydantic, which an API server does
without.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyctrl._door import opened_by_name

if TYPE_CHECKING:
    from pyctrl.api._access import Access
    from pyctrl.api._access_rule import AccessRule, missing_rules
    from pyctrl.api._conditions import (
        find_condition,
        is_condition_false,
        is_condition_true,
        remove_condition,
        set_condition,
    )
    from pyctrl.api._duration import Duration, format_duration, parse_duration
    from pyctrl.api._finalizers import add_finalizer, has_finalizer, is_deleting, remove_finalizer
    from pyctrl.api._generics import kind_argument
    from pyctrl.api._marks import (
        AGE,
        AtLeastOneOf,
        AtMostOneOf,
        EmbeddedResource,
        ExactlyOneOf,
        ExternalDocs,
        Immutable,
        ListType,
        MapType,
        MetadataName,
        NoServerDefault,
        Nullable,
        PreserveUnknownFields,
        PrinterColumn,
        PropertyCount,
        Required,
        Scale,
        Schemaless,
        SchemaType,
        ServerDefault,
        ValidationRule,
    )
    from pyctrl.api._meta import Condition, ListMeta, ObjectMeta, OwnerReference
    from pyctrl.api._model import Model
    from pyctrl.api._names import GroupKind, GroupVersionKind, GroupVersionResource, Key
    from pyctrl.api._object import CustomResource, KubernetesObject, Metadata, ResourceInfo
    from pyctrl.api._owners import (
        controller_of,
        has_owner_reference,
        is_controlled_by,
        owner_reference,
        remove_owner_reference,
        set_controller_reference,
        set_owner_reference,
    )
    from pyctrl.api._patches import json_patch_apply, merge_patch_apply, merge_patch_diff
    from pyctrl.api._quantity import Quantity, QuantityFamily
    from pyctrl.api._references import reference_to
    from pyctrl.api._request_target import RequestTarget
    from pyctrl.api._scheme import KindLike, Scheme, decode, decode_known, is_metadata_only, kind_of
    from pyctrl.api._secrets import redacted, shown_wire
    from pyctrl.api._selectors import FieldRequirement, FieldSelector, LabelOperator, LabelRequirement, LabelSelector
    from pyctrl.api._status import Status, StatusCause, StatusDetails
    from pyctrl.api._unstructured import Object, Unstructured
    from pyctrl.api._value_marks import Format, Pattern, SchemaMark
    from pyctrl.api._values import Int32, Int64, IntOrString, MicroTime, Time, format_micro_time, format_time, now

__all__ = [
    "AGE",
    "Access",
    "AccessRule",
    "AtLeastOneOf",
    "AtMostOneOf",
    "Condition",
    "CustomResource",
    "Duration",
    "EmbeddedResource",
    "ExactlyOneOf",
    "ExternalDocs",
    "FieldRequirement",
    "FieldSelector",
    "Format",
    "GroupKind",
    "GroupVersionKind",
    "GroupVersionResource",
    "Immutable",
    "Int32",
    "Int64",
    "IntOrString",
    "Key",
    "KindLike",
    "KubernetesObject",
    "LabelOperator",
    "LabelRequirement",
    "LabelSelector",
    "ListMeta",
    "ListType",
    "MapType",
    "Metadata",
    "MetadataName",
    "MicroTime",
    "Model",
    "NoServerDefault",
    "Nullable",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "Pattern",
    "PreserveUnknownFields",
    "PrinterColumn",
    "PropertyCount",
    "Quantity",
    "QuantityFamily",
    "RequestTarget",
    "Required",
    "ResourceInfo",
    "Scale",
    "SchemaMark",
    "SchemaType",
    "Schemaless",
    "Scheme",
    "ServerDefault",
    "Status",
    "StatusCause",
    "StatusDetails",
    "Time",
    "Unstructured",
    "ValidationRule",
    "add_finalizer",
    "controller_of",
    "decode",
    "decode_known",
    "find_condition",
    "format_duration",
    "format_micro_time",
    "format_time",
    "has_finalizer",
    "has_owner_reference",
    "is_condition_false",
    "is_condition_true",
    "is_controlled_by",
    "is_deleting",
    "is_metadata_only",
    "json_patch_apply",
    "kind_argument",
    "kind_of",
    "merge_patch_apply",
    "merge_patch_diff",
    "missing_rules",
    "now",
    "owner_reference",
    "parse_duration",
    "redacted",
    "reference_to",
    "remove_condition",
    "remove_finalizer",
    "remove_owner_reference",
    "set_condition",
    "set_controller_reference",
    "set_owner_reference",
    "shown_wire",
]

# Of each file its names: what is asked for is imported, with what it needs itself, and nothing else.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "_access": ("Access",),
    "_access_rule": ("AccessRule", "missing_rules"),
    "_conditions": ("find_condition", "is_condition_false", "is_condition_true", "remove_condition", "set_condition"),
    "_duration": ("Duration", "format_duration", "parse_duration"),
    "_finalizers": ("add_finalizer", "has_finalizer", "is_deleting", "remove_finalizer"),
    "_generics": ("kind_argument",),
    "_marks": (
        *("AGE", "AtLeastOneOf", "AtMostOneOf", "EmbeddedResource", "ExactlyOneOf", "ExternalDocs", "Immutable"),
        *("ListType", "MapType", "MetadataName", "NoServerDefault", "Nullable", "PreserveUnknownFields"),
        *("PrinterColumn", "PropertyCount", "Required", "Scale", "SchemaType", "Schemaless", "ServerDefault"),
        "ValidationRule",
    ),
    "_meta": ("Condition", "ListMeta", "ObjectMeta", "OwnerReference"),
    "_model": ("Model",),
    "_names": ("GroupKind", "GroupVersionKind", "GroupVersionResource", "Key"),
    "_object": ("CustomResource", "KubernetesObject", "Metadata", "ResourceInfo"),
    "_owners": (
        *("controller_of", "has_owner_reference", "is_controlled_by", "owner_reference", "remove_owner_reference"),
        *("set_controller_reference", "set_owner_reference"),
    ),
    "_patches": ("json_patch_apply", "merge_patch_apply", "merge_patch_diff"),
    "_quantity": ("Quantity", "QuantityFamily"),
    "_references": ("reference_to",),
    "_request_target": ("RequestTarget",),
    "_scheme": ("KindLike", "Scheme", "decode", "decode_known", "is_metadata_only", "kind_of"),
    "_secrets": ("redacted", "shown_wire"),
    "_selectors": ("FieldRequirement", "FieldSelector", "LabelOperator", "LabelRequirement", "LabelSelector"),
    "_status": ("Status", "StatusCause", "StatusDetails"),
    "_unstructured": ("Object", "Unstructured"),
    "_value_marks": ("Format", "Pattern", "SchemaMark"),
    "_values": ("Int32", "Int64", "IntOrString", "MicroTime", "Time", "format_micro_time", "format_time", "now"),
}
_FILES = {name: file for file, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = opened_by_name(__name__, _FILES)
