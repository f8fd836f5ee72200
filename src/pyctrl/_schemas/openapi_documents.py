"""The parts of kube-apiserver's OpenAPI documents that do not follow from the schemas: paths, and documents of its own.

They are 4 MB with much repetition. The file has each repeated part once, in `shared`; elsewhere `{"$": NUMBER}` stands
for it. tools/generate_openapi.py writes it.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from pyctrl._schemas import read_file

__all__ = ["OpenAPIDocuments", "openapi_documents"]

_SHARED = "$"


class OpenAPIDocuments:
    """The contents of the file. Each part is unpacked when it is first asked for, and must not be changed."""

    def __init__(self, packed: Mapping[str, Any]) -> None:
        self._shared: list[Any] = packed["shared"]
        self._unpacked: dict[int, Any] = {}
        self._parts: Mapping[str, Any] = packed["parts"]

    def hashes(self) -> Iterator[tuple[str, str]]:
        """Yield the path of each v3 document with the hash by which clients cache it."""
        yield from self._parts["hashes"].items()

    def paths(self, path: str) -> dict[str, Any]:
        """Return the paths of a v3 document, such as `apis/apps/v1`; empty if it does not exist."""
        return self._part("paths", path)

    def document(self, path: str) -> dict[str, Any]:
        """Return a whole v3 document that is of no group version, such as `apis/apps`; empty if it does not exist."""
        return self._part("documents", path)

    def version_2(self) -> dict[str, Any]:
        """Return the v2 document; of its definitions it has those that do not follow from v3."""
        return self._part("v2", "")

    def _part(self, kind: str, path: str) -> dict[str, Any]:
        found: dict[str, Any] = self._unpack(self._parts[kind].get(path, {}))
        return found

    def _unpack(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._unpack(each) for each in value]
        if not isinstance(value, dict):
            return value
        number = value.get(_SHARED)
        if number is None:
            return {key: self._unpack(each) for key, each in value.items()}
        if number not in self._unpacked:
            self._unpacked[number] = self._unpack(self._shared[number])
        return self._unpacked[number]


@cache
def openapi_documents() -> OpenAPIDocuments:
    """Read the file, once in a process: 50 kB, in 5 ms."""
    data = gzip.decompress(read_file("openapi_documents.json.gz"))
    return OpenAPIDocuments(msgspec.json.decode(data))
