"""kubeconfig files: reading, merging, looking up entries. `kubeconfig_context.py` interprets the entries.

kubernetes_asyncio's loader is not used. In 36.1, the last of several files determines the current-context, where
kubectl takes the first; the error of an empty or malformed file does not name it; keys are written to temporary files
that remain until the process ends; and its plugins and refreshes have the defects that `exec.py` and `oidc.py` name. It
would cost 37 MB for the merge below.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from pyctrl.client._login.tls import Pem
from pyctrl.client._login.yaml_limits import LimitExceeded, check_limits
from pyctrl.errors import ConfigError

__all__ = ["Kubeconfig", "KubeconfigEntry", "MissingKubeconfig"]

Section = Literal["clusters", "users", "contexts"]
_SECTIONS: tuple[Section, ...] = ("clusters", "users", "contexts")


class MissingKubeconfig(ConfigError):
    """Raised when no file exists or all are empty, so that another source may be tried."""


@dataclass(frozen=True, slots=True)
class KubeconfigEntry:
    """A named cluster, user or context. Errors about its fields name the entry and the file.

    ``file`` is None for a kubeconfig given as text; relative paths are then relative to the working directory.
    """

    kind: str
    name: str
    file: Path | None
    fields: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} in {self.file or 'the given kubeconfig'}"

    @property
    def directory(self) -> Path:
        """The directory that relative paths are relative to."""
        return self.file.absolute().parent if self.file else Path.cwd()

    def error(self, message: str) -> ConfigError:
        """Return an error about this entry."""
        return ConfigError(f"{self}: {message}")

    def text(self, key: str) -> str:
        """Return a string field, "" if it is missing."""
        value = self.fields.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.error(f"{key} is of type {type(value).__name__} for YAML; quote it to make it text")
        return value

    def flag(self, key: str) -> bool:
        """Return a boolean field, False if it is missing."""
        value = self.fields.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.error(f"{key} must be true or false, not {value!r}")
        return bool(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings, empty if it is missing."""
        value = self.fields.get(key) or []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(f"{key} must be a list of strings; put numbers in quotes")
        return tuple(value)

    def mapping(self, key: str) -> Mapping[str, Any]:
        """Return a mapping, empty if it is missing."""
        value = self.fields.get(key) or {}
        if not isinstance(value, dict):
            raise self.error(f"{key} must be a mapping, not a {type(value).__name__}")
        return value

    def part(self, key: str) -> KubeconfigEntry:
        """Return a mapping as an entry, so that errors name both."""
        return KubeconfigEntry(f"{key} of {self.kind}", self.name, self.file, self.mapping(key))

    def path(self, key: str) -> Path | None:
        """Return a path, made absolute; None if it is missing."""
        value = self.text(key)
        return self.directory / value if value else None

    def pem(self, key: str) -> Pem | None:
        """Return ``key-data`` if present, as kubectl does, else the file that ``key`` names."""
        data, path = self.text(f"{key}-data"), self.path(key)
        if data:
            return Pem(f"{key}-data of {self}", data=self._decoded(f"{key}-data", data))
        return Pem(f"{key} of {self}", path=path) if path else None

    def _decoded(self, key: str, data: str) -> bytes:
        try:
            return base64.b64decode("".join(data.split()), validate=True)
        except (binascii.Error, ValueError) as error:
            raise self.error(f"{key} is not base64: {error}") from error


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """One or several merged kubeconfig files: the first entry of a name and the first current-context win."""

    entries: Mapping[tuple[Section, str], KubeconfigEntry]
    current_context: str
    files: tuple[Path, ...]

    @classmethod
    def read(cls, paths: Sequence[str | os.PathLike[str]]) -> Self:
        """Read and merge files. Missing ones are skipped, as kubectl does.

        Raises:
            MissingKubeconfig: no file exists, or all are empty.
            ConfigError: a file cannot be read or is not a kubeconfig.
        """
        candidates = [Path(path).expanduser() for path in paths]
        documents = [(path, _document(text, str(path))) for path in candidates if (text := _text(path)) is not None]
        if not documents:
            raise MissingKubeconfig(f"no such file: {', '.join(map(str, candidates)) or '(no name given)'}")
        config = cls._merged(documents, files=tuple(path for path, _ in documents))
        if not config.entries:
            raise MissingKubeconfig(f"no clusters, users or contexts in {', '.join(map(str, config.files))}")
        return config

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a kubeconfig's text, such as the content of a Secret. Raises ConfigError if it is invalid."""
        return cls._merged([(None, _document(text, "the given kubeconfig"))], files=())

    @classmethod
    def _merged(cls, documents: Sequence[tuple[Path | None, Mapping[str, Any]]], *, files: tuple[Path, ...]) -> Self:
        entries: dict[tuple[Section, str], KubeconfigEntry] = {}
        for file, document in reversed(documents):
            for section in _SECTIONS:
                entries |= {(section, entry.name): entry for entry in _entries(document, section, file)}
        contexts = [str(document.get("current-context") or "") for _, document in documents]
        return cls(entries, next(filter(None, contexts), ""), files)

    @property
    def origin(self) -> str:
        """The name of the kubeconfig in messages."""
        return f"kubeconfig {os.pathsep.join(map(str, self.files))}" if self.files else "the given kubeconfig"

    def find(self, section: Section, name: str) -> KubeconfigEntry | None:
        """Return the entry of this name, or None."""
        return self.entries.get((section, name))

    def require(self, section: Section, name: str, wanted_by: str) -> KubeconfigEntry:
        """Return the entry of this name. Raises ConfigError, which lists the existing names."""
        entry = self.find(section, name)
        if entry is None:
            known = ", ".join(repr(name) for name in self.names(section)) or "none"
            raise ConfigError(f"{wanted_by} names {section[:-1]} {name!r}, and {self.origin} has only: {known}")
        return entry

    def names(self, section: Section) -> list[str]:
        """Return the names in a section, sorted."""
        return sorted(name for where, name in self.entries if where == section)

    def context(self, name: str | None = None) -> KubeconfigEntry:
        """Return the context of this name, or the current one. Raises ConfigError, which lists the existing ones."""
        if name is not None:
            return self.require("contexts", name, "the caller")
        if not self.current_context:
            known = ", ".join(repr(name) for name in self.names("contexts")) or "none"
            raise ConfigError(f"{self.origin} has no current-context; pass context=…, one of: {known}")
        return self.require("contexts", self.current_context, "current-context")


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise ConfigError(f"cannot read kubeconfig {path}: {error.strerror}; {_advice(path)}") from error
    except OSError as error:
        raise ConfigError(f"cannot read kubeconfig {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"kubeconfig {path} is not text: {error}") from error


def _advice(path: Path) -> str:
    """Return advice on a file of another user, such as kubeadm's /etc/kubernetes/admin.conf, which is root's."""
    own = Path.home() / ".kube" / "config"
    if path.expanduser().absolute() == own:  # copied by root, for example with `sudo cp`
        return f'make it yours: sudo chown "$(id -u):$(id -g)" {own}'
    return (
        f"have a copy of your own at {own}: "
        f'mkdir -p {own.parent} && sudo cp {path} {own} && sudo chown "$(id -u):$(id -g)" {own}'
    )


def _document(text: str, where: str) -> Mapping[str, Any]:
    import yaml  # here: a program in a pod has no kubeconfig, and yaml is 0.8 MB and 13 ms

    # Both loaders are safe. The C one takes 5 ms for a hundred clusters (0.5 MB), the other one 116 ms.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        check_limits(text, loader)
        document = yaml.load(text, Loader=loader)
    except LimitExceeded as error:
        raise ConfigError(f"{where} is not a kubeconfig: {error}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: an invalid date
        raise ConfigError(f"{where} is not YAML: {_position(error)}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError(
            f"{where} is not a kubeconfig: expected a mapping with 'clusters', not a {type(document).__name__}"
        )
    return document


def _position(error: Exception) -> str:
    # The error's own text quotes the surrounding lines, which may have a token.
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or "cannot be read"
    return f"{problem} at line {mark.line + 1}, column {mark.column + 1}" if mark else str(problem)


def _entries(document: Mapping[str, Any], section: Section, file: Path | None) -> Iterable[KubeconfigEntry]:
    where, kind = file or "the given kubeconfig", section[:-1]
    items = document.get(section) or []
    if not isinstance(items, list):
        raise ConfigError(f"{where}: {section} must be a list")
    seen: set[str] = set()
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise ConfigError(f"{where}: each of {section} must have a name, which must be a string")
        name, fields = item["name"], item.get(kind) or {}
        if name in seen:
            raise ConfigError(f"{where}: two {section} have the name {name!r}")
        if not isinstance(fields, dict):
            raise ConfigError(f"{where}: {kind} {name!r} must be a mapping, not a {type(fields).__name__}")
        seen.add(name)
        yield KubeconfigEntry(kind, name, file, fields)
