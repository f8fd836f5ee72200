"""Deletion of the generated files of a kind or its webhooks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyctrl.errors import CommandFailed
from pyctrl.scaffold._api_templates import Api, api_files, controller_files
from pyctrl.scaffold._existing_source import as_declared, imports, module_name, sources, types_module, versions_of
from pyctrl.scaffold._folder import Folder
from pyctrl.scaffold._project import ScaffoldProject
from pyctrl.scaffold._source_edit import insert_classes
from pyctrl.scaffold._webhook_templates import (
    HOOKS,
    AddedClass,
    Hook,
    added_class,
    conversion_files,
    hook_files,
    hook_module,
)

__all__ = ["Removal", "removal_of", "webhook_removal_of"]

Files = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """The files to delete.

    Attributes:
        files: the generated files that exist.
        edited: those of them that were edited.
        users: other files of the project that import them.
    """

    files: tuple[str, ...]
    edited: tuple[str, ...]
    users: tuple[str, ...]

    def check(self) -> None:
        """Raise CommandFailed if edits would be lost, or imports would break."""
        if self.edited:
            was_or_were = "was" if len(self.edited) == 1 else "were"
            raise CommandFailed(
                f"{', '.join(self.edited)} {was_or_were} edited; nothing was removed, --force removes edited files, too"
            )
        if self.users:
            raise CommandFailed(
                f"{', '.join(self.users)} {'imports' if len(self.users) == 1 else 'import'} a file to remove; nothing "
                "was removed, --force removes it nevertheless"
            )


def removal_of(project: ScaffoldProject, api: Api) -> Removal:
    """Return the files of a version of a kind: types, controller and webhooks.

    The conversion is included with either of its last two versions.

    Raises:
        CommandFailed: the kind does not exist, or a file is not valid Python.
    """
    folder = Folder(project.root)
    api = as_declared(project, api, folder)
    made = _made(project, api) | _hooks(project, api, HOOKS)
    if len(_converted(project, api, folder)) == 2:
        made |= _conversion(project, api, folder)
    removal = _removal(project, api, folder, made)
    if not removal.files:
        raise CommandFailed(f"there is no {api.kind} of version {api.version} in {project.program}")
    return removal


def webhook_removal_of(project: ScaffoldProject, api: Api, what: Collection[str]) -> Removal:
    """Return the files of the webhooks of a version.

    Args:
        project: the project.
        api: the version.
        what: "default", "validate" and "convert", or some of them.

    Raises:
        CommandFailed: there are none, the project is a single file, or a file is not valid Python.
    """
    folder = Folder(project.root)
    hooks = [hook for hook in HOOKS if hook in what]
    if project.layout == "single-file":
        names = " and ".join(added_class(api, hook).name for hook in hooks)
        raise CommandFailed(f"the project is a single file: remove {names or 'the conversion'} from {project.program}")
    made = _hooks(project, api, hooks) | (_conversion(project, api, folder) if "convert" in what else {})
    removal = _removal(project, api, folder, made)
    if not removal.files:
        named = " or ".join(what)
        raise CommandFailed(f"{project.program} has no webhook of {api.kind}, version {api.version}, to {named}")
    return removal


def _removal(project: ScaffoldProject, api: Api, folder: Folder, made: Files) -> Removal:
    there = {path: text for path in made if (text := folder.text(path)) is not None}
    module = types_module(project, api)
    mine = {path: text for path, text in there.items() if module_name(path) == module or module in imports(path, text)}
    gone = {module_name(path) for path in mine}
    return Removal(
        files=tuple(mine),
        edited=tuple(path for path, text in mine.items() if text not in made[path]),
        users=tuple(
            path
            for path, text in sources(folder, project)
            if path not in mine and gone.intersection(imports(path, text))
        ),
    )


def _made(project: ScaffoldProject, api: Api) -> dict[str, Collection[str]]:
    """Return the generated files of a kind that no other kind shares."""
    types = {} if project.layout == "single-file" else api_files(project, api)
    made = _own(types | controller_files(project, api))
    if project.layout == "single-file":
        path, hooks = project.program, [added_class(api, hook) for hook in HOOKS]
        orders: Sequence[list[AddedClass]] = ([], hooks[:1], hooks[1:], hooks, hooks[::-1])
        made[path] = {insert_classes(path, text, order) for text in made[path] for order in orders}
    return made


def _hooks(project: ScaffoldProject, api: Api, hooks: Iterable[Hook]) -> dict[str, Collection[str]]:
    return {path: texts for hook in hooks for path, texts in _own(hook_files(project, api, hook)).items()}


def _conversion(project: ScaffoldProject, api: Api, folder: Folder) -> dict[str, Collection[str]]:
    """Return the files of the conversion, as generated with any of its versions as the hub."""
    versions = _converted(project, api, folder)
    found: dict[str, Collection[str]] = {}
    for hub in versions:
        spokes = [each for each in versions if each != hub]
        for path, texts in _own(conversion_files(project, replace(api, version=hub), spokes)).items():
            found[path] = {*found.get(path, ()), *texts}
    return found


def _converted(project: ScaffoldProject, api: Api, folder: Folder) -> Sequence[str]:
    """Return the versions that the conversion has."""
    path = f"{hook_module(project, api, 'convert').replace('.', '/')}.py"
    needed = imports(path, folder.text(path) or "")
    versions = versions_of(project, api, folder)
    return [each for each in versions if types_module(project, replace(api, version=each)) in needed]


def _own(files: Mapping[str, str]) -> dict[str, Collection[str]]:
    """Return the files that other kinds do not share."""
    return {path: {text} for path, text in files.items() if Path(path).name != "__init__.py"}
