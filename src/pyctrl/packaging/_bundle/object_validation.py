"""Validation of the objects in a bundle as an API server does it: definitions, manifests and examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pyctrl.manifests import Document, ManifestProblem, ManifestValidator, read_manifest_objects
from pyctrl.packaging._bundle.cluster_service_version import API_VERSION, KIND
from pyctrl.packaging._bundle.contents import BundleProblem, Contents
from pyctrl.packaging._bundle.csv_schema import definition

__all__ = ["object_problems"]

#: Problems that an API server does not report by default: it drops unknown and duplicate fields.
_UNNOTICED = ("FieldUnknown", "FieldDuplicate")
_PLACE = "bundle"  # a namespace for objects that get theirs at installation


def object_problems(contents: Contents) -> Iterator[BundleProblem]:
    """Yield the problems of single objects. Invalid objects are removed from the contents, so other rules skip them."""
    validator = ManifestValidator()
    for document in [*contents.of_kind("CustomResourceDefinition")]:
        verdict = validator.define(document)
        yield from _described(document, verdict.problems)
        if any(each.reason not in _UNNOTICED for each in verdict.problems):
            contents.documents.remove(document)
    for document in [each for each in contents.documents if each.obj.get("kind") != "CustomResourceDefinition"]:
        problems = _problems(validator, document)
        yield from _described(document, problems)
        if any(each.reason not in _UNNOTICED for each in problems):
            contents.documents.remove(document)
    if contents.csv is not None:
        yield from _deployments(contents, validator)
        yield from _examples(contents, validator)


def _problems(validator: ManifestValidator, document: Document) -> list[ManifestProblem]:
    """Return the problems of an object other than a definition; none for an unknown kind."""
    is_csv = document.obj.get("kind") == KIND
    if is_csv and document.obj.get("apiVersion") != API_VERSION:
        return [_problem(document, "apiVersion", f"expected {API_VERSION}")]
    verdict = (_of_csvs() if is_csv else validator).validate(document)
    return [] if verdict.is_unknown else [*verdict.problems]


@cache
def _of_csvs() -> ManifestValidator:
    """Return the validator of ClusterServiceVersions; cached, because compiling the schema is slow."""
    validator = ManifestValidator()
    validator.define(_as_document(definition()))
    return validator


def _problem(document: Document, path: str, message: str) -> ManifestProblem:
    line, column = document.find(path)
    return ManifestProblem(line=line, column=column, path=path, message=message, reason="FieldValueInvalid")


def _described(
    document: Document, problems: tuple[ManifestProblem, ...] | list[ManifestProblem]
) -> Iterator[BundleProblem]:
    for each in problems:
        is_unnoticed = each.reason in _UNNOTICED
        message = f"{each.message} ({each.hint})" if each.hint else each.message
        source = f"{document.source}:{each.line}:{each.column}"
        yield BundleProblem("cluster" if is_unnoticed else "bundle", source, each.path, message, is_unnoticed)


def _deployments(contents: Contents, validator: ManifestValidator) -> Iterator[BundleProblem]:
    for number, each in enumerate(contents.spec("install", "spec", "deployments") or ()):
        made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": each["name"], "namespace": _PLACE}}
        for problem in validator.validate(_as_document({**made, "spec": each["spec"]})).problems:
            path = f"spec.install.spec.deployments[{number}].{problem.path}"
            is_warning = problem.reason in _UNNOTICED
            yield contents.csv_error(path, problem.message, suite="cluster", warn=is_warning)


def _examples(contents: Contents, validator: ManifestValidator) -> Iterator[BundleProblem]:
    for number, example in enumerate(contents.examples()):
        if not isinstance(example.get("metadata"), dict):
            continue
        verdict = validator.validate(_as_document(example))
        for problem in () if verdict.is_unknown else verdict.problems:
            text = f"[{number}].{problem.path}: {problem.message}"
            yield contents.csv_error("metadata.annotations.alm-examples", text, suite="cluster")


def _as_document(obj: Mapping[str, Any]) -> Document:
    return next(read_manifest_objects(json.dumps(obj).encode(), "it"))
