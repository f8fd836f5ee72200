"""Generated and explained definitions, checked against a cluster."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.client import Client, HttpRequest, wait_until_gone
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.manifests import ExplainedField, Schemas, definition, import_definitions
from tests.integration._operators import established
from tests.integration.test_validate import definition as gauges
from tests.unit.manifests.crd_import.test_definitions import FOREIGN, definitions, load


@pytest.mark.virtual_time
async def test_definitions_of_imported_classes(client: Client, tmp_path: Path) -> None:
    """A cluster accepts the definition of imported classes."""
    refused = {}
    for file in FOREIGN:
        imported = import_definitions(definitions(file))
        module = load(imported.code, tmp_path)
        made = definition(*(getattr(module, name) for name in imported.kinds))
        made["metadata"]["name"] = f"x{made['metadata']['name']}"  # a unique name, though nothing is stored
        made["spec"]["names"] |= {"plural": f"x{made['spec']['names']['plural']}"}
        answer = await client.transport.request(
            HttpRequest(
                method="POST",
                path="/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                query=(("dryRun", "All"), ("fieldValidation", "Strict")),
                headers={"Content-Type": "application/json"},
                body=json.dumps(made).encode(),
            )
        )
        if answer.status != 201:
            refused[file.name] = json.loads(answer.body)

    assert not refused


@pytest.mark.virtual_time
@pytest.mark.slow("a real API server publishes the schemas of a new kind a second later")
async def test_what_a_cluster_tells_of_a_kind(client: Client, namespace: str) -> None:
    """explain prints the same for a cluster's published schema as for the definition."""
    made = gauges(namespace)
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    del schema["properties"]["spec"]["properties"]["whole"]  # a cluster publishes the metadata of every object here
    await client.create(CustomResourceDefinition.from_wire(made))
    try:
        await established(client, made["metadata"]["name"])
        group = made["spec"]["group"]
        schemas = Schemas(await _published(client, f"/openapi/v3/apis/{group}/v1"))
        kind = schemas.kind(group, "v1", "Gauge")
        assert kind is not None

        there = schemas.find(kind, ["spec"], name="gauge")
        here = Schemas({}).find(schema, ["spec"], name="gauge")

        assert _told(schemas, there) == _told(Schemas({}), here)
        assert len(_told(schemas, there)) > 10
    finally:
        key = Key("", made["metadata"]["name"])
        await client.delete(CustomResourceDefinition, key)
        await wait_until_gone(client, CustomResourceDefinition, key)


def _told(schemas: Schemas, of: ExplainedField) -> list[Any]:
    """Return all that explain prints for a field and its subfields."""
    below = [told for each in schemas.fields(of.schema) for told in _told(schemas, each)]
    return [(of.name, of.type, of.is_required, sorted(of.rules)), *sorted(below)]


async def _published(client: Client, path: str) -> Any:
    async with asyncio.timeout(20):
        while True:
            answer = await client.transport.request(HttpRequest(method="GET", path=path))
            if answer.status == 200 and (found := json.loads(answer.body)["components"].get("schemas")):
                return found
            await asyncio.sleep(0.1)  # nothing to watch
