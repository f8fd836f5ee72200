"""Scaffolding of webhooks in an existing project."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from pyctrl.errors import CommandFailed
from pyctrl.scaffold._api_templates import Api
from pyctrl.scaffold._existing_source import as_declared, imports, kind_class, parsed, types_module, versions_of
from pyctrl.scaffold._folder import Folder
from pyctrl.scaffold._project import ScaffoldProject
from pyctrl.scaffold._source_edit import insert_classes
from pyctrl.scaffold._webhook_templates import Hook, added_class, conversion_files, hook_files, hook_module

__all__ = ["WebhookScaffolder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookScaffolder:
    """Scaffolds webhooks of one version of a kind.

    Attributes:
        project: the project.
        api: the version that the webhooks receive; for a conversion, the hub, which is the storage version.
        force: whether existing files are overwritten.
    """

    project: ScaffoldProject
    api: Api
    force: bool = False

    @property
    def others(self) -> Sequence[str]:
        """The other versions of the kind in the project."""
        if self.project.layout == "single-file":
            return ()
        return [each for each in versions_of(self.project, self.api, self._folder) if each != self.api.version]

    @property
    def own_wiring(self) -> str:
        """The function of a single file that wires its classes explicitly; "" if they are found automatically."""
        if self.project.layout != "single-file":
            return ""
        path = self.project.program
        body = parsed(path, self._folder.text(path) or "").body
        names = [node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("add_")]
        return next(iter(names), "")

    def check(self) -> None:
        """Raise CommandFailed if the kind does not exist, or a file is not valid Python."""
        as_declared(self.project, self.api, self._folder)
        api, program = self.api, self.project.program
        if kind_class(self.project, api, self._folder) is None:
            raise CommandFailed(
                f"{program} has no {api.kind} of version {api.version}: create it with pyctrl create api; for a kind "
                "of another project, write a Defaulter or Validator in any module of this one: it is found there"
            )

    def files(self, hooks: Collection[Hook], spokes: Collection[str] | None) -> dict[str, str]:
        """Return the files to write, by path.

        Args:
            hooks: the admission webhooks to scaffold.
            spokes: the versions that are converted to and from the hub; all others if empty; None for no conversion.

        Raises:
            CommandFailed: there is no version to convert, or a file exists and differs.
        """
        wanted: dict[str, str] = {}
        for hook in hooks:
            self._check_version(hook)
            wanted |= hook_files(self.project, self.api, hook)
        made: Mapping[str, str] = {}
        if spokes is not None:
            versions = self._spokes(spokes)
            wanted |= conversion_files(self.project, self.api, versions)
            made = self._conversion_before(versions)
        return self._single_file(hooks) | self._folder.missing(wanted, force=self.force, made=made)

    @property
    def _folder(self) -> Folder:
        return Folder(self.project.root)

    def _single_file(self, hooks: Collection[Hook]) -> dict[str, str]:
        """Return the program with the missing classes inserted; its existing code does not change."""
        path = self.project.program
        if self.project.layout != "single-file" or not hooks:
            return {}
        text = self._folder.text(path) or ""
        new = insert_classes(path, text, [added_class(self.api, hook) for hook in hooks])
        return {path: new} if new != text else {}

    def _check_version(self, hook: Hook) -> None:
        """Raise CommandFailed if the webhook exists for another version."""
        found = [each for each in self.others if types_module(self.project, self._of(each)) in self._needs(hook)]
        if found and types_module(self.project, self.api) not in self._needs(hook) and not self.force:
            raise CommandFailed(
                f"{self._path(hook)} exists for version {found[0]}, and is called for {self.api.version} as well: the "
                f"API server converts objects to {found[0]} first; --force overwrites it"
            )

    def _spokes(self, said: Collection[str]) -> Sequence[str]:
        api, program = self.api, self.project.program
        if self.project.layout == "single-file":
            raise CommandFailed(
                f"{program} is a single file with one version; add a second class of {api.kind} to it, and this: "
                f"CONVERSION = Conversion({api.kind}, Spoke(Old{api.kind}, to_hub=…, from_hub=…))"
            )
        others = self.others
        if not others:
            raise CommandFailed(
                f"{api.version} is the only version of {api.kind}, so there is nothing to convert; create another one "
                "with pyctrl create api --no-controller"
            )
        if missing := [each for each in said if each not in others]:
            raise CommandFailed(
                f"--spoke {missing[0]}: {program} has no such version of {api.kind}; the others are {', '.join(others)}"
            )
        return [each for each in others if not said or each in said]

    def _conversion_before(self, spokes: Sequence[str]) -> dict[str, str]:
        """Return the files of the conversion as generated for the versions that it already has.

        Raises:
            CommandFailed: the conversion was edited and lacks a version; the message says how to add it.
        """
        known = [each for each in spokes if types_module(self.project, self._of(each)) in self._needs("convert")]
        text = self._folder.text(self._path("convert"))
        if text is None or not known or self.force:
            return {}
        made = conversion_files(self.project, self.api, known)
        new = [each for each in spokes if each not in known]
        if new and text != made[self._path("convert")]:
            hub, kind = self.api.version, self.api.kind
            raise CommandFailed(
                f"{self._path('convert')} was edited, and lacks {new[0]}; add to its Conversion, with two functions "
                f"like the existing ones: Spoke({new[0]}.{kind}, to_hub={new[0]}_to_{hub}, from_hub={hub}_to_{new[0]})"
            )
        return made

    def _needs(self, what: str) -> set[str]:
        path = self._path(what)
        return imports(path, self._folder.text(path) or "")

    def _path(self, what: str) -> str:
        return f"{hook_module(self.project, self.api, what).replace('.', '/')}.py"

    def _of(self, version: str) -> Api:
        return replace(self.api, version=version)
