"""All contexts of a kubeconfig, each as a login of its own: for programs that work in many clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyctrl.client._config import Config
from pyctrl.client._kubeconfig import Kubeconfig
from pyctrl.client._kubeconfig_login import log_in

__all__ = ["KubeconfigContext", "kubeconfig_contexts"]


@dataclass(frozen=True, slots=True)
class KubeconfigContext:
    """A context, and all that its login is made of; two are equal when they lead to the same login."""

    name: str
    #: What stands in the file of the context, its cluster and its user.
    content: tuple[Mapping[str, Any] | None, ...] = field(repr=False)
    file: Path
    _kubeconfig: Kubeconfig = field(repr=False, compare=False)

    def log_in(self, *, trusted: bool = True) -> Config:
        """Return the login.

        Args:
            trusted: whether it may name programs to run and files to read.

        Raises:
            ConfigError: something is missing or wrong, or needs trust.
        """
        return log_in(self._kubeconfig, self.name, trusted=trusted)


def kubeconfig_contexts(path: Path, *, current_only: bool = False) -> list[KubeconfigContext]:
    """Return the contexts of a file, or the current one, sorted by name; nothing is logged in.

    Raises:
        ConfigError: there is no such file, or it is not a kubeconfig; with ``current_only``, it has no current context.
    """
    kubeconfig = Kubeconfig.read([path])
    names = [kubeconfig.context().name] if current_only else kubeconfig.names("contexts")
    return [KubeconfigContext(name, _content(kubeconfig, name), path, kubeconfig) for name in names]


def _content(kubeconfig: Kubeconfig, name: str) -> tuple[Mapping[str, Any] | None, ...]:
    context = kubeconfig.context(name)
    cluster = kubeconfig.find("clusters", str(context.fields.get("cluster")))
    user = kubeconfig.find("users", str(context.fields.get("user")))
    return tuple(None if entry is None else entry.fields for entry in (context, cluster, user))
