"""The subresource log of pods.

No container runs, so annotations of the pod hold the logs: ``pyctrl.dev/logs`` for all containers,
``pyctrl.dev/logs.NAME`` for one. Which logs can be read, and when, is as in kube-apiserver.
"""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._errors import Response, bad_request
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import ResourceRequest

__all__ = ["LogREST", "container_name"]

_ANNOTATION = "pyctrl.dev/logs"


class LogREST:
    """GET of a pod's log."""

    def __init__(self, context: RESTContext) -> None:
        self._backend = context.backend

    async def get(self, request: ResourceRequest) -> Response:
        """Return the log of one container; the pod must be assigned to a node."""
        pod = self._backend.live(request).read(request.resource)
        container = container_name(pod, request.query.get("container"))
        if not pod["spec"].get("nodeName"):
            raise bad_request(f"pod {pod['metadata']['name']} does not have a host assigned")
        _check_started(pod, container)
        annotations = pod["metadata"].get("annotations") or {}
        text: str = annotations.get(f"{_ANNOTATION}.{container}") or annotations.get(_ANNOTATION) or ""
        lines = text.splitlines()
        tail = request.query.get("tailLines")
        if tail.isdecimal():
            lines = lines[max(0, len(lines) - int(tail)) :]
        body = "".join(f"{line}\n" for line in lines).encode()
        return Response(status=200, headers=(("Content-Type", "text/plain"),), body=body)


def container_name(pod: dict[str, Any], requested: str) -> str:
    """Return the container that a request for a pod means.

    Raises:
        StatusError: 400, the pod does not have it, or has several and the request names none.
    """
    name = pod["metadata"]["name"]
    keys = ("initContainers", "containers", "ephemeralContainers")
    known = [each["name"] for key in keys for each in pod["spec"].get(key) or ()]
    main = [each["name"] for each in pod["spec"]["containers"]]
    if requested and requested not in known:
        raise bad_request(f"container {requested} is not valid for pod {name}")
    if not requested and len(main) > 1:
        raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{' '.join(main)}]")
    return requested or main[0]


def _check_started(pod: dict[str, Any], container: str) -> None:
    """Refuse the log of a container that has not started."""
    status = pod.get("status") or {}
    shown = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    waiting = next(((each.get("state") or {}).get("waiting") for each in shown if each["name"] == container), None)
    if waiting is not None and not waiting.get("reason", "").startswith("CrashLoop"):
        name, reason = pod["metadata"]["name"], waiting.get("reason", "")
        raise bad_request(f'container "{container}" in pod "{name}" is waiting to start: {reason}')
