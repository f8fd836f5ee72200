"""Packaging settings: the table ``[tool.pyctrl]`` of pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pyctrl.errors import CommandFailed
from pyctrl.program import program_path, read_pyproject

__all__ = ["Certificates", "Metrics", "Settings", "Shards", "read_settings"]

#: How ``/metrics`` is served: over TLS to authorized users, over plain HTTP, or not at all.
Metrics: TypeAlias = Literal["https", "http", "off"]

#: The issuer of webhook certificates: the program itself, or cert-manager.
Certificates: TypeAlias = Literal["managed", "cert-manager"]

#: Whether replicas divide the work, or one of them is active.
Shards: TypeAlias = Literal["auto", "off"]

TABLE = "tool.pyctrl"
TABLES = {"bundle", "scaffold"}  # sub-tables, read by `read_publication` and pyctrl.scaffold
NO_SETTINGS = {"root", "version"}  # fields of `Settings` that are not in the table
_LABEL = re.compile(
    r"[a-z]([-a-z0-9]{0,26}[a-z0-9])?"
)  # a Service's name has at most 63 characters, and the longest suffix has 35
_CHOICES = {"metrics": get_args(Metrics), "webhook_certificates": get_args(Certificates), "shards": get_args(Shards)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a program is packaged. Unset values are derived from the program's name.

    Attributes:
        program: FILE.py, DIRECTORY or MODULE, each optionally with ``:FUNCTION``.
        name: the prefix of object names.
        namespace: the namespace that it runs in; by default ``NAME-system``.
        image: the container image; by default ``NAME:VERSION``, or ``NAME:latest`` without a version.
        base_image: the base of the image, preferably with a digest; by default a version of Python's slim image.
        config_dir: the directory of the manifests.
        chart_dir: the directory of the Helm chart.
        bundle_dir: the directory of the bundle for OLM.
        install_file: the file with all manifests that `pyctrl build-installer` writes.
        schema_dir: the directory of the JSON Schemas.
        schema_crds: files and directories of further CustomResourceDefinitions to write JSON Schemas of.
        schema_builtins: built-in kinds to write JSON Schemas of.
        replicas: the number of replicas; one of them is active, or all with shards.
        shards: with ``auto``, replicas divide the objects among themselves.
        args: additional flags of the program.
        env: environment variables.
        requests, limits: resources of the container, by name. An operator takes 60 MB (measured) after its start, plus
            its caches. There is no CPU limit: a start needs one CPU second, which a limit would stretch.
        watch_namespaces: watch only these namespaces, with permissions only there.
        metrics: how ``/metrics`` is served.
        prometheus: add a ServiceMonitor.
        network_policy: admit only metrics scrapers and webhook calls.
        webhook_certificates: the issuer of webhook certificates.
        version: the version of the program; `read_settings` takes it from ``[project]`` if it is static.
        root: the base directory of relative paths.
    """

    program: str = ""
    name: str = ""
    namespace: str = ""
    image: str = ""
    base_image: str = ""
    config_dir: str = "config"
    chart_dir: str = "chart"  # not dist/ as in kubebuilder: projects that build wheels have it in .gitignore
    bundle_dir: str = "bundle"
    install_file: str = "dist/install.yaml"
    schema_dir: str = "schemas"
    schema_crds: tuple[str, ...] = ()
    schema_builtins: tuple[str, ...] = ()
    replicas: int = 1
    shards: Shards = "off"
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    requests: Mapping[str, str] = field(default_factory=lambda: {"cpu": "10m", "memory": "96Mi"})
    limits: Mapping[str, str] = field(default_factory=lambda: {"memory": "256Mi"})
    watch_namespaces: tuple[str, ...] = ()
    metrics: Metrics = "https"
    prometheus: bool = False
    network_policy: bool = False
    webhook_certificates: Certificates = "managed"
    version: str = ""
    root: Path = Path()

    @property
    def directory(self) -> Path:
        """The directory of the manifests."""
        return self.root / self.config_dir

    @property
    def target(self) -> str:
        """The program as `pyctrl.program.Target` takes it, relative to the current directory.

        Raises:
            CommandFailed: no program is set.
        """
        if not self.program:
            raise CommandFailed(
                f'no program given: name FILE.py or MODULE, or set it in pyproject.toml: [{TABLE}] program = "FILE.py"'
            )
        return program_path(self.program, self.root)

    def named(self, name: str) -> Settings:
        """Return the settings with unset values derived from the program's name.

        Raises:
            CommandFailed: the name cannot be the prefix of object names.
        """
        name = self.name or name
        if not _LABEL.fullmatch(name):
            raise CommandFailed(
                f"{name!r} cannot be the prefix of object names: it needs at most 28 lower-case letters, digits and "
                "'-', a letter first; choose another name with --name"
            )
        image = self.image or f"{name}:{_tag(self.version)}"
        return replace(self, name=name, namespace=self.namespace or f"{name}-system", image=image)


def read_settings(start: Path) -> Settings:
    """Read ``[tool.pyctrl]`` of the nearest pyproject.toml that has it, in a directory or above; else return defaults.

    Raises:
        CommandFailed: the file is not valid TOML, or it has an unknown setting; the message lists the known ones.
    """
    found = read_pyproject(start)
    if found is None:
        return Settings()
    file, document = found
    return _settings(document["tool"]["pyctrl"], document.get("project", {}), file)


def _settings(table: Mapping[str, Any], project: Mapping[str, Any], file: Path) -> Settings:
    known = {each.name.replace("_", "-"): each.name for each in fields(Settings) if each.name not in NO_SETTINGS}
    table = {key: value for key, value in table.items() if key not in TABLES}
    if unknown := sorted(set(table) - set(known)):
        raise CommandFailed(f"{file}: [{TABLE}] has no setting {unknown[0]!r}; there are {', '.join(sorted(known))}")
    values = {known[key]: _value(known[key], value, f"{file}: [{TABLE}] {key}") for key, value in table.items()}
    return Settings(**values, version=str(project.get("version", "")), root=_relative(file.parent))


def _tag(version: str) -> str:
    """Return the image tag of a version. A tag cannot have ``+`` and ``!``, which Python versions may have."""
    return re.sub(r"[^\w.-]", "_", version) or "latest"


def _value(name: str, value: Any, place: str) -> Any:
    """Return one setting, checked and converted."""
    default = getattr(Settings(), name)
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise CommandFailed(f'{place}: expected a list of strings, such as ["a", "b"]; got {value!r}')
    if isinstance(default, Mapping):
        if isinstance(value, Mapping) and all(isinstance(each, str) for each in value.values()):
            return dict(value)
        raise CommandFailed(f'{place}: expected a table of strings, such as {{NAME = "value"}}; got {value!r}')
    if choices := _CHOICES.get(name):
        if value in choices:
            return value
        raise CommandFailed(f"{place}: expected one of {', '.join(choices)}; got {value!r}")
    if type(value) is not type(default):
        raise CommandFailed(f"{place}: expected {type(default).__name__}; got {value!r}")
    return value


def _relative(directory: Path) -> Path:
    """Return a directory relative to the current one if it is below it, for messages."""
    here = Path.cwd()
    return directory.relative_to(here) if directory.is_relative_to(here) else directory
