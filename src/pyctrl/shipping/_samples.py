"""What the API server would have against the objects of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyctrl.manifests import DEFINITION, Document, Validator, read_documents
from pyctrl.rbac import to_yaml

__all__ = ["problems_of"]


def problems_of(text: str, definitions: Iterable[Mapping[str, Any]], source: str) -> list[str]:
    """Say what the API server would have against the objects of a file, each with its line; nothing if all is well.

    Args:
        text: the file.
        definitions: of the program, as objects.
        source: what the file is called.
    """
    validator = Validator()
    for document in read_documents(to_yaml(definitions).encode(), "definitions"):
        validator.define(document)
    return [line for document in read_documents(text.encode(), source) for line in _told(validator, document)]


def _told(validator: Validator, document: Document) -> Iterator[str]:
    if (document.obj.get("apiVersion"), document.obj.get("kind")) == DEFINITION:
        return
    verdict = validator.validate(document)
    if not verdict.is_unknown:
        yield from (f"{document.source}:{each.line}:{each.column}: {each}" for each in verdict.problems)
