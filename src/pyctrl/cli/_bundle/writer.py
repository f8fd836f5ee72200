"""Writing and validation of bundles."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path

from pyctrl.cli._manifest_writer import check_manifests, written
from pyctrl.cli._output import print_json
from pyctrl.cli._packaging_flags import NameFlags, WorkloadFlags, folder, output_path
from pyctrl.packaging import (
    BundleDirectory,
    BundleProblem,
    Release,
    Suite,
    bundle,
    check_bundle,
    read_bundled,
    read_files,
    read_publication,
    release,
)

__all__ = ["report_bundle_problems", "write_bundle"]

#: The rules that are always checked.
ALWAYS: tuple[Suite, ...] = ("bundle", "cluster")
OPTIONAL: dict[str, tuple[Suite, ...]] = {
    "name=operatorhub": ("operatorhub",),
    "name=good-practices": ("good-practices",),
    "name=scorecard": ("scorecard",),
    "suite=operatorframework": ("operatorhub", "good-practices"),  # as that of operator-sdk
}


def write_bundle(
    program: str | None,
    flags: WorkloadFlags,
    wanted: Release,
    *,
    directory: Path | None,
    check: bool,
    force: bool,
    output: str,
) -> int:
    """Write a valid bundle, or with ``check`` show what is out of date; return the exit code."""
    publication = read_publication(folder(program))
    settings = flags.settings(program)
    directory = output_path(directory, settings, settings.bundle_dir)
    version = wanted.version or publication.version
    project = asyncio.run(read_bundled(settings, publication, version))
    files = bundle(project, publication, release(publication, wanted, name=project.name), directory=directory.name)
    place = BundleDirectory(directory)
    objections = check_bundle(place.contents(files), place=f"{directory}/")
    _tell(objections)
    if any(_counts(each, ALWAYS) for each in objections):
        return 1
    found = place.differences(files, force=force)
    if not check:
        return written(found)
    return check_manifests(found, [str(each) for each in objections], output, command="pyctrl bundle")


def report_bundle_problems(directory: Path | None, optional: Sequence[str], *, output: str) -> int:
    """Print the problems of a bundle, by default that of the project; return the exit code."""
    if directory is None:
        settings = NameFlags().settings(None)
        directory = settings.root / settings.bundle_dir
    suites: set[Suite] = {*ALWAYS, *(suite for each in optional for suite in OPTIONAL[each])}
    objections = check_bundle(read_files(directory), suites=suites, place=f"{directory}/")
    is_valid = not any(_counts(each, suites) for each in objections)
    if output == "json":
        found = [asdict(each) | {"is_warning": not _counts(each, suites)} for each in objections]
        result = {"valid": is_valid, "objections": found}
        print_json(result)
    else:
        _tell(objections, suites)
        print(f"{directory} is {'valid' if is_valid else 'not valid'}")
    return int(not is_valid)


def _counts(objection: BundleProblem, suites: Collection[Suite]) -> bool:
    return objection.suite in suites and not objection.is_warning


def _tell(objections: Sequence[BundleProblem], suites: Collection[Suite] = ALWAYS) -> None:
    for each in objections:
        level = "" if _counts(each, suites) else "warning: "
        where = "" if each.suite in ALWAYS else f" [{each.suite}]"
        print(f"{level}{each}{where}", file=sys.stderr)
