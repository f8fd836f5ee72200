"""Cluster providers: of kubeconfig files, and of clusters added in code."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from pyctrl.client import Config, KubeconfigContext, kubeconfig_contexts
from pyctrl.errors import ConfigError

__all__ = ["InMemoryProvider", "KubeconfigProvider"]


log = logging.getLogger("pyctrl.manager")

POLL = timedelta(seconds=10)  # as for certificates; kubelet takes up to a minute to update a mounted Secret

_SUFFIXES = {".yaml", ".yml", ".kubeconfig", ".conf", ".json"}


class KubeconfigProvider:
    """A provider of the clusters in kubeconfig files, for a `Fleet`.

    In a file, each context is a cluster of that name. In a directory, such as the mount of a Secret, each file is a
    cluster: it has the name of the file without its suffix, and its current context is used. Hidden files are ignored.

    Changes are detected by content, so the symlink swap with which kubelet updates a mounted Secret works. A file,
    context or path that cannot be used is logged once, and its clusters stay as they were. A context, or a file of a
    directory, that is removed is a cluster that leaves. If two clusters have one name, the first path's is used.

    The files may come from a Secret that others write. So a kubeconfig that names a program to run (``exec``) or a file
    to read (``tokenFile``, ``client-key`` and the like) is rejected unless you trust its author.

    Args:
        paths: files and directories.
        contexts: the names of the clusters to use; by default all.
        poll: how often the files are read.
        trusted: whether the kubeconfigs may name programs and files, as your own ``~/.kube/config`` does.
    """

    def __init__(
        self,
        *paths: str | os.PathLike[str],
        contexts: Collection[str] | None = None,
        poll: timedelta = POLL,
        trusted: bool = False,
    ) -> None:
        self._sources = [_KubeconfigSource(Path(path).expanduser(), trusted=trusted) for path in paths]
        self._contexts = contexts
        self._poll = poll

    async def follow(self) -> AsyncIterator[Mapping[str, Config]]:
        """Yield all clusters, at once and whenever the files change them."""
        yielded: Mapping[str, Config] | None = None
        while True:
            found = self._read()
            if yielded is None or found != yielded:
                yielded = found
                yield found
            await asyncio.sleep(self._poll.total_seconds())

    def _read(self) -> dict[str, Config]:
        found: dict[str, Config] = {}
        for source in self._sources:
            for name, config in source.read().items():
                if self._contexts is None or name in self._contexts:
                    found.setdefault(name, config)
        return found


class _KubeconfigSource:
    """A file or directory, and its clusters as of the last successful read."""

    def __init__(self, path: Path, *, trusted: bool) -> None:
        self._path, self._trusted = path, trusted
        self._files: dict[Path, _File] = {}
        self._logged = ""

    def read(self) -> dict[str, Config]:
        found: dict[str, Config] = {}
        if self._find_files():
            for file in self._files.values():
                file.refresh()
        for file in self._files.values():
            for name, config in file.logins.items():
                found.setdefault(name, config)
        return found

    def _find_files(self) -> bool:
        """Update the list of files; return whether that succeeded."""
        try:
            paths = sorted(_files_in(self._path)) if self._path.is_dir() else [self._path]
            if not self._path.exists():
                raise FileNotFoundError(f"{self._path} does not exist")
        except OSError as error:
            self._warn_once(str(error))
            return False
        self._logged = ""
        is_file = paths == [self._path]
        known, self._files = self._files, {}
        for path in paths:
            self._files[path] = known.get(path) or self._file(path, "" if is_file else _name_of(path))
        return True

    def _file(self, path: Path, name: str) -> _File:
        return _File(path, name=name, trusted=self._trusted)

    def _warn_once(self, problem: str) -> None:
        if problem != self._logged:
            self._logged = problem
            log.warning("Failed to read kubeconfigs, keeping their clusters: %s", problem)


class _File:
    """One kubeconfig: all of its contexts, or its current one as a cluster of the given name."""

    def __init__(self, path: Path, *, name: str, trusted: bool) -> None:
        self._path, self._name, self._trusted = path, name, trusted
        self._text: bytes | None = None
        self._logins: dict[str, tuple[KubeconfigContext, Config]] = {}
        self._logged: dict[str, str] = {}

    @property
    def logins(self) -> dict[str, Config]:
        """The clusters as of the last successful read."""
        return {name: config for name, (_, config) in self._logins.items()}

    def refresh(self) -> None:
        """Read the file if it has changed, or if a login of it could not be loaded."""
        try:
            text = self._path.read_bytes()
            if text != self._text:
                is_complete = self._update(kubeconfig_contexts(self._path, current_only=bool(self._name)))
                self._text = text if is_complete else None  # the files that it names may come later
                self._logged.pop("", None)
        except OSError as error:
            self._warn_once("", f"{self._path}: {error.strerror or error}")
        except ConfigError as error:
            self._warn_once("", str(error))

    def _update(self, contexts: Sequence[KubeconfigContext]) -> bool:
        """Load changed contexts, and return whether all could be loaded.

        An unchanged context keeps its Config, and with it its connection.
        """
        is_complete = True
        logins: dict[str, tuple[KubeconfigContext, Config]] = {}
        for context in contexts:
            name = self._name or context.name
            known = self._logins.get(name)
            try:
                logins[name] = known if known and known[0] == context else self._logged_in(context)
                self._logged.pop(name, None)
            except ConfigError as error:
                is_complete = False
                self._warn_once(name, str(error))
                if known is not None:
                    logins[name] = known
        self._logins = logins
        return is_complete

    def _logged_in(self, context: KubeconfigContext) -> tuple[KubeconfigContext, Config]:
        return context, context.log_in(trusted=self._trusted)

    def _warn_once(self, name: str, problem: str) -> None:
        if self._logged.get(name) != problem:
            self._logged[name] = problem
            kept = f"cluster {name!r}" if name else "its clusters"
            log.warning("Failed to load kubeconfig, keeping %s unchanged: %s", kept, problem)


def _files_in(directory: Path) -> list[Path]:
    return [path for path in directory.iterdir() if not path.name.startswith(".") and path.is_file()]


def _name_of(path: Path) -> str:
    return path.stem if path.suffix in _SUFFIXES else path.name


class InMemoryProvider:
    """A provider of clusters that are added and removed in code, for a `Fleet`.

        provider = InMemoryProvider({"a": Config.load(context="a")})
        fleet = manager.add_fleet("edge", provider)
        provider.add("b", Config.load(context="b"))

    Args:
        clusters: the initial clusters.
    """

    def __init__(self, clusters: Mapping[str, Config] | None = None) -> None:
        self._clusters = dict(clusters or {})
        self._changed = asyncio.Event()

    def add(self, name: str, config: Config) -> None:
        """Add a cluster, or replace the Config of an existing one (see `ClusterProvider.follow`)."""
        self._clusters[name] = config
        self._changed.set()

    def remove(self, name: str) -> None:
        """Remove a cluster, if present."""
        self._clusters.pop(name, None)
        self._changed.set()

    async def follow(self) -> AsyncIterator[Mapping[str, Config]]:
        """Yield all clusters, at once and whenever they change; for one fleet at a time."""
        while True:
            self._changed.clear()
            yield dict(self._clusters)
            await self._changed.wait()
