"""The scaffolded project: ``[tool.pyctrl.scaffold]`` of its pyproject.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pyctrl.errors import CommandFailed
from pyctrl.scaffold._names import check_domain, package_name, project_name

__all__ = ["LICENSES", "Layout", "License", "ScaffoldProject", "find_project"]

#: The layout of a project: a package with a module for each kind, controller and webhook, or a single file.
Layout: TypeAlias = Literal["package", "single-file"]

#: The license header of each file.
License: TypeAlias = Literal["apache2", "none"]

#: SPDX identifiers.
LICENSES: dict[License, str] = {"apache2": "Apache-2.0", "none": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldProject:
    """A scaffolded project.

    Attributes:
        root: its directory.
        name: letters, digits and ``-``.
        domain: the suffix of the groups of its kinds.
        layout: the layout of its files.
        license: the license of its files.
        owner: the copyright holder; "" for none.
    """

    root: Path
    name: str
    domain: str
    layout: Layout = "package"
    license: License = "none"
    owner: str = ""

    @classmethod
    def checked(
        cls, root: Path, *, name: str, domain: str, layout: Layout, license: License = "none", owner: str = ""
    ) -> ScaffoldProject:
        """Return a project with checked names.

        Args:
            root: its directory, absolute.
            name: "" for the name of the directory.
            domain: see the attribute; so for layout, license and owner.

        Raises:
            CommandFailed: a name is invalid; the message says what is expected.
        """
        check_domain(domain)
        if not owner.isprintable():
            raise CommandFailed(f"{owner!r} is not a valid owner: expected one printable line")
        name = project_name(name or root.name)
        return cls(root=root, name=name, domain=domain, layout=layout, license=license, owner=owner)

    @property
    def package(self) -> str:
        """The name of its package, or of its file without the extension."""
        return package_name(self.name)

    @property
    def program(self) -> str:
        """The program, as `pyctrl run` takes it."""
        return self.package if self.layout == "package" else f"{self.package}.py"

    def python(self, text: str) -> str:
        """Return the text of a Python file, with a license header."""
        owner = f"# SPDX-FileCopyrightText: {self.owner}\n" if self.owner else ""
        terms = f"# SPDX-License-Identifier: {LICENSES[self.license]}\n" if LICENSES[self.license] else ""
        return f"{owner}{terms}\n{text}" if owner or terms else text


def find_project(start: Path) -> ScaffoldProject:
    """Return the project that a directory is in.

    Raises:
        CommandFailed: there is none, or its pyproject.toml is invalid.
    """
    for directory in (start, *start.parents):
        file = directory / "pyproject.toml"
        if file.is_file():
            return _read(file)
    raise CommandFailed(f"{start} is not a pyctrl project: there is no pyproject.toml; create one with pyctrl init")


def _read(file: Path) -> ScaffoldProject:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{file}: {error}") from error
    table = document.get("tool", {}).get("pyctrl", {}).get("scaffold")
    if table is None:
        raise CommandFailed(
            f"{file} has no [tool.pyctrl.scaffold], as pyctrl init writes it; to add kinds to this project, add "
            '[tool.pyctrl.scaffold] domain = "example.com"'
        )
    name = document.get("project", {}).get("name")
    if not isinstance(name, str) or not isinstance(table.get("domain"), str):
        raise CommandFailed(f"{file}: expected name in [project] and domain in [tool.pyctrl.scaffold]")
    return ScaffoldProject(
        root=file.parent,
        name=name,
        domain=table["domain"],
        layout=_one_of(Layout, table.get("layout", "package"), file),
        license=_one_of(License, table.get("license", "none"), file),
        owner=str(table.get("owner", "")),
    )


def _one_of(choices: Any, value: Any, file: Path) -> Any:
    if value not in get_args(choices):
        raise CommandFailed(
            f"{file}: [tool.pyctrl.scaffold] has {value!r}; expected one of {', '.join(get_args(choices))}"
        )
    return value
