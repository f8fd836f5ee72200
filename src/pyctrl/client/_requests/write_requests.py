"""What `patch` and `apply` have in common wherever they are: on the object, its status, or any other sub-resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

import msgspec

from pyctrl.api import GroupVersionKind, Key, KindLike, KubernetesObject, Metadata, Object, Unstructured, decode
from pyctrl.client._keys import checked_key
from pyctrl.client._requests.options import Query
from pyctrl.client._requests.resource_client import ResourceClient, WriteRequest

__all__ = [
    "as_object",
    "decode_like",
    "decode_written",
    "encode_whole",
    "kind_and_key",
    "send_apply",
    "send_patch",
    "split_target",
]

O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not

APPLY_PATCH_TYPE = "application/apply-patch+yaml"  # every JSON document is one


def kind_and_key(obj: Object) -> tuple[KindLike, Key]:
    """Return the kind to decode answers with, and the key.

    Raises:
        TypeError: it is not an object.
        ValueError: it is untyped and does not say its kind.
    """
    if isinstance(obj, KubernetesObject):
        return type(obj), obj.key
    if not isinstance(obj, Unstructured):
        raise TypeError(f"expected an object, got {obj!r}; a kind needs a key beside it")
    if not obj.kind or not obj.api_version:
        raise ValueError(f"an untyped object must say its apiVersion and kind: {obj!r}")
    return obj.gvk, obj.key


def decode_like(obj: O, body: bytes) -> O:
    """Decode an answer as what the object is."""
    return cast(O, decode_written(kind_and_key(obj)[0], body))


def decode_written(kind: KindLike, body: bytes) -> Any:
    """Decode the answer to a write. Most are not looked at, so each field is decoded when it is."""
    return decode(kind, body, lazily=True)


def encode_whole(obj: Object, verb: str) -> bytes:
    """Encode an object to be written as a whole. Raises TypeError when only its metadata is here."""
    if isinstance(obj, Metadata):
        raise TypeError(f"cannot {verb} {obj.gvk} {obj.key}: only its metadata is here; patch it instead")
    return obj.to_json()


def split_target(target: Any, arguments: tuple[Any, ...], names: tuple[str, ...]) -> tuple[KindLike, Key, list[Any]]:
    """Return kind, key and the other arguments of a verb that is called with an object, or with a kind and a key.

    Raises:
        TypeError: there are too few or too many; names those that are expected.
    """
    if isinstance(target, (type, GroupVersionKind)):
        kind, named = cast(KindLike, target), ("kind", "key", *names)
        key, rest = (arguments[0], list(arguments[1:])) if arguments else (None, [])
    else:
        (kind, key), named, rest = kind_and_key(target), ("object", *names), list(arguments)
    if key is None or len(rest) != len(names):
        raise TypeError(f"expected {len(named)} arguments ({', '.join(named)}), got {1 + len(arguments)}")
    return kind, checked_key(kind, key), rest


async def send_patch(
    calls: ResourceClient,
    target: Any,
    arguments: tuple[Any, ...],
    query: Query,
    *,
    dry_run: bool,
    subresource: str = "",
) -> tuple[KindLike, bytes]:
    """Send a patch, called as ``(obj, patch)`` or ``(kind, key, patch)``; return the kind and the answer's bytes."""
    kind, key, (patch,) = split_target(target, arguments, ("patch",))
    if not hasattr(patch, "body"):
        raise TypeError(
            f"expected a patch, such as MergePatch({{...}}) or merge_from(obj), got a {type(patch).__name__}"
        )
    after = None if isinstance(target, (type, GroupVersionKind)) else target
    write = WriteRequest(
        verb="patch",
        method="PATCH",
        key=key,
        subresource=subresource,
        query=query,
        body=patch.body(after),
        content_type=patch.content_type,
        dry_run=dry_run or calls.options.dry_run,
    )
    return kind, await calls.write(kind, write)


async def send_apply(
    calls: ResourceClient,
    obj: Object,
    *,
    field_owner: str | None,
    force: bool,
    dry_run: bool,
    subresource: str = "",
    target: tuple[KindLike, Key] | None = None,
) -> bytes:
    """Send a server-side apply and return the answer's bytes; ``target`` is whose sub-resource, if not the object's."""
    kind, key = target or kind_and_key(obj)
    query = calls.options.write_query(dry_run, field_owner)
    write = WriteRequest(
        verb="apply",
        method="PATCH",
        key=key,
        subresource=subresource,
        query=tuple(pair for pair in query if pair[0] != "fieldValidation") + ((("force", "true"),) if force else ()),
        body=_apply_body(obj),
        content_type=APPLY_PATCH_TYPE,
        dry_run=dry_run or calls.options.dry_run,
    )
    return await calls.write(kind, write)


def as_object(obj: Object | Mapping[str, Any]) -> Object:
    """Return an object; a dict becomes Unstructured."""
    return obj if isinstance(obj, (KubernetesObject, Unstructured)) else Unstructured.from_wire(obj)


def _apply_body(obj: Object) -> bytes:
    """Encode what is applied: without managedFields, which the server refuses, and without what only it sets."""
    document = obj.to_wire()
    metadata = {name: value for name, value in (document.get("metadata") or {}).items() if name != "managedFields"}
    return msgspec.json.encode({**document, "metadata": metadata})
