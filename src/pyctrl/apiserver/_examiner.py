"""What the server would say of an object, without a server: no storage, no users, no admission."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyctrl.apiserver._endpoints.backend import metadata_of
from pyctrl.apiserver._errors import StatusError, UndecodableBody
from pyctrl.apiserver._registry.resource_registry import ResourceRegistry
from pyctrl.apiserver._resources.resource_type import ResourceType
from pyctrl.apiserver._schema.defaulting import copied
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.apiserver._schema.typed import DecodeFailed

_UNKNOWN = re.compile(r'unknown field "(?P<field>.*)"', re.DOTALL)
_EMBEDDED = re.compile(r"(?P<field>\S+): Invalid value: ")
_SUFFIX = "x" * 5  # what the server appends to generateName is as long
_RULES = "x-kubernetes-validations"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationProblem:
    """One thing that the server has against an object, in its words.

    `field` is the path as the server writes it (`spec.ports[0].name`; "" is the object as a whole). `reason` is the
    cause's: `FieldValueInvalid` and so on, `FieldUnknown` for what strict decoding refuses, and `DecodeFailed` for a
    value that is no value of its type, with which the server stops: there may be more.
    """

    field: str
    message: str
    reason: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineValidation:
    """What the server thinks of an object: valid when nobody complains.

    `object` is what would be stored, with defaults and without what the schema does not know; None where it could not
    even be read.
    """

    complaints: tuple[ValidationProblem, ...] = ()
    warnings: tuple[str, ...] = ()
    object: Mapping[str, JSON] | None = None


class OfflineValidator:
    """Examines objects as the server does when they are created, with fieldValidation=Strict.

    It knows the built-in kinds and what it was given definitions of. What depends on who asks, and on what else there
    is, is not examined: rights, quotas, webhooks, whether a name is taken or a namespace there.
    """

    def __init__(self) -> None:
        self._registry = ResourceRegistry()
        #: Whether there were validation rules (CEL) that nobody checks, because the extra ``cel`` is not installed.
        self.skips_rules: bool = False

    def define(self, definition: Mapping[str, JSON]) -> OfflineValidation:
        """Examine a definition, and know its kind from now on if nothing is wrong with it."""
        found = copied(dict(definition))
        if _has_rules(found) and not self._can_check_rules():
            self.skips_rules = True
            _drop_rules(found)
        examination = self.examine(found)
        if not examination.complaints and examination.object is not None:
            self._registry.install(examination.object)
        return examination

    def knows(self, api_version: str, kind: str) -> bool:
        """Say whether objects of a kind can be examined."""
        return self._find(api_version, kind) is not None

    def examine(self, obj: Mapping[str, Any]) -> OfflineValidation:
        """Examine an object, which is not changed; one of a kind that is not known is complained of as NotFound."""
        api_version, kind = str(obj.get("apiVersion")), str(obj.get("kind"))
        resource = self._find(api_version, kind)
        if resource is None:
            why = f'no matches for kind "{kind}" in version "{api_version}"'
            return OfflineValidation(complaints=(ValidationProblem(field="kind", message=why, reason="NotFound"),))
        new, warnings = copied(dict(obj)), [resource.deprecation] if resource.deprecation else []
        complaints: list[ValidationProblem] = []
        try:
            _put_in_place(metadata_of(new, resource), resource)
            resource.decode(new, field_validation="Warn", warnings=warnings)
            complaints += _unknown(warnings)
            resource.prepare_create(new, warnings=warnings)
        except StatusError as refused:
            complaints += _told(refused, resource)
            new = {}
        others = tuple(each for each in warnings if not _UNKNOWN.fullmatch(each))
        return OfflineValidation(complaints=tuple(complaints), warnings=others, object=new or None)

    def fields(self, api_version: str, kind: str, path: Iterable[str]) -> tuple[str, ...]:
        """Give the fields that an object of a kind has at a path of keys, indexes left out; none where nobody knows."""
        resource = self._find(api_version, kind)
        node = resource.schema if resource is not None else None
        for key in path:
            node = node.items if node is not None and node.items is not None else node
            node = node.child(key) if node is not None else None
        node = node.items if node is not None and node.items is not None else node
        return tuple(node.properties) if node is not None else ()

    def _find(self, api_version: str, kind: str) -> ResourceType | None:
        group, _, version = api_version.rpartition("/")
        return self._registry.by_kind(group, version, kind)

    @staticmethod
    def _can_check_rules() -> bool:
        from pyctrl.cel import has_library  # most definitions have no rules

        return has_library()


def _put_in_place(metadata: dict[str, Any], resource: ResourceType) -> None:
    """Do to metadata what the URL of a request would: fill in a namespace, or leave it out; and generate a name."""
    if resource.namespaced:
        metadata["namespace"] = metadata.get("namespace") or "default"
    else:
        metadata.pop("namespace", None)
    prefix = metadata.get("generateName")
    if not metadata.get("name") and isinstance(prefix, str) and prefix:
        metadata["name"] = f"{prefix}{_SUFFIX}"


def _unknown(warnings: list[str]) -> Iterator[ValidationProblem]:
    for each in warnings:
        if found := _UNKNOWN.fullmatch(each):
            yield ValidationProblem(field=json.loads(f'"{found["field"]}"'), message=each, reason="FieldUnknown")


def _told(refused: StatusError, resource: ResourceType) -> Iterator[ValidationProblem]:
    failed = refused.__cause__
    if isinstance(refused, UndecodableBody) and isinstance(failed, DecodeFailed):
        yield ValidationProblem(field=_field(failed, refused.why, resource), message=refused.why, reason="DecodeFailed")
        return
    causes = (refused.status.get("details") or {}).get("causes") or ()
    for cause in causes:
        yield ValidationProblem(field=cause.get("field", ""), message=cause["message"], reason=cause.get("reason", ""))
    if not causes:
        yield ValidationProblem(field="", message=str(refused), reason=refused.status.get("reason", ""))


def _field(failed: DecodeFailed, why: str, resource: ResourceType) -> str:
    """Say which field could not be decoded; of a custom resource that is one of some metadata."""
    if resource.is_custom and (embedded := _EMBEDDED.match(why)):
        return embedded["field"]
    place = ("metadata", *failed.place) if resource.is_custom else failed.place
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in place).removeprefix(".")


def _has_rules(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value.get(_RULES)) or any(map(_has_rules, value.values()))
    return isinstance(value, list) and any(map(_has_rules, value))


def _drop_rules(value: Any) -> None:
    if isinstance(value, dict):
        if isinstance(value.get(_RULES), list):
            del value[_RULES]
        for each in value.values():
            _drop_rules(each)
    elif isinstance(value, list):
        for each in value:
            _drop_rules(each)
