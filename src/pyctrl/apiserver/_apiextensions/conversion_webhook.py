"""Conversion webhooks: conversion of custom resources between versions.

Objects are stored in the storage version of their definition. Objects that a request or watch needs in another version
are converted beforehand (`show`). The rest of the request then runs synchronously, as for all other kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType
from pyctrl.apiserver._endpoints.object_converter import ConvertedObject
from pyctrl.apiserver._errors import unknown_error
from pyctrl.apiserver._meta.system_fields import new_uid
from pyctrl.apiserver._meta.validation import validate_annotations, validate_labels
from pyctrl.apiserver._schema.defaulting import copied
from pyctrl.apiserver._schema.schema import GoTypeInfo, SchemaNode
from pyctrl.apiserver._serializer.decoding import json_kind
from pyctrl.apiserver._storage.encoding import encode_object
from pyctrl.apiserver._webhooks import WebhookCallFailed, WebhookClient
from pyctrl.apiserver._webhooks.review_response import InvalidReviewBody, decode_review

if TYPE_CHECKING:
    from pyctrl.apiserver._request.request import ResourceRequest
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._schema.components import OpenAPIComponents
    from pyctrl.apiserver._storage.storage import Collection, StoredObject

__all__ = ["ConvertedObject", "WebhookConverter"]


GROUP = "apiextensions.k8s.io"
VERSIONS = ("v1", "v1beta1")
TIMEOUT_SECONDS = 30  # fixed in kube-apiserver too
BATCH = 500  # maximum number of objects in one review
_STATUS = "io.k8s.apimachinery.pkg.apis.meta.v1.Status"


class WebhookConverter:
    """Converter of objects by the conversion webhooks of their definitions."""

    def __init__(self, client: WebhookClient, components: OpenAPIComponents, random: Random) -> None:
        self._client = client
        self._components = components
        self._random = random

    async def prepare(self, request: ResourceRequest, collection: Collection) -> None:
        """Convert the objects of a request, so that the rest of it can run synchronously.

        As in kube-apiserver, a single object is converted for every request; lists use cached conversions.
        """
        target = request.target
        if not target.name:
            objects = [] if request.method == "POST" else collection.current(target.namespace)
        else:
            found = collection.find(target.namespace, target.name)
            objects = [found] if found is not None else []
        await self.show(objects, request.resource, request, again=bool(target.name))

    async def show(
        self,
        objects: Iterable[StoredObject],
        resource: ResourceType,
        request: ResourceRequest | None = None,
        *,
        again: bool = False,
    ) -> None:
        """Convert stored objects to the version of a resource, unless that is cached; with `again`, in any case.

        Raises:
            StatusError: 500, the webhook failed.
        """
        assert isinstance(resource, CustomResourceType)  # only definitions have conversion webhooks
        unconverted = [stored for stored in objects if stored.lacks(resource, again=again)]
        if unconverted and request is not None:
            request.must_wait("a conversion webhook")
        for first in range(0, len(unconverted), BATCH):
            batch = unconverted[first : first + BATCH]
            converted = await self.convert([_as_written(stored, resource) for stored in batch], resource)
            for stored, obj in zip(batch, converted, strict=True):
                stored.show_as(resource, encode_object(obj))

    async def stored_form(self, obj: dict[str, Any], request: ResourceRequest) -> ConvertedObject | None:
        """Convert a written object to the storage version and back; None if it has the storage version.

        Raises:
            StatusError: 500, the webhook failed.
        """
        resource = request.resource
        if not isinstance(resource, CustomResourceType) or resource.storage is resource:
            return None
        request.must_wait("a conversion webhook")
        [stored] = await self.convert([copied(obj)], resource.storage)
        [shown] = await self.convert([copied(stored)], resource)
        return ConvertedObject(stored, shown)

    async def convert_one(self, obj: dict[str, Any], resource: ResourceType) -> dict[str, Any]:
        """Return an object in the version of a resource; the argument is not changed."""
        assert isinstance(resource, CustomResourceType)  # only definitions have conversion webhooks
        [converted] = await self.convert([copied(obj)], resource)
        return converted

    async def convert(self, objects: Sequence[dict[str, Any]], resource: CustomResourceType) -> list[dict[str, Any]]:
        """Return objects in the version of a resource, with the metadata that a conversion must not change.

        Raises:
            StatusError: 500, the webhook failed.
        """
        other = [obj for obj in objects if obj["apiVersion"] != resource.api_version]
        if not other:
            return list(objects)
        webhook = f"conversion webhook for {other[0]['apiVersion']}, Kind={other[0]['kind']}"
        converted = iter(await self._review(other, resource, webhook))
        return [
            obj if obj["apiVersion"] == resource.api_version else _restored(next(converted), obj, resource, webhook)
            for obj in objects
        ]

    async def _review(
        self, objects: Sequence[dict[str, Any]], resource: CustomResourceType, webhook: str
    ) -> list[dict[str, Any]]:
        config = resource.spec["conversion"]["webhook"]
        version = next(each for each in config["conversionReviewVersions"] if each in VERSIONS)
        uid = new_uid(self._random)
        request = {"uid": uid, "desiredAPIVersion": resource.api_version, "objects": objects}
        review = {"kind": "ConversionReview", "apiVersion": f"{GROUP}/{version}", "request": request}
        try:
            answer = await self._client.post(config["clientConfig"], review, TIMEOUT_SECONDS)
            converted = self._read(answer, version, uid)
        except (WebhookCallFailed, InvalidReviewBody) as failed:
            raise unknown_error(f"{webhook} failed: {failed}") from None
        if len(converted) != len(objects):
            raise unknown_error(f"{webhook} returned {len(converted)} objects, expected {len(objects)}")
        for index, obj in enumerate(converted):
            _check_type(obj, index, resource, webhook)
        return converted

    def _read(self, answer: Any, version: str, uid: str) -> list[Any]:
        """Return the converted objects of a ConversionReview.

        Raises:
            InvalidReviewBody: It is not a ConversionReview, or its result is a failure.
        """
        node = _review_node(self._components)
        review = decode_review(answer, node, "ConversionReview", GROUP, version, VERSIONS)
        if version == "v1" and not (review.get("kind") and review.get("apiVersion")):
            raise InvalidReviewBody(f"expected webhook response of {GROUP}/v1, Kind=ConversionReview, got /, Kind=")
        response = review.get("response")
        if response is None:
            raise InvalidReviewBody("no response provided")
        if version == "v1" and response.get("uid", "") != uid:
            raise InvalidReviewBody(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
        result = response.get("result") or {}
        if result.get("status") != "Success":
            problem = f"response.result.status was '{result.get('status', '')}', not 'Success'"
            raise InvalidReviewBody(result.get("message") or problem)
        converted: list[Any] = response.get("convertedObjects") or []
        return converted


def _as_written(stored: StoredObject, resource: CustomResourceType) -> dict[str, Any]:
    """Return an object in the version that it was stored in, with the defaults of this version."""
    obj = stored.decode()
    written = resource.versions.get(obj["apiVersion"])
    return obj if written is None else written.on_read(obj)


def _check_type(obj: Any, index: int, resource: CustomResourceType, webhook: str) -> None:
    if not isinstance(obj, dict):
        raise unknown_error(f"json: cannot unmarshal {json_kind(obj)} into Go value of type map[string]interface {{}}")
    for name, expected, received in (
        ("groupVersion", resource.api_version, obj.get("apiVersion", "")),
        ("kind", resource.kind, obj.get("kind", "")),
    ):
        if expected != received:
            why = f"invalid {name} (expected {expected}, received {received})"
            raise unknown_error(f"{webhook} returned invalid object at index {index}: {why}")


def _restored(
    converted: dict[str, Any], original: Mapping[str, Any], resource: CustomResourceType, webhook: str
) -> dict[str, Any]:
    """Restore the original's metadata except labels and annotations in a converted object, and prune it."""
    metadata, before = converted.get("metadata"), original["metadata"]
    metadata = metadata if isinstance(metadata, dict) else {}
    for field, name in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        if metadata.get(field, "") != before.get(field, ""):
            why = f"must have the same {name}: {before.get(field, '')} != {metadata.get(field, '')}"
            raise unknown_error(f"{webhook} returned invalid object: {why}")
    kept = {key: value for key, value in before.items() if key not in ("labels", "annotations")}
    for field in ("labels", "annotations"):
        if values := metadata.get(field):
            _check_texts(values, f"metadata.{field}", webhook)
            kept[field] = values
    converted["metadata"] = kept
    resource.prune(converted)
    return converted


