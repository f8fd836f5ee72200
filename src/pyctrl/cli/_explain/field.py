"""Lookup of a field of a kind, and its documentation as text or JSON."""

from __future__ import annotations

import asyncio
import difflib
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyctrl.cli._client_flags import ClientFlags
from pyctrl.cli._definition_sources import definitions_beside, definitions_of, project_definitions, read_source
from pyctrl.cli._output import has_colour
from pyctrl.client import Client, Config, HttpRequest, ResourceMapping
from pyctrl.errors import CommandFailed, PyctrlError
from pyctrl.manifests import ExplainedField, Schemas

__all__ = ["explain"]

WIDTH = 100  # columns; longer lines are hard to read
_ITEM = re.compile(r" *- ")  # of a list in a description


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    kind: ResourceMapping
    path: tuple[str, ...]
    schemas: Schemas
    field: ExplainedField
    others: tuple[ResourceMapping, ...] = ()  # kinds of other groups with the same name


def explain(
    text: str,
    *,
    definitions: Sequence[Path],
    programs: Sequence[str],
    recursive: bool,
    cluster: bool,
    output: str,
    login: ClientFlags,
) -> None:
    """Print the documentation of a field."""
    if cluster:
        found = login.run(lambda client, _: _found(text, client), quiet=output == "json")
    else:
        found = _found_offline(text, definitions, programs, login)
    if output == "json":
        sys.stdout.write(f"{json.dumps(_wire(found), indent=2, ensure_ascii=False)}\n")
    else:
        sys.stdout.write(
            "".join(f"{line}\n" for line in _lines(found, recursive=recursive, colour=has_colour(sys.stdout)))
        )
        if found.others:
            sys.stdout.flush()
            names = ", ".join(f"{each.plural}.{each.gvk.group}".removesuffix(".") for each in found.others)
            print(f"note: {names} has the same name", file=sys.stderr)


def _found_offline(text: str, definitions: Sequence[Path], programs: Sequence[str], login: ClientFlags) -> _Found:
    """Find a field in the named CRDs and programs, by default in those of the current project.

    Classes take precedence over files, which may be older. Built-in kinds are found even if the project cannot be
    loaded.
    """
    if definitions or programs:
        named = [each for path in definitions for each in read_source(str(path), login)]
        return asyncio.run(_offline(text, [*named, *(each for one in programs for each in definitions_of(one))]))
    failure: PyctrlError | None = None
    known: list[Any] = []
    try:
        known = [*project_definitions(Path.cwd())]
    except PyctrlError as error:
        failure = error
    names = {each["metadata"]["name"] for each in known}
    written = [each for path in definitions_beside() for each in read_source(str(path), login)]
    known += [each for each in written if each["metadata"]["name"] not in names]
    try:
        found = asyncio.run(_offline(text, known))
    except PyctrlError as error:
        raise failure or error from error
    if failure is not None:
        print(f"warning: the classes of this project cannot be loaded: {failure}", file=sys.stderr)
    return found


async def _offline(text: str, definitions: Sequence[Any]) -> _Found:
    """Start an in-process API server with the CRDs, and find the field there."""
    from pyctrl.apiserver import ApiServer  # here: --from-cluster needs none
    from pyctrl.program import install_definitions

    server = ApiServer()
    config = Config.in_process(server, token=server.loopback_token)
    async with Client.connect(config) as client:
        await install_definitions(client, [dict(each) for each in definitions])
    async with Client.connect(config) as client:  # a new server has no cached discovery
        return await _found(text, client)


async def _found(text: str, client: Client) -> _Found:
    served = await client.discovery.mappings()
    name, path = _parted(text, served)
    _check_known(name.partition(".")[0], served)
    kind, *others = await client.discovery.named(name)
    gvk = kind.gvk
    root = f"apis/{gvk.group}/{gvk.version}" if gvk.group else f"api/{gvk.version}"
    schemas = Schemas((await _document(client, root))["components"]["schemas"])
    schema = schemas.kind(gvk.group, gvk.version, gvk.kind)
    if schema is None:
        raise CommandFailed(f"the server publishes no schema of {gvk}")
    field = schemas.find(schema, path, name=kind.singular or gvk.kind.lower())
    return _Found(kind=kind, path=tuple(path), schemas=schemas, field=field, others=tuple(others))


