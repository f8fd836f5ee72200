"""kubeconfig files: read, merged, looked up. What an entry means is said in `_kubeconfig_login.py`.

kubernetes_asyncio has a loader, which is not used here. Checked in 36.1: of several files the last one's
current-context wins, where kubectl takes the first; an empty or malformed file is an error that does not say which
file; keys are written to temporary files that stay until the process ends; and its plugins and refreshes have the
faults that `_exec.py` and `_oidc.py` name. It would cost 37 MB for what remains, which is the merge below.
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

__all__ = ["Entry", "Kubeconfig", "MissingKubeconfig"]

Section = Literal["clusters", "users", "contexts"]
_SECTIONS: tuple[Section, ...] = ("clusters", "users", "contexts")


class MissingKubeconfig(ConfigError):
    """Raised when none of the files exists or holds anything; another source may be tried."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One named cluster, user or context, and the file it is from. Reads its fields with errors that say where.

    ``file`` is None for a kubeconfig that was given as text: relative paths then start at the working directory.
    """

    kind: str
    name: str
    file: Path | None
    fields: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} in {self.file or 'the given kubeconfig'}"

    @property
    def directory(self) -> Path:
        """The directory that relative paths start from."""
        return self.file.absolute().parent if self.file else Path.cwd()

    def error(self, what: str) -> ConfigError:
        """Return an error about this entry."""
        return ConfigError(f"{self}: {what}")

    def text(self, key: str) -> str:
        """Return a field that is text, "" if it is missing."""
        value = self.fields.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.error(f"{key} is of type {type(value).__name__} for YAML; quote it to make it text")
        return value

    def flag(self, key: str) -> bool:
        """Return a field that is true or false, false if it is missing."""
        value = self.fields.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.error(f"{key} must be true or false, not {value!r}")
        return bool(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a field that is a list of texts, empty if it is missing."""
        value = self.fields.get(key) or []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(f"{key} must be a list of texts; put numbers in quotes")
        return tuple(value)

    def mapping(self, key: str) -> Mapping[str, Any]:
        """Return a field that has fields itself, empty if it is missing."""
        value = self.fields.get(key) or {}
        if not isinstance(value, dict):
            raise self.error(f"{key} must have fields, it is a {type(value).__name__}")
        return value

    def part(self, key: str) -> Entry:
        """Return a field that has fields itself as an entry, for errors that name both."""
        return Entry(f"{key} of {self.kind}", self.name, self.file, self.mapping(key))

    def path(self, key: str) -> Path | None:
        """Return a field that is a path, made absolute; None if it is missing."""
        value = self.text(key)
        return self.directory / value if value else None

    def pem(self, key: str) -> Pem | None:
        """Return ``key-data`` if it is there, which wins as in kubectl, or the file that ``key`` names."""
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
    """Several kubeconfig files as one: of entries with the same name, and of current contexts, the first wins."""

    entries: Mapping[tuple[Section, str], Entry]
    current_context: str
    files: tuple[Path, ...]

    @classmethod
    def read(cls, paths: Sequence[str | os.PathLike[str]]) -> Self:
        """Read and merge files. Missing ones are skipped, as kubectl does; if nothing remains that is an error.

        Raises:
            MissingKubeconfig: no file exists, or those that do are empty.
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
        """Take the content of a kubeconfig, as from a Secret. Raises ConfigError if it is none."""
        return cls._merged([(None, _document(text, "the given kubeconfig"))], files=())

    @classmethod
    def _merged(cls, documents: Sequence[tuple[Path | None, Mapping[str, Any]]], *, files: tuple[Path, ...]) -> Self:
        entries: dict[tuple[Section, str], Entry] = {}
        for file, document in reversed(documents):
            for section in _SECTIONS:
                entries |= {(section, entry.name): entry for entry in _entries(document, section, file)}
        contexts = [str(document.get("current-context") or "") for _, document in documents]
        return cls(entries, next(filter(None, contexts), ""), files)

    @property
    def origin(self) -> str:
        """How to name it in a sentence."""
        return f"kubeconfig {os.pathsep.join(map(str, self.files))}" if self.files else "the given kubeconfig"

    def find(self, section: Section, name: str) -> Entry | None:
        """Return the entry of this name, or None."""
        return self.entries.get((section, name))

    def require(self, section: Section, name: str, wanted_by: str) -> Entry:
        """Return the entry of this name. Raises ConfigError that lists those there are."""
        entry = self.find(section, name)
        if entry is None:
            known = ", ".join(repr(name) for name in self.names(section)) or "none"
            raise ConfigError(f"{wanted_by} names {section[:-1]} {name!r}, and {self.origin} has only: {known}")
        return entry

    def names(self, section: Section) -> list[str]:
        """Return the names in a section, sorted."""
        return sorted(name for where, name in self.entries if where == section)

    def context(self, name: str | None = None) -> Entry:
        """Return the context of this name, or the current one. Raises ConfigError that lists those there are."""
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
    """Say what to do about a file that is somebody else's, as kubeadm's /etc/kubernetes/admin.conf is root's."""
    own = Path.home() / ".kube" / "config"
    if path.expanduser().absolute() == own:  # copied by root, as by `sudo cp`
        return f'make it yours: sudo chown "$(id -u):$(id -g)" {own}'
    return (
        f"have a copy of your own at {own}: "
        f'mkdir -p {own.parent} && sudo cp {path} {own} && sudo chown "$(id -u):$(id -g)" {own}'
    )


def _document(text: str, where: str) -> Mapping[str, Any]:
    import yaml  # here: a program in a pod has no kubeconfig, and yaml is 0.8 MB and 13 ms

    # Both are safe loaders. The one in C takes 5 ms for a hundred clusters (0.5 MB), the other 116.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        check_limits(text, loader)
        document = yaml.load(text, Loader=loader)
    except LimitExceeded as error:
        raise ConfigError(f"{where} is not a kubeconfig: {error}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: what looks like a date and is none
        raise ConfigError(f"{where} is not YAML: {_position(error)}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError(
            f"{where} is not a kubeconfig: fields such as 'clusters' were expected, not a {type(document).__name__}"
        )
    return document


def _position(error: Exception) -> str:
    # The error's own text quotes the lines around it, which in a kubeconfig may be a token.
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or "cannot be read"
    return f"{problem} at line {mark.line + 1}, column {mark.column + 1}" if mark else str(problem)


def _entries(document: Mapping[str, Any], section: Section, file: Path | None) -> Iterable[Entry]:
    where, kind = file or "the given kubeconfig", section[:-1]
    items = document.get(section) or []
    if not isinstance(items, list):
        raise ConfigError(f"{where}: {section} must be a list")
    seen: set[str] = set()
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise ConfigError(f"{where}: each of {section} needs a name, and a name is text")
        name, fields = item["name"], item.get(kind) or {}
        if name in seen:
            raise ConfigError(f"{where}: two {section} have the name {name!r}")
        if not isinstance(fields, dict):
            raise ConfigError(f"{where}: {kind} {name!r} must have fields, it is a {type(fields).__name__}")
        seen.add(name)
        yield Entry(kind, name, file, fields)
