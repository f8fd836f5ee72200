"""Write requests of create, update, patch, apply and delete, for an object and for any sub-resource."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from pyctrl.api import (
    GroupVersionKind,
    Key,
    Kind,
    KindLike,
    KubernetesObject,
    Metadata,
    Object,
    ObjectLike,
    Unstructured,
    as_object,
    decode,
    is_openapi_model,
)
from pyctrl.client._requests.options import (
    ClientOptions,
    FieldValidation,
    Preconditions,
    Propagation,
    Query,
    delete_options,
)
from pyctrl.client._requests.patch import Patch
from pyctrl.client._requests.write_observers import WriteVerb

__all__ = [
    "JSON",
    "WriteRequest",
    "WriteTarget",
    "apply_request",
    "create_request",
    "decode_like",
    "decode_written",
    "delete_request",
    "encode_whole",
    "kind_and_key",
    "patch_request",
    "split_target",
    "update_request",
]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not

JSON = "application/json"
APPLY_PATCH_TYPE = "application/apply-patch+yaml"  # every JSON document is one


class WriteRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A write of an object, before its kind is resolved to a resource."""

    verb: WriteVerb
    method: str
    key: Key
    in_collection: bool = False  # POST and DELETE without a name in the path
    subresource: str = ""
    query: Query = ()
    body: bytes | None = None
    content_type: str = JSON
    dry_run: bool = False  # observers are not notified of it


def create_request(
    options: ClientOptions,
    key: Key,
    body: bytes,
    *,
    subresource: str = "",
    dry_run: bool,
    field_owner: str | None,
    field_validation: FieldValidation | None,
) -> WriteRequest:
    """Return the request that creates an object, or posts to a sub-resource of one."""
    return WriteRequest(
        verb="create",
        method="POST",
        key=key,
        in_collection=not subresource,
        subresource=subresource,
        query=_write_query(options, dry_run, field_owner, field_validation),
        body=body,
        dry_run=dry_run or options.dry_run,
    )


def update_request(
    options: ClientOptions,
    key: Key,
    body: bytes,
    *,
    subresource: str = "",
    dry_run: bool,
    field_owner: str | None,
    field_validation: FieldValidation | None,
) -> WriteRequest:
    """Return the request that replaces an object or a sub-resource."""
    return WriteRequest(
        verb="update",
        method="PUT",
        key=key,
        subresource=subresource,
        query=_write_query(options, dry_run, field_owner, field_validation),
        body=body,
        dry_run=dry_run or options.dry_run,
    )


def patch_request(
    options: ClientOptions,
    key: Key,
    patch: Patch,
    after: ObjectLike | None,
    *,
    subresource: str = "",
    dry_run: bool,
    field_owner: str | None,
    field_validation: FieldValidation | None,
) -> WriteRequest:
    """Return the request of a patch; ``after`` is the changed object, None when the verb was called with a key."""
    if not hasattr(patch, "body"):
        raise TypeError(
            f"expected a patch, such as MergePatch({{...}}) or merge_from(obj), got a {type(patch).__name__}"
        )
    return WriteRequest(
        verb="patch",
        method="PATCH",
        key=key,
        subresource=subresource,
        query=_write_query(options, dry_run, field_owner, field_validation),
        body=patch.body(None if after is None else as_object(after)),
        content_type=patch.content_type,
        dry_run=dry_run or options.dry_run,
    )


def apply_request(
    options: ClientOptions,
    key: Key,
    wanted: Object,
    *,
    subresource: str = "",
    dry_run: bool,
    field_owner: str | None,
    force: bool,
) -> WriteRequest:
    """Return the request of a server-side apply. It has no field validation: an apply is always strict."""
    return WriteRequest(
        verb="apply",
        method="PATCH",
        key=key,
        subresource=subresource,
        query=_query(
            ("dryRun", "All" if dry_run or options.dry_run else None),
            ("fieldManager", field_owner or options.field_owner),
            ("force", "true" if force else None),
        ),
        body=_apply_body(wanted),
        content_type=APPLY_PATCH_TYPE,
        dry_run=dry_run or options.dry_run,
    )


