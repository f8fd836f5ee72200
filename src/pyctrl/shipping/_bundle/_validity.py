"""What an API server would say of the objects in a bundle: of definitions, of what is installed, and of examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pyctrl.manifests import Document, Problem, Validator, read_documents
from pyctrl.shipping._bundle._contents import Contents, Objection
from pyctrl.shipping._bundle._csv import API_VERSION, KIND
from pyctrl.shipping._bundle._schema import definition

__all__ = ["objections"]

#: What makes a mistake of something that would go unnoticed: fields that nobody knows are thrown away.
_UNNOTICED = ("FieldUnknown", "FieldDuplicate")
_PLACE = "bundle"  # a namespace, for objects that have none before they are installed


def objections(contents: Contents) -> Iterator[Objection]:
    """Say what is wrong with single objects; those that make no sense are taken out of what further rules look at."""
    validator = Validator()
    for document in [*contents.of_kind("CustomResourceDefinition")]:
        verdict = validator.define(document)
        yield from _told(document, verdict.problems)
        if any(each.reason not in _UNNOTICED for each in verdict.problems):
            contents.documents.remove(document)
    for document in [each for each in contents.documents if each.obj.get("kind") != "CustomResourceDefinition"]:
        problems = _problems(validator, document)
        yield from _told(document, problems)
        if any(each.reason not in _UNNOTICED for each in problems):
            contents.documents.remove(document)
    if contents.csv is not None:
        yield from _deployments(contents, validator)
        yield from _examples(contents, validator)


def _problems(validator: Validator, document: Document) -> list[Problem]:
    """Return what is wrong with an object that is no definition; one of a kind that nobody knows is passed over."""
    is_csv = document.obj.get("kind") == KIND
    if is_csv and document.obj.get("apiVersion") != API_VERSION:
        return [_problem(document, "apiVersion", f"{API_VERSION} was expected")]
    verdict = (_of_csvs() if is_csv else validator).validate(document)
    return [] if verdict.is_unknown else [*verdict.problems]


@cache
def _of_csvs() -> Validator:
    """Make what knows the form of a ClusterServiceVersion, once: that takes it a while to learn."""
    validator = Validator()
    validator.define(_written(definition()))
    return validator


def _problem(document: Document, path: str, message: str) -> Problem:
    line, column = document.find(path)
    return Problem(line=line, column=column, path=path, message=message, reason="FieldValueInvalid")


def _told(document: Document, problems: tuple[Problem, ...] | list[Problem]) -> Iterator[Objection]:
    for each in problems:
        is_unnoticed = each.reason in _UNNOTICED
        message = f"{each.message} ({each.hint})" if each.hint else each.message
        source = f"{document.source}:{each.line}:{each.column}"
        yield Objection("cluster" if is_unnoticed else "bundle", source, each.path, message, is_unnoticed)


def _deployments(contents: Contents, validator: Validator) -> Iterator[Objection]:
    for number, each in enumerate(contents.spec("install", "spec", "deployments") or ()):
        made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": each["name"], "namespace": _PLACE}}
        for problem in validator.validate(_written({**made, "spec": each["spec"]})).problems:
            path = f"spec.install.spec.deployments[{number}].{problem.path}"
            is_warning = problem.reason in _UNNOTICED
            yield contents.csv_error(path, problem.message, suite="cluster", warn=is_warning)


def _examples(contents: Contents, validator: Validator) -> Iterator[Objection]:
    for number, example in enumerate(contents.examples()):
        if not isinstance(example.get("metadata"), dict):
            continue
        verdict = validator.validate(_written(example))
        for problem in () if verdict.is_unknown else verdict.problems:
            text = f"[{number}].{problem.path}: {problem.message}"
            yield contents.csv_error("metadata.annotations.alm-examples", text, suite="cluster")


def _written(obj: Mapping[str, Any]) -> Document:
    return next(read_documents(json.dumps(obj).encode(), "it"))
