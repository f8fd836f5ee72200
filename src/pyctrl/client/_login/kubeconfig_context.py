"""Conversion of a kubeconfig's context to a `Config`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pyctrl.client._login.config import Config, server_address
from pyctrl.client._login.credentials import Anonymous, BasicAuth, BearerToken, Credentials, TokenFile, read_token
from pyctrl.client._login.exec import ExecCredentials, ExecPlugin, InteractiveMode, resolved_command
from pyctrl.client._login.impersonation import Impersonation
from pyctrl.client._login.kubeconfig import Kubeconfig, KubeconfigEntry
from pyctrl.client._login.plain_http import is_readable, warn_of_withheld_credentials
from pyctrl.client._login.proxy import checked_proxy, proxy_from_environment
from pyctrl.client._login.tls import ClientCertificate, Tls

__all__ = ["KubeconfigContext", "config_for_context", "impersonation", "kubeconfig_contexts"]


# Exec plugins with provideClusterInfo receive the cluster's extension of this name.
_PLUGIN_SETTINGS = "client.authentication.k8s.io/exec"

_INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")


# The fields that name a local file, as alternatives to `-data` fields.
_FILES = ("certificate-authority", "client-certificate", "client-key")


def config_for_context(
    kubeconfig: Kubeconfig, context_name: str | None, *, server: str = "", trusted: bool = True
) -> Config:
    """Return the login of a context, or of the current one. ``server`` replaces the address of its cluster.

    Args:
        trusted: whether the entries may name programs to run and files to read.
    """
    context = kubeconfig.context(context_name)
    cluster = kubeconfig.require("clusters", context.text("cluster"), str(context))
    user_name = context.text("user")
    user = (
        kubeconfig.require("users", user_name, str(context))
        if user_name
        else KubeconfigEntry("user", "", context.file, {})
    )
    if not trusted:
        _check_self_contained(cluster, user)
    tls = _tls(cluster, user)
    address = _address(cluster, server, tls)
    credentials = _credentials(user, cluster)
    if tls.is_configured and address.startswith("https:"):
        tls.build()  # reports a certificate that does not parse early, by name
    proxy, source = _proxy(cluster, address), f"{kubeconfig.origin}, context {context.name!r}"
    if not isinstance(credentials, Anonymous) and is_readable(address, proxy):
        warn_of_withheld_credentials(address, credentials, source)
        credentials = Anonymous()  # as clientcmd does, which makes no exception for loopback
    return Config(
        server=address,
        namespace=context.text("namespace") or "default",
        tls=tls,
        credentials=credentials,
        impersonate=impersonation(user),
        proxy=proxy,
        source=source,
    )


def _check_self_contained(cluster: KubeconfigEntry, user: KubeconfigEntry) -> None:
    """Reject programs and files: the author of the kubeconfig also chooses the server that receives the credentials."""
    if user.mapping("exec"):
        command = user.part("exec").text("command")
        raise user.error(f"exec runs the program {command!r}; {_ONLY_TRUSTED}")
    files = [(entry, key) for entry in (cluster, user) for key in _FILES if not entry.text(f"{key}-data")]
    settings = user.part("auth-provider").part("config")
    if not settings.text("idp-certificate-authority-data"):
        files.append((settings, "idp-certificate-authority"))
    for entry, key in (*files, (user, "tokenFile")):
        if name := entry.text(key):
            raise entry.error(f"{key} reads the file {name!r}; {_ONLY_TRUSTED}")


_ONLY_TRUSTED = (
    "a kubeconfig that others write must contain its credentials; use token or …-data, or pass trusted=True if you "
    "trust its author with this process"
)


def _address(cluster: KubeconfigEntry, server: str, tls: Tls) -> str:
    address = server or cluster.text("server")
    if not address:
        raise cluster.error("it has no server")
    scheme = "https" if tls.is_configured else "http"  # client-go's rule for an address without one
    return server_address(address, default_scheme=scheme, origin="--master" if server else str(cluster))


def _tls(cluster: KubeconfigEntry, user: KubeconfigEntry) -> Tls:
    return Tls(
        ca=cluster.pem("certificate-authority"),
        certificate=_client_certificate(user),
        insecure=cluster.flag("insecure-skip-tls-verify"),
        server_name=cluster.text("tls-server-name") or None,
    )


def _client_certificate(user: KubeconfigEntry) -> ClientCertificate | None:
    certificate, key = user.pem("client-certificate"), user.pem("client-key")
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        missing = "client-certificate" if certificate is None else "client-key"
        raise user.error(f"{missing} (or {missing}-data) is missing; a client certificate needs both")
    return ClientCertificate(certificate, key)


def _proxy(cluster: KubeconfigEntry, address: str) -> str | None:
    named = cluster.text("proxy-url")
    return checked_proxy(named, f"proxy-url of {cluster}") if named else proxy_from_environment(address)


def impersonation(user: KubeconfigEntry) -> Impersonation | None:
    """Return the user to impersonate, or None."""
    name, uid, groups = user.text("as"), user.text("as-uid"), user.texts("as-groups")
    extra = user.part("as-user-extra")
    if not (name or uid or groups or extra.fields):
        return None
    if not name:
        raise user.error("as-uid, as-groups and as-user-extra require 'as', the user to impersonate")
    return Impersonation(user=name, uid=uid, groups=groups, extra={key: extra.texts(key) for key in extra.fields})


def _credentials(user: KubeconfigEntry, cluster: KubeconfigEntry) -> Credentials:
    """Return the user's credentials. As in client-go, static ones win over fetched ones; two of a kind are an error."""
    has_token = bool(user.text("token") or user.text("tokenFile"))
    has_password = bool(user.text("username") or user.text("password"))
    if has_token and has_password:
        raise user.error("it has a token and a username; keep one of them")
    if user.mapping("exec") and user.mapping("auth-provider"):
        raise user.error("it has exec and auth-provider; keep one of them")
    if has_token:
        return _token(user)
    if has_password:
        return BasicAuth(user.text("username"), user.text("password"))
    if user.mapping("exec"):
        return ExecCredentials(_plugin(user, cluster), entry=user.mapping("exec"))
    if user.mapping("auth-provider"):
        return _auth_provider(user.part("auth-provider"))
    return Anonymous()


