"""Kubernetes objects as pure data: names, metadata, typed and untyped objects, selectors, quantities, patches.

The package does no I/O and needs no cluster and no event loop. `KubernetesObject` is the base of typed kinds
(`CustomResource` of yours, `pyctrl.kinds` has the built-in ones), `Unstructured` holds any kind, `Metadata[T]` only
the metadata. All three keep fields that they do not know: decode an object, change one field, encode it, and only that
field has changed.

Names are imported lazily. Selectors, patches and quantities work without pydantic, which an API server does not need.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names

if TYPE_CHECKING:
    from pyctrl.api._access import Access, AccessRule, missing_rules
    from pyctrl.api._conditions import (
        find_condition,
        is_condition_false,
        is_condition_true,
        remove_condition,
        set_condition,
    )
    from pyctrl.api._duration import Duration, format_duration, parse_duration
    from pyctrl.api._finalizers import add_finalizer, has_finalizer, is_deleting, remove_finalizer
    from pyctrl.api._markers import (
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
        ScaleSubresource,
        Schemaless,
        SchemaType,
        ServerDefault,
        ValidationRule,
    )
    from pyctrl.api._meta import Condition, ListMeta, ObjectMeta, OwnerReference, ShardInfo
    from pyctrl.api._model.difference import model_diff
    from pyctrl.api._model.model import Model
    from pyctrl.api._names import GroupKind, GroupVersionKind, GroupVersionResource, Key
    from pyctrl.api._object import CustomResource, KubernetesObject, Metadata, ResourceInfo, kind_argument
    from pyctrl.api._object_references import (
        controller_of,
        has_owner_reference,
        is_controlled_by,
        owner_reference,
        reference_to,
        remove_owner_reference,
        set_controller_reference,
        set_owner_reference,
    )
    from pyctrl.api._openapi_models import ObjectLike, OpenApiModel, as_object, deep_copy, is_openapi_model
    from pyctrl.api._patches import json_patch_apply, merge_patch_apply, merge_patch_diff
    from pyctrl.api._quantity import Quantity, QuantityFamily
    from pyctrl.api._request_target import RequestTarget
    from pyctrl.api._scheme import Kind, KindLike, Scheme, decode, decode_known, is_metadata_only, kind_of
    from pyctrl.api._secrets import redacted, shown_wire
    from pyctrl.api._selectors.selectors import (
        FieldRequirement,
        FieldSelector,
        LabelOperator,
        LabelRequirement,
        LabelSelector,
    )
    from pyctrl.api._selectors.shard_selector import (
        HASH_SPACE,
        ShardField,
        ShardRange,
        ShardSelector,
        hash_field,
        merge_ranges,
        subtract_ranges,
    )
    from pyctrl.api._status import Status, StatusCause, StatusDetails
    from pyctrl.api._times import format_micro_time, format_time, now
    from pyctrl.api._unstructured import Object, Unstructured
    from pyctrl.api._value_markers import Format, Pattern, SchemaMarker
    from pyctrl.api._values import Int32, Int64, IntOrString, MicroTime, Time

__all__ = [
    "AGE",
    "HASH_SPACE",
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
    "Kind",
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
    "ObjectLike",
    "ObjectMeta",
    "OpenApiModel",
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
    "ScaleSubresource",
    "SchemaMarker",
    "SchemaType",
    "Schemaless",
    "Scheme",
    "ServerDefault",
    "ShardField",
    "ShardInfo",
    "ShardRange",
    "ShardSelector",
    "Status",
    "StatusCause",
    "StatusDetails",
    "Time",
    "Unstructured",
    "ValidationRule",
    "add_finalizer",
    "as_object",
    "controller_of",
    "decode",
    "decode_known",
    "deep_copy",
    "find_condition",
    "format_duration",
    "format_micro_time",
    "format_time",
    "has_finalizer",
    "has_owner_reference",
    "hash_field",
    "is_condition_false",
    "is_condition_true",
    "is_controlled_by",
    "is_deleting",
    "is_metadata_only",
    "is_openapi_model",
    "json_patch_apply",
    "kind_argument",
    "kind_of",
    "merge_patch_apply",
    "merge_patch_diff",
    "merge_ranges",
    "missing_rules",
    "model_diff",
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
    "subtract_ranges",
]

# The names of each file. Using a name imports its file and that file's own imports only.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "_access": ("Access", "AccessRule", "missing_rules"),
    "_conditions": ("find_condition", "is_condition_false", "is_condition_true", "remove_condition", "set_condition"),
    "_duration": ("Duration", "format_duration", "parse_duration"),
    "_finalizers": ("add_finalizer", "has_finalizer", "is_deleting", "remove_finalizer"),
    "_markers": (
        *("AGE", "AtLeastOneOf", "AtMostOneOf", "EmbeddedResource", "ExactlyOneOf", "ExternalDocs", "Immutable"),
        *("ListType", "MapType", "MetadataName", "NoServerDefault", "Nullable", "PreserveUnknownFields"),
        *(
            "PrinterColumn",
            "PropertyCount",
            "Required",
            "ScaleSubresource",
            "SchemaType",
            "Schemaless",
            "ServerDefault",
        ),
        "ValidationRule",
    ),
    "_meta": ("Condition", "ListMeta", "ObjectMeta", "OwnerReference", "ShardInfo"),
    "_model.difference": ("model_diff",),
    "_model.model": ("Model",),
    "_names": ("GroupKind", "GroupVersionKind", "GroupVersionResource", "Key"),
    "_object": ("CustomResource", "KubernetesObject", "Metadata", "ResourceInfo", "kind_argument"),
    "_object_references": (
        *("controller_of", "has_owner_reference", "is_controlled_by", "owner_reference", "reference_to"),
        *("remove_owner_reference", "set_controller_reference", "set_owner_reference"),
    ),
    "_openapi_models": ("ObjectLike", "OpenApiModel", "as_object", "deep_copy", "is_openapi_model"),
    "_patches": ("json_patch_apply", "merge_patch_apply", "merge_patch_diff"),
    "_quantity": ("Quantity", "QuantityFamily"),
    "_request_target": ("RequestTarget",),
    "_scheme": ("Kind", "KindLike", "Scheme", "decode", "decode_known", "is_metadata_only", "kind_of"),
    "_secrets": ("redacted", "shown_wire"),
    "_selectors.selectors": ("FieldRequirement", "FieldSelector", "LabelOperator", "LabelRequirement", "LabelSelector"),
    "_selectors.shard_selector": (
        *("HASH_SPACE", "ShardField", "ShardRange", "ShardSelector", "hash_field", "merge_ranges", "subtract_ranges"),
    ),
    "_status": ("Status", "StatusCause", "StatusDetails"),
    "_times": ("format_micro_time", "format_time", "now"),
    "_unstructured": ("Object", "Unstructured"),
    "_value_markers": ("Format", "Pattern", "SchemaMarker"),
    "_values": ("Int32", "Int64", "IntOrString", "MicroTime", "Time"),
}
_FILES = {name: file for file, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # otherwise type checkers would accept any name
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
