"""Writing of a program's manifests and charts, and checks that they are up to date."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Sequence
from pathlib import Path

from pyctrl.cli._client_flags import ConfigFlags
from pyctrl.cli._output import print_json
from pyctrl.cli._packaging_flags import PackagingFlags
from pyctrl.cli._progress import Progress
from pyctrl.client import Client, Config
from pyctrl.errors import CommandFailed, TransportError, Unauthorized
from pyctrl.packaging import (
    INDEX,
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
    "absent",
    "check_manifests",
    "print_manifests",
    "read",
    "show_changes",
    "split_words",
    "write_chart",
    "write_manifests",
    "written",
]

ALL = "all"
STDOUT = Path("-")
MANIFESTS = "pyctrl manifests"
CHART = Path("chart")  # not dist/ as in kubebuilder: projects that build wheels have it in .gitignore
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


def read(program: str | None, flags: PackagingFlags) -> Project:
    """Return the project of a program. Raises PyctrlError."""
    return asyncio.run(read_project(flags.settings(program), with_samples=True))


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
    words: Sequence[str], flags: PackagingFlags, *, file: Path | None, check: bool, force: bool, output: str = "text"
) -> int:
    """Write the manifests, or with ``check`` show what is out of date; return the exit code."""
    if file == STDOUT and not check:
        return print_manifests(words, flags, output="yaml")
    program, wanted = split_words(words)
    project = read(program, flags)
    if file is not None:
        found = _one_file(file, to_yaml(_objects(project, wanted)))
        command = f"{MANIFESTS} --install {file}"
        return check_manifests(found, [], output, command, never=absent(file)) if check else written(found)
    directory, texts = ConfigDirectory(project.settings.directory), tree(project, wanted)
    found = directory.differences(texts, parts=wanted, force=force)
    if not check:
        written(found)
    samples = [project.settings.directory / path for path in texts if path.startswith("samples/")]
    problems = _sample_problems(project, [*samples, *(each.file for each in project.samples)])
    if output == "text":
        _tell(problems)
    code = (
        check_manifests(found, problems, output, never=absent(directory.path, "no manifests in", INDEX)) if check else 0
    )
    return max(code, int(check and bool(problems)))


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
    place = ChartDirectory(directory or settings.root / CHART)
    found = place.differences(chart, force=force)
    if not check:
        return written(found)
    return check_manifests(found, [], output, "pyctrl helm", never=absent(place.path, "no chart at"))


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


def check_manifests(
    found: Sequence[Difference],
    problems: Sequence[str],
    output: str,
    command: str = MANIFESTS,
    *,
    never: str = "",
) -> int:
    """Show what is out of date, and the command that updates it; return the exit code.

    Args:
        found: the files. Of changed files the diff is shown, of missing and superfluous ones the path.
        problems: other problems, for JSON output.
        output: ``text`` or ``json``.
        command: the command that updates the files.
        never: a sentence if nothing was ever written, which is then the only output; otherwise "".
    """
    if output != "text":
        files = [{"path": str(each.path), "state": STATES[each.verb], "diff": each.unified()} for each in found]
        print_json({"upToDate": not found, "files": files, "problems": list(problems)})
        return int(bool(found))
    if never and found:
        print(f"{never}; run {command}", file=sys.stderr)
        return 1
    for each in found:
        sys.stdout.write(each.unified() if each.verb == "updated" else f"{STATES[each.verb]} {each.path}\n")
    if found:
        subject = "1 file is" if len(found) == 1 else f"{len(found)} files are"
        print(f"{subject} out of date; update with: {command}", file=sys.stderr)
    return int(bool(found))


def absent(path: Path, prefix: str = "no", file: str = "") -> str:
    """Return a sentence if something was never written; otherwise "".

    Args:
        path: the path to write.
        prefix: the beginning of the sentence.
        file: a file that is always written.
    """
    return "" if (path / file).exists() else f"{prefix} {path}"


def written(found: Sequence[Difference]) -> int:
    """Write the files, and print each change; return the exit code."""
    for each in found:
        each.write()
        print(f"{each.verb} {each.path}")
    if not found:
        print("nothing changed")
    return 0
