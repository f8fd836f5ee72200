"""The subresource log of pods: the log of a container, from the kubelet of the pod's node."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pyctrl._clock import now
from pyctrl._go.times import parse_rfc3339
from pyctrl.api import format_time
from pyctrl.apiserver._errors import (
    FieldError,
    Response,
    StatusError,
    bad_request,
    field_forbidden,
    internal_error,
    invalid,
    invalid_value,
    status_error,
)
from pyctrl.apiserver._kubelet import KubeletError, PodLogOptions
from pyctrl.apiserver._registry._pods.kubelet_connection import dial_error, kubelet_address
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import QueryParameters, ResourceRequest

__all__ = ["LogQuery", "LogREST", "container_name"]

_ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)  # of an empty parameter
_TEXT = (("Content-Type", "text/plain"),)


class LogREST:
    """GET of a pod's log."""

    def __init__(self, context: RESTContext) -> None:
        self._backend, self._kubelets = context.backend, context.kubelets

    async def get(self, request: ResourceRequest) -> Response:
        """Return the log of one container; without a node the response is empty (204)."""
        query = LogQuery.read(request.query)
        if causes := list(query.errors()):
            raise invalid("PodLogOptions", request.target.name, causes)
        pod = self._backend.live(request).read(request.resource)
        container = container_name(pod, request.query.get("container"))
        node = pod["spec"].get("nodeName")
        if not node:
            return Response(status=204, headers=())
        namespace, name = request.target.namespace, request.target.name
        kubelet = self._kubelets.get(node)
        if kubelet is None:
            address = kubelet_address(self._backend.storage, node)
            url = f"https://{address}/containerLogs/{namespace}/{name}/{container}{query.for_kubelet(request.query)}"
            raise dial_error(address, f'Get "{url}": ')
        options = query.options(request.query)
        try:
            chunks = kubelet.get_logs(namespace, name, container, options)
        except KubeletError as refused:
            raise _kubelet_refusal(refused, name) from None
        if options.follow:
            request.must_wait("lines of a log")
            return Response(status=200, headers=_TEXT, body=chunks)
        return Response(status=200, headers=_TEXT, body=b"".join([chunk async for chunk in chunks]))


def _kubelet_refusal(refused: KubeletError, name: str) -> StatusError:
    if refused.code == 400:
        return bad_request(str(refused))
    if refused.code == 404:
        message = f"the server could not find the requested resource ( pods/log {name})"
        return status_error(404, "NotFound", message, {"name": name, "kind": "pods/log"})
    return internal_error(str(refused))


class LogQuery(NamedTuple):
    """The options of a request for a log that are no flags."""

    tail_lines: int | None
    limit_bytes: int | None
    since_seconds: int | None
    since_time: datetime | None
    stream: str | None

    @classmethod
    def read(cls, query: QueryParameters) -> LogQuery:
        """Parse the options.

        Raises:
            StatusError: 400, an option has the wrong type.
        """
        return cls(
            _integer(query, "tailLines"),
            _integer(query, "limitBytes"),
            _integer(query, "sinceSeconds"),
            _time(query, "sinceTime"),
            query.first.get("stream"),
        )

    def errors(self) -> Iterator[FieldError]:
        """Yield what kube-apiserver refuses."""
        if self.tail_lines is not None and self.tail_lines < 0:
            yield invalid_value("tailLines", self.tail_lines, "must be greater than or equal to 0")
        if self.limit_bytes is not None and self.limit_bytes < 1:
            yield invalid_value("limitBytes", self.limit_bytes, "must be greater than 0")
        if self.since_seconds is not None and self.since_time is not None:
            yield field_forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified")
        elif self.since_seconds is not None and self.since_seconds < 1:
            yield invalid_value("sinceSeconds", self.since_seconds, "must be greater than 0")
        if self.stream is not None:  # the feature PodLogsQuerySplitStreams is off by default
            yield field_forbidden("stream", "may not be specified")

    def for_kubelet(self, query: QueryParameters) -> str:
        """Return the query string of the request that the kubelet gets."""
        flags = {name: "true" for name in ("follow", "previous", "timestamps") if query.flag(name)}
        values = {
            "limitBytes": self.limit_bytes,
            "sinceSeconds": self.since_seconds,
            "sinceTime": None if self.since_time is None else format_time(self.since_time),
            "tailLines": self.tail_lines,
        }
        sent = sorted((flags | {name: value for name, value in values.items() if value is not None}).items())
        return f"?{urlencode(sent)}" if sent else ""

    def options(self, query: QueryParameters) -> PodLogOptions:
        """Return the options as the kubelet gets them."""
        since = self.since_time
        if self.since_seconds is not None:
            since = now() - timedelta(seconds=self.since_seconds)
        return PodLogOptions(
            follow=bool(query.flag("follow")),
            previous=bool(query.flag("previous")),
            timestamps=bool(query.flag("timestamps")),
            since=since,
            tail_lines=self.tail_lines,
            limit_bytes=self.limit_bytes,
        )


def _integer(query: QueryParameters, name: str) -> int | None:
    text = query.first.get(name)
    if text is None:
        return None
    if not re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII):
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if not -(2**63) <= (number := int(text)) < 2**63:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
    return number


def _time(query: QueryParameters, name: str) -> datetime | None:
    text = query.first.get(name)
    if text is None:
        return None
    if text in ("", "null"):
        return _ZERO_TIME
    try:
        return parse_rfc3339(text)
    except ValueError as error:
        raise bad_request(str(error)) from None


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
        raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{' '.join(known)}]")
    return requested or main[0]
