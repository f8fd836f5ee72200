"""`Config`: the address of an API server and the login to it.

The constructors that read files or the environment are in files of their own (`loading_rules.py`, `in_cluster.py`,
`kubeconfig_context.py`), imported on first use.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit, urlunsplit

from pyctrl._distribution import version
from pyctrl.client._login.credentials import Anonymous, BearerToken, Credentials, TokenFile
from pyctrl.client._login.proxy import checked_proxy, proxy_from_environment, without_password
from pyctrl.client._login.tls import ClientCertificate, Pem, Tls
from pyctrl.errors import ConfigError

if TYPE_CHECKING:
    from kubernetes_asyncio.client import ApiClient
    from kubernetes_asyncio.stream import WsApiClient

    from pyctrl.client._login.impersonation import Impersonation
    from pyctrl.client._login.kubernetes_asyncio import LoadedConfiguration
    from pyctrl.client._transport.transport import Application, Transport

__all__ = ["Config", "server_address"]

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # Go's names, as in other clients' user agents
_IN_PROCESS = "http://in-process"


def _user_agent() -> str:
    machine = platform.machine().lower()
    system = platform.system().lower()
    return f"pyctrl/{version()} ({system}/{_ARCHITECTURES.get(machine, machine)})"


_USER_AGENT = _user_agent()  # at import, because it reads files and a Config may be made on an event loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The address of an API server, and the credentials and options of one user's connections to it.

    A Config is immutable: copy it with ``dataclasses.replace``. ``repr`` shows no token, key or password. Most programs
    call `load`. The other constructors are for logins from a known source.

    Credentials that are renewed (token files, plugins) keep their state in their own object, so copies of a Config
    share it.
    """

    server: str
    """``https://HOST[:PORT][/PREFIX]``, without a slash at the end."""
    namespace: str = "default"
    """The default namespace: that of the kubeconfig's context, or of this pod."""
    tls: Tls = field(default_factory=Tls)
    credentials: Credentials = field(default_factory=Anonymous)
    impersonate: Impersonation | None = None
    proxy: str | None = field(default=None, repr=False)
    """The URL of an HTTP proxy. A constructor reads it once from the kubeconfig or the environment."""
    user_agent: str = field(default=_USER_AGENT, repr=False)
    source: str = "code"
    """A description of the login's source: "kubeconfig /home/dev/.kube/config, context 'kind'"."""
    passed_over: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)
    """The sources that `load` tried before this one, each with the reason why it was not used."""
    application: Application | None = field(default=None, repr=False)
    """An API server in this process, which handles the requests instead of ``server``."""
    wrap_transport: Callable[[Transport], Transport] | None = field(default=None, repr=False)
    """A function that wraps the transport, for example to record requests or to inject faults."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "server", server_address(self.server, default_scheme="https", origin=self.source))
        if self.proxy is not None:
            object.__setattr__(self, "proxy", checked_proxy(self.proxy, self.source))

    @classmethod
    def load(
        cls,
        *,
        kubeconfig: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        context: str | None = None,
        service_account: str | os.PathLike[str] | None = None,
    ) -> Config:
        """Find a login: ``kubeconfig``, then KUBECONFIG, then this pod's service account, then ``~/.kube/config``.

        The first source that exists is used; ``passed_over`` has the reasons against those before it. A source that
        exists and is invalid is an error: the next one is not tried. If all files of KUBECONFIG are missing, the
        service account is tried, as in client-go, but not ``~/.kube/config``, which would be another cluster than the
        intended one. A ``context`` excludes the service account.

        Args:
            kubeconfig: one file, or several that are merged.
            context: the context to use instead of the current one.
            service_account: the directory where the service account is mounted, by default Kubernetes' own.

        Raises:
            NoConfiguration: no source exists; ``attempts`` lists each one with the reason.
            ConfigError: a source exists and is invalid.
        """
        from pyctrl.client._login import loading_rules  # here and below: programs with another login do without it

        return loading_rules.load(kubeconfig, context, service_account)

    @classmethod
    def from_kubeconfig(
        cls, path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, context: str | None = None
    ) -> Config:
        """Use a context of a kubeconfig, or of several that are merged: the first entry of a name wins."""
        from pyctrl.client._login import loading_rules

        return loading_rules.from_kubeconfig(path, context)

    @classmethod
    def from_kubeconfig_text(cls, text: str, *, context: str | None = None, trusted: bool = False) -> Config:
        """Use a context of a kubeconfig's text, such as the content of a Secret in an operator for many clusters.

        Args:
            text: YAML or JSON, of at most 4 MiB, 100,000 values and 100 levels.
            context: the name of the context; by default the current one.
            trusted: whether the text may name programs to run (``exec``) and files to read (``tokenFile``,
                ``client-key`` and the like). Its author also chooses the server, and so could have your own service
                account's token sent there.

        Raises:
            ConfigError: the text is no valid kubeconfig, or it needs ``trusted``.
        """
        from pyctrl.client._login import loading_rules

        return loading_rules.from_kubeconfig_text(text, context, trusted=trusted)

    @classmethod
    def in_cluster(cls, *, service_account: str | os.PathLike[str] | None = None) -> Config:
        """Use the service account of this pod. Its token is read again after kubelet has renewed it.

        Raises:
            ConfigError: this is not a pod, or no token is mounted.
        """
        from pyctrl.client._login import in_cluster as _in_cluster

        return _in_cluster.in_cluster(service_account)

    @classmethod
    def from_flags(
        cls,
        master: str | None = None,
        kubeconfig: str | os.PathLike[str] | None = None,
        *,
        service_account: str | os.PathLike[str] | None = None,
    ) -> Config:
        """Use the flags ``--master`` and ``--kubeconfig`` as client-go's ``BuildConfigFromFlags`` does.

        With neither, in-cluster is tried with client-go's warning. If that fails, client-go's second warning is logged,
        and the default kubeconfigs are read: KUBECONFIG, else ``~/.kube/config``. With a ``kubeconfig``, that file is
        read, and ``master`` replaces its server address. With ``master`` alone, requests are anonymous: credentials of
        a kubeconfig are not sent to a server that the kubeconfig does not name.
        """
        from pyctrl.client._login import loading_rules

        return loading_rules.from_flags(master, kubeconfig, service_account)

    @classmethod
    def from_token(
        cls,
        server: str,
        token: str | os.PathLike[str],
        *,
        ca: str | os.PathLike[str] | bytes | None = None,
        insecure: bool = False,
        namespace: str = "default",
    ) -> Config:
        """Use a bearer token, such as a service account's.

        Args:
            server: the server's address; https if it has no scheme.
            token: the token, or the Path of its file, which is read again every minute.
            ca: the certificate authority of the server, PEM or a path; by default the system's authorities.
            insecure: trust any certificate.
            namespace: the default namespace.

        Raises:
            ConfigError: files cannot be read; the message lists all of them.
        """
        source, authority = "a token given in code", _ca(ca)
        file = None if isinstance(token, str) else Path(token)
        _check_files(source, authority, Pem(f"the token {file}", path=file) if file else None)
        tls = Tls(ca=authority, insecure=insecure)
        credentials = BearerToken(token) if isinstance(token, str) else TokenFile(token)
        return cls._to(server, tls=tls, credentials=credentials, namespace=namespace, source=source)

    @classmethod
    def from_client_cert(
        cls,
        server: str,
        cert: str | os.PathLike[str] | bytes,
        key: str | os.PathLike[str] | bytes,
        ca: str | os.PathLike[str] | bytes | None = None,
        *,
        insecure: bool = False,
        namespace: str = "default",
    ) -> Config:
        """Use a client certificate. Each part is PEM, or the path of a file, which may be renewed in place.

        Raises:
            ConfigError: files cannot be read; the message lists all of them.
        """
        source, authority = "a client certificate given in code", _ca(ca)
        certificate = ClientCertificate(Pem.of(cert, "the client certificate"), Pem.of(key, "the client key"))
        _check_files(source, certificate.certificate, certificate.key, authority)
        tls = Tls(ca=authority, certificate=certificate, insecure=insecure)
        return cls._to(server, tls=tls, credentials=Anonymous(), namespace=namespace, source=source)

    @classmethod
    def in_process(cls, application: Application, *, token: str | None = None, namespace: str = "default") -> Config:
        """Use an API server in this process. It needs no socket and no proxy, and works in virtual time."""
        return cls(
            server=_IN_PROCESS,
            namespace=namespace,
            credentials=Anonymous() if token is None else BearerToken(token),
            source="an API server in this process",
            application=application,
        )

    @classmethod
    def from_kubernetes_asyncio(cls, configuration: LoadedConfiguration, *, namespace: str = "default") -> Config:
        """Use a ``kubernetes_asyncio.client.Configuration`` that the library's loaders or the program have filled.

        Its ``refresh_api_key_hook``, sync or async, is called for each request and once more after a 401, never twice
        at the same time. Address, authority and proxy are read now, token and client certificate for each request.
        They have the library's meaning: ``verify_ssl=False`` wins over an authority, and from Python 3.13 on
        certificates are checked strictly unless ``disable_strict_ssl_verification`` is set.

        Args:
            configuration: the ``client_configuration`` that was passed to the loader.
            namespace: the default namespace. A Configuration has none: the loaders drop the context's.

        Raises:
            ConfigError: it is not loaded, or has an unsupported setting.
        """
        from pyctrl.client._login import kubernetes_asyncio as _kubernetes_asyncio

        return _kubernetes_asyncio.from_configuration(configuration, namespace)

    @classmethod
    async def load_with_kubernetes_asyncio(
        cls,
        *,
        kubeconfig: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        context: str | None = None,
        service_account: str | os.PathLike[str] | None = None,
    ) -> Config:
        """Find a login as `load` does, and load it with kubernetes_asyncio, for example for its gcp provider.

        pyctrl finds the files, the context with its namespace, and the user to impersonate. The library fetches tokens
        and certificates. They are renewed shortly before they expire and after a 401, never twice at the same time,
        with the time limits of plugins. No kubeconfig is rewritten. The library writes certificates and keys of a
        kubeconfig to temporary files, which remain until the process ends.

        Raises:
            NoConfiguration: no source exists; ``attempts`` lists each one with the reason.
            ConfigError: a source exists and is invalid, or kubernetes_asyncio is not installed.
        """
        from pyctrl.client._login import kubernetes_asyncio as _kubernetes_asyncio

        return await _kubernetes_asyncio.load(kubeconfig, context, service_account)

    def api_client(self) -> ApiClient:
        """Return a ``kubernetes_asyncio.client.ApiClient`` with this login, for code that uses its API classes.

            async with config.api_client() as api:
                pods = await CoreV1Api(api).list_namespaced_pod("default")

        pyctrl's transport sends the requests: tokens are renewed, TLS, proxy, impersonation and user agent are those of
        this Config, and a server in this process is reached without a socket. Everything else is the library's, such as
        ``ApiException``, ``_preload_content`` and ``_request_timeout``; without the latter there is no time limit. Its
        ``configuration`` has nothing of the login. Close it with ``close()`` or ``async with``; that also closes
        responses that are still being read. The library is imported by the first call, which takes a third of a second.
        """
        from pyctrl.client._kubernetes_asyncio.api_client import TransportApiClient

        return TransportApiClient(self)

    def ws_api_client(self, *, heartbeat: float | None = None) -> WsApiClient:
        """Return a ``kubernetes_asyncio.stream.WsApiClient`` with this login, for exec, attach and port-forward.

        As `api_client`, but only on the network, and not through ``wrap_transport``.

        Args:
            heartbeat: seconds between two pings of a connection; None sends none.

        Raises:
            ConfigError: the API server is in this process.
        """
        from pyctrl.client._kubernetes_asyncio.web_sockets import TransportWsApiClient

        return TransportWsApiClient(self, heartbeat)

    def to_kubeconfig(self, *, context_name: str = "pyctrl") -> str:
        """Return this login as a self-contained kubeconfig, with certificates, keys and tokens.

        Raises:
            ConfigError: a kubeconfig cannot express it: a server in this process, or custom credentials.
        """
        from pyctrl.client._login import kubeconfig_writer

        return kubeconfig_writer.write(self, context_name)

    @classmethod
    def _to(cls, server: str, *, tls: Tls, credentials: Credentials, namespace: str, source: str) -> Config:
        address = server_address(server, default_scheme="https", origin=source)
        proxy = proxy_from_environment(address)
        return cls(server=address, tls=tls, credentials=credentials, namespace=namespace, source=source, proxy=proxy)


def server_address(server: str, *, default_scheme: str, origin: str) -> str:
    """Return a server's address as ``scheme://host[:port][/prefix]``. Raises ConfigError if it is invalid."""
    url = server if "://" in server else f"{default_scheme}://{server}"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable, parts = False, SplitResult("", "", "", "", "")
    if not usable or parts.query or parts.fragment or "@" in parts.netloc:
        raise ConfigError(
            f"{origin}: {without_password(server)!r} is not the address of a server; "
            "https://HOST:PORT was expected, with or without a path behind it"
        )
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def _check_files(source: str, *parts: Pem | None) -> None:
    """Raise ConfigError for all unreadable files at once. They are usually paths of another machine."""
    unreadable = [f"{part.origin} ({reason})" for part in parts if part is not None and (reason := _read_error(part))]
    if unreadable:
        raise ConfigError(f"{source}: cannot read {', '.join(unreadable)}; in a container, are they mounted?")


def _read_error(part: Pem) -> str | None:
    try:
        part.read()
    except ConfigError as error:
        cause = error.__cause__
        return (cause.strerror if isinstance(cause, OSError) else None) or str(error)
    return None


def _ca(source: str | os.PathLike[str] | bytes | None) -> Pem | None:
    return None if source is None else Pem.of(source, "the certificate authority")
