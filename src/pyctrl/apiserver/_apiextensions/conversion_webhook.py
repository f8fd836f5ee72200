"""Conversion webhooks: custom resources in versions that only a program outside can make of each other.

Objects are stored in the storage version of their definition. What a request, or a watch, shows in another version is
converted before it is looked at (`show`), so that everything after that is done at once, as for any other kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType
from pyctrl.apiserver._endpoints.object_converter import ConvertedObject
from pyctrl.apiserver._errors import unknown_error
from pyctrl.apiserver._meta.system_fields import new_uid
from pyctrl.apiserver._meta.validation import validate_annotations, validate_labels
from pyctrl.apiserver._schema.defaulting import copied
from pyctrl.apiserver._schema.schema import GoTypeInfo, SchemaNode
from pyctrl.apiserver._webhooks import WebhookCallFailed, WebhookClient
from pyctrl.apiserver._webhooks.review_response import InvalidReviewBody, decode_review, go_kind

if TYPE_CHECKING:
    from pyctrl.apiserver._request.request import ResourceRequest
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._schema.components import OpenAPIComponents
    from pyctrl.apiserver._storage.storage import Collection, StoredObject

GROUP = "apiextensions.k8s.io"
VERSIONS = ("v1", "v1beta1")
TIMEOUT_SECONDS = 30  # kube-apiserver's own, which a definition cannot change
BATCH = 500  # objects in one review
_STATUS = "io.k8s.apimachinery.pkg.apis.meta.v1.Status"


class WebhookConverter:
    """Converts objects by asking the webhooks of their definitions."""

    def __init__(self, client: WebhookClient, components: OpenAPIComponents, random: Random) -> None:
        self._client = client
        self._components = components
        self._random = random

    async def prepare(self, request: ResourceRequest, collection: Collection) -> None:
        """Convert what a request is about, so that it can be answered at once.

        As in kube-apiserver, one object is converted anew for every request, many are as they were shown last.
        """
        target = request.target
        if not target.name:
            objects = [] if request.method == "POST" else collection.current(target.namespace)
        else:
            found = collection.find(target.namespace, target.name)
            objects = [found] if found is not None else []
        await self.show(objects, request.resource, request, anew=bool(target.name))

    async def show(
        self,
        objects: Iterable[StoredObject],
        resource: ResourceType,
        request: ResourceRequest | None = None,
        *,
        anew: bool = False,
    ) -> None:
        """Convert stored objects into the version of a resource; those that are only if they should be `anew`.

        Raises:
            Refused: 500, the webhook cannot be asked, or failed.
        """
        assert isinstance(resource, CustomResourceType)  # only definitions have conversion webhooks
        lacking = [stored for stored in objects if stored.lacks(resource, anew=anew)]
        if lacking and request is not None:
            request.must_wait("a conversion webhook")
        for first in range(0, len(lacking), BATCH):
            batch = lacking[first : first + BATCH]
            converted = await self.convert([_as_written(stored, resource) for stored in batch], resource)
            for stored, obj in zip(batch, converted, strict=True):
                stored.show_as(resource, msgspec.json.encode(obj))

    async def stored_form(self, obj: dict[str, Any], request: ResourceRequest) -> ConvertedObject | None:
        """Convert a new state of an object into the version in which it is stored, and back; None when it is in that.

        Raises:
            Refused: 500, the webhook cannot be asked, or failed.
        """
        resource = request.resource
        if not isinstance(resource, CustomResourceType) or resource.storage is resource:
            return None
        request.must_wait("a conversion webhook")
        [stored] = await self.convert([copied(obj)], resource.storage)
        [shown] = await self.convert([copied(stored)], resource)
        return ConvertedObject(stored, shown)

    async def convert_one(self, obj: dict[str, Any], resource: ResourceType) -> dict[str, Any]:
        """Give an object in the version of a resource; what is passed is left as it is."""
        assert isinstance(resource, CustomResourceType)  # only definitions have conversion webhooks
        [converted] = await self.convert([copied(obj)], resource)
        return converted

    async def convert(self, objects: Sequence[dict[str, Any]], resource: CustomResourceType) -> list[dict[str, Any]]:
        """Give objects in the version of a resource; what they must not lose is restored.

        Raises:
            Refused: 500, the webhook cannot be asked, or failed.
        """
        other = [obj for obj in objects if obj["apiVersion"] != resource.api_version]
        if not other:
            return list(objects)
        who = f"conversion webhook for {other[0]['apiVersion']}, Kind={other[0]['kind']}"
        answered = iter(await self._ask(other, resource, who))
        return [
            obj if obj["apiVersion"] == resource.api_version else _restored(next(answered), obj, resource, who)
            for obj in objects
        ]

    async def _ask(
        self, objects: Sequence[dict[str, Any]], resource: CustomResourceType, who: str
    ) -> list[dict[str, Any]]:
        webhook = resource.spec["conversion"]["webhook"]
        version = next(each for each in webhook["conversionReviewVersions"] if each in VERSIONS)
        uid = new_uid(self._random)
        question = {"uid": uid, "desiredAPIVersion": resource.api_version, "objects": objects}
        review = {"kind": "ConversionReview", "apiVersion": f"{GROUP}/{version}", "request": question}
        try:
            answer = await self._client.post(webhook["clientConfig"], review, TIMEOUT_SECONDS)
            converted = self._read(answer, version, uid)
        except (WebhookCallFailed, InvalidReviewBody) as failed:
            raise unknown_error(f"{who} failed: {failed}") from None
        if len(converted) != len(objects):
            raise unknown_error(f"{who} returned {len(converted)} objects, expected {len(objects)}")
        for index, obj in enumerate(converted):
            _check_type(obj, index, resource, who)
        return converted

    def _read(self, answer: Any, version: str, uid: str) -> list[Any]:
        """Read a ConversionReview.

        Raises:
            InvalidReviewBody: it is none, or tells of a failure.
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
            told = f"response.result.status was '{result.get('status', '')}', not 'Success'"
            raise InvalidReviewBody(result.get("message") or told)
        converted: list[Any] = response.get("convertedObjects") or []
        return converted


