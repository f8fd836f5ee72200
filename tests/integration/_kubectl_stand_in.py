"""A substitute for kubectl in the tutorial: four of its verbs, with its outputs.

`test_kubectl_tutorial.py` compares them with kubectl's own.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import yaml

from pyctrl.api import Key, Unstructured
from pyctrl.client import Client, Config, HttpRequest, MergePatch, ResourceMapping, path_for
from pyctrl.errors import ApiError, Invalid

__all__ = ["kubectl"]

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
NAMESPACE = "default"


async def kubectl(config: Config, verb: str, *words: str) -> str:
    """Run a command and return its output."""
    async with Client.connect(config) as client:
        do = {"apply": _apply, "get": _get, "patch": _patch, "delete": _delete}[verb]
        try:
            return "".join([f"{line}\n" async for line in do(client, words)])
        except Invalid as error:
            kind, name = error.status["details"]["kind"], error.status["details"]["name"]
            return f'The {kind} "{name}" is invalid: {error.message.partition(" is invalid: ")[2]}\n'
        except ApiError as error:
            return f"Error from server ({error.reason}): {error.message}\n"


async def _apply(client: Client, words: Sequence[str]) -> AsyncIterator[str]:
    for document in yaml.safe_load_all(Path(words[words.index("-f") + 1]).read_text()):
        document["metadata"].setdefault("namespace", NAMESPACE)
        obj = Unstructured(document)
        before = await client.find(obj.gvk, obj.key)
        now = await client.apply(obj, field_owner="kubectl")
        is_same = before is not None and before["metadata"]["resourceVersion"] == now["metadata"]["resourceVersion"]
        mapping = await client.discovery.mapping(obj.gvk)
        yield f"{_full(mapping)}/{obj.key.name} {'unchanged' if is_same else 'configured' if before else 'created'}"


async def _get(client: Client, words: Sequence[str]) -> AsyncIterator[str]:
    kinds = words[0].split(",")
    is_first = True
    for kind in kinds:
        (mapping, *_) = await client.discovery.named(kind)
        rows = await _rows(client, mapping, *words[1:])
        if len(rows) == 1:
            continue
        if len(kinds) > 1:
            rows = [rows[0], *([f"{_full(mapping)}/{row[0]}", *row[1:]] for row in rows[1:])]
        if not is_first:
            yield ""
        is_first = False
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        for row in rows:
            yield "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


async def _rows(client: Client, mapping: ResourceMapping, name: str = "") -> list[list[str]]:
    """Return the titles and cells of the server's table."""
    if name:
        await client.get(mapping.gvk, Key(NAMESPACE, name))  # raises NotFound for a missing object
    path = path_for(mapping, NAMESPACE, name)
    answer = await client.transport.request(HttpRequest(method="GET", path=path, headers={"Accept": TABLE}))
    table = json.loads(answer.body)
    shown = [place for place, column in enumerate(table["columnDefinitions"]) if not column.get("priority")]
    titles = [table["columnDefinitions"][place]["name"].upper() for place in shown]
    return [titles, *([_cell(row["cells"][place]) for place in shown] for row in table["rows"])]


async def _patch(client: Client, words: Sequence[str]) -> AsyncIterator[str]:
    mapping, key = await _named(client, words)
    await client.patch(mapping.gvk, key, MergePatch(json.loads(words[-1])))
    yield f"{_full(mapping)}/{key.name} patched"


async def _delete(client: Client, words: Sequence[str]) -> AsyncIterator[str]:
    mapping, key = await _named(client, words)
    await client.delete(mapping.gvk, key)
    yield f'{_full(mapping)} "{key.name}" deleted'


async def _named(client: Client, words: Sequence[str]) -> tuple[ResourceMapping, Key]:
    (mapping, *_) = await client.discovery.named(words[0])
    return mapping, Key(NAMESPACE, words[1])


def _full(mapping: ResourceMapping) -> str:
    """Return kind and group as kubectl names objects: ``deployment.apps``."""
    return f"{mapping.gvk.kind.lower()}.{mapping.gvk.group}".rstrip(".")


def _cell(value: object) -> str:
    return "" if value is None else str(value)


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(kubectl(Config.load(), *sys.argv[1:])))
