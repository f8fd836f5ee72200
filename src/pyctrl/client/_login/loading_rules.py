"""Loading rules: the sources of a login and their order, as in client-go's clientcmd."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pyctrl.client._login.config import Config, server_address
from pyctrl.client._login.in_cluster import in_cluster
from pyctrl.client._login.proxy import proxy_from_environment
from pyctrl.errors import ConfigError, NoConfiguration

if TYPE_CHECKING:
    from pyctrl.client._login.kubeconfig import Kubeconfig

__all__ = [
    "Paths",
    "SourceUnavailable",
    "environment_kubeconfig",
    "first_available",
    "from_flags",
    "from_kubeconfig",
    "from_kubeconfig_text",
    "home_kubeconfig",
    "load",
    "read_kubeconfig",
]

log = logging.getLogger("pyctrl.client")

SkippedSource = tuple[str, str]  # a source, and the reason why it was not used
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_RECOMMENDED_HOME_FILE = "~/.kube/config"

T = TypeVar("T")


def load(kubeconfig: Paths | None, context: str | None, service_account: str | os.PathLike[str] | None) -> Config:
    """Find a login; `Config.load` documents it."""
    config = from_kubeconfig(kubeconfig, context) if kubeconfig is not None else _search(context, service_account)
    log.info("Loaded login", extra={"source": config.source, "server": config.server})
    return config


def _search(context: str | None, service_account: str | os.PathLike[str] | None) -> Config:
    config, passed_over = first_available(
        ("KUBECONFIG", lambda: _from_environment(context)),
        ("in-cluster", lambda: _from_in_cluster(context, service_account)),
        (_RECOMMENDED_HOME_FILE, lambda: _from_home(context)),
    )
    return replace(config, passed_over=passed_over)


def from_kubeconfig(paths: Paths, context: str | None) -> Config:
    """Return the login of a context of one kubeconfig, or of several merged ones."""
    return _config_for_context(read_kubeconfig(paths), context)


def from_kubeconfig_text(text: str, context: str | None, *, trusted: bool) -> Config:
    """Return the login of a context of a kubeconfig's text, which may name programs and files if ``trusted``."""
    from pyctrl.client._login.kubeconfig import Kubeconfig  # here and below: a pod has no kubeconfig

    return _config_for_context(Kubeconfig.parse(text), context, trusted=trusted)


def from_flags(
    master: str | None,
    kubeconfig: str | os.PathLike[str] | None,
    service_account: str | os.PathLike[str] | None,
) -> Config:
    """Return the login of ``--master`` and ``--kubeconfig``; `Config.from_flags` documents it."""
    if kubeconfig:
        return _config_for_context(read_kubeconfig(kubeconfig), None, server=master or "")
    if master:
        address = server_address(master, default_scheme="http", origin="--master")  # client-go's default
        return Config(server=address, proxy=proxy_from_environment(address), source="--master")
    # Both warnings are client-go's to the letter, including two blanks after a full stop: users search for them.
    log.warning("Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might not work.")
    try:
        return in_cluster(service_account)
    except ConfigError as error:
        attempt = ("in-cluster", str(error))
        log.warning("error creating inClusterConfig, falling back to default config: %s", error)
    sources = (("KUBECONFIG", lambda: _from_environment(None)), (_RECOMMENDED_HOME_FILE, lambda: _from_home(None)))
    config, passed_over = first_available(*sources, tried=[attempt])
    return replace(config, passed_over=passed_over)


class SourceUnavailable(Exception):
    """Raised by a source that does not exist, so that the next one is tried."""


def first_available(
    *sources: tuple[str, Callable[[], T]], tried: Sequence[SkippedSource] = ()
) -> tuple[T, tuple[SkippedSource, ...]]:
    """Return the result of the first available source, and the skipped ones with their reasons.

    Raises:
        NoConfiguration: no source is available.
    """
    attempts = list(tried)
    for name, source in sources:
        try:
            return source(), tuple(attempts)
        except SourceUnavailable as error:
            attempts.append((name, str(error)))
    raise NoConfiguration(attempts)


def _from_environment(context: str | None) -> Config:
    return _config_for_context(environment_kubeconfig(), context)


def _from_in_cluster(context: str | None, service_account: str | os.PathLike[str] | None) -> Config:
    if context is not None:
        raise SourceUnavailable(f"not tried, because context {context!r} was requested")
    try:
        return in_cluster(service_account)
    except ConfigError as error:  # outside of pods and without a mounted token
        raise SourceUnavailable(str(error)) from error


def _from_home(context: str | None) -> Config:
    return _config_for_context(home_kubeconfig(), context)


def read_kubeconfig(paths: Paths) -> Kubeconfig:
    """Read one kubeconfig, or merge several."""
    from pyctrl.client._login.kubeconfig import Kubeconfig

    return Kubeconfig.read([paths] if isinstance(paths, (str, os.PathLike)) else list(paths))


def environment_kubeconfig() -> Kubeconfig:
    """Read the files of KUBECONFIG."""
    files = _environment_files()
    if not files:
        raise SourceUnavailable("not set")
    return _read(files)


def home_kubeconfig() -> Kubeconfig:
    """Read the kubeconfig in the home directory, unless KUBECONFIG is set."""
    if _environment_files():
        raise SourceUnavailable("not tried, because KUBECONFIG is set and means another cluster")
    try:
        home = Path.home()
    except RuntimeError:  # a numeric user without HOME, as in containers
        raise SourceUnavailable("there is no home directory: HOME is not set, and this user is not known") from None
    return _read([home / ".kube" / "config"])


def _read(files: Sequence[str | os.PathLike[str]]) -> Kubeconfig:
    from pyctrl.client._login.kubeconfig import Kubeconfig, MissingKubeconfig

    try:
        return Kubeconfig.read(files)
    except MissingKubeconfig as error:
        raise SourceUnavailable(str(error)) from error


def _config_for_context(
    kubeconfig: Kubeconfig, context: str | None, *, server: str = "", trusted: bool = True
) -> Config:
    from pyctrl.client._login.kubeconfig_context import (
        config_for_context,  # here: only kubeconfigs need it
    )

    return config_for_context(kubeconfig, context, server=server, trusted=trusted)


def _environment_files() -> list[str]:
    return [path for path in os.environ.get("KUBECONFIG", "").split(os.pathsep) if path]
