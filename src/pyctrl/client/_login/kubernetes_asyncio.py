"""Logins of kubernetes_asyncio's loaders: conversion of its ``Configuration`` to a `Config`.

This is for programs that have such a Configuration, and for logins that pyctrl does not support, such as the old gcp
provider. pyctrl's other logins do not use it; docs/design/login.md has the reasons. Only `load` imports the library and
requires it to be installed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol, cast

from pyctrl import _clock
from pyctrl.client._login.config import Config, server_address
from pyctrl.client._login.exec import INTERACTIVE_SECONDS, RUN_SECONDS, renewal_time
from pyctrl.client._login.impersonation import Impersonation
from pyctrl.client._login.in_cluster import SERVICE_ACCOUNT, namespace_of
from pyctrl.client._login.kubeconfig import Kubeconfig
from pyctrl.client._login.kubeconfig_context import impersonation
from pyctrl.client._login.loading_rules import (
    Paths,
    SourceUnavailable,
    environment_kubeconfig,
    first_available,
    home_kubeconfig,
    read_kubeconfig,
)
from pyctrl.client._login.proxy import proxy_from_environment
from pyctrl.client._login.single_flight import SingleFlight
from pyctrl.client._login.tls import ClientCertificate, Pem, Tls
from pyctrl.errors import ConfigError

__all__ = ["ConfigurationCredentials", "LoadedConfiguration", "from_configuration", "load"]

log = logging.getLogger("pyctrl.client")

CHECK_AGAIN = timedelta(minutes=1)  # for gcp and oidc, where the loader itself renews expired tokens

# A Configuration has its library's meaning: the certificate checks of Python's version, unless they are turned off.
_PYTHON_IS_STRICT = sys.version_info >= (3, 13)


class LoadedConfiguration(Protocol):
    """The used part of a ``kubernetes_asyncio.client.Configuration``, which has no types."""

    @property
    def host(self) -> str | None: ...
    @property
    def ssl_ca_cert(self) -> str | None: ...
    @property
    def cert_file(self) -> str | None: ...
    @property
    def key_file(self) -> str | None: ...
    @property
    def verify_ssl(self) -> bool: ...
    @property
    def disable_strict_ssl_verification(self) -> bool: ...
    @property
    def tls_server_name(self) -> str | None: ...
    @property
    def proxy(self) -> str | None: ...
    @property
    def proxy_headers(self) -> object: ...
    async def auth_settings(self) -> Mapping[str, Mapping[str, object]]:
        """Run the refresh hook and return the authentication settings."""
        ...


class _OwnConfiguration(LoadedConfiguration, Protocol):
    """A Configuration made by this module, which sets its hook."""

    refresh_api_key_hook: object


class _Loader(Protocol):
    """The used part of the library's ``KubeConfigLoader``. Some plugins also set its ``exec_plugin_expiry``."""

    provider: str | None

    async def load_and_set(self, client_configuration: LoadedConfiguration) -> None: ...


def from_configuration(configuration: LoadedConfiguration, namespace: str) -> Config:
    """Convert a loaded Configuration; `Config.from_kubernetes_asyncio` documents it."""
    source = "a Configuration of kubernetes_asyncio"
    return _config(configuration, ConfigurationCredentials(configuration, origin=source), namespace, source)


async def load(kubeconfig: Paths | None, context: str | None, service_account: str | os.PathLike[str] | None) -> Config:
    """Find a login and load it; `Config.load_with_kubernetes_asyncio` documents it."""
    library = await asyncio.to_thread(_library)  # its import takes a third of a second
    if kubeconfig is not None:
        return await _load_context(library, read_kubeconfig(kubeconfig), context)
    directory = Path(service_account or SERVICE_ACCOUNT)
    sources: tuple[tuple[str, Callable[[], Kubeconfig | Config]], ...] = (
        ("KUBECONFIG", environment_kubeconfig),
        ("in-cluster", lambda: _from_in_cluster(library, context, directory)),
        ("~/.kube/config", home_kubeconfig),
    )
    found, passed_over = first_available(*sources)
    config = await _load_context(library, found, context) if isinstance(found, Kubeconfig) else found
    return replace(config, passed_over=passed_over)


