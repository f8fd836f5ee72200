"""get: GET of one object."""

from __future__ import annotations

from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.response_writers import object_response
from pyctrl.apiserver._errors import Response, bad_request
from pyctrl.apiserver._request.options import parse_list_version, parse_version
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.resource_type import is_event

__all__ = ["GetHandler"]


class GetHandler:
    """Handler of get."""

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend

    def get(self, request: ResourceRequest) -> Response:
        """GET one object. The current state satisfies every resourceVersion that the storage has reached."""
        if request.query.flag("export"):
            raise bad_request("the export parameter, deprecated since v1.14, is no longer supported")
        parse = parse_list_version if is_event(request.resource) else parse_version  # events are not read from a cache
        parse(request.query.get("resourceVersion"))
        return object_response(self._backend.live(request), request.resource, request.form)