def _check_known(name: str, served: Sequence[ResourceMapping]) -> None:
    """Raise CommandFailed if no kind has this name, without requesting discovery again."""
    names = {
        called.lower(): f"{each.plural}.{each.gvk.group}".removesuffix(".")
        for each in served
        for called in (each.plural, each.singular, each.gvk.kind, *each.short_names)
    }
    if name.lower() not in names:
        near = dict.fromkeys(names[close] for close in difflib.get_close_matches(name.lower(), names))
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        cure = "name its CRD with --crd, its program with --types, or use a cluster that has it with --from-cluster"
        raise CommandFailed(f"no kind {name!r}{hint} ({cure})")


def _names_of(mapping: ResourceMapping) -> set[str]:
    names = (mapping.plural, mapping.singular, mapping.gvk.kind, *mapping.short_names)
    return {name.lower() for name in names if name}


def _parted(text: str, served: Sequence[ResourceMapping]) -> tuple[str, list[str]]:
    """Split the name of a kind, optionally with version and group, from the path behind it."""
    name, *rest = [part.partition("[")[0] for part in text.strip(".").split(".")]
    behind = ".".join(rest)
    found = ""
    for each in served:
        if name.lower() not in _names_of(each):
            continue
        for qualifier in (each.gvk.group, f"{each.gvk.version}.{each.gvk.group}"):
            if each.gvk.group and len(qualifier) > len(found) and f"{behind}.".startswith(f"{qualifier}."):
                found = qualifier  # the longest: one group may be a prefix of another
    return f"{name}.{found}" if found else name, [each for each in behind[len(found) :].split(".") if each]


async def _document(client: Client, root: str) -> Any:
    response = await client.transport.request(HttpRequest(method="GET", path=f"/openapi/v3/{root}"))
    if response.status != 200:
        raise CommandFailed(f"the server has no OpenAPI document of {root}: {response.status}")
    return json.loads(response.body)


# -- output -------------------------------------------------------------------------------------------------


def _wire(found: _Found) -> dict[str, Any]:
    gvk = found.kind.gvk
    return {
        "apiVersion": gvk.api_version,
        "kind": gvk.kind,
        "path": ".".join(found.path),
        **found.field.to_wire(),
        "fields": [each.to_wire() for each in found.schemas.fields(found.field.schema)],
    }


def _lines(found: _Found, *, recursive: bool, colour: bool) -> Iterator[str]:
    bold, dim, plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    gvk, kind = found.kind.gvk, found.kind
    yield f"{bold}KIND:{plain}     {gvk.kind} ({', '.join((kind.plural, *kind.short_names))})"
    yield f"{bold}VERSION:{plain}  {gvk.api_version}"
    if found.path:
        yield f"{bold}FIELD:{plain}    {'.'.join(found.path)} <{found.field.type}>{_required(found.field)}"
    if found.field.description or found.field.rules:
        yield from ("", f"{bold}DESCRIPTION:{plain}", *_described(found.field, "    "))
    fields = list(found.schemas.fields(found.field.schema))
    if fields:
        yield from ("", f"{bold}FIELDS:{plain}")
    if recursive:
        yield from _tree(found.schemas, fields, "  ", ())
        return
    for index, field in enumerate(fields):
        if index:
            yield ""
        yield f"  {bold}{field.name}{plain} {dim}<{field.type}>{plain}{_required(field)}"
        yield from _described(field, "    ")


def _required(field: ExplainedField) -> str:
    return " required" if field.is_required else ""


def _described(field: ExplainedField, indent: str) -> Iterator[str]:
    for line in field.description.strip().splitlines():
        item = _ITEM.match(line)
        hanging = indent + " " * (item.end() if item else 0)
        yield from textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=hanging) or [""]
    if field.description and field.rules:
        yield ""
    for rule in field.rules:
        yield f"{indent}{_clean(rule)}"


def _clean(text: str) -> str:
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _tree(schemas: Schemas, fields: Sequence[ExplainedField], indent: str, above: tuple[str, ...]) -> Iterator[str]:
    for field in fields:
        rules = [rule for rule in field.rules if rule.startswith(("default: ", "one of "))]
        yield f"{indent}{field.name} <{field.type}>{_required(field)}{''.join(f', {each}' for each in rules)}"
        kind = field.type.replace("[]", "").replace("map[string]", "")
        if field.has_fields and kind not in (*above, "ObjectMeta"):  # schemas may be recursive
            inside = (*above, kind) if kind != "Object" else above
            yield from _tree(schemas, list(schemas.fields(field.schema)), f"{indent}  ", inside)
