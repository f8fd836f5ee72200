"""`read_logs` and `follow_logs`: the log of a container, as `kubectl logs` shows it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import datetime, timedelta

from pyctrl.api import GroupVersionKind, Key, format_time
from pyctrl.client._client import Client
from pyctrl.client._requests.resource_client import checked_key
from pyctrl.client._transport.line_splitter import LineSplitter
from pyctrl.client._transport.transport import REQUEST_TIMEOUT, HttpRequest

__all__ = ["follow_logs", "read_logs"]

_POD = GroupVersionKind("", "v1", "Pod")


async def read_logs(
    client: Client,
    pod: Key,
    *,
    container: str | None = None,
    previous: bool = False,
    since: datetime | timedelta | None = None,
    tail_lines: int | None = None,
    limit_bytes: int | None = None,
    timestamps: bool = False,
) -> str:
    """Return the log of a container of a pod, as `kubectl logs` shows it. It needs the permission to get `pods/log`.

    Args:
        client: a client of the cluster.
        pod: the pod.
        container: the container; by default the only one of the pod.
        previous: return the log of the run that ended last.
        since: leave out older lines; a time or a duration, both in whole seconds.
        tail_lines: return the last lines only.
        limit_bytes: return the first bytes only.
        timestamps: begin each line with its time.

    Raises:
        NotFound: the pod does not exist.
        BadRequest: the container does not exist or has no log yet, or the pod has several and none is named.
        Invalid: a number is negative.
    """
    options = _options(container, since, tail_lines, timestamps=timestamps)
    options += [("previous", "true")] if previous else []
    options += [("limitBytes", str(limit_bytes))] if limit_bytes is not None else []
    response = await client.connection.rest.send(_request(pod, options))
    return response.body.decode("utf-8", "replace")


async def follow_logs(
    client: Client,
    pod: Key,
    *,
    container: str | None = None,
    since: datetime | timedelta | None = None,
    tail_lines: int | None = None,
    timestamps: bool = False,
) -> AsyncGenerator[str, None]:
    """Iterate over the lines of the log of a container, without their ends, until the container ends.

    Arguments and errors are those of `read_logs`, and `TransportError` if the connection is interrupted. Use
    `contextlib.aclosing` to stop earlier.
    """
    options = [("follow", "true"), *_options(container, since, tail_lines, timestamps=timestamps)]
    lines = LineSplitter()
    async with client.connection.rest.stream(_request(pod, options, is_stream=True)) as stream:
        async for chunk in stream.chunks():
            for line in lines.feed_block(chunk).split(b"\n")[:-1]:
                yield line.decode("utf-8", "replace")
        if rest := lines.rest():
            yield rest.decode("utf-8", "replace")


def _options(
    container: str | None, since: datetime | timedelta | None, tail_lines: int | None, *, timestamps: bool
) -> list[tuple[str, str]]:
    options = [("container", container)] if container else []
    if isinstance(since, timedelta):
        options.append(("sinceSeconds", str(max(1, round(since.total_seconds())))))
    elif since is not None:
        options.append(("sinceTime", format_time(since)))
    options += [("tailLines", str(tail_lines))] if tail_lines is not None else []
    return [*options, ("timestamps", "true")] if timestamps else options


def _request(pod: Key, options: list[tuple[str, str]], *, is_stream: bool = False) -> HttpRequest:
    key = checked_key(_POD, pod)
    path = f"/api/v1/namespaces/{key.namespace}/pods/{key.name}/log"
    return HttpRequest(method="GET", path=path, query=tuple(options), timeout=None if is_stream else REQUEST_TIMEOUT)
