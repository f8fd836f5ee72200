"""Writing of a program's manifests and charts, and checks that they are up to date."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from pathlib import Path

from pyctrl.cli._client_flags import ConfigFlags
from pyctrl.cli._output import print_json
from pyctrl.cli._packaging_flags import PackagingFlags, output_path
from pyctrl.cli._progress import Progress
from pyctrl.client import Client, Config
from pyctrl.errors import CommandFailed, TransportError, Unauthorized
from pyctrl.packaging import (
    PARTS,
    ChartDirectory,
    ConfigDirectory,
    Difference,
    ObjectDiff,
    Part,
    Project,
    changes,
    install,
    problems_of,
    read_chart,
    read_project,
    tree,
)
from pyctrl.rbac import to_yaml

__all__ = [
    "check_manifests",
    "print_manifests",
    "read",
    "show_changes",
    "split_words",
    "write_chart",
    "write_installer",
    "write_manifests",
    "written",
]

ALL = "all"
MANIFESTS = "pyctrl manifests"
MOST_LINES = 40  # of the diff of one file
STATES = {
    "created": "missing",
    "updated": "stale",
    "removed": "leftover",
}  # state of a file, by the verb that writes it


def split_words(words: Sequence[str]) -> tuple[str | None, tuple[Part, ...]]:
    """Split the arguments into program and parts.

    Raises:
        CommandFailed: there are several programs.
    """
    programs = [word for word in words if word != ALL and word not in PARTS]
    if len(programs) > 1:
        raise CommandFailed(
            f"expected one program, and otherwise only {', '.join(PARTS)} or {ALL}; got {' '.join(programs)}"
        )
    named = tuple(part for part in PARTS if part in words)
    return (programs[0] if programs else None), PARTS if ALL in words else named or PARTS


def read(program: str | None, flags: PackagingFlags, directory: Path | None = None) -> Project:
    """Return the project of a program, with another directory of manifests. Raises PyctrlError."""
    settings = flags.settings(program)
    if directory is not None:
        settings = replace(settings, config_dir=str(directory.absolute()))
    return asyncio.run(read_project(settings, with_samples=True))


def print_manifests(words: Sequence[str], flags: PackagingFlags, *, output: str) -> int:
    """Print the manifests, as YAML documents or as a JSON List; return the exit code."""
    program, wanted = split_words(words)
    objects = _objects(read(program, flags), wanted)
    if output == "json":
        print_json({"apiVersion": "v1", "kind": "List", "items": objects})
    else:
        sys.stdout.write(to_yaml(objects))
    return 0


def write_manifests(
    words: Sequence[str],
    flags: PackagingFlags,
    *,
    directory: Path | None,
    check: bool,
    force: bool,
    output: str = "text",
) -> int:
    """Write the manifests, or with ``check`` show what is out of date; return the exit code."""
    program, wanted = split_words(words)
    project = read(program, flags, directory)
    texts = tree(project, wanted)
    found = ConfigDirectory(project.settings.directory).differences(texts, parts=wanted, force=force)
    if not check:
        written(found)
    samples = [project.settings.directory / path for path in texts if path.startswith("samples/")]
    problems = _sample_problems(project, [*samples, *(each.file for each in project.samples)])
    if output == "text":
        _tell(problems)
    code = check_manifests(found, problems, output) if check else 0
    return max(code, int(check and bool(problems)))


def write_installer(program: str | None, flags: PackagingFlags, *, file: Path | None, check: bool, output: str) -> int:
    """Write all manifests to one file, or with ``check`` show what is out of date; return the exit code."""
    project = read(program, flags)
    path = output_path(file, project.settings, project.settings.install_file)
    found = _one_file(path, to_yaml(install(project)))
    return check_manifests(found, [], output, "pyctrl build-installer") if check else written(found)


def write_chart(
    program: str | None,
    flags: PackagingFlags,
    *,
    directory: Path | None,
    check: bool,
    force: bool,
    output: str = "text",
) -> int:
    """Write a Helm chart, or with ``check`` show what is out of date; return the exit code."""
    settings = flags.settings(program)
    chart = asyncio.run(read_chart(settings))
    place = ChartDirectory(output_path(directory, settings, settings.chart_dir))
    found = place.differences(chart, force=force)
    if not check:
        return written(found)
    return check_manifests(found, [], output, "pyctrl helm")


def _sample_problems(project: Project, files: Sequence[Path]) -> list[str]:
    """Return the problems of samples, including edited ones."""
    found = []
    for file in dict.fromkeys(files):
        if file.exists():
            found += [str(each) for each in problems_of(file.read_text("utf-8"), project.definitions, str(file))]
    return found


def _tell(problems: Sequence[str]) -> None:
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        cure = "change it, or give its fields Field(examples=[...]) and remove it"
        print(f"a sample is invalid: {cure}", file=sys.stderr)


def show_changes(words: Sequence[str], flags: PackagingFlags, login: ConfigFlags, *, output: str = "text") -> int:
    """Print what applying the manifests would change in the cluster; return the exit code, 1 for any change."""
    program, wanted = split_words(words)
    return asyncio.run(
        _show_changes(read_project(flags.settings(program), with_samples=True), wanted, login.config(), output)
    )


async def _show_changes(reading: Awaitable[Project], wanted: Sequence[Part], config: Config, output: str) -> int:
    objects, found = _objects(await reading, wanted), []
    async with Client.connect(config) as client:
        try:
            with Progress(f"the API server at {config.server}", quiet=output != "text") as progress:
                async for change in changes(client, objects):
                    found.append(change)
                    progress.clear()
                    sys.stdout.write(change.diff if output == "text" else "")
        except (TransportError, Unauthorized) as error:
            from pyctrl.cli._login_errors import explain_login_error  # here: needed for errors only

            raise await explain_login_error(error, config) from error
    if output != "text":
        print_json({"changes": [_change_to_wire(each) for each in found]})
    return int(bool(found))


def _change_to_wire(change: ObjectDiff) -> dict[str, object]:
    action = "create" if change.is_new else "update"
    return {
        "action": action,
        "kind": change.kind,
        "namespace": change.key.namespace,
        "name": change.key.name,
        "diff": change.diff,
    }


def _objects(project: Project, wanted: Sequence[Part]) -> list[dict[str, object]]:
    return install(project, wanted)


def _one_file(path: Path, text: str) -> list[Difference]:
    before = path.read_text(encoding="utf-8") if path.exists() else None
    return [Difference(path, before, text)] if before != text else []


def check_manifests(found: Sequence[Difference], problems: Sequence[str], output: str, command: str = MANIFESTS) -> int:
    """Show what is out of date, and the command that updates it; return the exit code.

    Missing and superfluous files are listed. Of changed files the diff is shown, up to `MOST_LINES` of them.

    Args:
        found: the files.
        problems: other problems, for JSON output.
        output: ``text`` or ``json``, which has the whole diffs.
        command: the command that updates the files.
    """
    if output != "text":
        files = [{"path": str(each.path), "state": STATES[each.verb], "diff": each.unified()} for each in found]
        print_json({"upToDate": not found, "files": files, "problems": list(problems)})
        return int(bool(found))
    for each in found:
        sys.stdout.write(_shown(each))
    if found:
        subject = "1 file is" if len(found) == 1 else f"{len(found)} files are"
        sys.stdout.flush()  # in the log of a CI job too, this line is the last
        print(f"{subject} out of date; update with: {command}", file=sys.stderr)
    return int(bool(found))


def _shown(difference: Difference) -> str:
    if difference.verb != "updated":
        return f"{STATES[difference.verb]} {difference.path}\n"
    lines = difference.unified().splitlines(keepends=True)
    rest = len(lines) - MOST_LINES
    return "".join(lines[:MOST_LINES]) + (f"... and {rest} more lines; -o json has all\n" if rest > 0 else "")


def written(found: Sequence[Difference]) -> int:
    """Write the files, and print each change; return the exit code."""
    for each in found:
        each.write()
        print(f"{each.verb} {each.path}")
    if not found:
        print("nothing changed")
    return 0
