"""HTTP API of the kubelet of a node in this process, as kubelet's `pkg/kubelet/server`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from pyctrl._headers import Headers
from pyctrl._pipes import Pipe
from pyctrl.apiserver._errors import Response, StatusError
from pyctrl.apiserver._kubelet import ContainerStreams, KubeletError, KubeletServer
from pyctrl.apiserver._proxy.round_tripper import OutgoingRequest
from pyctrl.apiserver._registry._nodes import node_documents
from pyctrl.apiserver._registry._pods.exec import process_response
from pyctrl.apiserver._registry._pods.log import LogQuery
from pyctrl.apiserver._request.request import QueryParameters
from pyctrl.apiserver._storage.storage import Storage
from pyctrl.apiserver._streaming.portforward import port_forward_response
from pyctrl.apiserver._streaming.remotecommand import RemoteCommandOptions
from pyctrl.apiserver._streaming.spdy import plain_response
from pyctrl.apiserver._streaming.websocket import is_upgrade_request

__all__ = ["KubeletAPI"]

_NOT_FOUND = plain_response(404, "404: Page Not Found")
_METHOD_NOT_ALLOWED = plain_response(405, "405: Method Not Allowed")
_FILE_NOT_FOUND = plain_response(404, "404 page not found\n")
_UPGRADE_REQUIRED = plain_response(500, "Upgrade request required\n")
_LOG_FILES = b'<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n</pre>\n'
_HTML, _JSON = (("Content-Type", "text/html; charset=utf-8"),), (("Content-Type", "application/json"),)

_STREAMED = {"exec": "executing command in container", "attach": "attaching to container"}
_OF_PODS = (*_STREAMED, "containerLogs", "portForward", "run")
_METHODS = {"containerLogs": ("GET",), "run": ("POST",)}
_HEALTH = ("", "log", "ping", "syncloop")


class KubeletAPI:
    """Answers the requests to the kubelet of one node, with what its server and its objects tell.

    Args:
        kubelet: Reaches the containers.
        storage: Has the node and its pods.
    """

    def __init__(self, kubelet: KubeletServer, storage: Storage, node: str) -> None:
        self._kubelet, self._storage, self._node = kubelet, storage, node

    async def __call__(self, request: OutgoingRequest) -> Response:
        """Return the response to a request."""
        url = urlsplit(request.url)
        first, *rest = unquote(url.path).strip("/").split("/")
        query = QueryParameters(parse_qsl(url.query, keep_blank_values=True))
        try:
            if first in _OF_PODS:
                return await self._of_pod(first, rest, request, query)
            return self._document(first, rest, request.method)
        except KubeletError as refused:
            return plain_response(refused.code, str(refused))

    # -- documents ---------------------------------------------------------------------------------------------

    def _document(self, first: str, rest: list[str], method: str) -> Response:
        """Return the response to a request that concerns the node."""
        find = self._documents().get("/".join((first, *rest)))
        if first == "logs":
            find = _log_directory if not rest else lambda: _FILE_NOT_FOUND
        if find is None:
            return _NOT_FOUND
        is_allowed = method in ("GET", "HEAD") or (first == "stats" and method == "POST")
        return find() if is_allowed else _METHOD_NOT_ALLOWED

    def _documents(self) -> Mapping[str, Callable[[], Response]]:
        documents: dict[str, Callable[[], Response]] = {
            "/".join(filter(None, ("healthz", check))): lambda: plain_response(200, "ok") for check in _HEALTH
        }
        return documents | {
            "pods": lambda: _json(node_documents.pod_list(self._pods())),
            "runningpods": lambda: _json(node_documents.running_pod_list(self._pods())),
            "configz": lambda: _json(node_documents.configuration(self._read_node())),
            "stats/summary": lambda: _json(node_documents.summary(self._read_node(), self._pods())),
            "metrics": lambda: node_documents.metrics(self._node, self._pods()),
            "metrics/cadvisor": lambda: node_documents.machine_metrics(self._read_node()),
            "metrics/resource": lambda: node_documents.resource_metrics(self._pods()),
            "metrics/probes": node_documents.probe_metrics,
        }

    def _read_node(self) -> dict[str, Any]:
        stored = self._storage.collection("", "nodes").find("", self._node)
        return {} if stored is None else stored.decode()

    def _pods(self) -> list[dict[str, Any]]:
        pods: list[dict[str, Any]] = [each.decode() for each in self._storage.collection("", "pods").current("")]
        return [each for each in pods if each["spec"].get("nodeName") == self._node]

    # -- containers --------------------------------------------------------------------------------------------

    async def _of_pod(
        self, action: str, names: list[str], request: OutgoingRequest, query: QueryParameters
    ) -> Response:
        """Return the response to a request that concerns a pod, whose path has its names."""
        found = _PodRequest.parse(action, names, Headers(request.headers).lowered, query)
        if found is None:
            return _NOT_FOUND
        if request.method not in _METHODS.get(action, ("GET", "POST")):
            return _METHOD_NOT_ALLOWED
        pod = self._storage.collection("", "pods").find(found.namespace, found.pod)
        if pod is None or pod.decode()["spec"].get("nodeName") != self._node:
            return plain_response(404, found.missing)
        if found.uid not in ("", pod.uid):
            return plain_response(404, "pod not found")
        if action == "containerLogs":
            return self._logs(found)
        if action == "run":
            return await self._run(found)
        if not is_upgrade_request(found.headers):
            return _UPGRADE_REQUIRED
        return self._port_forward(found) if action == "portForward" else self._process(found)

    def _process(self, request: _PodRequest) -> Response:
        flags = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}
        wanted = {option: request.query.get(flag) == "1" for option, flag in flags.items()}
        options = RemoteCommandOptions(**wanted, action=_STREAMED[request.action])
        names, command = (request.namespace, request.pod, request.container), request.query.every("command")
        if request.action == "attach":
            return process_response(request.headers, options, lambda: self._kubelet.get_attach(*names))
        return process_response(request.headers, options, lambda: self._kubelet.get_exec(*names, command))

    def _port_forward(self, request: _PodRequest) -> Response:
        forward = self._kubelet.get_port_forward(request.namespace, request.pod)
        return port_forward_response(request.headers, request.query.every("port"), request.pod, forward)

    def _logs(self, request: _PodRequest) -> Response:
        try:
            parsed = LogQuery.read(request.query)
        except StatusError:
            return plain_response(400, '{"message": "Unable to decode query."}')
        if any(parsed.errors()):
            return plain_response(422, '{"message": "Invalid request."}')
        options = parsed.options(request.query)
        chunks = self._kubelet.get_logs(request.namespace, request.pod, request.container, options)
        return Response(status=200, headers=(("Content-Type", "text/plain; charset=utf-8"),), body=chunks)

    async def _run(self, request: _PodRequest) -> Response:
        """Run a command without input, and return its output."""
        command = request.query.get("cmd").split(" ")
        run = self._kubelet.get_exec(request.namespace, request.pod, request.container, command)
        streams = ContainerStreams(Pipe(), Pipe(), Pipe())
        streams.stdin.close()

        async def running() -> int:
            try:
                return await run(streams)
            finally:
                streams.stdout.close()
                streams.stderr.close()

        async with asyncio.TaskGroup() as tasks:
            code = tasks.create_task(running())
            outputs = [tasks.create_task(each.read_all()) for each in (streams.stdout, streams.stderr)]
        stdout, stderr = (each.result() for each in outputs)
        if code.result():
            shown = stderr.decode("utf-8", "replace")
            return plain_response(500, f"command '{' '.join(command)}' exited with {code.result()}: {shown}")
        return Response(status=200, headers=_JSON, body=stdout + stderr)


class _PodRequest(NamedTuple):
    """A request that concerns a pod, or one of its containers."""

    action: str
    namespace: str
    pod: str
    uid: str  # "" for any
    container: str  # "" for portForward
    headers: Mapping[str, str]  # names in lower case
    query: QueryParameters

    @classmethod
    def parse(
        cls, action: str, names: list[str], headers: Mapping[str, str], query: QueryParameters
    ) -> _PodRequest | None:
        """Return the request by the names in its path: namespace, pod, perhaps uid, and container; None for others."""
        match [*names, ""] if action == "portForward" else names:
            case [namespace, pod, container]:
                return cls(action, namespace, pod, "", container, headers, query)
            case [namespace, pod, uid, container] if action != "containerLogs":
                return cls(action, namespace, pod, uid, container, headers, query)
        return None

    @property
    def missing(self) -> str:
        """The error if the pod is not on the node."""
        return f'pod "{self.pod}" does not exist' if self.action == "containerLogs" else "pod does not exist"


def _log_directory() -> Response:
    """Return the list of the files in /var/log, of which a simulated node has none."""
    return Response(status=200, headers=_HTML, body=_LOG_FILES)


def _json(document: dict[str, Any]) -> Response:
    return Response(status=200, headers=_JSON, body=msgspec.json.encode(document))
