"""Write the manifests of a program, or say which of them are not as they should be."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Sequence
from pathlib import Path

from pyctrl.client import Client, Config
from pyctrl.errors import CommandFailed, TransportError, Unauthorized
from pyctrl.rbac import to_yaml
from pyctrl.shipping import (
    PARTS,
    ConfigDirectory,
    Difference,
    Part,
    Project,
    changes,
    install,
    problems_of,
    read_project,
    tree,
)

from ._login import Account
from ._ship_flags import ShipFlags

__all__ = ["read", "show_changes", "split_words", "write_manifests"]

ALL = "all"
STDOUT = Path("-")


def split_words(words: Sequence[str]) -> tuple[str | None, tuple[Part, ...]]:
    """Tell the program from the parts.

    Raises:
        CommandFailed: there are several programs.
    """
    programs = [word for word in words if word != ALL and word not in PARTS]
    if len(programs) > 1:
        raise CommandFailed(
            f"one program was expected, and besides it only {', '.join(PARTS)} or {ALL}; got {' '.join(programs)}"
        )
    named = tuple(part for part in PARTS if part in words)
    return (programs[0] if programs else None), PARTS if ALL in words else named or PARTS


def read(program: str | None, flags: ShipFlags) -> Project:
    """Return everything that a program needs. Raises PyctrlError."""
    return asyncio.run(read_project(flags.settings(program)))


def write_manifests(words: Sequence[str], flags: ShipFlags, *, file: Path | None, check: bool, force: bool) -> int:
    """Write files, or with ``check`` show what is not as it should be; give the exit code."""
    program, wanted = split_words(words)
    project = read(program, flags)
    if file == STDOUT:
        sys.stdout.write(to_yaml(_objects(project, wanted)))
        return 0
    if file is not None:
        found = _one_file(file, to_yaml(_objects(project, wanted)))
        return _checked(found) if check else _written(found)
    directory, texts = ConfigDirectory(project.settings.directory), tree(project, wanted)
    found = directory.differences(texts, parts=wanted, force=force)
    code = _checked(found) if check else _written(found)
    problems = _sample_problems(project, [path for path in texts if path.startswith("samples/")])
    return max(code, int(check and problems))


def _sample_problems(project: Project, paths: Sequence[str]) -> bool:
    """Tell what is wrong with samples, those included that people have changed."""
    found = []
    for path in paths:
        file = project.settings.directory / path
        if file.exists():
            found += problems_of(file.read_text(encoding="utf-8"), project.definitions, str(file))
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        print(
            "a sample is not valid: change it, or give its fields Field(examples=[...]) and remove it", file=sys.stderr
        )
    return bool(found)


def show_changes(words: Sequence[str], flags: ShipFlags, account: Account) -> int:
    """Print what applying it all would change in the cluster; give the exit code, 1 if anything would."""
    program, wanted = split_words(words)
    return asyncio.run(_show_changes(read_project(flags.settings(program)), wanted, account.config()))


async def _show_changes(reading: Awaitable[Project], wanted: Sequence[Part], config: Config) -> int:
    objects, has_changes = _objects(await reading, wanted), False
    async with Client.connect(config) as client:
        try:
            async for text in changes(client, objects):
                sys.stdout.write(text)
                has_changes = True
        except (TransportError, Unauthorized) as error:
            from ._refusals import explained  # here: needed only now

            raise await explained(error, config) from error
    return int(has_changes)


def _objects(project: Project, wanted: Sequence[Part]) -> list[dict[str, object]]:
    return install(project, wanted)


def _one_file(path: Path, text: str) -> list[Difference]:
    before = path.read_text(encoding="utf-8") if path.exists() else None
    return [Difference(path, before, text)] if before != text else []


def _checked(found: Sequence[Difference]) -> int:
    for each in found:
        sys.stdout.write(each.unified())
    if found:
        told = "1 file is" if len(found) == 1 else f"{len(found)} files are"
        print(f"{told} not as the program says; pyctrl manifests writes what it says", file=sys.stderr)
    return int(bool(found))


def _written(found: Sequence[Difference]) -> int:
    for each in found:
        each.write()
        print(f"{each.verb} {each.path}")
    if not found:
        print("nothing changed")
    return 0
