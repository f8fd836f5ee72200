"""The kinds and imports of an existing project, found in the syntax trees of its files; nothing is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pyctrl.errors import CommandFailed
from pyctrl.scaffold._api_templates import Api
from pyctrl.scaffold._folder import Folder
from pyctrl.scaffold._project import ScaffoldProject

__all__ = [
    "as_declared",
    "imports",
    "in_order",
    "kind_class",
    "module_name",
    "parsed",
    "sources",
    "types_module",
    "versions_of",
]

_PARTS = re.compile(r"(\D*)(\d*)")


def types_module(project: ScaffoldProject, api: Api) -> str:
    """Return the module of a version's types."""
    return project.package if project.layout == "single-file" else f"{project.package}.api.{api.version}.{api.module}"


def as_declared(project: ScaffoldProject, api: Api, folder: Folder) -> Api:
    """Return the kind with the plural and scope of its class; unchanged if there is no class.

    Raises:
        CommandFailed: the class has another group, or a file is not valid Python.
    """
    found = kind_class(project, api, folder)
    if found is None:
        return api
    said = {
        keyword.arg: keyword.value.value
        for keyword in found.keywords
        if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    }
    group = said.get("group", api.group)
    if group != api.group:
        raise CommandFailed(f"the {api.kind} of version {api.version} is in the group {group}, not in {api.group}")
    namespaced, image = said.get("scope") != "Cluster", _image_of(project, api, folder)
    return replace(api, plural=said.get("plural", ""), is_namespaced=namespaced, image=image)


def _image_of(project: ScaffoldProject, api: Api, folder: Folder) -> str:
    """Return the image of the controller's Deployment; "" if it was created without one."""
    path = project.program if project.layout == "single-file" else f"{project.package}/controllers/{api.module}.py"
    for each in parsed(path, folder.text(path) or "").body:
        if (
            isinstance(each, ast.Assign)
            and isinstance(each.value, ast.Constant)
            and ast.unparse(each.targets[0]) == "IMAGE"
        ):
            return str(each.value.value)
    return ""


def kind_class(project: ScaffoldProject, api: Api, folder: Folder) -> ast.ClassDef | None:
    """Return the class of a version; None if there is none. Raises CommandFailed if the file is not valid Python."""
    path = f"{types_module(project, api).replace('.', '/')}.py"
    body = parsed(path, folder.text(path) or "").body
    return next((each for each in body if isinstance(each, ast.ClassDef) and each.name == api.kind), None)


def versions_of(project: ScaffoldProject, api: Api, folder: Folder) -> list[str]:
    """Return the versions of a kind in a package, sorted, without kinds of the same name in other groups."""
    found = (project.root / project.package / "api").glob(f"*/{api.module}.py")
    versions = in_order(path.parent.name for path in found)
    return [each for each in versions if _is_of_group(project, replace(api, version=each), folder)]


def _is_of_group(project: ScaffoldProject, api: Api, folder: Folder) -> bool:
    if kind_class(project, api, folder) is None:
        return False
    try:
        as_declared(project, api, folder)
    except CommandFailed:
        return False
    return True


def in_order(versions: Iterable[str]) -> list[str]:
    """Return versions sorted with v2 before v10, as ruff sorts the imports of their modules."""
    return sorted(versions, key=lambda each: [(word, int(digits or 0)) for word, digits in _PARTS.findall(each)])


def sources(folder: Folder, project: ScaffoldProject) -> Iterator[tuple[str, str]]:
    """Yield path and text of each Python file of the project."""
    for place in (project.package, "tests"):
        for file in sorted((folder.root / place).rglob("*.py")):
            path = file.relative_to(folder.root).as_posix()
            yield path, folder.text(path) or ""


def module_name(path: str) -> str:
    """Return the module name of a file."""
    return path.removesuffix(".py").replace("/", ".")


def imports(path: str, text: str) -> set[str]:
    """Return the modules and names that a file imports."""
    package = module_name(path).split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(parsed(path, text)):
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found.update([base, *(f"{base}.{each.name}" for each in node.names)])
    return found


def parsed(path: str, text: str) -> ast.Module:
    """Return the syntax tree of a file. Raises CommandFailed with the line if it is not valid Python."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise CommandFailed(f"{path}, line {error.lineno}: {error.msg}") from error
