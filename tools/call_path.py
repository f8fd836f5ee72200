"""Trace which files of pyctrl a watch event, a write and `pyctrl run` pass through, and check how many there are.

    python tools/call_path.py event            # from the socket to `reconcile`
    python tools/call_path.py write            # from `client.update` to the socket
    python tools/call_path.py run              # from argv to `Manager.run`
    python tools/call_path.py --check          # all of them; exit status 1 if one exceeds its limit

Each file is listed where it is first entered, with the functions that are called in it. `--calls` lists every call.
Imports do not count. The API server runs in a separate process, so that only the client side is traced.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import pyctrl
from pyctrl.api import ObjectMeta
from pyctrl.client import Client, Config
from pyctrl.controller import Builder, Reconciler, Request, labels_changed, resource_version_changed
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager

ROOT = Path(__file__).resolve().parent.parent
SOURCES = str(Path(pyctrl.__file__).parent) + "/"
INLINED = re.compile(r"(\.<locals>)?\.<(listcomp|dictcomp|setcomp|genexpr|lambda)>.*")  # Python 3.12 inlines some
IMPORTS = "_lazy_imports.py"  # called by `from pyctrl.x import y`, not by the program
TITLES = {
    "event": "A watch event, from the socket to reconcile",
    "write": "client.update, from the call to the socket",
    "run": "pyctrl run PROGRAM, from argv to Manager.run",
}
MAX_FILES = {"event": 14, "write": 12}
WARM_UP = 2  # events or writes before the first traced one
TRACED = 3  # the shortest counts, because a timer may fire in between

Call = tuple[str, str]  # a file below src/pyctrl, and a function in it


@dataclass
class Recorder:
    """Records calls into pyctrl, from the last call of a named function, or from the first call, until `finish`."""

    begins_at: str | None = None
    ends_at_socket: bool = False
    calls: list[Call] = field(default_factory=list)
    _is_recording: bool = False
    _imports: int = 0

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the calls of the block."""
        self.calls, self._is_recording, self._imports = [], False, 0
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            self.finish()

    def finish(self) -> None:
        """Stop recording."""
        sys.setprofile(None)

    def _profile(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            self._imports += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and code.co_filename.startswith(SOURCES):
            self._record(code)
        elif event == "c_call" and self.ends_at_socket and self.calls and _writes_to_socket(arg):
            self.finish()

    def _record(self, code: CodeType) -> None:
        file = code.co_filename[len(SOURCES) :]
        if self._imports or file == IMPORTS:
            return
        if code.co_name == self.begins_at:
            self.calls, self._is_recording = [], True
        if self._is_recording or self.begins_at is None:
            self.calls.append((file, INLINED.sub("", code.co_qualname)))


def _writes_to_socket(function: Any) -> bool:
    return function.__name__ in ("send", "sendmsg") and isinstance(function.__self__, socket.socket)


# --- the three paths ---


class Traced(Reconciler[ConfigMap]):
    """Notes requests for the changed object."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.reconciled = asyncio.Event()

    async def reconcile(self, request: Request) -> None:
        """End the recording."""
        if request.name == "traced":
            self._recorder.finish()
            self.reconciled.set()


async def trace_event(url: str, *, predicate: bool = False) -> list[Call]:
    """Trace a MODIFIED event of an object that another client has written."""
    recorder = Recorder(begins_at="data_received")
    reconciler = Traced(recorder)
    async with Manager(Config(server=url)) as manager:
        predicates = [labels_changed | resource_version_changed] if predicate else []
        Builder(manager).reconciles(ConfigMap, predicates=predicates).build(reconciler)
        running = asyncio.create_task(manager.run())
        await manager.live_client.create(_config_map())
        await asyncio.wait_for(reconciler.reconciled.wait(), 30)
        paths: list[list[Call]] = []
        for number in range(WARM_UP + TRACED):
            await asyncio.sleep(0.1)
            reconciler.reconciled.clear()
            with recorder.recording():
                await asyncio.to_thread(_patch, url, number)  # as another client: own writes take another path
                await asyncio.wait_for(reconciler.reconciled.wait(), 30)
            paths.append(recorder.calls)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return min(paths[WARM_UP:], key=len)


async def trace_write(url: str) -> list[Call]:
    """Trace an update of an object over an open connection."""
    recorder = Recorder(ends_at_socket=True)
    async with Client.connect(Config(server=url)) as client:
        config_map = await client.create(_config_map())
        paths: list[list[Call]] = []
        for number in range(WARM_UP + TRACED):
            config_map.data = {"number": str(number)}
            with recorder.recording():
                config_map = await client.update(config_map)
            paths.append(recorder.calls)
    return min(paths[WARM_UP:], key=len)


def trace_run() -> list[Call]:
    """Trace the command on examples/podset from a cold start, up to `Manager.run`, which does not run."""
    recorder = Recorder()

    async def stop(manager: Manager) -> None:
        recorder.finish()

    code, Manager.run = Manager.run.__code__, stop  # type: ignore[assignment, method-assign]
    from pyctrl.cli import main

    with tempfile.TemporaryDirectory() as directory:
        kubeconfig = Path(directory) / "kubeconfig"
        kubeconfig.write_text(KUBECONFIG)
        sys.argv = ["pyctrl", "run", "examples/podset", "--kubeconfig", str(kubeconfig), "--metrics-bind-address", "0"]
        with recorder.recording(), suppress(SystemExit):
            main()
    return [*recorder.calls, (code.co_filename[len(SOURCES) :], code.co_qualname)]


KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {}}]
current-context: a
"""


def _config_map() -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name="traced", namespace="default"), data={"number": "-1"})


