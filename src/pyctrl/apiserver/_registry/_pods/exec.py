"""The subresources exec and attach of pods: a process in a container, through the kubelet of the pod's node."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyctrl.apiserver._errors import Response, bad_request
from pyctrl.apiserver._kubelet import ContainerStreams, ExecHandler, KubeletError, KubeletServer
from pyctrl.apiserver._registry._pods.kubelet_connection import KubeletConnections
from pyctrl.apiserver._registry._pods.log import container_name
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._streaming.remotecommand import RemoteCommandOptions
from pyctrl.apiserver._streaming.remotecommand_protocols import has_stream_close_protocol, remote_command_response
from pyctrl.apiserver._streaming.spdy import plain_response
from pyctrl.apiserver._streaming.websocket import is_upgrade_request

__all__ = ["AttachREST", "ExecREST", "process_response"]


class ExecREST:
    """GET and POST of a pod's exec."""

    action = "executing command in container"

    def __init__(self, context: RESTContext) -> None:
        self._connections = KubeletConnections(context)

    async def get(self, request: ResourceRequest) -> Response:
        """Upgrade the connection and run the process. The user must be allowed to create the subresource."""
        self._connections.check_create(request)
        pod = self._connections.pod(request)
        container = container_name(pod, request.query.get("container"))
        kubelet = self._connections.kubelet(pod)
        if not is_upgrade_request(request.headers):
            raise bad_request("Upgrade request required")
        options = _options(request, self.action)
        self._connections.log_stream(request, container=container, command=request.query.every("command"))
        return process_response(request.headers, options, lambda: self._handler(kubelet, request, container))

    create = get

    def _handler(self, kubelet: KubeletServer, request: ResourceRequest, container: str) -> ExecHandler:
        target = request.target
        return kubelet.get_exec(target.namespace, target.name, container, request.query.every("command"))


class AttachREST(ExecREST):
    """GET and POST of a pod's attach."""

    action = "attaching to container"

    def _handler(self, kubelet: KubeletServer, request: ResourceRequest, container: str) -> ExecHandler:
        return kubelet.get_attach(request.target.namespace, request.target.name, container)


def process_response(
    headers: Mapping[str, str], options: RemoteCommandOptions, find: Callable[[], ExecHandler]
) -> Response:
    """Return the response to a request for the streams of a process, also for one that does not run.

    Args:
        find: Returns the function that runs the process, or raises KubeletError.
    """
    if not (options.stdin or options.stdout or options.stderr):
        return plain_response(400, "you must specify at least 1 of stdin, stdout, stderr")
    try:
        run = find()
    except KubeletError as refused:
        if not has_stream_close_protocol(headers):
            return plain_response(refused.code, str(refused))
        run = _refuse(refused)
    return remote_command_response(headers, options, run)


def _options(request: ResourceRequest, action: str) -> RemoteCommandOptions:
    names = ("stdin", "stdout", "stderr", "tty")
    options = {name: bool(request.query.flag(name)) for name in names}
    if options["tty"]:
        options["stderr"] = False  # a terminal has one output
    return RemoteCommandOptions(**options, action=action)


def _refuse(refused: KubeletError) -> ExecHandler:
    async def run(_: ContainerStreams) -> int:
        raise refused

    return run