def _token(user: KubeconfigEntry) -> Credentials:
    path = user.path("tokenFile")
    if path is None:
        return BearerToken(user.text("token"), origin=f"the token of {user}")
    # The file wins, because it is renewed; a token beside it is used until the file exists.
    token = user.text("token") or read_token(path, f"tokenFile of {user}")
    return TokenFile(path, token=token)


def _plugin(user: KubeconfigEntry, cluster: KubeconfigEntry) -> ExecPlugin:
    entry = user.part("exec")
    if not entry.text("command") or not entry.text("apiVersion"):
        raise entry.error("command and apiVersion are required")
    mode = entry.text("interactiveMode") or "IfAvailable"
    if mode not in _INTERACTIVE_MODES:
        raise entry.error(f"interactiveMode {mode!r} is not one of {', '.join(_INTERACTIVE_MODES)}")
    return ExecPlugin(
        command=resolved_command(entry.text("command"), entry.directory),
        arguments=entry.texts("args"),
        environment=_environment(entry),
        api_version=entry.text("apiVersion"),
        interactive_mode=cast("InteractiveMode", mode),
        install_hint=entry.text("installHint"),
        cluster=_cluster_info(cluster) if entry.flag("provideClusterInfo") else None,
        origin=f"exec of {user}",
    )


def _environment(entry: KubeconfigEntry) -> dict[str, str]:
    variables = entry.fields.get("env") or []
    try:
        pairs = {variable["name"]: variable["value"] for variable in variables}
    except (TypeError, KeyError) as error:
        raise entry.error("env must be a list of mappings with 'name' and 'value'") from error
    if not all(isinstance(text, str) for pair in pairs.items() for text in pair):
        raise entry.error("names and values of env must be strings; put numbers in quotes")
    return pairs


def _cluster_info(cluster: KubeconfigEntry) -> Mapping[str, Any]:
    """Return the ``spec.cluster`` of KUBERNETES_EXEC_INFO: the cluster's entry, with the authority always as data."""
    authority = cluster.pem("certificate-authority")
    settings = next((item for item in _extensions(cluster) if item.get("name") == _PLUGIN_SETTINGS), {})
    info = {
        "server": cluster.text("server"),
        "tls-server-name": cluster.text("tls-server-name"),
        "insecure-skip-tls-verify": cluster.flag("insecure-skip-tls-verify"),
        "certificate-authority-data": base64.b64encode(authority.read()).decode() if authority else "",
        "proxy-url": cluster.text("proxy-url"),
        "config": settings.get("extension"),
    }
    return {key: value for key, value in info.items() if value or key == "server"}


def _extensions(cluster: KubeconfigEntry) -> list[Mapping[str, Any]]:
    extensions = cluster.fields.get("extensions") or []
    if not isinstance(extensions, list) or not all(isinstance(item, dict) for item in extensions):
        raise cluster.error("extensions must be a list of mappings with 'name' and 'extension'")
    return extensions


def _auth_provider(entry: KubeconfigEntry) -> Credentials:
    if entry.text("name") != "oidc":
        # kubectl removed the others, azure and gcp, in 1.26
        raise entry.error(
            f"auth-provider {entry.text('name')!r} is not supported; use the exec plugin that replaced it"
        )
    settings = entry.part("config")
    if not settings.text("idp-issuer-url") or not settings.text("client-id"):
        raise settings.error("idp-issuer-url and client-id are required")
    from pyctrl.client._login.oidc import (  # here: it needs aiohttp, and few logins need it
        OidcCredentials,
        OidcProvider,
    )

    provider = OidcProvider(
        issuer=settings.text("idp-issuer-url"),
        client_id=settings.text("client-id"),
        client_secret=settings.text("client-secret"),
        tls=Tls(ca=settings.pem("idp-certificate-authority")),
        origin=str(entry),
    )
    tokens = {"id_token": settings.text("id-token"), "refresh_token": settings.text("refresh-token")}
    return OidcCredentials(provider, **tokens, entry=entry.fields)


@dataclass(frozen=True, slots=True)
class KubeconfigContext:
    """A context with the entries that its login consists of. Two are equal if they have the same login."""

    name: str
    #: The fields of the context, its cluster and its user.
    content: tuple[Mapping[str, Any] | None, ...] = field(repr=False)
    file: Path
    _kubeconfig: Kubeconfig = field(repr=False, compare=False)

    def log_in(self, *, trusted: bool = True) -> Config:
        """Return the login.

        Args:
            trusted: whether it may name programs to run and files to read.

        Raises:
            ConfigError: an entry is missing or invalid, or needs ``trusted``.
        """
        return config_for_context(self._kubeconfig, self.name, trusted=trusted)


def kubeconfig_contexts(path: Path, *, current_only: bool = False) -> list[KubeconfigContext]:
    """Return the contexts of a file, or the current one, sorted by name. This makes no login.

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
