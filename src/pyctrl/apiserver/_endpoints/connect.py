"""Admission of connections to pods, services and nodes: exec, attach, port-forward and proxies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from pyctrl.apiserver._admission import CONNECT, Attributes, Kind
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._request.options import WriteOptions
from pyctrl.apiserver._request.request import ResourceRequest

__all__ = ["admitted_connection"]

_KINDS: Final = {
    ("pods", "attach"): "PodAttachOptions",
    ("pods", "exec"): "PodExecOptions",
    ("pods", "portforward"): "PodPortForwardOptions",
    ("pods", "proxy"): "PodProxyOptions",
    ("services", "proxy"): "ServiceProxyOptions",
    ("nodes", "proxy"): "NodeProxyOptions",
}
_STREAMS: Final = ("stdin", "stdout", "stderr", "tty")


async def admitted_connection(
    backend: RESTStorage, handler: Callable[[ResourceRequest], Response | Awaitable[Response]], request: ResourceRequest
) -> Response:
    """Connect if webhooks and policies admit the options of the connection.

    Mutating ones may refuse the connection, too. What they change in the options is ignored.
    """
    target = request.target
    kind = _KINDS.get((target.resource, target.subresource))
    if kind is not None and backend.admission.has_dynamic_plugins:
        attributes = Attributes(
            operation=CONNECT,
            request=request,
            object={"kind": kind, "apiVersion": "v1", **_options(request)},
            name=target.name,
            options=WriteOptions(),
            own_kind=Kind("", "v1", kind),
        )
        await backend.admission.connect(attributes)
    response = handler(request)
    return response if isinstance(response, Response) else await response


def _options(request: ResourceRequest) -> dict[str, Any]:
    """Return the options that a URL has, without those that Go's types leave out."""
    query, subresource = request.query, request.target.subresource
    if subresource == "proxy":
        path = request.path.partition("/proxy")[2] or query.get("path")
        return {"path": path} if path else {}
    if subresource == "portforward":
        ports = [int(each) for each in query.every("ports") if each.isdecimal()]
        return {"ports": ports} if ports else {}
    options: dict[str, Any] = {name: True for name in _STREAMS if query.flag(name)}
    if container := query.get("container"):
        options["container"] = container
    if subresource == "exec":
        options["command"] = query.every("command") or None
    return options
