"""How to reach an API server, and as whom: one value, made in one of many ways.

The ways that read files or the environment are behind `Config.load` and its siblings; each has a file of its own
(`loading_rules.py`, `_in_cluster.py`, `_kubeconfig_login.py`) which is imported when it is used.
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
    from pyctrl.client._login.impersonation import Impersonation
    from pyctrl.client._login.kubernetes_asyncio import LoadedConfiguration
    from pyctrl.client._transport.transport import Application, Transport

__all__ = ["Config", "server_address"]

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # Go's names, which servers' logs are full of
_IN_PROCESS = "http://in-process"


def _user_agent() -> str:
    machine = platform.machine().lower()
    system = platform.system().lower()
    return f"pyctrl/{version()} ({system}/{_ARCHITECTURES.get(machine, machine)})"


_USER_AGENT = _user_agent()  # now and not in the first Config, which may be made on a loop: it reads files


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything a transport has to know to reach one API server as one user.

    A value: change it with ``dataclasses.replace``. ``repr`` shows no token, key or password. Made by `load` in most
    programs; by the other constructors when it is known where the login comes from; directly when nothing fits.

    Credentials that are renewed (token files, plugins) keep what they have learned in their own object, so copies of
    a Config share it.
    """

    server: str
    """``https://HOST[:PORT][/PREFIX]``, without a slash at the end."""
    namespace: str = "default"
    """The namespace of the login: of the context, or of the pod this runs in."""
    tls: Tls = field(default_factory=Tls)
    credentials: Credentials = field(default_factory=Anonymous)
    impersonate: Impersonation | None = None
    proxy: str | None = field(default=None, repr=False)
    """The URL of an HTTP proxy. Decided when a constructor made this, never looked up again."""
    user_agent: str = field(default=_USER_AGENT, repr=False)
    source: str = "code"
    """Where this came from, for people: "the kubeconfig /home/dev/.kube/config, context 'kind'"."""
    passed_over: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)
    """The sources that were looked at before this one, and why each was not taken."""
    application: Application | None = field(default=None, repr=False)
    """An API server in this process, which then answers instead of ``server``."""
    wrap_transport: Callable[[Transport], Transport] | None = field(default=None, repr=False)
    """What to put between a client and its connection: something that notes requests, or makes some of them fail."""

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

        The first source that is there is taken; ``passed_over`` says why not those before it. What is wrong with
        the one that is there is an error: a broken file never makes the next source win. A KUBECONFIG whose files are
        all missing still allows the service account, as in client-go, but not ``~/.kube/config``, which would be
        another cluster than the one that was meant. Naming a ``context`` means a kubeconfig, so the service account
        is left out.

        Args:
            kubeconfig: one file, or several that are merged.
            context: the context to use instead of the current one.
            service_account: the directory it is mounted at, if not where Kubernetes mounts it.

        Raises:
            NoConfiguration: no source is there; ``attempts`` lists each one and why it was not taken.
            ConfigError: a source is there and cannot be used.
        """
        from pyctrl.client._login import (
            loading_rules,  # here and below: what reads files is imported by who reads files
        )

        return loading_rules.load(kubeconfig, context, service_account)

    @classmethod
    def from_kubeconfig(
        cls, path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, context: str | None = None
    ) -> Config:
        """Take a context of a kubeconfig, or of several that are merged: the first to name a thing wins."""
        from pyctrl.client._login import loading_rules

        return loading_rules.from_kubeconfig(path, context)

    @classmethod
    def from_kubeconfig_text(cls, text: str, *, context: str | None = None, trusted: bool = False) -> Config:
        """Take a context of a kubeconfig's content, as operators for many clusters find it in Secrets.

        Args:
            text: YAML or JSON; it is not parsed beyond 4 MiB, 100,000 values and 100 levels.
            context: its name; by default the current one.
            trusted: whether the content may name programs to run (``exec``) and files to read (``tokenFile``,
                ``client-key`` and the like). Whoever writes it chooses the server as well, and so could have your own
                service account's token sent there.

        Raises:
            ConfigError: it is no kubeconfig, something is missing or wrong, or needs trust.
        """
        from pyctrl.client._login import loading_rules

        return loading_rules.from_kubeconfig_text(text, context, trusted=trusted)

    @classmethod
    def in_cluster(cls, *, service_account: str | os.PathLike[str] | None = None) -> Config:
        """Log in as the service account of the pod this runs in; its token is read again as kubelet renews it.

        Raises:
            ConfigError: this is not a pod, or no token is mounted in it.
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
        """Take the two flags of classic operators, in the order of client-go's ``BuildConfigFromFlags``.

        With neither, in-cluster is tried, with client-go's warning; if that fails its second one is logged, and the
        default kubeconfigs are read: KUBECONFIG, else ``~/.kube/config``. With a ``kubeconfig``, it is read, and
        ``master`` replaces the address in it. With a ``master`` alone, that server is asked as nobody: the credentials
        of some kubeconfig are not sent to a server it does not name.
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
        """Log in with a bearer token, such as a service account's.

        Args:
            server: its address; https if it has no scheme.
            token: the token itself, or the Path of a file with it, which is then read again every minute.
            ca: the authority that signed the server's certificate, PEM or a path; the system's ones if left out.
            insecure: trust any certificate.
            namespace: the namespace of the login.

        Raises:
            ConfigError: a file is not there or cannot be read; every one of them is named.
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
        """Log in with a client certificate: each part is PEM, or the path of a file, which may be renewed in place.

        Raises:
            ConfigError: a file is not there or cannot be read; every one of them is named.
        """
        source, authority = "a client certificate given in code", _ca(ca)
        certificate = ClientCertificate(Pem.of(cert, "the client certificate"), Pem.of(key, "the client key"))
        _check_files(source, certificate.certificate, certificate.key, authority)
        tls = Tls(ca=authority, certificate=certificate, insecure=insecure)
        return cls._to(server, tls=tls, credentials=Anonymous(), namespace=namespace, source=source)

    @classmethod
    def in_process(cls, application: Application, *, token: str | None = None, namespace: str = "default") -> Config:
        """Use an API server in this process: no socket and no proxy, and it works in virtual time."""
        return cls(
            server=_IN_PROCESS,
            namespace=namespace,
            credentials=Anonymous() if token is None else BearerToken(token),
            source="an API server in this process",
            application=application,
        )

    @classmethod
    def from_kubernetes_asyncio(cls, configuration: LoadedConfiguration, *, namespace: str = "default") -> Config:
        """Take a ``kubernetes_asyncio.client.Configuration`` that a loader of that library, or the program, has filled.

        Its ``refresh_api_key_hook``, plain or async, is called for each request, never twice at the same time, and
        once more after a 401. Address, authority and proxy are read now; token and client certificate each time.
        They mean what they mean there: ``verify_ssl=False`` wins over an authority, and from Python 3.13 on
        certificates are checked strictly unless ``disable_strict_ssl_verification`` is set.

        Args:
            configuration: the one that was passed to the loader as ``client_configuration``.
            namespace: of the login; a Configuration has none, so the loaders lose that of the context.

        Raises:
            ConfigError: it is not loaded, or has something that cannot be done.
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
        """Find a login as `load` does, and let kubernetes_asyncio's loaders make it, as for its gcp provider.

        pyctrl finds the files, the context with its namespace, and whom to act as. The library fetches tokens and
        certificates, which are renewed shortly before they expire and after a 401, never twice at the same time, with
        the time limits of plugins. No kubeconfig is ever rewritten. Certificates and keys in a kubeconfig lie in
        temporary files until the process ends: that is how the library takes them.

        Raises:
            NoConfiguration: no source is there; ``attempts`` lists each one and why it was not taken.
            ConfigError: a source is there and cannot be used, or kubernetes_asyncio is not installed.
        """
        from pyctrl.client._login import kubernetes_asyncio as _kubernetes_asyncio

        return await _kubernetes_asyncio.load(kubeconfig, context, service_account)

    def to_kubeconfig(self, *, context_name: str = "pyctrl") -> str:
        """Return this login as a kubeconfig that stands alone: certificates are in it, and so are tokens and keys.

        Raises:
            ConfigError: it cannot be written down, as for a server in this process or credentials of your own.
        """
        from pyctrl.client._login import kubeconfig_writer

        return kubeconfig_writer.write(self, context_name)

    @classmethod
    def _to(cls, server: str, *, tls: Tls, credentials: Credentials, namespace: str, source: str) -> Config:
        address = server_address(server, default_scheme="https", origin=source)
        proxy = proxy_from_environment(address)
        return cls(server=address, tls=tls, credentials=credentials, namespace=namespace, source=source, proxy=proxy)


def server_address(server: str, *, default_scheme: str, origin: str) -> str:
    """Return the address of a server as ``scheme://host[:port][/prefix]``. Raises ConfigError if it is none."""
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
    """Refuse a login whose files are not there, all at once: the usual case is a path of another machine."""
    unreadable = [f"{part.origin} ({why})" for part in parts if part is not None and (why := _why_unreadable(part))]
    if unreadable:
        raise ConfigError(f"{source}: cannot read {', '.join(unreadable)}; in a container, are they mounted?")


def _why_unreadable(part: Pem) -> str | None:
    try:
        part.read()
    except ConfigError as error:
        cause = error.__cause__
        return (cause.strerror if isinstance(cause, OSError) else None) or str(error)
    return None


def _ca(source: str | os.PathLike[str] | bytes | None) -> Pem | None:
    return None if source is None else Pem.of(source, "the certificate authority")
