"""Pure data: names, metadata, objects typed and untyped, selectors, quantities, patches, owners. No I/O.

Everything here works without a cluster and without an event loop. `KubernetesObject` is the base of typed kinds
(`CustomResource` of yours, `pyctrl.kinds` has the built-in ones), `Unstructured` holds any kind, `Metadata[T]` only
the metadata. All three keep what they do not know: decode, change one field, encode, and that field is all that
has changed.

Nothing is imported before it is used: selectors, patches and quantities need no pydantic, which an API server does
without.
"""

from typing import TYPE_CHECKING

from pyctrl._door import opened_by_search

if TYPE_CHECKING:
    from ._access import Access
    from ._access_rule import AccessRule, missing_rules
    from ._conditions import find_condition, is_condition_false, is_condition_true, remove_condition, set_condition
    from ._duration import Duration, format_duration, parse_duration
    from ._finalizers import add_finalizer, has_finalizer, is_deleting, remove_finalizer
    from ._generics import kind_argument
    from ._marks import (
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
    from ._meta import Condition, ListMeta, ObjectMeta, OwnerReference, Status, StatusCause, StatusDetails
    from ._model import Model
    from ._names import GroupKind, GroupVersionKind, GroupVersionResource, Key
    from ._object import CustomResource, KubernetesObject, Metadata, ResourceInfo
    from ._owners import (
        controller_of,
        has_owner_reference,
        is_controlled_by,
        owner_reference,
        remove_owner_reference,
        set_controller_reference,
        set_owner_reference,
    )
    from ._patches import json_patch_apply, merge_patch_apply, merge_patch_diff
    from ._quantity import Quantity, QuantityFamily
    from ._references import reference_to
    from ._request_target import RequestTarget
    from ._scheme import KindLike, Scheme, decode, is_metadata_only, kind_of
    from ._selectors import FieldRequirement, FieldSelector, LabelOperator, LabelRequirement, LabelSelector
    from ._unstructured import Object, Unstructured
    from ._value_marks import Format, Pattern, SchemaMark
    from ._values import Int32, Int64, IntOrString, MicroTime, Time, format_micro_time, format_time, now

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
    "reference_to",
    "remove_condition",
    "remove_finalizer",
    "remove_owner_reference",
    "set_condition",
    "set_controller_reference",
    "set_owner_reference",
]

# What needs least comes first, so that looking for a name from the left imports nothing that it does not need.
_FILES = (
    *("_names", "_request_target", "_access", "_access_rule", "_selectors", "_patches", "_quantity", "_value_marks"),
    *("_values", "_duration", "_model", "_meta", "_object", "_unstructured"),
    *("_conditions", "_finalizers", "_generics", "_owners", "_references", "_scheme", "_marks"),
)

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = opened_by_search(__name__, _FILES)
