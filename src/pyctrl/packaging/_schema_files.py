"""Files with the JSON Schemas of kinds, for editors."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyctrl.api import GroupVersionKind
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, HttpRequest
from pyctrl.errors import CommandFailed, UnknownKind
from pyctrl.manifests import json_schema, json_schema_index, json_schema_path
from pyctrl.packaging._difference import Difference, generated_differences

__all__ = ["SCHEMA_INDEX", "SchemaDirectory", "schema_files"]

#: The schema of all kinds, for a single entry in the settings of an editor.
SCHEMA_INDEX = "all.json"

#: The index file: the paths of generated files, one per line. Other files are not touched.
INDEX = ".pyctrl-schemas"

_META = "api/v1"  # where ObjectMeta is published, too

Definition = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SchemaDirectory:
    """A directory of JSON Schemas. Its index lists the generated files, which are updated and removed."""

    path: Path

    def differences(self, wanted: Mapping[str, str], *, force: bool = False) -> list[Difference]:
        """Return the files that differ from the generated ones, sorted by path.

        Args:
            wanted: the generated files, as returned by `schema_files`.
            force: replace files that were not generated.

        Raises:
            CommandFailed: a file exists that was not generated.
        """
        return generated_differences(wanted, INDEX, self.path.joinpath, force=force)


async def schema_files(definitions: Sequence[Definition], builtins: Sequence[str] = ()) -> dict[str, str]:
    """Return files with the JSON Schema of each served version of each kind, and one that covers all of them.

    Args:
        definitions: CustomResourceDefinitions.
        builtins: names of built-in kinds as kubectl takes them: ``Deployment``, ``deploy`` or ``deployments.apps``.

    Raises:
        CommandFailed: there is no built-in kind of a name.
    """
    server = ApiServer()
    async with Client.connect(Config.in_process(server, token=server.loopback_token)) as client:
        meta = await _published(client, _META)
        found = {kind: json_schema(kind, schema, meta) for kind, schema in _versions(definitions)}
        for kind in [await _builtin(client, name) for name in builtins]:
            components = await _published(client, _document(kind))
            found[kind] = json_schema(kind, _schema_of(kind, components), components, is_builtin=True)
    texts = {json_schema_path(kind): schema for kind, schema in found.items()}
    texts[SCHEMA_INDEX] = json_schema_index(found)
    return {path: json.dumps(texts[path], indent=2, ensure_ascii=False) + "\n" for path in sorted(texts)}


def _versions(definitions: Sequence[Definition]) -> Iterator[tuple[GroupVersionKind, Mapping[str, Any]]]:
    """Yield each served version with its OpenAPI schema."""
    for spec in (each["spec"] for each in definitions):
        for version in spec["versions"]:
            schema = version.get("schema", {}).get("openAPIV3Schema")
            if schema and version.get("served", True):
                yield GroupVersionKind(spec["group"], version["name"], spec["names"]["kind"]), schema


async def _builtin(client: Client, name: str) -> GroupVersionKind:
    try:
        return (await client.discovery.named(name))[0].gvk
    except UnknownKind as error:
        names = dict.fromkeys(each.gvk.kind for each in await client.discovery.mappings())
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise CommandFailed(
            f"no built-in kind {name!r}{hint} (for a kind of another project, name its CRD with --crd)"
        ) from error


def _document(kind: GroupVersionKind) -> str:
    return f"apis/{kind.group}/{kind.version}" if kind.group else f"api/{kind.version}"


async def _published(client: Client, document: str) -> dict[str, Any]:
    """Return the schemas of an OpenAPI document of the server, by name."""
    response = await client.transport.request(HttpRequest(method="GET", path=f"/openapi/v3/{document}"))
    components: dict[str, Any] = json.loads(response.body)["components"]["schemas"]
    return components


def _schema_of(kind: GroupVersionKind, components: Mapping[str, Any]) -> Mapping[str, Any]:
    wanted = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    found: Mapping[str, Any] = next(
        each for each in components.values() if wanted in each.get("x-kubernetes-group-version-kind", ())
    )
    return found
