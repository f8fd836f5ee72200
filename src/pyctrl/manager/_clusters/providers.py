"""Clusters of kubeconfig files, which are followed as they change."""

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

POLL = timedelta(seconds=10)  # as of certificates; kubelet itself takes up to a minute to renew a mounted Secret

_ENDINGS = {".yaml", ".yml", ".kubeconfig", ".conf", ".json"}


class KubeconfigProvider:
    """A provider for a `Fleet` of the clusters in kubeconfig files.

    Each context of a file is a cluster of that name. Of a directory, such as one that a Secret is mounted at, each file
    is a cluster, named by the file without its ending, and logged in to by its current context; hidden files are none.

    What counts is what the files contain, not when or how they changed: the swap of a symlink by which kubelet renews
    what is mounted is a change like any other. A file or context that cannot be used is told of once, and what it was
    before stays; so does a path that is missing. A context or a file of a directory that is gone is a cluster that
    leaves. Of two clusters with one name the first path's counts.

    The files may come from a Secret that others write. So a kubeconfig that names a program to run (``exec``) or a file
    to read (``tokenFile``, ``client-key`` and the like) is not used, unless you trust its author.

    Args:
        paths: files and directories.
        contexts: only clusters of these names; by default all.
        poll: how often the files are looked at.
        trusted: whether the kubeconfigs may name programs and files, as your own ``~/.kube/config`` does.
    """

    def __init__(
        self,
        *paths: str | os.PathLike[str],
        contexts: Collection[str] | None = None,
        poll: timedelta = POLL,
        trusted: bool = False,
    ) -> None:
        self._places = [_ContextReference(Path(path).expanduser(), trusted=trusted) for path in paths]
        self._contexts = contexts
        self._poll = poll

    async def follow(self) -> AsyncIterator[Mapping[str, Config]]:
        """Yield all clusters, at once and whenever a file has changed what they are."""
        told: Mapping[str, Config] | None = None
        while True:
            found = self._read()
            if told is None or found != told:
                told = found
                yield found
            await asyncio.sleep(self._poll.total_seconds())

    def _read(self) -> dict[str, Config]:
        found: dict[str, Config] = {}
        for place in self._places:
            for name, config in place.read().items():
                if self._contexts is None or name in self._contexts:
                    found.setdefault(name, config)
        return found


class _ContextReference:
    """A file or a directory, and the clusters that it had when it could be read last."""

    def __init__(self, path: Path, *, trusted: bool) -> None:
        self._path, self._trusted = path, trusted
        self._files: dict[Path, _File] = {}
        self._complaint = ""

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
        """Find out which files there are; say whether that was possible."""
        try:
            paths = sorted(_files_in(self._path)) if self._path.is_dir() else [self._path]
            if not self._path.exists():
                raise FileNotFoundError(f"there is no {self._path}")
        except OSError as error:
            self._complain(str(error))
            return False
        self._complaint = ""
        is_file = paths == [self._path]
        known, self._files = self._files, {}
        for path in paths:
            self._files[path] = known.get(path) or self._file(path, "" if is_file else _name_of(path))
        return True

    def _file(self, path: Path, name: str) -> _File:
        return _File(path, name=name, trusted=self._trusted)

    def _complain(self, complaint: str) -> None:
        if complaint != self._complaint:
            self._complaint = complaint
            log.warning("Kubeconfigs cannot be read, their clusters stay: %s", complaint)


class _File:
    """One kubeconfig: all of its contexts, or the current one under a name that it is given."""

    def __init__(self, path: Path, *, name: str, trusted: bool) -> None:
        self._path, self._name, self._trusted = path, name, trusted
        self._text: bytes | None = None
        self._logins: dict[str, tuple[KubeconfigContext, Config]] = {}
        self._complaints: dict[str, str] = {}

    @property
    def logins(self) -> dict[str, Config]:
        """Its clusters, as of the last time that they could be read."""
        return {name: config for name, (_, config) in self._logins.items()}

    def refresh(self) -> None:
        """Read it, if it has changed."""
        try:
            text = self._path.read_bytes()
            if text != self._text:
                self._take(kubeconfig_contexts(self._path, current_only=bool(self._name)))
                self._text = text
                self._complaints.pop("", None)
        except OSError as error:
            self._complain("", f"{self._path}: {error.strerror or error}")
        except ConfigError as error:
            self._complain("", str(error))

    def _take(self, contexts: Sequence[KubeconfigContext]) -> None:
        """Log in where something has changed; who looks the same keeps its Config, and with it its connection."""
        logins: dict[str, tuple[KubeconfigContext, Config]] = {}
        for context in contexts:
            name = self._name or context.name
            known = self._logins.get(name)
            try:
                logins[name] = known if known and known[0] == context else self._logged_in(context)
                self._complaints.pop(name, None)
            except ConfigError as error:
                self._complain(name, str(error))
                if known is not None:
                    logins[name] = known
        self._logins = logins

    def _logged_in(self, context: KubeconfigContext) -> tuple[KubeconfigContext, Config]:
        return context, context.log_in(trusted=self._trusted)

    def _complain(self, name: str, complaint: str) -> None:
        if self._complaints.get(name) != complaint:
            self._complaints[name] = complaint
            what = f"cluster {name!r}" if name else "the file"
            log.warning("A kubeconfig cannot be used, %s is as before: %s", what, complaint)


def _files_in(directory: Path) -> list[Path]:
    return [path for path in directory.iterdir() if not path.name.startswith(".") and path.is_file()]


def _name_of(path: Path) -> str:
    return path.stem if path.suffix in _ENDINGS else path.name


class InMemoryProvider:
    """A provider for a `Fleet` that is told in code which clusters there are.

        provider = InMemoryProvider({"a": Config.load(context="a")})
        fleet = manager.add_fleet("edge", provider)
        provider.add("b", Config.load(context="b"))

    Args:
        clusters: those of the beginning.
    """

    def __init__(self, clusters: Mapping[str, Config] | None = None) -> None:
        self._clusters = dict(clusters or {})
        self._changed = asyncio.Event()

    def add(self, name: str, config: Config) -> None:
        """Let a cluster come; one that is there gets the new login, or is another one from now on (see `Fleet`)."""
        self._clusters[name] = config
        self._changed.set()

    def remove(self, name: str) -> None:
        """Let a cluster leave, if it is there."""
        self._clusters.pop(name, None)
        self._changed.set()

    async def follow(self) -> AsyncIterator[Mapping[str, Config]]:
        """Yield all of them, at once and whenever that has changed; for one fleet at a time."""
        while True:
            self._changed.clear()
            yield dict(self._clusters)
            await self._changed.wait()
