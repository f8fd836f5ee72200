"""Flags for packaging a program. Each is also a setting of ``[tool.pyctrl]``."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

if TYPE_CHECKING:
    from pyctrl.packaging import Settings

__all__ = ["NO_PACKAGING_FLAGS", "PackagingFlags", "folder"]

PACKAGING = Group("Manifests", sort_key=1)


def _flag(text: str, metavar: str | None = None) -> Parameter:
    return Parameter(group=PACKAGING, help=text, metavar=metavar)


@Parameter(name="*")  # each field is a flag of the command
@dataclass(frozen=True, kw_only=True)
class PackagingFlags:
    """How a program is packaged.

    A command has one parameter of this type: ``flags: PackagingFlags = NO_PACKAGING_FLAGS``.
    """

    image: Annotated[
        str | None, _flag("The container image. Defaults to `NAME:VERSION` of `[project]`, or `NAME:latest`.", "IMAGE")
    ] = None
    name: Annotated[str | None, _flag("The prefix of object names. Defaults to the program's name.", "NAME")] = None
    namespace: Annotated[
        str | None,
        Parameter(
            name=("--namespace", "-n"),
            group=PACKAGING,
            metavar="NAME",
            help="The namespace to run in. Defaults to `NAME-system`.",
        ),
    ] = None
    config_dir: Annotated[Path | None, _flag("The directory of the manifests. Defaults to `config`.", "DIR")] = None
    replicas: Annotated[
        int | None,
        Parameter(
            group=PACKAGING,
            metavar="COUNT",
            validator=Number(gte=0),
            help="The number of replicas, one of which is active. Defaults to 1.",
        ),
    ] = None
    watch_namespaces: Annotated[
        tuple[str, ...] | None,
        _flag("Watch only this namespace, with permissions only there. May be repeated. Defaults to all.", "NAME"),
    ] = None
    metrics: Annotated[
        Literal["https", "http", "off"] | None,
        _flag(
            "How to serve /metrics: over TLS to authorized users, over HTTP, or not at all. Defaults to `https`.",
            "MODE",
        ),
    ] = None
    prometheus: Annotated[bool | None, _flag("Add a ServiceMonitor for the Prometheus operator.")] = None
    network_policy: Annotated[
        bool | None, _flag("Add a NetworkPolicy that only admits metrics scrapers and webhook calls.")
    ] = None
    webhook_certificates: Annotated[
        Literal["managed", "cert-manager"] | None,
        _flag(
            "The issuer of webhook certificates: the program (`managed`) or cert-manager. Defaults to `managed`.",
            "ISSUER",
        ),
    ] = None

    def settings(self, program: str | None) -> Settings:
        """Return the settings of pyproject.toml, overridden by the flags.

        Args:
            program: the program; None: that of pyproject.toml.
        """
        from pyctrl.packaging import read_settings  # here: help and completion need none of it

        found = read_settings(folder(program))
        given = {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}
        if self.config_dir is not None:
            given["config_dir"] = str(self.config_dir.absolute())
        if program is not None:
            place = Path(program.partition(":")[0])
            given["program"] = str(Path.cwd() / program) if place.exists() else program
            if not place.exists() and str(place) != found.program.partition(":")[0]:
                given["version"] = ""  # a module, possibly of another distribution
        return replace(found, **given)


def folder(program: str | None) -> Path:
    """Return the folder where the search for pyproject.toml starts."""
    place = Path((program or "").partition(":")[0])
    if program and place.exists():
        return (place if place.is_dir() else place.parent).resolve()
    return Path.cwd()


NO_PACKAGING_FLAGS = PackagingFlags()
