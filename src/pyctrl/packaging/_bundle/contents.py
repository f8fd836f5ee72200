"""The contents of a bundle: its files, and the objects in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pyctrl.errors import CommandFailed
from pyctrl.manifests import Document, read_manifest_objects
from pyctrl.packaging._bundle.cluster_service_version import KIND

__all__ = ["SUITES", "BundleProblem", "Contents", "Suite", "read_contents", "read_files"]

Object = Mapping[str, Any]

#: A suite of rules: those of every bundle, of operatorhub.io, good practices, the scorecard, and the checks of an API
#: server on the objects of the bundle.
Suite: TypeAlias = Literal["bundle", "operatorhub", "good-practices", "scorecard", "cluster"]

SUITES: tuple[Suite, ...] = get_args(Suite)

MANIFESTS, METADATA = "manifests", "metadata"


@dataclass(frozen=True, slots=True)
class BundleProblem:
    """A problem of a bundle.

    Attributes:
        suite: the suite of the violated rule.
        source: the file, with line and column if known.
        path: the field; "" is the whole file.
        message: what is wrong, and what was expected.
        is_warning: whether it is a warning, not an error.
    """

    suite: Suite
    source: str
    path: str
    message: str
    is_warning: bool = False

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{self.source}: {where}{self.message}"


@dataclass(slots=True)
class Contents:
    """The files of a bundle by their paths, and the objects in them."""

    files: Mapping[str, bytes]
    documents: list[Document] = field(default_factory=list)  # of manifests/, the first one of each file
    document_counts: dict[str, int] = field(default_factory=dict)  # number of documents in files with several
    unread: list[BundleProblem] = field(default_factory=list)
    annotations: tuple[str, Object] | None = None
    dependencies: tuple[str, Object] | None = None

    def of_kind(self, kind: str) -> list[Document]:
        """Return the objects of a kind."""
        return [each for each in self.documents if each.obj.get("kind") == kind]

    @property
    def csv(self) -> Document | None:
        """The ClusterServiceVersion; None if there is none."""
        return next(iter(self.of_kind(KIND)), None)

    def definitions(self) -> list[tuple[str, Object]]:
        """Return the CustomResourceDefinitions, each with its file."""
        return [(each.source, each.obj) for each in self.of_kind("CustomResourceDefinition")]

    def owned(self) -> list[Object]:
        """Return the descriptions of owned kinds in the ClusterServiceVersion."""
        return _dicts(self.spec("customresourcedefinitions", "owned"))

    def spec(self, *keys: str) -> Any:
        """Return a part of the ClusterServiceVersion's spec; None if it does not exist."""
        found: Any = self.csv.obj.get("spec") if self.csv is not None else None
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def csv_annotations(self) -> Object:
        """Return the annotations of the ClusterServiceVersion."""
        metadata = self.csv.obj.get("metadata") if self.csv is not None else None
        found = metadata.get("annotations") if isinstance(metadata, dict) else None
        return found if isinstance(found, dict) else {}

    def examples(self) -> list[Object]:
        """Return the example objects; empty if they are not valid JSON."""
        texts = self.csv_annotations()
        try:
            return _dicts(json.loads(texts.get("alm-examples") or texts.get("olm.examples") or "[]"))
        except (TypeError, ValueError):
            return []

    def csv_error(self, path: str, message: str, *, suite: Suite = "scorecard", warn: bool = False) -> BundleProblem:
        """Return a problem at a field of the ClusterServiceVersion."""
        assert self.csv is not None  # checked by the caller
        return problem_with(self.csv, suite, path, message, warn=warn)


def problem_with(document: Document, suite: Suite, path: str, message: str, *, warn: bool = False) -> BundleProblem:
    """Return a problem at a field of an object, with its line."""
    line, column = document.find(path)
    return BundleProblem(suite, f"{document.source}:{line}:{column}", path, message, warn)


def _dicts(values: Any) -> list[Object]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def read_files(directory: Path) -> dict[str, bytes]:
    """Return the files of a bundle by their paths below its directory.

    Raises:
        CommandFailed: the directory does not exist.
    """
    if not directory.is_dir():
        raise CommandFailed(f"{directory} is not a directory: expected a bundle, as pyctrl bundle writes it")
    found = sorted(each for each in directory.rglob("*") if each.is_file())
    return {each.relative_to(directory).as_posix(): each.read_bytes() for each in found}


def read_contents(files: Mapping[str, bytes], place: str = "") -> Contents:
    """Read the objects of a bundle's files.

    Args:
        files: by their paths below the bundle's directory.
        place: the bundle's directory, for messages.
    """
    contents = Contents(files)
    for path, data in files.items():
        top, _, rest = path.partition("/")
        if top == MANIFESTS and "/" not in rest and not rest.startswith("."):
            _read_manifest(contents, place + path, data)
        elif top == METADATA and not rest.startswith("."):
            _read_metadata(contents, place + path, data)
    return contents


def _read_manifest(contents: Contents, source: str, data: bytes) -> None:
    documents = _read(contents, source, data)
    contents.documents += documents[:1]
    if len(documents) > 1:
        contents.document_counts[source] = len(documents)


def _read_metadata(contents: Contents, source: str, data: bytes) -> None:
    for document in _read(contents, source, data)[:1]:
        if contents.annotations is None and isinstance(document.obj.get("annotations"), dict):
            contents.annotations = source, document.obj["annotations"]
        elif isinstance(document.obj.get("dependencies"), list):
            contents.dependencies = source, document.obj


def _read(contents: Contents, source: str, data: bytes) -> Sequence[Document]:
    try:
        return list(_documents(data, source))
    except ValueError as error:
        contents.unread.append(BundleProblem("bundle", source, "", f"cannot be read: {error}"))
        return []


def _documents(data: bytes, source: str) -> Iterator[Document]:
    yield from read_manifest_objects(data, source)
