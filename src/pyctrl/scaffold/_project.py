"""What a project is, as its pyproject.toml says: ``[tool.pyctrl.scaffold]``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pyctrl.errors import CommandFailed
from pyctrl.scaffold._names import check_domain, package_name, project_name

__all__ = ["LICENSES", "Layout", "License", "ScaffoldProject", "find_project"]

#: One file, or a module for each kind, controller and webhook.
Layout: TypeAlias = Literal["package", "single-file"]

#: What the head of each file says of its license.
License: TypeAlias = Literal["apache2", "none"]

#: By SPDX.
LICENSES: dict[License, str] = {"apache2": "Apache-2.0", "none": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldProject:
    """A project.

    Attributes:
        root: its directory.
        name: letters, digits and ``-``.
        domain: what the groups of its kinds end with.
        layout: how its files lie.
        license: of its files.
        owner: whose they are; "": nobody is named.
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
        """Return a project of these names.

        Args:
            root: its directory, absolute.
            name: "": that of the directory.
            domain, layout, license, owner: as the attributes.

        Raises:
            CommandFailed: it cannot be called so; says how it could.
        """
        check_domain(domain)
        if not owner.isprintable():
            raise CommandFailed(f"{owner!r} is no name of an owner: it has to fit into a line")
        name = project_name(name or root.name)
        return cls(root=root, name=name, domain=domain, layout=layout, license=license, owner=owner)

    @property
    def package(self) -> str:
        """What Python calls it: a package, or a file without its ending."""
        return package_name(self.name)

    @property
    def program(self) -> str:
        """What `pyctrl run` takes."""
        return self.package if self.layout == "package" else f"{self.package}.py"

    def python(self, text: str) -> str:
        """Return a file of Python, with the license and the owner at its head."""
        owner = f"# SPDX-FileCopyrightText: {self.owner}\n" if self.owner else ""
        terms = f"# SPDX-License-Identifier: {LICENSES[self.license]}\n" if LICENSES[self.license] else ""
        return f"{owner}{terms}\n{text}" if owner or terms else text


def find_project(start: Path) -> ScaffoldProject:
    """Return the project that a directory is in.

    Raises:
        CommandFailed: it is in none; or its pyproject.toml cannot be understood.
    """
    for directory in (start, *start.parents):
        file = directory / "pyproject.toml"
        if file.is_file():
            return _read(file)
    raise CommandFailed(f"{start} is no project of pyctrl: it has no pyproject.toml; pyctrl init makes one")


def _read(file: Path) -> ScaffoldProject:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{file}: {error}") from error
    table = document.get("tool", {}).get("pyctrl", {}).get("scaffold")
    if table is None:
        raise CommandFailed(
            f"{file} has no [tool.pyctrl.scaffold]: it was not made by pyctrl init; with "
            '[tool.pyctrl.scaffold] domain = "example.com" in it, kinds can be added'
        )
    name = document.get("project", {}).get("name")
    if not isinstance(name, str) or not isinstance(table.get("domain"), str):
        raise CommandFailed(f"{file}: the name of [project] and the domain of [tool.pyctrl.scaffold] were expected")
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
            f"{file}: [tool.pyctrl.scaffold] has {value!r} where one of {', '.join(get_args(choices))} was expected"
        )
    return value
