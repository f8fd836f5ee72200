"""Exec over a WebSocket: the subprotocols `channel.k8s.io` to `v5.channel.k8s.io`, and their base64 forms."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from pyctrl._pipes import Pipe
from pyctrl._tasks import end
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._kubelet import ContainerStreams, ExecHandler
from pyctrl.apiserver._streaming.websocket import Channels, websocket_response

__all__ = ["PROTOCOLS", "RemoteCommandOptions", "remote_command_response"]

PROTOCOLS = (
    "",
    "channel.k8s.io",
    "base64.channel.k8s.io",
    "v4.channel.k8s.io",
    "v4.base64.channel.k8s.io",
    "v5.channel.k8s.io",
)
STDIN, STDOUT, STDERR, ERROR, CLOSE = 0, 1, 2, 3, 255  # 4 is for the size of the terminal, which is not used


class RemoteCommandOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The streams that a client requests."""

    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    tty: bool = False


def remote_command_response(headers: Mapping[str, str], options: RemoteCommandOptions, run: ExecHandler) -> Response:
    """Return the response to a WebSocket request for the streams of a process."""

    async def serve(channels: Channels, protocol: str) -> None:
        await _Session(channels, protocol, options).run(run)

    return websocket_response(headers, PROTOCOLS, serve)


class _Session:
    """The streams of one process over one WebSocket."""

    def __init__(self, channels: Channels, protocol: str, options: RemoteCommandOptions) -> None:
        self._channels, self._options = channels, options
        self._has_close_signal = protocol.startswith("v5.")
        self._has_json_status = protocol.startswith(("v4.", "v5."))
        self._streams = ContainerStreams(Pipe(), Pipe(), Pipe(), options.tty)

    async def run(self, handler: ExecHandler) -> None:
        """Run the process until it exits or the client disconnects."""
        options, streams = self._options, self._streams
        if not options.stdin:
            streams.stdin.close()
        has_stderr = options.stderr and not options.tty
        for pipe, is_wanted in ((streams.stdout, options.stdout), (streams.stderr, has_stderr)):
            if not is_wanted:
                pipe.discard()
        lowest = STDOUT if options.stdout else STDERR if has_stderr else ERROR
        await self._channels.send(lowest, b"")  # tells the client that the connection is established
        loop = asyncio.get_running_loop()
        process, receiving = loop.create_task(self._serve(handler)), loop.create_task(self._receive())
        try:
            await asyncio.wait((process, receiving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end([process, receiving])
        for task in (process, receiving):
            if not task.cancelled() and not isinstance(error := task.exception(), (ConnectionError, type(None))):
                raise error

    async def _receive(self) -> None:
        """Pass what the client sends to stdin."""
        stdin = self._streams.stdin
        async for message in self._channels.messages():
            if self._has_close_signal and message.channel == CLOSE:
                if message.data == bytes((STDIN,)):
                    stdin.close()
            elif message.channel == STDIN and self._options.stdin:
                try:
                    await stdin.write(message.data)
                except BrokenPipeError:
                    continue

    async def _serve(self, handler: ExecHandler) -> None:
        streams = self._streams
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send(STDOUT, streams.stdout))
            tasks.create_task(self._send(STDERR, streams.stderr))
            status = await _status(handler, streams)
            streams.stdout.close()
            streams.stderr.close()
        text = msgspec.json.encode(status) if self._has_json_status else status.get("message", "").encode()
        if text:
            await self._channels.send(ERROR, text)
        await self._channels.close()

    async def _send(self, channel: int, pipe: Pipe) -> None:
        while data := await pipe.read():
            await self._channels.send(channel, data)


async def _status(handler: ExecHandler, streams: ContainerStreams) -> dict[str, Any]:
    """Run a process; return the Status of its end."""
    try:
        code = await handler(streams)
    except Exception as error:  # noqa: BLE001 - the client gets it, as of a runtime that fails
        why = f"error executing command in container: {error}"
        message = f"Internal error occurred: {why}"
        details = {"causes": [{"message": why}]}
        status = {"status": "Failure", "message": message, "reason": "InternalError", "details": details, "code": 500}
        return {"metadata": {}, **status}
    if not code:
        return {"metadata": {}, "status": "Success"}
    message = f"command terminated with non-zero exit code: exit status {code}"
    details = {"causes": [{"reason": "ExitCode", "message": str(code)}]}
    return {"metadata": {}, "status": "Failure", "message": message, "reason": "NonZeroExitCode", "details": details}