def delete_request(
    options: ClientOptions,
    key: Key,
    *,
    selected: Query | None = None,
    propagation: Propagation | None,
    grace_period_seconds: int | None,
    preconditions: Preconditions | None = None,
    dry_run: bool,
) -> WriteRequest:
    """Return the request that deletes an object, or with ``selected`` all that match in the namespace of ``key``."""
    is_dry_run = dry_run or options.dry_run
    body = delete_options(
        propagation=propagation,
        grace_period_seconds=grace_period_seconds,
        preconditions=preconditions,
        dry_run=is_dry_run,
    )
    return WriteRequest(
        verb="delete" if selected is None else "delete_all_of",
        method="DELETE",
        key=key,
        in_collection=selected is not None,
        query=selected or (),
        body=msgspec.json.encode(body) if body else None,
        dry_run=is_dry_run,
    )


def _write_query(
    options: ClientOptions, dry_run: bool, field_owner: str | None, field_validation: FieldValidation | None
) -> Query:
    """Return the query of a write; the arguments of the call win over the client's options."""
    return _query(
        ("dryRun", "All" if dry_run or options.dry_run else None),
        ("fieldManager", field_owner or options.field_owner),
        ("fieldValidation", field_validation or options.field_validation),
    )


def _query(*pairs: tuple[str, str | None]) -> Query:
    return tuple((name, value) for name, value in pairs if value)


class WriteTarget(NamedTuple):
    """The object of a verb that is called with an object (``obj``), or with a kind and a key."""

    kind: KindLike
    key: Key
    obj: ObjectLike | None


def split_target(target: Any, arguments: tuple[Any, ...], names: tuple[str, ...]) -> tuple[WriteTarget, list[Any]]:
    """Return the target and the other arguments of a verb that is called with an object, or with a kind and a key.

    Raises:
        TypeError: too few or too many arguments; the message names the expected ones.
    """
    if isinstance(target, (type, GroupVersionKind)):
        kind, obj, named = cast(KindLike, target), None, ("kind", "key", *names)
        key, rest = (arguments[0], list(arguments[1:])) if arguments else (None, [])
    else:
        (kind, key), obj, named, rest = kind_and_key(target), target, ("object", *names), list(arguments)
    if key is None or len(rest) != len(names):
        raise TypeError(f"expected {len(named)} arguments ({', '.join(named)}), got {1 + len(arguments)}")
    return WriteTarget(kind, key, obj), rest


def kind_and_key(obj: ObjectLike) -> tuple[KindLike, Key]:
    """Return the kind with which answers are decoded, and the key.

    Raises:
        TypeError: the argument is not an object.
        ValueError: the object is untyped and has no apiVersion or kind.
    """
    if isinstance(obj, KubernetesObject):
        return type(obj), obj.key
    if not isinstance(obj, Unstructured):
        if is_openapi_model(obj):
            return type(obj), Key.of(obj)
        raise TypeError(f"expected an object, got {obj!r}; pass a key after a kind")
    if not obj.kind or not obj.api_version:
        raise ValueError(f"an untyped object needs apiVersion and kind: {obj!r}")
    return obj.gvk, obj.key


def encode_whole(obj: ObjectLike, verb: str) -> bytes:
    """Encode an object that is written as a whole. Raises TypeError for `Metadata`, which is only a part."""
    if isinstance(obj, Metadata):
        raise TypeError(f"cannot {verb} {obj.gvk} {obj.key}: Metadata is only a part of the object; patch it instead")
    to_json: Callable[[], bytes] | None = getattr(obj, "to_json", None)  # a model of kubernetes_asyncio has none
    return as_object(obj).to_json() if to_json is None else to_json()


def _apply_body(obj: Object) -> bytes:
    """Encode an object for an apply: without managedFields, which the server refuses."""
    document = obj.to_wire()
    metadata = {name: value for name, value in (document.get("metadata") or {}).items() if name != "managedFields"}
    return msgspec.json.encode({**document, "metadata": metadata})


def decode_like(obj: O, body: bytes) -> O:
    """Decode an answer as the kind of the object."""
    return cast(O, decode(kind_and_key(obj)[0], body, lazily=True))


def decode_written(kind: Kind[O], body: bytes) -> O:
    """Decode the answer to a write. Each field is decoded on first access, as most answers are never read."""
    return decode(kind, body, lazily=True)
