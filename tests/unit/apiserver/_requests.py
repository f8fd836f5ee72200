"""Requests for resources as the handlers of the API server get them."""

from __future__ import annotations

import json
from typing import Any

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._request.negotiation import MediaTypeOptions
from pyctrl.apiserver._request.request import QueryParameters, ResourceRequest, parse_target
from pyctrl.apiserver._user import User

REGISTRY = ResourceRegistry()


def resource_request(kind: str, path: str, body: Any = None, *, method: str = "POST") -> ResourceRequest:
    """Return a request for a built-in kind, with a body in JSON."""
    target = parse_target(path)
    assert target is not None
    resource = REGISTRY.by_kind(target.group, target.version, kind)
    assert resource is not None
    return ResourceRequest(
        method=method,
        path=path,
        target=target,
        resource=resource,
        query=QueryParameters([]),
        headers={"content-type": "application/json", "user-agent": "kubectl/v1.36.2"},
        body=json.dumps(body).encode(),
        user=User(name="jane"),
        form=MediaTypeOptions(),
    )
