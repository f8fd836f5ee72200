"""The subresource log of pods.

No container runs, so annotations of the pod hold the logs: ``pyctrl.dev/logs`` for all containers,
``pyctrl.dev/logs.NAME`` for one. Which logs can be read, and when, is as in kube-apiserver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyctrl.apiserver._errors import FieldError, Response, bad_request, field_forbidden, invalid, invalid_value
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import QueryParameters, ResourceRequest

__all__ = ["LogREST", "container_name"]

_ANNOTATION = "pyctrl.dev/logs"


class LogREST:
    """GET of a pod's log."""

    def __init__(self, context: RESTContext) -> None:
        self._backend = context.backend

    async def get(self, request: ResourceRequest) -> Response:
        """Return the log of one container; the pod must be assigned to a node."""
        if causes := list(_invalid_options(request.query)):
            raise invalid("PodLogOptions", request.target.name, causes)
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
        limit = request.query.get("limitBytes")
        if limit.isdecimal():
            body = body[: int(limit)]
        return Response(status=200, headers=(("Content-Type", "text/plain"),), body=body)


def _invalid_options(query: QueryParameters) -> Iterator[FieldError]:
    """Check the options with which kube-apiserver refuses a request."""
    tail, limit, since = (_number(query.get(name)) for name in ("tailLines", "limitBytes", "sinceSeconds"))
    if tail is not None and tail < 0:
        yield invalid_value("tailLines", tail, "must be greater than or equal to 0")
    if limit is not None and limit < 1:
        yield invalid_value("limitBytes", limit, "must be greater than 0")
    if since is not None and query.get("sinceTime"):
        yield field_forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified")
    elif since is not None and since < 1:
        yield invalid_value("sinceSeconds", since, "must be greater than 0")


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


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
