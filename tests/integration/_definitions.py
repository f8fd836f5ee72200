"""Kinds for tests, each in its own group, so that tests do not interfere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pyctrl.api import GroupVersionKind, Key
from pyctrl.client import Client, HttpRequest, wait_until_gone
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from tests.integration._operators import established

SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 10},
        "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "parts": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "weight": {"type": "integer", "default": 1}},
            },
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": SPEC,
        "status": {"type": "object", "properties": {"ready": {"type": "boolean"}, "seen": {"type": "integer"}}},
    },
}


def widget_kind(namespace: str) -> GroupVersionKind:
    """Return the kind of a test, in a group named after the test's namespace."""
    return GroupVersionKind(f"{namespace}.pyctrl.test", "v1", "Widget")


def definition_of(kind: GroupVersionKind, schema: Mapping[str, Any] = SCHEMA) -> CustomResourceDefinition:
    """Make the definition of a kind, with a status."""
    plural = f"{kind.kind.lower()}s"
    names = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": plural, "singular": kind.kind.lower()}
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    return CustomResourceDefinition.from_wire(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{kind.group}"},
            "spec": {"group": kind.group, "scope": "Namespaced", "names": names, "versions": [version]},
        }
    )


@asynccontextmanager
async def installed(
    client: Client, kind: GroupVersionKind, schema: Mapping[str, Any] = SCHEMA
) -> AsyncIterator[GroupVersionKind]:
    """Serve a kind inside the block; afterwards delete its definition and all objects."""
    await install_kind(client, kind, schema)
    try:
        yield kind
    finally:
        await uninstall_kind(client, kind)


async def install_kind(
    client: Client, kind: GroupVersionKind, schema: Mapping[str, Any] = SCHEMA
) -> CustomResourceDefinition:
    """Install the definition of a kind and wait until it is served."""
    wanted = definition_of(kind, schema)
    await client.create(wanted)
    made = await established(client, wanted.metadata.name)
    await answers(client, f"/apis/{kind.api_version}", 200)
    await answers(client, f"/apis/{kind.api_version}/widgets", 200)
    return made


async def uninstall_kind(client: Client, kind: GroupVersionKind) -> None:
    """Delete the definition of a kind and wait until it is no longer served."""
    name = definition_of(kind).metadata.name
    await client.delete(CustomResourceDefinition, Key("", name))
    await wait_until_gone(client, CustomResourceDefinition, Key("", name))
    await answers(client, f"/apis/{kind.api_version}", 404)
    await answers(client, f"/apis/{kind.api_version}/widgets", 404)


async def answers(client: Client, path: str, status: int) -> None:
    """Wait until a path is served, or no longer served. Discovery and handlers of a real server lag some hundredths."""
    async with asyncio.timeout(10):
        while (await client.transport.request(HttpRequest(method="GET", path=path))).status != status:
            await asyncio.sleep(0.02)  # nothing to watch
