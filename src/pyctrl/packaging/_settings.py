"""What an author says about how a program is shipped: the table ``[tool.pyctrl]`` of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pyctrl.errors import CommandFailed

__all__ = ["Certificates", "Metrics", "Settings", "read_pyproject", "read_settings"]

#: How ``/metrics`` is served: over TLS to those who may get it, in the clear, or not at all.
Metrics: TypeAlias = Literal["https", "http", "off"]

#: Who makes the certificates of webhooks: the program itself, or cert-manager.
Certificates: TypeAlias = Literal["managed", "cert-manager"]

TABLE = "tool.pyctrl"
TABLES = {"bundle", "scaffold"}  # of `read_publication`, and of pyctrl.scaffold
NO_SETTINGS = {"root", "version"}  # of `Settings`, that the table does not have
_LABEL = re.compile(
    r"[a-z]([-a-z0-9]{0,26}[a-z0-9])?"
)  # names of Services have 63 letters, and one gets an ending of 35
_CHOICES = {"metrics": get_args(Metrics), "webhook_certificates": get_args(Certificates)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a program is shipped. What nobody said is derived from the program's name.

    Attributes:
        program: FILE.py, DIRECTORY or MODULE, each with or without ``:FUNCTION``.
        name: what names of objects begin with.
        namespace: where it runs; by default ``NAME-system``.
        image: what runs; by default ``NAME:VERSION``, or ``NAME:latest`` if there is no version.
        base_image: what the image starts from, best with its digest; by default Python's slim image, by version.
        config_dir: where the files are.
        replicas: one of them works, the others stand by.
        args: flags of the program, after those that follow from the rest.
        env: environment variables.
        requests, limits: resources of the container, by name. Measured: 60 MB when an operator has started, and what
            its caches hold. No limit of CPU: it would make a start, which takes a second of it, a long one.
        watch_namespaces: look at these namespaces only; roles are restricted to them.
        metrics: how ``/metrics`` is served.
        prometheus: have a ServiceMonitor.
        network_policy: let nobody in but who scrapes metrics and who calls webhooks.
        webhook_certificates: who makes them.
        version: of the program; `read_settings` takes it from ``[project]`` of pyproject.toml, where it is static.
        root: what relative paths are relative to.
    """

    program: str = ""
    name: str = ""
    namespace: str = ""
    image: str = ""
    base_image: str = ""
    config_dir: str = "config"
    replicas: int = 1
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
        """Where the files are."""
        return self.root / self.config_dir

    @property
    def target(self) -> str:
        """The program, as `pyctrl.manager.Target` takes it: found from the directory that this process is in.

        Raises:
            CommandFailed: nobody said what the program is.
        """
        if not self.program:
            raise CommandFailed(
                f'name the program, FILE.py or MODULE, or write it into pyproject.toml: [{TABLE}] program = "FILE.py"'
            )
        place, _, function = self.program.partition(":")
        found = self.root / place
        place = str(found) if found.exists() else place
        return f"{place}:{function}" if function else place

    def named(self, name: str) -> Settings:
        """Fill in what follows from the program's name.

        Raises:
            CommandFailed: no names of objects can begin with it.
        """
        name = self.name or name
        if not _LABEL.fullmatch(name):
            raise CommandFailed(
                f"names of objects cannot begin with {name!r}: at most 28 lower-case letters, digits and '-' are "
                "expected, a letter first; choose another one with --name"
            )
        image = self.image or f"{name}:{_tag(self.version)}"
        return replace(self, name=name, namespace=self.namespace or f"{name}-system", image=image)


def read_settings(start: Path) -> Settings:
    """Read ``[tool.pyctrl]`` of the nearest pyproject.toml that has it, in a directory or above; or give defaults.

    Raises:
        CommandFailed: the file is no TOML, or has a setting that there is not; says which there are.
    """
    found = read_pyproject(start)
    if found is None:
        return Settings()
    file, document = found
    return _settings(document["tool"]["pyctrl"], document.get("project", {}), file)


def read_pyproject(start: Path) -> tuple[Path, dict[str, Any]] | None:
    """Find the nearest pyproject.toml that has ``[tool.pyctrl]``, and read it.

    Raises:
        CommandFailed: the file is no TOML.
    """
    for directory in (start, *start.parents):
        file = directory / "pyproject.toml"
        if not file.is_file():
            continue
        try:
            document = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CommandFailed(f"{file}: {error}") from error
        if document.get("tool", {}).get("pyctrl") is not None:
            return file, document
    return None


def _settings(table: Mapping[str, Any], project: Mapping[str, Any], file: Path) -> Settings:
    known = {each.name.replace("_", "-"): each.name for each in fields(Settings) if each.name not in NO_SETTINGS}
    table = {key: value for key, value in table.items() if key not in TABLES}
    if unknown := sorted(set(table) - set(known)):
        raise CommandFailed(f"{file}: [{TABLE}] has no {unknown[0]!r}; there are {', '.join(sorted(known))}")
    values = {known[key]: _value(known[key], value, f"{file}: [{TABLE}] {key}") for key, value in table.items()}
    return Settings(**values, version=str(project.get("version", "")), root=_relative(file.parent))


def _tag(version: str) -> str:
    """Return the tag of an image of a version: a tag has no ``+`` and no ``!``, which versions of Python may have."""
    return re.sub(r"[^\w.-]", "_", version) or "latest"


def _value(name: str, value: Any, place: str) -> Any:
    """Check one setting."""
    default = getattr(Settings(), name)
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise CommandFailed(f'{place}: a list of strings was expected, such as ["a", "b"]; got {value!r}')
    if isinstance(default, Mapping):
        if isinstance(value, Mapping) and all(isinstance(each, str) for each in value.values()):
            return dict(value)
        raise CommandFailed(f'{place}: a table of strings was expected, such as {{NAME = "value"}}; got {value!r}')
    if choices := _CHOICES.get(name):
        if value in choices:
            return value
        raise CommandFailed(f"{place}: one of {', '.join(choices)} was expected; got {value!r}")
    if type(value) is not type(default):
        raise CommandFailed(f"{place}: {type(default).__name__} was expected; got {value!r}")
    return value


def _relative(directory: Path) -> Path:
    """Say where a directory is in the shortest way, for messages."""
    here = Path.cwd()
    return directory.relative_to(here) if directory.is_relative_to(here) else directory