def _check_texts(values: Any, path: str, webhook: str) -> None:
    """Validate the labels or annotations of a converted object."""
    why = ""
    if not isinstance(values, dict):
        why = f"{path} must be a map, but is {json_kind(values)} in converted object"
    else:
        wrong = next((key for key, value in values.items() if not isinstance(value, str)), None)
        if wrong is not None:
            why = f"{path}[{wrong}] must be a string, but is {_go_type(values[wrong])} in converted object"
        else:
            validate = validate_labels if path.endswith("labels") else validate_annotations
            why = ", ".join(f"{cause.field}: {cause.message}" for cause in validate(values, path))
    if why:
        raise unknown_error(f"{webhook} returned invalid metadata: {why}")


def _go_type(value: object) -> str:
    names = {bool: "bool", int: "int64", float: "float64", list: "[]interface {}", dict: "map[string]interface {}"}
    return names.get(type(value), "<nil>")


def _review_node(components: OpenAPIComponents) -> SchemaNode:
    """Return the Go type of a ConversionReview, as far as responses use it."""
    text = GoTypeInfo(name="string")
    response = SchemaNode(
        type="object",
        go=GoTypeInfo(struct="ConversionResponse", name="v1.ConversionResponse"),
        properties={
            "uid": SchemaNode(type="string", go=GoTypeInfo(name="types.UID")),
            "convertedObjects": SchemaNode(type="array", go=GoTypeInfo(name="[]runtime.RawExtension")),
            "result": components.node("core_v1", _STATUS),
        },
    )
    properties = {
        "kind": SchemaNode(type="string", go=text),
        "apiVersion": SchemaNode(type="string", go=text),
        "request": SchemaNode(open=True),
        "response": response,
    }
    return SchemaNode(
        type="object", properties=properties, go=GoTypeInfo(struct="ConversionReview", name="v1.ConversionReview")
    )
