"""Flags for packaging a program, which are settings of ``[tool.pyctrl]``, too. A command has those that it uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from pyctrl.cli._shared_flags import WatchedNamespaces, split_namespaces

if TYPE_CHECKING:
    from pyctrl.packaging import Settings

__all__ = [
    "NO_IMAGE_FLAGS",
    "NO_INSTANCE_FLAGS",
    "NO_PACKAGING_FLAGS",
    "NO_WORKLOAD_FLAGS",
    "ImageFlags",
    "InstanceFlags",
    "NameFlags",
    "PackagingFlags",
    "WorkloadFlags",
    "find_program",
    "folder",
    "output_path",
    "packaged_program",
]

PACKAGING = Group("Manifests", sort_key=1)


def _flag(text: str, metavar: str | None = None) -> Parameter:
    return Parameter(group=PACKAGING, help=text, metavar=metavar)


@Parameter(name="*")  # each field is a flag of the command
@dataclass(frozen=True, kw_only=True)
class NameFlags:
    """The name of a program, and the settings of its project."""

    name: Annotated[str | None, _flag("The prefix of object names. Defaults to the program's name.", "NAME")] = None

    def settings(self, program: str | None) -> Settings:
        """Return the settings of pyproject.toml, overridden by the flags.

        Args:
            program: the program; None: that of pyproject.toml.
        """
        from pyctrl.packaging import read_settings  # here: help and completion need none of it

        given = {each.name: value for each in fields(self) if (value := getattr(self, each.name)) not in (None, ())}
        if watched := given.pop("watch_namespace", None):
            given["watch_namespaces"] = split_namespaces(watched)
        found = read_settings(folder(program))
        if program is not None:
            place = Path(program.partition(":")[0])
            given["program"] = str(Path.cwd() / program) if place.exists() else program
            if not place.exists() and str(place) != found.program.partition(":")[0]:
                given["version"] = ""  # a module, possibly of another distribution
        return replace(found, **given)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ImageFlags(NameFlags):
    """How the image of a program is called: `pyctrl image build`."""

    image: Annotated[
        str | None, _flag("The container image. Defaults to `NAME:VERSION` of `[project]`, or `NAME:latest`.", "IMAGE")
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class InstanceFlags(NameFlags):
    """Where a program is installed: `pyctrl undeploy`."""

    namespace: Annotated[
        str | None,
        Parameter(
            name=("--namespace", "-n"),
            group=PACKAGING,
            metavar="NAME",
            help="The namespace. Defaults to `namespace` of `[tool.pyctrl]`, or `NAME-system`.",
        ),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class WorkloadFlags(ImageFlags):
    """The objects with which a program runs: `pyctrl bundle`."""

    replicas: Annotated[
        int | None,
        Parameter(
            group=PACKAGING,
            metavar="COUNT",
            validator=Number(gte=0),
            help="The number of replicas, one of which is active, or all with shards. Defaults to 1.",
        ),
    ] = None
    shards: Annotated[
        Literal["auto", "off"] | None,
        _flag("With `auto`, replicas divide the objects among themselves. Defaults to `off`.", "MODE"),
    ] = None
    watch_namespace: Annotated[WatchedNamespaces, Parameter(group=PACKAGING)] = ()
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


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class PackagingFlags(WorkloadFlags, InstanceFlags):
    """How a program is packaged and installed.

    A command has one parameter of this type: ``flags: PackagingFlags = NO_PACKAGING_FLAGS``.
    """

    webhook_certificates: Annotated[
        Literal["managed", "cert-manager"] | None,
        _flag(
            "The issuer of webhook certificates: the program (`managed`) or cert-manager. Defaults to `managed`.",
            "ISSUER",
        ),
    ] = None


def output_path(flag: Path | None, settings: Settings, default: str) -> Path:
    """Return where to write: the flag, relative to the current directory, or a setting, relative to the project."""
    return settings.root / default if flag is None else flag


def folder(program: str | None) -> Path:
    """Return the folder where the search for pyproject.toml starts."""
    place = Path((program or "").partition(":")[0])
    if program and place.exists():
        return (place if place.is_dir() else place.parent).resolve()
    return Path.cwd()


def packaged_program(target: str | None, watched: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return a program and the namespaces that it watches, by default those of pyproject.toml.

    Args:
        target: the argument; None if it is missing.
        watched: the namespaces of the flags; empty: those of the program's pyproject.toml.

    Raises:
        CommandFailed: no program is named, on the command line or in pyproject.toml.
    """
    settings = NameFlags().settings(target)
    return (settings.target if target is None else target), split_namespaces(watched) or settings.watch_namespaces


def find_program(text: str | None, flags: Sequence[str]) -> tuple[str, Sequence[str], Sequence[str]]:
    """Return the program to run, by default that of pyproject.toml, its command-line words, and its own flags.

    Args:
        text: the argument PROGRAM; None if it is missing. An option here is the first flag after ``--``.
        flags: the further arguments.

    Raises:
        CommandFailed: no program is named, neither here nor in pyproject.toml.
    """
    if text is not None and not text.startswith("-"):
        return text, [text], flags
    return NameFlags().settings(None).target, [], flags if text is None else [text, *flags]


NO_IMAGE_FLAGS = ImageFlags()
NO_INSTANCE_FLAGS = InstanceFlags()
NO_WORKLOAD_FLAGS = WorkloadFlags()
NO_PACKAGING_FLAGS = PackagingFlags()
