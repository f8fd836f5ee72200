"""Texts that editors show: a language server is asked as an editor asks it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

PROGRAM = '''\
from pyctrl import CustomResource, Model
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Container


class DiskSpec(Model):
    """A user's spec."""

    size_gib: int = 1
    """Size of the disk in GiB."""


class Disk(CustomResource[DiskSpec], group="storage.example.com", version="v1"):
    """A user's kind."""


container = Container(name="web", image="web:1")
container.image_pull_policy = "Always"
deployment = Deployment()
print(deployment.spec.replicas, deployment.metadata.labels)
disk = Disk(spec=DiskSpec(size_gib=3))
'''


class LanguageServer:
    """pyright's language server, with one program open."""

    def __init__(self, directory: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pyright.langserver", "--stdio"],
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._numbers = count(1)
        self._uri = (directory / "program.py").as_uri()
        folder = {"uri": directory.as_uri(), "name": "program"}
        hover = {"hover": {"contentFormat": ["plaintext"]}}
        capabilities = {"textDocument": hover, "workspace": {"configuration": True}}
        self.call(
            "initialize",
            {
                "processId": None,
                "rootUri": folder["uri"],
                "workspaceFolders": [folder],
                "capabilities": capabilities,
            },
        )
        self._send({"method": "initialized", "params": {}})
        document = {"uri": self._uri, "languageId": "python", "version": 1, "text": PROGRAM}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def hover(self, before: str) -> str:
        """Return the text for the name that ends this part of the program."""
        lines = PROGRAM[: PROGRAM.index(before) + len(before)].split("\n")
        place = {"line": len(lines) - 1, "character": len(lines[-1]) - 1}
        found = self.call("textDocument/hover", {"textDocument": {"uri": self._uri}, "position": place})
        return " ".join(found["contents"]["value"].split())

    def call(self, method: str, params: Any) -> Any:
        """Send a request, answer those of the server, and return the result."""
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("method") == "workspace/configuration":
                settings = [
                    {"pythonPath": sys.executable} if item.get("section") == "python" else {}
                    for item in message["params"]["items"]
                ]
                self._send({"id": message["id"], "result": settings})
            elif "method" in message and "id" in message:
                self._send({"id": message["id"], "result": None})
            elif message.get("id") == number:
                return message["result"]

    def close(self) -> None:
        """Stop the server."""
        self.call("shutdown", None)
        self._send({"method": "exit"})
        self._process.communicate()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        found: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LanguageServer]:
    (tmp_path / "program.py").write_text(PROGRAM)
    server = LanguageServer(tmp_path)
    yield server
    server.close()


# The part of the program that ends with a name, and what hover over that name shows.
SHOWN = {
    'Container(name="web", image': "Container image name. More info: https://kubernetes.io/docs/concepts/",
    "container.image_pull_policy": '- `"Never"` means that kubelet never pulls an image',
    "deployment.spec": "Specification of the desired behavior of the Deployment.",
    "deployment.spec.replicas": "Number of desired pods.",
    "deployment.metadata.labels": "Names and values by which selectors find objects.",
    "import Container": "A single application container that you want to run within a pod.",
    "container = Container": "*, args: list[str] = list, command: list[str] = list, env: list[EnvVar]",
    "DiskSpec(size_gib": "Size of the disk in GiB.",
    "disk = Disk": 'api_version: str = "", kind: str = "", metadata: ObjectMeta = ObjectMeta, spec: DiskSpec',
    "Disk(spec": "Desired state, which users write.",
}


@pytest.mark.slow("a language server analyses pyctrl")
@pytest.mark.timeout(240)
def test_hover(server: LanguageServer) -> None:
    """Hover shows Kubernetes' texts for built-in kinds, a user's own texts, and whole signatures."""
    found = {before: server.hover(before) for before in SHOWN}
    assert {before: text for before, text in found.items() if SHOWN[before] not in text} == {}
