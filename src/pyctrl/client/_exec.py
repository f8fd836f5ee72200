"""`exec_command`: a command in a container, over a WebSocket, on a cluster or in this process."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec

from pyctrl._websocket import MessageReader, Opcode, WebSocketProtocolError, encode_frame
from pyctrl.api import GroupVersionKind, Key
from pyctrl.client._client import Client
from pyctrl.client._requests.resource_client import checked_key
from pyctrl.client._transport.transport import HttpRequest, UpgradedStream
from pyctrl.errors import StreamBroken, error_from_status

__all__ = ["ExecResult", "exec_command"]

_POD = GroupVersionKind("", "v1", "Pod")
_V5 = "v5.channel.k8s.io"  # the only protocol that can close stdin
_PROTOCOLS = f"{_V5}, v4.channel.k8s.io"
_STDIN, _STDOUT, _STDERR, _ERROR, _CLOSE = 0, 1, 2, 3, 255


@dataclass(frozen=True, slots=True)
class ExecResult:
    """The exit code and the output of a command."""

    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""


async def exec_command(
    client: Client,
    pod: Key,
    command: Sequence[str],
    *,
    container: str | None = None,
    stdin: bytes | None = None,
    random: Random | None = None,
) -> ExecResult:
    """Run a command in a container of a pod, as `kubectl exec` does, and return its exit code and output.

    It needs the permission to create `pods/exec`. There is no limit in time: use `asyncio.timeout`.

    Args:
        client: a client of the cluster.
        pod: the pod.
        command: the program and its arguments; no shell is involved.
        container: the container; by default the only one of the pod.
        stdin: the input of the command. A cluster before 1.29 cannot tell the command where it ends.
        random: the source of the masks of WebSocket frames.

    Raises:
        NotFound: the pod does not exist.
        BadRequest: the pod does not have the container, or has several and none is named.
        ApiError: the command could not be started.
        TransportError: there is no connection, or it was interrupted.
    """
    random = random or Random()
    key = checked_key(_POD, pod)
    query = [("command", each) for each in command]
    query += [("container", container)] if container else []
    query += [(name, "true") for name in ("stdout", "stderr", *(("stdin",) if stdin is not None else ()))]
    request = HttpRequest(
        method="GET",
        path=f"/api/v1/namespaces/{key.namespace}/pods/{key.name}/exec",
        query=tuple(query),
        headers={
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(random.randbytes(16)).decode(),
            "Sec-WebSocket-Protocol": _PROTOCOLS,
        },
        timeout=None,
    )
    async with client.connection.rest.stream(request) as stream:
        if not isinstance(stream, UpgradedStream):
            raise StreamBroken(f"{request} was answered with {stream.status} instead of a WebSocket")
        session = _Session(stream, request, random)
        if stdin is not None:
            await session.send_stdin(stdin)
        return await session.result()


class _Session:
    """The client's side of one command."""

    def __init__(self, stream: UpgradedStream, request: HttpRequest, random: Random) -> None:
        self._stream, self._request, self._random = stream, request, random
        self._received: dict[int, bytearray] = {_STDOUT: bytearray(), _STDERR: bytearray(), _ERROR: bytearray()}

    async def send_stdin(self, data: bytes) -> None:
        if data:
            await self._send(Opcode.BINARY, bytes((_STDIN,)) + data)
        if self._stream.headers.get("Sec-WebSocket-Protocol") == _V5:
            await self._send(Opcode.BINARY, bytes((_CLOSE, _STDIN)))

    async def result(self) -> ExecResult:
        """Read until the status of the command.

        Raises:
            StreamBroken: the connection ended before that.
        """
        reader = MessageReader()
        async for chunk in self._stream.chunks():
            try:
                messages = reader.feed(chunk)
            except WebSocketProtocolError as error:
                raise StreamBroken(f"the response to {self._request} is no WebSocket: {error}") from error
            for opcode, data in messages:
                if opcode is Opcode.PING:
                    await self._send(Opcode.PONG, data)
                elif opcode in (Opcode.BINARY, Opcode.TEXT) and data and data[0] in self._received:
                    self._received[data[0]] += data[1:]
            if self._received[_ERROR]:
                return self._result()
        raise StreamBroken(f"the connection of {self._request} ended before the command")

    def _result(self) -> ExecResult:
        status: dict[str, Any] = msgspec.json.decode(bytes(self._received[_ERROR]))
        stdout, stderr = bytes(self._received[_STDOUT]), bytes(self._received[_STDERR])
        if status.get("status") == "Success":
            return ExecResult(0, stdout, stderr)
        causes = (status.get("details") or {}).get("causes") or ()
        code = next((each.get("message") for each in causes if each.get("reason") == "ExitCode"), None)
        if status.get("reason") == "NonZeroExitCode" and code is not None:
            return ExecResult(int(code), stdout, stderr)
        raise error_from_status(status, http_code=500, request=str(self._request))

    async def _send(self, opcode: Opcode, data: bytes) -> None:
        await self._stream.write(encode_frame(opcode, data, self._random.randbytes(4)))
