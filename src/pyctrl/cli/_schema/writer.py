"""Writing of JSON Schemas, and the lines that an editor needs to use them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pyctrl.cli._definition_sources import definitions_of, files_of, is_definition, read_file
from pyctrl.cli._manifest_writer import check_manifests, written
from pyctrl.cli._packaging_flags import NameFlags, output_path
from pyctrl.errors import CommandFailed
from pyctrl.packaging import SCHEMA_INDEX, SchemaDirectory, Settings, schema_files

__all__ = ["write_schemas"]


def write_schemas(
    program: str | None,
    *,
    builtins: Sequence[str],
    crds: Sequence[Path],
    directory: Path | None,
    check: bool,
    force: bool,
    output: str,
) -> int:
    """Write schemas, or with ``check`` show what is out of date; return the exit code."""
    settings = NameFlags().settings(program)
    crds = crds or [settings.root / each for each in settings.schema_crds]
    definitions = [*(definitions_of(settings.target) if settings.program or not (builtins or crds) else ())]
    for path in crds:
        definitions += _read(path)
    files = asyncio.run(schema_files(definitions, builtins or settings.schema_builtins))
    place = SchemaDirectory(output_path(directory, settings, settings.schema_dir))
    found = place.differences(files, force=force)
    if check:
        return check_manifests(found, [], output, "pyctrl schema")
    code = written(found)
    if output == "text":
        _show_usage(place.path, settings)
    return code


def _read(path: Path) -> list[dict[str, object]]:
    """Return the CRDs of a file or directory. Fields that only an API server needs may be missing."""
    found = [dict(each.obj) for file in files_of(path) for each in read_file(file, lenient=True) if is_definition(each)]
    if not found:
        raise CommandFailed(f"no CustomResourceDefinition in {path}")
    return found


def _show_usage(directory: Path, settings: Settings) -> None:
    """Print to stderr how an editor finds the schemas: a setting for a directory, or a comment in each file."""
    samples = settings.directory / "samples"
    index = directory / SCHEMA_INDEX
    mapping = json.dumps({"yaml.schemas": {f"./{index.as_posix()}": [f"{samples.as_posix()}/*.yaml"]}})
    print(f"VS Code, in .vscode/settings.json: {mapping}", file=sys.stderr)
    modeline = f"# yaml-language-server: $schema={Path(os.path.relpath(index, samples)).as_posix()}"
    print(f"other editors, in the first line of a file in {samples}: {modeline}", file=sys.stderr)
