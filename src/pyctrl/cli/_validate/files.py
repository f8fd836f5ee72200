"""Validation of the objects of files, and its report."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pyctrl.cli._command_line import MISUSED
from pyctrl.cli._definition_sources import (
    definitions_beside,
    definitions_of,
    files_of,
    is_definition,
    project_definitions,
    read_file,
)
from pyctrl.cli._output import has_colour
from pyctrl.cli._progress import Progress
from pyctrl.errors import CommandFailed
from pyctrl.manifests import Document, ManifestValidator, ValidationResult, read_manifest_objects

__all__ = ["validate"]

T = TypeVar("T")

_TOOLS = ("kustomize.config.k8s.io/",)  # documents of tools, which are not objects of a cluster

RULES_SKIPPED = "validation rules (CEL) were not checked: pip install 'pyctrl-runtime[cel]'"


@dataclass(slots=True)
class _ValidatedObject:
    verdicts: list[ValidationResult] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    passed_over: int = 0
    skips_rules: bool = False

    @property
    def code(self) -> int:
        """Return the exit code."""
        return MISUSED if self.unread else int(any(not verdict.is_valid for verdict in self.verdicts))


def validate(
    files: Sequence[Path],
    *,
    definitions: Sequence[Path],
    programs: Sequence[str],
    ignore_unknown: bool,
    output: str,
) -> int:
    """Print the problems of the objects of files; return the exit code."""
    judged = asyncio.run(
        _validate_object(files, definitions, programs, ignore_unknown=ignore_unknown, quiet=output == "json")
    )
    if output == "json":
        sys.stdout.write(f"{_as_json(judged)}\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _as_text(judged, colour=has_colour(sys.stdout))))
    return judged.code


async def _validate_object(
    files: Sequence[Path], definitions: Sequence[Path], programs: Sequence[str], *, ignore_unknown: bool, quiet: bool
) -> _ValidatedObject:
    judged, validator = _ValidatedObject(), ManifestValidator()
    with Progress("files to read", quiet=quiet):
        given = [each async for each in _one_by_one(_read(files, judged.unread))]
    _learn(validator, given, files, definitions, programs, judged)
    objects = [each for each in given if not is_definition(each) and not _is_of_a_tool(each)]
    with Progress(f"{len(objects)} objects to validate", quiet=quiet):
        async for each in _one_by_one(objects):
            verdict = validator.validate(each)
            if verdict.is_unknown and ignore_unknown:
                judged.passed_over += 1
            else:
                judged.verdicts.append(verdict)
    judged.skips_rules = validator.skips_rules
    return judged


async def _one_by_one(things: Iterable[T]) -> AsyncIterator[T]:
    """Yield items, and yield to the event loop between them, for the progress."""
    for each in things:
        yield each
        await asyncio.sleep(0)


def _learn(
    validator: ManifestValidator,
    given: Sequence[Document],
    files: Sequence[Path],
    definitions: Sequence[Path],
    programs: Sequence[str],
    judged: _ValidatedObject,
) -> None:
    """Define all CRDs, and validate those that are among the objects."""
    known = list(_read(definitions or definitions_beside(files), judged.unread))
    own = {str(file) for path in files for file in _below(path)}
    _define(validator, (each for each in known if is_definition(each) and each.source not in own), judged)
    for program in programs:
        _define(validator, _documents(definitions_of(program), program), judged)
    if not (programs or known):
        for start in dict.fromkeys(_folder(each) for each in files):
            _define(validator, _documents(project_definitions(start), str(start)), judged)
    judged.verdicts += [validator.define(each) for each in given if is_definition(each)]


def _is_of_a_tool(document: Document) -> bool:
    return str(document.obj.get("apiVersion", "")).startswith(_TOOLS)


def _define(validator: ManifestValidator, documents: Iterable[Document], judged: _ValidatedObject) -> None:
    """Define CRDs that are not among the objects; they are reported only if they are invalid."""
    verdicts = [validator.define(document) for document in documents]
    judged.verdicts += [verdict for verdict in verdicts if not verdict.is_valid]


def _read(paths: Iterable[Path], unread: list[str]) -> Iterator[Document]:
    """Return the objects of files, and record files that cannot be read."""
    for path in paths:
        try:
            for file in files_of(path):
                yield from _read_one(file, unread, lenient=path.is_dir())
        except CommandFailed as error:
            unread.append(str(error))


def _read_one(file: Path, unread: list[str], *, lenient: bool) -> list[Document]:
    try:
        return read_file(file, lenient=lenient)
    except CommandFailed as error:
        unread.append(str(error))
        return []


def _below(path: Path) -> list[Path]:
    try:
        return files_of(path)
    except CommandFailed:
        return []


def _documents(definitions: Iterable[Mapping[str, Any]], source: str) -> list[Document]:
    """Return the CRDs of classes as documents of a file."""
    texts = [json.dumps(definition).encode() for definition in definitions]
    return [document for text in texts for document in read_manifest_objects(text, source)]


def _folder(file: Path) -> Path:
    if str(file) == "-":
        return Path.cwd()
    return file.resolve() if file.is_dir() else file.resolve().parent


# -- output -------------------------------------------------------------------------------------------------


def _as_json(judged: _ValidatedObject) -> str:
    result = {
        "objects": [verdict.to_wire() for verdict in judged.verdicts],
        "unread": judged.unread,
        "passedOver": judged.passed_over,
        "rulesSkipped": judged.skips_rules,
    }
    return json.dumps(result, indent=2, ensure_ascii=False)


def _as_text(judged: _ValidatedObject, *, colour: bool) -> Iterator[str]:
    bold, red, yellow, plain = ("\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[0m") if colour else ("", "", "", "")
    for verdict in judged.verdicts:
        source, start = verdict.document.source, verdict.document.find("")
        for problem in verdict.problems:
            yield f"{bold}{source}:{problem.line}:{problem.column}:{plain} {problem}"
        for warning in verdict.warnings:
            yield f"{bold}{source}:{start.line}:{start.column}:{plain} {yellow}warning:{plain} {warning}"
    yield from (f"{red}unreadable:{plain} {each}" for each in judged.unread)
    if judged.skips_rules:
        yield f"{yellow}warning:{plain} {RULES_SKIPPED}"
    yield _sum(judged)


def _sum(judged: _ValidatedObject) -> str:
    count, invalid = len(judged.verdicts), sum(not verdict.is_valid for verdict in judged.verdicts)
    parts = [f"{count} object{'' if count == 1 else 's'}, {invalid or 'none'} invalid"]
    if judged.passed_over:
        parts.append(f"{judged.passed_over} of unknown kinds skipped")
    if judged.unread:
        parts.append(f"{len(judged.unread)} unreadable")
    return ", ".join(parts)
