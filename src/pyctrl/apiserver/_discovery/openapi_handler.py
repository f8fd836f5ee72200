"""Handler of the OpenAPI documents, with the headers by which clients cache them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from pyctrl._clock import now
from pyctrl.apiserver._errors import JSON, Response
from pyctrl.apiserver._healthz import NOT_FOUND
from pyctrl.apiserver._request.negotiation import negotiate_openapi
from pyctrl.apiserver._request.request import QueryParameters

__all__ = ["OpenAPIHandler"]

_INDEX, _BELOW_INDEX = ("openapi", "v3"), "/openapi/v3/"
_NOT_ACCEPTABLE = Response(status=406, headers=(("Vary", "Accept"),))
_NO_DOCUMENT = Response(status=404, headers=())
_TEXT = (("Content-Type", "text/plain; charset=utf-8"),)  # of the index: upstream does not say that it is JSON
_LIFETIME = timedelta(days=365)  # of a document under the URL with its hash

Document = dict[str, Any]


class OpenAPIHandler:
    """Serves `/openapi/v2` and the paths from `/openapi/v3`. Each document is encoded once until `clear()`.

    Args:
        find: Returns the document of a path, None if there is none.
    """

    def __init__(self, find: Callable[[Sequence[str]], Document | None]) -> None:
        self._find = find
        self._encoded: dict[tuple[str, str], Response] = {}
        self._index: Document | None = None

    def clear(self) -> None:
        """Drop the encoded documents: the served resources have changed."""
        self._encoded.clear()
        self._index = None

    def response(self, path: str, query: QueryParameters, accept: str) -> Response:
        """Return the response to a request, which is a redirection if the document has another hash by now."""
        parts = path.split("/")[1:]
        media = JSON if parts == [*_INDEX] else negotiate_openapi(accept, parts[1] if len(parts) > 1 else "")
        if (path, media) not in self._encoded:
            document = self._find(parts)
            if document is None:  # not cached: the number of paths that do not exist is unlimited
                return _NO_DOCUMENT if path.startswith(_BELOW_INDEX) else NOT_FOUND
            if not media:
                return _NOT_ACCEPTABLE
            self._encoded[path, media] = self._encode(parts, media, document)
        found, wanted = self._encoded[path, media], query.first.get("hash", "")
        return self._hashed(path, found, wanted) if wanted and len(parts) > len(_INDEX) else found

    def _encode(self, parts: Sequence[str], media: str, document: Document) -> Response:
        body = msgspec.json.encode(document)
        if parts == [*_INDEX]:
            return Response(status=200, headers=_TEXT, body=body)
        tag = _hash(self._url_of("/".join(parts[len(_INDEX) :]))) or hashlib.sha512(body).hexdigest().upper()
        if media != JSON:
            from pyctrl.apiserver._discovery.openapi_protobuf import document_as_protobuf  # imports yaml

            body = document_as_protobuf(document)
        headers = (("Content-Type", media), ("Etag", f'"{tag}"'), ("Vary", "Accept"))
        return Response(status=200, headers=headers, body=body)

    def _url_of(self, path: str) -> str:
        """Return the URL of a v3 document with its hash, "" if the index lacks it."""
        if self._index is None:
            self._index = self._find(_INDEX) or {"paths": {}}
        url: str = self._index["paths"].get(path, {}).get("serverRelativeURL", "")
        return url

    def _hashed(self, path: str, found: Response, wanted: str) -> Response:
        """Return the response to a request with a hash."""
        url = self._url_of(path.removeprefix(_BELOW_INDEX))
        if _hash(url) != wanted:
            return Response(status=301, headers=(*found.headers, ("Location", url)))
        expires = (now() + _LIFETIME).strftime("%a, %d %b %Y %H:%M:%S UTC")
        caching = (("Cache-Control", "public, immutable"), ("Expires", expires))
        return Response(status=200, headers=(*found.headers, *caching), body=found.body)


def _hash(url: str) -> str:
    return url.partition("?hash=")[2]
