"""Errors of requests whose path is served, but not with their method, as the API servers of upstream route them.

kube-apiserver has a route for each method of a built-in resource. apiextensions-apiserver has one handler for all
methods, which decides by the verb. The messages were observed on kube-apiserver 1.36.
"""

from __future__ import annotations

from pyctrl.apiserver._errors import (
    StatusError,
    bad_request,
    method_not_allowed,
    qualified_resource,
    resource_not_served,
    status_error,
)
from pyctrl.apiserver._request.request import ResourceRequest

__all__ = ["check_route"]

_OF_SUBRESOURCES = ("get", "patch", "update")


def check_route(request: ResourceRequest) -> None:
    """Check the method of a request for a resource that is served.

    Raises:
        StatusError: No handler can be found for it.
    """
    target, resource = request.target, request.resource
    if not resource.is_custom or resource.rest_storage is not None:  # an extension API server routes as kube-apiserver
        if target.watch and request.method != "GET":
            raise method_not_allowed() if "watch" in resource.verbs else resource_not_served()
        return
    verb = target.verb(request.method, request.query.first)
    if not verb or (target.subresource and verb not in _OF_SUBRESOURCES):
        raise _not_supported(request, verb)
    if verb in ("patch", "update") and not target.name:
        raise bad_request("name must be provided")


def _not_supported(request: ResourceRequest, verb: str) -> StatusError:
    target = request.target
    subject = f'resources of kind "{qualified_resource(target.resource, target.group)}"'
    details = {"group": target.group, "kind": target.resource}
    return status_error(405, "MethodNotAllowed", f"{verb} is not supported on {subject}", details)
