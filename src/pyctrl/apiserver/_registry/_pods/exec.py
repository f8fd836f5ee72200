"""The subresource exec of pods: a command in a container, through the kubelet of the pod's node."""

from __future__ import annotations

from typing import Any

from pyctrl.api import Access
from pyctrl.apiserver._authz import access_forbidden
from pyctrl.apiserver._errors import Response, StatusError, bad_request, internal_error, not_found, unknown_error
from pyctrl.apiserver._kubelet import KubeletError
from pyctrl.apiserver._registry._pods.log import container_name
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._streaming.remotecommand import RemoteCommandOptions, remote_command_response
from pyctrl.apiserver._streaming.websocket import is_websocket_request

__all__ = ["ExecREST"]


class ExecREST:
    """GET and POST of a pod's exec."""

    def __init__(self, context: RESTContext) -> None:
        self._backend, self._kubelets = context.backend, context.kubelets

    async def get(self, request: ResourceRequest) -> Response:
        """Upgrade the connection and run the command. The user must be allowed to create `pods/exec`."""
        self._check_create(request)
        pod = self._backend.live(request).read(request.resource)
        container = container_name(pod, request.query.get("container"))
        node = pod["spec"].get("nodeName")
        if not node:
            raise bad_request(f"pod {request.target.name} does not have a host assigned")
        kubelet = self._kubelets.get(node)
        if kubelet is None:
            raise self._unreachable(node, f"exec/{request.target.namespace}/{request.target.name}/{container}")
        if not is_websocket_request(request.headers):
            if request.headers.get("upgrade", "").lower().startswith("spdy/"):
                raise bad_request("SPDY is not supported; use WebSockets")
            raise bad_request("Upgrade request required")
        options = _options(request)
        try:
            run = kubelet.get_exec(
                request.target.namespace, request.target.name, container, request.query.every("command")
            )
        except KubeletError as refused:
            raise internal_error(f"unable to upgrade connection: {refused}") from None
        return remote_command_response(request.headers, options, run)

    create = get

    def _check_create(self, request: ResourceRequest) -> None:
        target, user = request.target, request.user
        if user.is_administrator:
            return
        create = Access(
            "create", target.group, target.resource, target.subresource, namespace=target.namespace, name=target.name
        )
        decision = self._backend.authorizer.decide(user, create)
        if not decision.is_allowed:
            raise access_forbidden(create, user, decision.reason)

    def _unreachable(self, node: str, path: str) -> StatusError:
        """Return the error of a node whose kubelet is not simulated: nothing listens at its address."""
        stored = self._backend.storage.collection("", "nodes").find("", node)
        if stored is None:
            return not_found("nodes", node)
        status: dict[str, Any] = stored.decode().get("status") or {}
        address = next((each["address"] for each in status.get("addresses") or () if each.get("address")), "")
        if not address:
            return internal_error("no preferred addresses found; known addresses: []")
        port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port") or 10250
        return unknown_error(f"error dialing backend: dial tcp {address}:{port}: connect: connection refused")


def _options(request: ResourceRequest) -> RemoteCommandOptions:
    names = ("stdin", "stdout", "stderr", "tty")
    options = RemoteCommandOptions(**{name: bool(request.query.flag(name)) for name in names})
    if not (options.stdin or options.stdout or options.stderr):
        raise bad_request("you must specify at least 1 of stdin, stdout, stderr")
    return options