def _patch(url: str, number: int) -> None:
    """Write the object as another client would; not traced, because it runs in a separate thread."""
    request = HttpRequest(
        f"{url}/api/v1/namespaces/default/configmaps/traced",
        data=b'{"data":{"number":"%d"}}' % number,
        headers={"Content-Type": "application/merge-patch+json"},
        method="PATCH",
    )
    with urlopen(request, timeout=30) as answer:
        answer.read()


@contextmanager
def api_server() -> Iterator[str]:
    """Start an API server in a separate process and return its URL."""
    command = [sys.executable, "-m", "pyctrl", "apiserver", "--insecure-http", "--no-controllers", "--no-kubelet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().removeprefix("ready ").strip()
        finally:
            server.send_signal(signal.SIGTERM)


# --- the report ---


def trace(path: str, *, predicate: bool = False) -> list[Call]:
    """Return the calls of a path, in order."""
    if path == "run":
        return trace_run()
    tracers: dict[str, Callable[[str], Coroutine[Any, Any, list[Call]]]] = {
        "event": lambda url: trace_event(url, predicate=predicate),
        "write": trace_write,
    }
    with api_server() as url:
        return asyncio.run(tracers[path](url))


SETTINGS = ("packaging/_settings.py", "program/_pyproject.py")  # read pyproject.toml, with the defaults of flags


def cli_entries(calls: Sequence[Call]) -> list[Call]:
    """Return the calls that enter the command line from another package."""
    calls = [call for call in calls if call[0] not in SETTINGS]
    before = [("", ""), *calls]
    return [call for last, call in zip(before, calls, strict=False) if _is_cli(call) and not _is_cli(last)]


def _is_cli(call: Call) -> bool:
    return call[0].startswith("cli/")


def report(path: str, calls: Sequence[Call], *, every_call: bool = False) -> str:
    """Return the path as text: a line for each file, or for each call."""
    files: dict[str, dict[str, None]] = {}
    for file, function in calls:
        files.setdefault(file, {})[function] = None
    changes = sum(one[0] != other[0] for one, other in pairwise(calls))
    lines = [f"{TITLES[path]}: {len(files)} files, {len(calls)} calls, {changes} changes of file"]
    if path == "run":
        entries = cli_entries(calls)
        lines.append(f"cli is entered {len(entries)} times: " + ", ".join(function for _, function in entries))
    width = max(map(len, files))
    if every_call:
        lines += [f"{file:{width}}  {function}" for file, function in calls]
    else:
        entered = enumerate(files.items(), 1)
        lines += [f"{number:3} {file:{width}}  {', '.join(functions)}" for number, (file, functions) in entered]
    return "\n".join(lines)


def problem(path: str, calls: Sequence[Call]) -> str | None:
    """Return why a path fails the check, or None."""
    if path == "run":
        entries = len(cli_entries(calls))
        return None if entries == 1 else f"run: cli is entered {entries} times, expected once"
    files, most = len({file for file, _ in calls}), MAX_FILES[path]
    return None if files <= most else f"{path}: {files} files are entered, expected {most} at most"


def main() -> int:
    """Print the requested paths."""
    parser = argparse.ArgumentParser(description="Show which files of pyctrl a path passes through.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help=f"{', '.join(TITLES)}; by default all of them")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a path exceeds its limit")
    parser.add_argument("--calls", action="store_true", help="list every call")
    parser.add_argument(
        "--predicate", action="store_true", help="trace the event through a predicate that reads its labels"
    )
    options = parser.parse_args()
    if unknown := [path for path in options.paths if path not in TITLES]:
        parser.error(f"unknown path {unknown[0]!r}: expected one of {', '.join(TITLES)}")
    paths = options.paths or list(TITLES)
    if len(paths) > 1:  # each in a separate process, as caches would be filled otherwise
        flags = [flag for flag in ("--check", "--calls", "--predicate") if getattr(options, flag.removeprefix("--"))]
        codes = [subprocess.run([sys.executable, __file__, path, *flags], check=False).returncode for path in paths]
        return max(codes)
    calls = trace(paths[0], predicate=options.predicate)
    print(report(paths[0], calls, every_call=options.calls))
    found = problem(paths[0], calls) if options.check else None
    if found:
        print(found, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
