"""Validation of objects in files as the API server would, with the position of each error."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from pyctrl.api import Key
from pyctrl.apiserver import OfflineValidator, ValidationProblem
from pyctrl.manifests._documents import Document, Position

__all__ = ["DEFINITION", "ManifestProblem", "ManifestValidator", "ValidationResult"]

DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")

# kube-apiserver's messages name fields of its internal type; these are their names on the wire.
_WRITTEN = (
    (re.compile(r"^spec\.validation(?=\.|$)"), "spec.versions[0].schema"),
    (re.compile(r"^spec\.(subresources|additionalPrinterColumns|selectableFields)(?=\.|\[|$)"), r"spec.versions[0].\1"),
    (re.compile(r"^spec\.version$"), "spec.versions[0].name"),
    (re.compile(r"^spec\.conversion\.webhookClientConfig"), "spec.conversion.webhook.clientConfig"),
    (re.compile(r"^spec\.conversion\.conversionReviewVersions"), "spec.conversion.webhook.conversionReviewVersions"),
)
_AT_THE_KEY = ("FieldUnknown", "FieldValueRequired")


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestProblem:
    """One error of an object: the server's message, and the line and column it refers to.

    `reason` is the server's (`FieldValueInvalid`, …), or `FieldUnknown`, `FieldDuplicate`, `DecodeFailed` or
    `NotFound`. `hint` is added by pyctrl.
    """

    line: int
    column: int
    path: str
    message: str
    reason: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.path}: {self.message}{hint}" if self.path else f"{self.message}{hint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResult:
    """The result of validating an object. The object is valid if there are no problems.

    `object` is the object as it would be stored: with defaults, and without fields that the schema does not have.
    """

    document: Document
    problems: tuple[ManifestProblem, ...]
    warnings: tuple[str, ...] = ()
    object: Any = None

    @property
    def is_valid(self) -> bool:
        """Whether the server would accept the object."""
        return not self.problems

    @property
    def is_unknown(self) -> bool:
        """Whether the kind is not known."""
        return any(problem.reason == "NotFound" for problem in self.problems)

    @property
    def name(self) -> str:
        """Kind, namespace and name as a text."""
        obj = self.document.obj
        metadata = obj.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        key = Key(str(metadata.get("namespace") or ""), str(metadata.get("name") or metadata.get("generateName") or ""))
        return f"{obj.get('kind')} {key}"

    def to_wire(self) -> dict[str, Any]:
        """Return everything but the object as JSON-ready dicts."""
        obj, start = self.document.obj, self.document.find("")
        return {
            "file": self.document.source,
            "document": self.document.number,
            "line": start.line,
            "apiVersion": obj.get("apiVersion"),
            "kind": obj.get("kind"),
            "name": self.name.partition(" ")[2],
            "valid": self.is_valid,
            "problems": [asdict(problem) for problem in self.problems],
            "warnings": list(self.warnings),
        }


class ManifestValidator:
    """Validates objects against the built-in kinds and added definitions.

    Reports the errors of an API server when an object is created with strict field validation: unknown and duplicate
    fields, types, bounds, patterns, list types, validation rules, rules of built-in kinds. Defaults are applied first.
    Where the server stops after the first group of errors, all are reported. Checks that depend on the user or on other
    objects in the cluster are not made.
    """

    def __init__(self) -> None:
        self._offline: OfflineValidator = OfflineValidator()

    @property
    def skips_rules(self) -> bool:
        """Whether CEL validation rules were not checked because the extra ``cel`` is not installed."""
        return self._offline.skips_rules

    def define(self, document: Document) -> ValidationResult:
        """Validate a definition and, if it is valid, add it: objects of its kind can be validated afterwards."""
        return self._verdict(document, is_definition=True)

    def validate(self, document: Document) -> ValidationResult:
        """Validate an object."""
        return self._verdict(document, is_definition=False)

    def _verdict(self, document: Document, *, is_definition: bool) -> ValidationResult:
        examine = self._offline.define if is_definition else self._offline.validate
        if missing := [key for key in ("apiVersion", "kind") if not isinstance(document.obj.get(key), str)]:
            problems = [_at(document.find(""), missing[0], f"Required value: an object has {missing[0]}")]
            return ValidationResult(document=document, problems=tuple(problems))
        found = examine(document.obj)
        repeated = [
            _at(position, path, f"duplicate field {json.dumps(path, ensure_ascii=False)}", "FieldDuplicate")
            for path, position in document.repeated()
        ]
        reported = [self._problem(document, error) for error in found.problems]
        problems = sorted([*repeated, *reported], key=_order)
        return ValidationResult(
            document=document, problems=tuple(problems), warnings=found.warnings, object=found.object
        )

    def _problem(self, document: Document, error: ValidationProblem) -> ManifestProblem:
        path = error.field
        if (document.obj["apiVersion"], document.obj["kind"]) == DEFINITION:
            for pattern, written in _WRITTEN:
                path = pattern.sub(written, path)
        position = document.find(path, key=error.reason in _AT_THE_KEY)
        hint = self._hint(document, path) if error.reason == "FieldUnknown" else ""
        return ManifestProblem(
            line=position.line,
            column=position.column,
            path="" if error.reason == "NotFound" else error.field,
            message=error.message,
            reason=error.reason,
            hint=hint,
        )

    def _hint(self, document: Document, path: str) -> str:
        """Suggest a known field in place of an unknown one."""
        *parents, name = _keys(path)
        fields = self._offline.fields(document.obj["apiVersion"], document.obj["kind"], parents)
        near = difflib.get_close_matches(name, fields, n=1) or [each for each in fields if each.lower() == name.lower()]
        return f"did you mean {near[0]}?" if near else ""


def _order(problem: ManifestProblem) -> tuple[bool, int, int]:
    """Return the sort key of a problem: by position, with those of the whole object last."""
    return problem.path == "<nil>", problem.line, problem.column


def _keys(path: str) -> list[str]:
    return [key for key in re.sub(r"\[\d+\]", "", path).split(".") if key]


def _at(position: Position, path: str, message: str, reason: str = "FieldValueRequired") -> ManifestProblem:
    return ManifestProblem(line=position.line, column=position.column, path=path, message=message, reason=reason)
