"""`pyctrl` as a process: arguments, output and exit code."""

from __future__ import annotations

import json
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 15.0  # seconds for a process to end


@dataclass(frozen=True, slots=True)
class Outcome:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


def pyctrl(*arguments: str | Path) -> Outcome:
    """Run a command that ends without a signal."""
    command = [sys.executable, "-m", "pyctrl", *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return Outcome(ran.returncode, ran.stdout, ran.stderr)


class Served:
    """A running `pyctrl apiserver`."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url = process, url

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str = "",
        headers: Mapping[str, str] | None = None,
        ca: Path | None = None,
    ) -> tuple[int, Any]:
        """Send a request; return the code and the body: JSON, or the text of an error."""
        context = ssl.create_default_context(cafile=ca) if ca else None
        sent = {"Content-Type": "application/json", **(headers or {})}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=sent)
        try:
            with urllib.request.urlopen(request, context=context, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                is_text = refused.headers.get_content_type() == "text/plain"
                return refused.code, refused.read().decode() if is_text else json.load(refused)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> Outcome:
        """Send a signal, and wait until the process has ended."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return Outcome(self.process.returncode, out, err)


@contextmanager
def apiserver(*arguments: str | Path) -> Iterator[Served]:
    """Run `pyctrl apiserver` until the end of the block."""
    command = [sys.executable, "-m", "pyctrl", "apiserver", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            word, _, url = process.stdout.readline().strip().partition(" ")
            assert word == "ready", process.communicate(timeout=PATIENCE)[1]
            yield Served(process, url)
        finally:
            process.kill()