class ConfigurationCredentials:
    """The credentials of a Configuration, read for each request so that its refresh hook keeps working.

    The hook never runs twice at the same time: concurrent requests share its outcome. After a 401, ``renew`` is called,
    or the hook once more if there is no ``renew``. If the token stays the same, the request is not repeated.
    """

    def __init__(
        self,
        configuration: LoadedConfiguration,
        *,
        origin: str,
        renew: Callable[[LoadedConfiguration], Awaitable[None]] | None = None,
    ) -> None:
        self._configuration = configuration
        self._origin = origin
        self._renew = renew
        self._header: str | None = None
        self._reading = SingleFlight()

    async def authorization(self) -> str | None:
        """Return the header, Bearer or Basic, after the hook has run; None if the Configuration has none."""
        await self._reading.run(self._read)
        return self._header

    async def certificate(self) -> ClientCertificate | None:
        """Return the client certificate that the Configuration names; a plugin may have replaced it."""
        certificate, key = self._configuration.cert_file, self._configuration.key_file
        if not certificate:
            return None
        name = f"of {self._origin}"
        return ClientCertificate(
            Pem(f"cert_file {name}", path=Path(certificate)),
            Pem(f"key_file {name}", path=Path(key or certificate)),  # as in the library: one file may have both
        )

    async def refresh(self, rejected: str | None = None) -> bool:
        """Renew the credentials. Return True if the header or the certificate has changed."""
        if None not in (rejected, self._header) and rejected != self._header:
            return True
        before = (self._header, await self.certificate())
        if self._renew is not None:
            await self._renew(self._configuration)
        await self._reading.run(self._read)
        return (self._header, await self.certificate()) != before

    def __str__(self) -> str:
        return f"the credentials of {self._origin}"

    def __repr__(self) -> str:
        return f"ConfigurationCredentials({self._origin!r})"

    async def _read(self) -> None:
        try:
            settings = await self._configuration.auth_settings()
        except ConfigError:
            raise
        except Exception as error:
            raise ConfigError(f"{self._origin}: its refresh hook failed: {_describe(error)}") from error
        self._header = _checked(settings.get("BearerToken", {}).get("value"), self._origin)


class _Renewal:
    """Refresh hook for the credentials of a `_Loader`: the library leaves renewal to the program.

    A plugin's credentials are renewed shortly before they expire and after a 401; without an expiry only after a 401.
    If that fails, the current ones stay in use and a warning is logged.
    """

    def __init__(self, loader: _Loader, origin: str) -> None:
        self._loader = loader
        self._origin = origin
        self._flight = SingleFlight()
        self._due_at = self._next()

    async def __call__(self, configuration: LoadedConfiguration) -> None:
        """Renew if it is due."""
        if self._due_at is None or _clock.now() < self._due_at:
            return
        try:
            await self.renew(configuration)
        except ConfigError as error:
            self._due_at = _clock.now() + CHECK_AGAIN
            log.warning("Login renewal failed, keeping the current login", extra={"error": str(error)})

    async def renew(self, configuration: LoadedConfiguration) -> None:
        """Renew now, or wait for the renewal in progress. Raises ConfigError if it fails."""
        await self._flight.run(partial(self._load, configuration))

    async def _load(self, configuration: LoadedConfiguration) -> None:
        vars(self._loader).pop("exec_plugin_expiry", None)  # otherwise the loader keeps its credentials
        await _with_time_limit(self._loader.load_and_set(configuration), self._origin)
        self._due_at = self._next()

    def _next(self) -> datetime | None:
        expires_at: datetime | None = getattr(self._loader, "exec_plugin_expiry", None)
        if expires_at is not None:
            return renewal_time(expires_at)
        return _clock.now() + CHECK_AGAIN if self._loader.provider else None


async def _load_context(library: ModuleType, kubeconfig: Kubeconfig, context_name: str | None) -> Config:
    """Let the library log in. pyctrl chooses files, context, namespace and impersonation, which the library lacks."""
    context = kubeconfig.context(context_name)
    user = kubeconfig.find("users", context.text("user"))
    source = f"{kubeconfig.origin}, context {context.name!r}, through kubernetes_asyncio"
    configuration = _empty()
    loading = library.load_kube_config(
        config_file=_files(kubeconfig), context=context.name, client_configuration=configuration, persist_config=False
    )
    renewal = _Renewal(cast("_Loader", await _with_time_limit(loading, source)), source)
    configuration.refresh_api_key_hook = renewal
    credentials = ConfigurationCredentials(configuration, origin=source, renew=renewal.renew)
    namespace = context.text("namespace") or "default"
    return _config(configuration, credentials, namespace, source, impersonation(user) if user else None)


