"""The files of a kind that can go: those that were made for it, as long as nobody needs them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pyctrl.errors import CommandFailed

from ._api import Api, api_files, controller_files
from ._folder import Folder
from ._project import ScaffoldProject

__all__ = ["Removal", "removal_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What goes with a kind.

    Attributes:
        files: what was made for it and is there.
        edited: those of them that are not as they were made.
        users: other files of the project that import them.
    """

    files: tuple[str, ...]
    edited: tuple[str, ...]
    users: tuple[str, ...]

    def check(self) -> None:
        """Raise CommandFailed if somebody's work would be lost, or something would no longer be found."""
        if self.edited:
            is_or_are = "is" if len(self.edited) == 1 else "are"
            raise CommandFailed(
                f"{', '.join(self.edited)} {is_or_are} not as made; nothing was removed, --force removes edited files, "
                "too"
            )
        if self.users:
            raise CommandFailed(
                f"{', '.join(self.users)} {'needs' if len(self.users) == 1 else 'need'} what would go; nothing was "
                "removed, --force removes it all the same"
            )


def removal_of(project: ScaffoldProject, api: Api) -> Removal:
    """Find what goes with a version of a kind. The controller goes with the version that it is for.

    Raises:
        CommandFailed: there is no such kind; or a file is no Python.
    """
    folder = Folder(project.root)
    made = _made(project, _as_written(project, api, folder))
    there = {path: text for path in made if (text := folder.text(path)) is not None}
    module = _module(project, api)
    mine = {
        path: text for path, text in there.items() if _module_name(path) == module or module in _imports(path, text)
    }
    if not mine:
        raise CommandFailed(f"there is no {api.kind} of version {api.version} in {project.program}")
    gone = {_module_name(path) for path in mine}
    return Removal(
        files=tuple(mine),
        edited=tuple(path for path, text in mine.items() if text != made[path]),
        users=tuple(
            path
            for path, text in _sources(folder, project)
            if path not in mine and gone.intersection(_imports(path, text))
        ),
    )


def _made(project: ScaffoldProject, api: Api) -> dict[str, str]:
    """Return what was written for a kind and for nothing else."""
    types = {} if project.layout == "single-file" else api_files(project, api)
    files = types | controller_files(project, api)
    return {path: text for path, text in files.items() if Path(path).name != "__init__.py"}


def _module(project: ScaffoldProject, api: Api) -> str:
    return project.package if project.layout == "single-file" else f"{project.package}.api.{api.version}.{api.module}"


def _as_written(project: ScaffoldProject, api: Api, folder: Folder) -> Api:
    """Return the kind with the plural and the scope that its class has."""
    path = f"{_module(project, api).replace('.', '/')}.py"
    tree = _parsed(path, folder.text(path) or "")
    found = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == api.kind]
    said = {
        keyword.arg: keyword.value.value
        for node in found
        for keyword in node.keywords
        if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    }
    group = said.get("group", api.group)
    if found and group != api.group:
        raise CommandFailed(f"the {api.kind} of version {api.version} is of the group {group}, and not of {api.group}")
    return replace(api, plural=said.get("plural", ""), is_namespaced=said.get("scope") != "Cluster")


def _sources(folder: Folder, project: ScaffoldProject) -> Iterator[tuple[str, str]]:
    for place in (project.package, "tests"):
        for file in sorted((folder.root / place).rglob("*.py")):
            path = file.relative_to(folder.root).as_posix()
            yield path, folder.text(path) or ""


def _module_name(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _imports(path: str, text: str) -> set[str]:
    """Return the modules that a file imports, as far as its syntax tells."""
    package = _module_name(path).split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(_parsed(path, text)):
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found.update([base, *(f"{base}.{each.name}" for each in node.names)])
    return found


def _parsed(path: str, text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise CommandFailed(f"{path}, line {error.lineno}: {error.msg}") from error
