"""Conversion between the versions of a kind, through one of them, the hub."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from pyctrl.api import GroupKind, GroupVersionKind, KubernetesObject
from pyctrl.errors import BadRequest, BuilderError, ConversionFailed, DecodeError
from pyctrl.webhook._conversion.set_aside import SetAside

__all__ = ["Conversion", "Spoke", "review_conversion"]

log = logging.getLogger("pyctrl.webhook.conversion")

H = TypeVar("H", bound=KubernetesObject)
S = TypeVar("S", bound=KubernetesObject)

API_VERSION = "apiextensions.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Spoke(Generic[S, H]):
    """One version of a kind, and its conversion to and from the hub.

    The functions are synchronous and work on objects only, without a cluster. Their result needs no metadata: name, uid
    and the rest are carried over. If they set metadata, for example an annotation for fields that the other version
    cannot express, its labels and annotations are used. All other metadata stays as it was, because the API server
    rejects any change of it.
    """

    kind: type[S]
    to_hub: Callable[[S], H]
    from_hub: Callable[[H], S]


class Conversion(Generic[H]):
    """Conversion of objects of one kind between its versions, through the hub.

        Conversion(PodSetV2, Spoke(PodSetV1, to_hub=v1_to_v2, from_hub=v2_to_v1))

    The hub is usually the storage version, and must be able to express everything that the others can.
    """

    def __init__(self, hub: type[H], *spokes: Spoke[Any, H]) -> None:
        self.hub = hub
        self.spokes: tuple[Spoke[Any, H], ...] = spokes
        kinds = [spoke.kind.gvk for spoke in spokes]
        foreign = [str(kind) for kind in kinds if kind.group_kind != hub.gvk.group_kind]
        if foreign:
            raise BuilderError(
                f"{', '.join(foreign)} is not another version of {hub.gvk}: group and kind must be the same"
            )
        if not spokes or len({hub.gvk, *kinds}) != len(spokes) + 1:
            named = ", ".join(kind.version for kind in kinds) or "none"
            raise BuilderError(f"a Conversion needs other versions than the hub's {hub.gvk}, each once; got {named}")

    @property
    def kind(self) -> GroupKind:
        """The kind, without a version."""
        return self.hub.gvk.group_kind

    def convert(self, obj: Mapping[str, Any], version: str) -> dict[str, Any]:
        """Return an object, in wire form, in another version. In its own version it is returned unchanged.

        A value that breaks a schema rule (an enum, a bound, a length, a pattern) is carried over unchanged if its field
        is optional and the other version has it. The conversion functions see the default instead. The API server,
        which validates after conversion, then rejects the value with its own message.

        Raises:
            ConversionFailed: the version does not exist, the object does not decode as its class, or a function failed.
        """
        source = GroupVersionKind.parse(str(obj.get("apiVersion")), str(obj.get("kind")))
        if source.version == version:
            return dict(obj)
        try:
            return self._converted(source, obj, version)
        except DecodeError as error:
            aside = SetAside.of(obj, error)
            made = None if aside is None else self._converted_without(aside, source, version)
            if made is None:
                raise ConversionFailed(f"cannot convert {source}: {error}") from error
            return made

    def _converted_without(self, aside: SetAside, source: GroupVersionKind, version: str) -> dict[str, Any] | None:
        try:
            made = self._converted(source, aside.rest, version)
        except DecodeError:
            return None  # a removed value has no default
        return made if aside.put_back(made, self._kind(version)) else None

    def _converted(self, source: GroupVersionKind, obj: Mapping[str, Any], version: str) -> dict[str, Any]:
        try:
            hub = self._to_hub(source.version, obj)
            result = hub if version == self.hub.gvk.version else self._spoke(version).from_hub(hub)
            return _with_metadata(result.to_wire(), obj)
        except (DecodeError, ConversionFailed):
            raise
        except Exception as error:
            log.exception("Conversion failed", extra={"kind": str(source), "version": version})
            raise ConversionFailed(f"cannot convert {source} to {version}: {type(error).__name__}: {error}") from error

    def _kind(self, version: str) -> type[KubernetesObject]:
        return self.hub if version == self.hub.gvk.version else self._spoke(version).kind

    def _to_hub(self, version: str, obj: Mapping[str, Any]) -> H:
        if version == self.hub.gvk.version:
            return self.hub.from_wire(msgspec.json.encode(obj))  # a copy: functions may change their argument
        spoke = self._spoke(version)
        return spoke.to_hub(spoke.kind.from_wire(msgspec.json.encode(obj)))

    def _spoke(self, version: str) -> Spoke[Any, H]:
        found = next((spoke for spoke in self.spokes if spoke.kind.gvk.version == version), None)
        if found is None:
            known = ", ".join([self.hub.gvk.version, *(spoke.kind.gvk.version for spoke in self.spokes)])
            raise ConversionFailed(f"{self.kind} has no version {version!r} here; its versions are {known}")
        return found


def _with_metadata(result: dict[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    """Carry the metadata over. If the result has metadata of its own, its labels and annotations are used."""
    metadata, made = dict(source.get("metadata") or {}), result.get("metadata") or {}
    if made:
        for name in ("labels", "annotations"):
            if made.get(name):
                metadata[name] = made[name]
            elif metadata.get(name):
                del metadata[name]
    return {**result, "metadata": metadata}


def review_conversion(
    conversions: Sequence[Conversion[Any]], document: Mapping[str, Any], *, on_bug: Callable[[], None] | None = None
) -> dict[str, Any]:
    """Answer a ConversionReview (v1) with a ConversionReview: all objects converted, or the reason why not.

    ``on_bug`` is called when a function raised an unexpected exception; the traceback is in the log.

    Raises:
        BadRequest: the document is not a ConversionReview of v1, or has no request.
    """
    version, kind, asked = document.get("apiVersion"), document.get("kind"), document.get("request")
    if (version, kind) != (API_VERSION, "ConversionReview"):
        raise BadRequest(f"expected {API_VERSION}, Kind=ConversionReview, got {version}, Kind={kind}")
    if not isinstance(asked, Mapping) or "uid" not in asked:
        raise BadRequest("expected a ConversionReview with a request; it has none")
    response: dict[str, Any] = {"uid": asked["uid"]}
    try:
        wanted = str(asked.get("desiredAPIVersion")).rpartition("/")[2]
        response["convertedObjects"] = [
            _conversion_of(each, conversions).convert(each, wanted) for each in asked.get("objects") or ()
        ]
        response["result"] = {"metadata": {}, "status": "Success"}
    except ConversionFailed as error:
        if on_bug is not None and error.__cause__ is not None and not isinstance(error.__cause__, DecodeError):
            on_bug()
        response["convertedObjects"] = []
        response["result"] = {"metadata": {}, "status": "Failure", "message": str(error)}
    return {"apiVersion": API_VERSION, "kind": "ConversionReview", "response": response}


def _conversion_of(obj: Mapping[str, Any], conversions: Sequence[Conversion[Any]]) -> Conversion[Any]:
    wanted = GroupVersionKind.parse(str(obj.get("apiVersion")), str(obj.get("kind"))).group_kind
    found = next((each for each in conversions if each.kind == wanted), None)
    if found is None:
        known = ", ".join(str(each.kind) for each in conversions) or "nothing"
        raise ConversionFailed(f"no conversion for {wanted} is registered here, only for {known}")
    return found
