"""Metadata of a published operator: the table ``[tool.pyctrl.bundle]`` of pyproject.toml."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pyctrl.errors import CommandFailed
from pyctrl.program import read_pyproject

__all__ = ["INSTALL_MODES", "MEDIA_TYPES", "InstallMode", "Link", "Person", "Publication", "read_publication"]

#: The namespaces that an operator can be installed for: its own, one, several, or all.
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
    """A maintainer."""

    name: str = ""
    email: str = ""


class Link(_Table):
    """A name and its URL."""

    name: str
    url: str = ""


class Publication(_Table):
    """Metadata of a published operator. Empty values are derived, or left out.

    Attributes:
        package: its name in a catalog; by default the program's name.
        channels: the channels that users subscribe to.
        default_channel: the channel of users who name none; by default the first.
        display_name: its display name; by default made of the program's name.
        description: Markdown; by default that of ``[project]``, or of its kinds.
        icon: a file next to pyproject.toml: SVG, PNG, JPEG or GIF.
        provider: the publisher.
        maintainers: by default the maintainers or authors of ``[project]`` with an email address.
        keywords: by default those of ``[project]``.
        links: by name; by default the URLs of ``[project]``.
        maturity: such as ``alpha`` or ``stable``.
        min_kube_version: the oldest supported Kubernetes version, such as ``1.30.0``.
        categories: categories of operatorhub.io.
        capabilities: the capability level, ``Basic Install`` to ``Auto Pilot``.
        architectures: the architectures of its image; OLM takes an empty list as amd64.
        install_modes: the supported install modes; by default AllNamespaces or, with ``watch-namespaces``, all others.
        annotations: additional annotations of the ClusterServiceVersion.
        version: the version of ``[project]``, for a release without its own.
        root: the directory of the icon.
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
        """Return the icon as it is in a ClusterServiceVersion; None if there is none.

        Raises:
            CommandFailed: the file is not an image of a supported type.
        """
        if not self.icon:
            return None
        file = self.root / self.icon
        if file.suffix.lower() not in MEDIA_TYPES:
            raise CommandFailed(f"[{TABLE}] icon: expected one of {', '.join(MEDIA_TYPES)}; got {self.icon!r}")
        data = base64.b64encode(file.read_bytes()).decode()
        return {"base64data": data, "mediatype": MEDIA_TYPES[file.suffix.lower()]}


def read_publication(start: Path) -> Publication:
    """Read ``[tool.pyctrl.bundle]`` and ``[project]`` of the pyproject.toml that `read_settings` reads.

    Raises:
        CommandFailed: the file is not valid TOML, or the table is invalid; the message says where.
    """
    found = read_pyproject(start)
    if found is None:
        return Publication()
    file, document = found
    table = document["tool"]["pyctrl"].get("bundle", {})
    values = _of_project(document.get("project", {})) | {"root": file.parent} | dict(table)
    try:
        return Publication.model_validate(values)
    except ValidationError as error:
        raise CommandFailed(f"{file}: [{TABLE}] {_described(error)}") from error


def _of_project(project: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that the metadata of the Python package has."""
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
    """Return one line with the first error: what was expected, and what was given."""
    first = error.errors()[0]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).removeprefix(".")
    if first["type"] == "extra_forbidden":
        known = sorted(name.replace("_", "-") for name in Publication.model_fields if name not in {"version", "root"})
        return f"has no setting {path!r}; there are {', '.join(known)}"
    return f"{path}: {first['msg']}; got {first['input']!r}"