def _as_written(stored: StoredObject, resource: CustomResourceType) -> dict[str, Any]:
    """Read an object in the version it was stored in, which fills in that version's defaults."""
    obj = stored.decode()
    written = resource.versions.get(obj["apiVersion"])
    return obj if written is None else written.on_read(obj)


def _check_type(obj: Any, index: int, resource: CustomResourceType, who: str) -> None:
    if not isinstance(obj, dict):
        raise unknown_error(f"json: cannot unmarshal {go_kind(obj)} into Go value of type map[string]interface {{}}")
    for what, expected, received in (
        ("groupVersion", resource.api_version, obj.get("apiVersion", "")),
        ("kind", resource.kind, obj.get("kind", "")),
    ):
        if expected != received:
            why = f"invalid {what} (expected {expected}, received {received})"
            raise unknown_error(f"{who} returned invalid object at index {index}: {why}")


def _restored(
    converted: dict[str, Any], original: Mapping[str, Any], resource: CustomResourceType, who: str
) -> dict[str, Any]:
    """Give a converted object the metadata of the original but for labels and annotations, and prune it."""
    metadata, before = converted.get("metadata"), original["metadata"]
    metadata = metadata if isinstance(metadata, dict) else {}
    for field, name in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        if metadata.get(field, "") != before.get(field, ""):
            why = f"must have the same {name}: {before.get(field, '')} != {metadata.get(field, '')}"
            raise unknown_error(f"{who} returned invalid object: {why}")
    kept = {key: value for key, value in before.items() if key not in ("labels", "annotations")}
    for field in ("labels", "annotations"):
        if values := metadata.get(field):
            _check_texts(values, f"metadata.{field}", who)
            kept[field] = values
    converted["metadata"] = kept
    resource.prune(converted)
    return converted


def _check_texts(values: Any, path: str, who: str) -> None:
    """Check the labels or annotations that a webhook gave an object."""
    why = ""
    if not isinstance(values, dict):
        why = f"{path} must be a map, but is {go_kind(values)} in converted object"
    else:
        wrong = next((key for key, value in values.items() if not isinstance(value, str)), None)
        if wrong is not None:
            why = f"{path}[{wrong}] must be a string, but is {_go_type(values[wrong])} in converted object"
        else:
            validate = validate_labels if path.endswith("labels") else validate_annotations
            why = ", ".join(f"{cause.field}: {cause.message}" for cause in validate(values, path))
    if why:
        raise unknown_error(f"{who} returned invalid metadata: {why}")


def _go_type(value: object) -> str:
    names = {bool: "bool", int: "int64", float: "float64", list: "[]interface {}", dict: "map[string]interface {}"}
    return names.get(type(value), "<nil>")


def _review_node(components: OpenAPIComponents) -> SchemaNode:
    """Give the Go type of a ConversionReview, as far as its answers go."""
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
