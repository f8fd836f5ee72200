"""Write the descriptions of Kubernetes' types and fields, and those of table columns, as data of the package.

    python tools/generate_descriptions.py ASSETS

They depend on the Kubernetes version: ASSETS is a directory with the etcd and the kube-apiserver of the version that
the other documents in `pyctrl/_schemas` are from, as for `KUBEBUILDER_ASSETS`. Afterwards run tools/generate_kinds.py,
which makes the descriptions the docstrings of `pyctrl.kinds`.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

from pyctrl import _schemas
from pyctrl.client import Client, Config, HttpRequest
from pyctrl.testing import control_plane

TARGET = Path(_schemas.__file__).parent
LICENSE = "Copyright The Kubernetes Authors. Licensed under the Apache License, Version 2.0."
SHARED = ("Name", "Age", "Created At")
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def main() -> None:
    """Start a kube-apiserver, read its documents and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assets", type=Path)
    with control_plane(parser.parse_args().assets) as plane:
        texts, tables = asyncio.run(_read(Config.from_kubeconfig(plane.kubeconfig)))
    # Without the time, so that the same texts are the same file.
    data = gzip.compress(json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode(), mtime=0)
    (TARGET / "descriptions.json.gz").write_bytes(data)
    (TARGET / "tables.json").write_text(f"{json.dumps(tables, indent=1, ensure_ascii=False)}\n", "utf-8")
    print(f"{sum(map(len, texts['definitions'].values()))} texts of types and fields, {len(tables)} tables")


async def _read(config: Config) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the documents to write: the descriptions, and the tables."""
    definitions: dict[str, dict[str, str]] = {}
    async with Client.connect(config) as client:
        version = (await _get(client, "/version"))["gitVersion"]
        for name in _schemas.GROUP_VERSIONS:
            own = _schemas.load(name)
            published = (await _get(client, f"/openapi/v3/{own['path']}"))["components"]["schemas"]
            definitions |= {each: _texts(schema, published[each]) for each, schema in own["schemas"].items()}
        tables = {path: _columns(await _get(client, path, TABLE)) for path in _schemas.load("tables")}
    source = f"kube-apiserver {version}. {LICENSE}"
    return {"source": source, "definitions": dict(sorted(definitions.items()))}, tables


async def _get(client: Client, path: str, accept: str = "application/json") -> Any:
    response = await client.transport.request(HttpRequest(method="GET", path=path, headers={"Accept": accept}))
    return json.loads(response.body)


def _texts(schema: dict[str, Any], published: dict[str, Any]) -> dict[str, str]:
    """Return the texts of a definition: its own under "", and one for each field that has one."""
    parts = {"": published, **published.get("properties", {})}
    names = ("", *schema.get("properties", {}))
    return {name: parts[name]["description"] for name in names if "description" in parts[name]}


def _columns(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the columns of a table, without the descriptions that all tables share."""
    columns = [dict(sorted(each.items())) for each in table["columnDefinitions"]]
    for each in columns:
        if not each["description"] or each["name"] in SHARED:
            del each["description"]
    return columns


if __name__ == "__main__":
    main()