def _from_in_cluster(library: ModuleType, context: str | None, directory: Path) -> Config:
    if context is not None:
        raise SourceUnavailable(f"not tried, because context {context!r} was requested")
    configuration, source = _empty(), f"the service account in {directory}, through kubernetes_asyncio"
    files = {"token_filename": str(directory / "token"), "cert_filename": str(directory / "ca.crt")}
    try:
        library.load_incluster_config(client_configuration=configuration, **files)
    except library.ConfigException as error:
        raise SourceUnavailable(f"this is not a pod: {error}") from error
    credentials = ConfigurationCredentials(configuration, origin=source)
    return _config(configuration, credentials, namespace_of(directory), source)


def _config(
    configuration: LoadedConfiguration,
    credentials: ConfigurationCredentials,
    namespace: str,
    source: str,
    impersonated: Impersonation | None = None,
) -> Config:
    if not configuration.host:
        raise ConfigError(
            f"{source} has no host; load it first, for example with load_kube_config(client_configuration=…)"
        )
    if configuration.proxy_headers:
        raise ConfigError(f"{source} has proxy_headers, which pyctrl cannot send; put name and password into proxy")
    address = server_address(configuration.host, default_scheme="https", origin=source)
    return Config(
        server=address,
        namespace=namespace,
        tls=_tls(configuration, source),
        credentials=credentials,
        impersonate=impersonated,
        proxy=configuration.proxy or proxy_from_environment(address),  # for the library, aiohttp reads it
        source=source,
    )


def _tls(configuration: LoadedConfiguration, source: str) -> Tls:
    """Return the TLS options without the client certificate, which the credentials provide: plugins replace it."""
    ca = configuration.ssl_ca_cert if configuration.verify_ssl else None  # verify_ssl=False wins, as in the library
    return Tls(
        ca=Pem(f"ssl_ca_cert of {source}", path=Path(ca)) if ca else None,
        insecure=not configuration.verify_ssl,
        server_name=configuration.tls_server_name or None,
        strict=_PYTHON_IS_STRICT and not configuration.disable_strict_ssl_verification,
    )


def _library() -> ModuleType:
    try:
        return import_module("kubernetes_asyncio.config")
    except ImportError as error:
        raise ConfigError(
            f"kubernetes_asyncio cannot be imported ({error}); pip install kubernetes_asyncio, "
            "or use Config.load(), which does not need it"
        ) from error


def _empty() -> _OwnConfiguration:
    configuration = import_module("kubernetes_asyncio.client").Configuration()
    configuration.disable_strict_ssl_verification = True  # as in all other logins of pyctrl: see `Tls.strict`
    return cast("_OwnConfiguration", configuration)


def _files(kubeconfig: Kubeconfig) -> str:
    """Return the files without empty ones, at which the library's merge fails."""
    used = {entry.file for entry in kubeconfig.entries.values()}
    return os.pathsep.join(str(path) for path in kubeconfig.files if path in used)


async def _with_time_limit(login: Awaitable[object], origin: str) -> object:
    """Await a login of the library with a time limit, and map its exceptions, which may be of any class.

    A plugin that hangs keeps running: the library owns the process and does not kill it.
    """
    is_terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
    seconds = INTERACTIVE_SECONDS if is_terminal else RUN_SECONDS
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await login
    except Exception as error:
        if limit.expired():
            raise ConfigError(f"{origin}: no login within {seconds:.0f} s") from error
        raise ConfigError(f"{origin}: {_describe(error)}") from error


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _checked(value: object, origin: str) -> str | None:
    header = str(value).strip() if value else ""  # the library keeps the line break at the end of a token file
    if not (header.isascii() and header.isprintable()):
        raise ConfigError(f"{origin}: its BearerToken has characters that are invalid in a header")
    return header or None
