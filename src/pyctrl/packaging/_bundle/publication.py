"""What its author says of an operator that is published: the table ``[tool.pyctrl.bundle]`` of pyproject.toml."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pyctrl.errors import CommandFailed
from pyctrl.packaging._settings import read_pyproject

__all__ = ["INSTALL_MODES", "MEDIA_TYPES", "InstallMode", "Link", "Person", "Publication", "read_publication"]

#: Which namespaces an operator may be told to look at: its own, one, several, or all of them.
InstallMode: TypeAlias = Literal["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"]

INSTALL_MODES: tuple[InstallMode, ...] = get_args(InstallMode)

TABLE = "tool.pyctrl.bundle"

MEDIA_TYPES = {
    ".gif": "image/gif", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml",
}  # fmt: skip


class _Table(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", strict=True, frozen=True, alias_generator=lambda name: name.replace("_", "-"),
        populate_by_name=True,
    )  # fmt: skip


class Person(_Table):
    """Who maintains it."""

    name: str = ""
    email: str = ""


class Link(_Table):
    """A name, and where it leads."""

    name: str
    url: str = ""


class Publication(_Table):
    """What its author says of an operator that is published. What is empty is derived, or left out.

    Attributes:
        package: what it is called in a catalog; by default the program's name.
        channels: what users subscribe to.
        default_channel: for those who name none; by default the first.
        display_name: its name for people; by default the program's, in words.
        description: Markdown; by default that of ``[project]``, or of its kinds.
        icon: a file beside pyproject.toml: SVG, PNG, JPEG or GIF.
        provider: who publishes it.
        maintainers: by default those of ``[project]``, or its authors, who have an address.
        keywords: by default those of ``[project]``.
        links: by name; by default the URLs of ``[project]``.
        maturity: such as ``alpha`` or ``stable``.
        min_kube_version: the oldest Kubernetes that it is for, ``1.30.0``.
        categories: of operatorhub.io.
        capabilities: the level, ``Basic Install`` to ``Auto Pilot``.
        architectures: what its image is there for; nothing said means amd64.
        install_modes: which namespaces it may be told to look at; by default all of them at once, or with
            ``watch-namespaces`` anything but that.
        annotations: further ones, of the ClusterServiceVersion.
        version: of ``[project]``, for a release that has none of its own.
        root: where the icon is looked for.
    """

    package: str = ""
    channels: tuple[str, ...] = Field(default=("stable",), min_length=1, strict=False)
    default_channel: str = ""
    display_name: str = ""
    description: str = ""
    icon: str = ""
    provider: Link | None = None
    maintainers: tuple[Person, ...] = Field(default=(), strict=False)
    keywords: tuple[str, ...] = Field(default=(), strict=False)
    links: Mapping[str, str] = {}
    maturity: str = ""
    min_kube_version: str = ""
    categories: tuple[str, ...] = Field(default=(), strict=False)
    capabilities: str = "Basic Install"
    architectures: tuple[str, ...] = Field(default=(), strict=False)
    install_modes: tuple[InstallMode, ...] = Field(default=(), strict=False)
    annotations: Mapping[str, str] = {}
    version: str = ""
    root: Path = Path()

    def icon_data(self) -> dict[str, str] | None:
        """Return the icon as a ClusterServiceVersion has it.

        Raises:
            CommandFailed: there is no such file, or it is no picture.
        """
        if not self.icon:
            return None
        file = self.root / self.icon
        if file.suffix.lower() not in MEDIA_TYPES:
            raise CommandFailed(f"[{TABLE}] icon: one of {', '.join(MEDIA_TYPES)} was expected; got {self.icon!r}")
        data = base64.b64encode(file.read_bytes()).decode()
        return {"base64data": data, "mediatype": MEDIA_TYPES[file.suffix.lower()]}


def read_publication(start: Path) -> Publication:
    """Read ``[tool.pyctrl.bundle]`` and ``[project]`` of the pyproject.toml that `read_settings` reads.

    Raises:
        CommandFailed: the file is no TOML, or something in the table is not understood; says what.
    """
    found = read_pyproject(start)
    if found is None:
        return Publication()
    file, document = found
    table = document["tool"]["pyctrl"].get("bundle", {})
    said = _of_project(document.get("project", {})) | {"root": file.parent} | dict(table)
    try:
        return Publication.model_validate(said)
    except ValidationError as error:
        raise CommandFailed(f"{file}: [{TABLE}] {_described(error)}") from error


def _of_project(project: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the metadata of the Python package says already."""
    people = [each for each in project.get("maintainers") or project.get("authors") or () if "email" in each]
    found = {
        "description": project.get("description"),
        "keywords": project.get("keywords"),
        "maintainers": people,
        "links": project.get("urls"),
        "version": project.get("version"),
    }
    return {key: value for key, value in found.items() if value}


def _described(error: ValidationError) -> str:
    """Say in one line what was expected, and what came."""
    first = error.errors()[0]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).removeprefix(".")
    if first["type"] == "extra_forbidden":
        known = sorted(name.replace("_", "-") for name in Publication.model_fields if name not in {"version", "root"})
        return f"has no {path!r}; there are {', '.join(known)}"
    return f"{path}: {first['msg']}; got {first['input']!r}"
