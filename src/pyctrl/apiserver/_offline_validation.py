"""Validation of objects as the API server does it, without a server: no storage, no users, no admission."""

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

__all__ = ["OfflineValidation", "OfflineValidator", "ValidationProblem"]

_UNKNOWN = re.compile(r'unknown field "(?P<field>.*)"', re.DOTALL)
_EMBEDDED = re.compile(r"(?P<field>\S+): Invalid value: ")
_SUFFIX = "x" * 5  # as long as the suffix that the server appends to generateName
_RULES = "x-kubernetes-validations"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationProblem:
    """One error that the server reports about an object, with its message.

    `field` is the path as the server writes it (`spec.ports[0].name`; "" is the object as a whole). `reason` is that of
    the cause (`FieldValueInvalid`, ...), `FieldUnknown` for a field that strict decoding refuses, or `DecodeFailed` for
    a value of the wrong type. The server stops at a `DecodeFailed`, so the object may have more errors.
    """

    field: str
    message: str
    reason: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineValidation:
    """Result of validating an object, which is valid without `problems`.

    `object` is the object as the server would store it, with defaults and without unknown fields; None when it does not
    decode or is invalid.
    """

    problems: tuple[ValidationProblem, ...] = ()
    warnings: tuple[str, ...] = ()
    object: Mapping[str, JSON] | None = None


class OfflineValidator:
    """Validates objects as the server does on create, with fieldValidation=Strict.

    It knows the built-in kinds and those of added definitions. It does not check what depends on the user or on other
    objects: permissions, quotas, webhooks, whether the name is taken or the namespace exists.
    """

    def __init__(self) -> None:
        self._registry = ResourceRegistry()
        #: Whether a definition had validation rules (CEL) that are skipped, because the extra ``cel`` is missing.
        self.skips_rules: bool = False

    def define(self, definition: Mapping[str, JSON]) -> OfflineValidation:
        """Validate a definition, and add its kind if it is valid."""
        found = copied(dict(definition))
        if _has_rules(found) and not self._can_check_rules():
            self.skips_rules = True
            _drop_rules(found)
        result = self.validate(found)
        if not result.problems and result.object is not None:
            self._registry.install(result.object)
        return result

    def knows(self, api_version: str, kind: str) -> bool:
        """Return whether the validator knows a kind."""
        return self._find(api_version, kind) is not None

    def validate(self, obj: Mapping[str, Any]) -> OfflineValidation:
        """Validate an object, which is not changed. The problem of an unknown kind has the reason NotFound."""
        api_version, kind = str(obj.get("apiVersion")), str(obj.get("kind"))
        resource = self._find(api_version, kind)
        if resource is None:
            why = f'no matches for kind "{kind}" in version "{api_version}"'
            return OfflineValidation(problems=(ValidationProblem(field="kind", message=why, reason="NotFound"),))
        new, warnings = copied(dict(obj)), [resource.deprecation] if resource.deprecation else []
        problems: list[ValidationProblem] = []
        try:
            _fill_name_and_namespace(metadata_of(new, resource), resource)
            resource.decode(new, field_validation="Warn", warnings=warnings)
            problems += _unknown_fields(warnings)
            validation = resource.prepare_create(new, warnings=warnings, is_dry_run=True)
            if validation is not None:
                validation()
        except StatusError as refused:
            problems += _problems_of(refused, resource)
            new = {}
        others = tuple(each for each in warnings if not _UNKNOWN.fullmatch(each))
        return OfflineValidation(problems=tuple(problems), warnings=others, object=new or None)

    def fields(self, api_version: str, kind: str, path: Iterable[str]) -> tuple[str, ...]:
        """Return the field names of a kind at a path of keys without list indexes; empty when the path is unknown."""
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


def _fill_name_and_namespace(metadata: dict[str, Any], resource: ResourceType) -> None:
    """Set or drop the namespace as the URL of a request would, and generate a name."""
    if resource.namespaced:
        metadata["namespace"] = metadata.get("namespace") or "default"
    else:
        metadata.pop("namespace", None)
    prefix = metadata.get("generateName")
    if not metadata.get("name") and isinstance(prefix, str) and prefix:
        metadata["name"] = f"{prefix}{_SUFFIX}"


def _unknown_fields(warnings: list[str]) -> Iterator[ValidationProblem]:
    for each in warnings:
        if found := _UNKNOWN.fullmatch(each):
            yield ValidationProblem(field=json.loads(f'"{found["field"]}"'), message=each, reason="FieldUnknown")


def _problems_of(refused: StatusError, resource: ResourceType) -> Iterator[ValidationProblem]:
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
    """Return the path of the field that does not decode; in a custom resource it belongs to some metadata."""
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
