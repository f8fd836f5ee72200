"""Write what kube-apiserver's OpenAPI documents have beside the schemas of kinds, as data of the package.

    python tools/generate_openapi.py ASSETS

It depends on the Kubernetes version: ASSETS is a directory with its etcd and kube-apiserver, as for
`KUBEBUILDER_ASSETS`. Run it after the schemas and the descriptions were written: the v2 definitions that follow from
them are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

from pyctrl import _schemas
from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._discovery.openapi import definitions_v2
from pyctrl.client import Client, Config, HttpRequest
from pyctrl.testing import control_plane

TARGET = Path(_schemas.__file__).parent / "openapi_documents.json.gz"
SHORTEST = 24  # characters of a part that is worth sharing


def main() -> None:
    """Start a kube-apiserver, read its documents and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assets", type=Path)
    with control_plane(parser.parse_args().assets) as plane:
        parts = asyncio.run(_read(Config.from_kubeconfig(plane.kubeconfig)))
    text = json.dumps(_Packer(parts).packed(), ensure_ascii=False, separators=(",", ":"))
    TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))  # without the time: the same documents, the same file
    print(f"{len(parts['hashes'])} documents, {TARGET.stat().st_size} bytes")


async def _read(config: Config) -> dict[str, Any]:
    parts: dict[str, Any] = {"hashes": {}, "paths": {}, "documents": {}, "v2": {}}
    group_versions = {_schemas.load(name)["path"] for name in _schemas.GROUP_VERSIONS}
    async with Client.connect(config) as client:
        for path, place in (await _get(client, "/openapi/v3"))["paths"].items():
            document = await _get(client, f"/openapi/v3/{path}")
            parts["hashes"][path] = place["serverRelativeURL"].partition("?hash=")[2]
            if path in group_versions:
                parts["paths"][path] = document["paths"]
            else:
                parts["documents"][path] = document
        parts["v2"][""] = await _get(client, "/openapi/v2")
    ours = definitions_v2(ResourceRegistry())
    definitions = parts["v2"][""]["definitions"]
    parts["v2"][""]["definitions"] = {name: each for name, each in definitions.items() if ours.get(name) != each}
    return parts


async def _get(client: Client, path: str) -> Any:
    response = await client.transport.request(HttpRequest(method="GET", path=path))
    return json.loads(response.body)


class _Packer:
    """Replaces parts that occur more than once by their number."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self._parts = parts
        self._counts: Counter[str] = Counter()
        self._numbers: dict[str, int] = {}
        self._shared: list[Any] = []
        self._count(parts)

    def packed(self) -> dict[str, Any]:
        return {"parts": self._body(self._parts), "shared": self._shared}

    def _count(self, value: Any) -> None:
        key = _key(value)
        self._counts[key] += 1
        if self._counts[key] == 1 and isinstance(value, (dict, list)):
            for each in value.values() if isinstance(value, dict) else value:
                self._count(each)

    def _pack(self, value: Any) -> Any:
        key = _key(value)
        if len(key) < SHORTEST or self._counts[key] == 1:
            return self._body(value)
        if key not in self._numbers:
            self._numbers[key] = len(self._shared)
            self._shared.append(None)  # the parts of this part have higher numbers
            self._shared[self._numbers[key]] = self._body(value)
        return {"$": self._numbers[key]}

    def _body(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._pack(each) for key, each in value.items()}
        return [self._pack(each) for each in value] if isinstance(value, list) else value


def _key(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    main()
