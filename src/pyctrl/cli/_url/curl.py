"""curl commands that use a login, without secrets in them: the commands read them when they run."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pyctrl.cli._client_flags import ClientFlags
from pyctrl.cli._credential import AuthInfo, Part, auth_info_of
from pyctrl.cli._token.token_request import account_key
from pyctrl.client import BasicAuth, Client, ClientCertificate, Config, Pem, TokenFile, create_token

__all__ = ["CurlCommand"]

_PROXIES = ("HTTPS_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy")  # which curl reads


@dataclass(frozen=True, slots=True, kw_only=True)
class CurlCommand:
    """Builds curl commands for a login, for bash and zsh.

    Certificates and tokens in files are named by path. `pyctrl` prints the others while the command runs, in ``<(…)``,
    which curl reads as a file, and in ``$(…)``.

    Args:
        login: the flags, which `pyctrl` gets in the command, too.
        config: the login.
        account: the service account to log in as instead.
        show_secrets: whether to write the token into the command.
    """

    login: ClientFlags
    config: Config
    account: str | None = None
    show_secrets: bool = False

    async def line(self, address: str, client: Client, *, streams: bool = False) -> str:
        """Return the command for a path of the server. A streaming command prints each line immediately."""
        words = ["curl", "-sSN" if streams else "-sS", *self._tls(), *self._proxy(), *(await self._login(client))]
        return " ".join([*words, shlex.quote(f"{self._root()}{address}")])

    def _root(self) -> str:
        name = self.config.tls.server_name
        if not name or not self._is_https():
            return self.config.server
        # curl verifies the name in the URL; --connect-to has the address to connect to.
        parts = urlsplit(self.config.server)
        return parts._replace(netloc=f"{name}:{parts.port or 443}").geturl()

    def _is_https(self) -> bool:
        return self.config.server.startswith("https:")

    def _tls(self) -> Iterator[str]:
        tls = self.config.tls
        if not self._is_https():
            return
        if tls.insecure:
            yield "--insecure"
        elif tls.ca is not None:
            yield f"--cacert {self._file(tls.ca, 'ca')}"
        if tls.server_name:
            parts = urlsplit(self.config.server)
            host, port = parts.netloc.rpartition("@")[2].removesuffix(f":{parts.port}"), parts.port or 443
            yield f"--connect-to {shlex.quote(f'{tls.server_name}:{port}:{host}:{port}')}"

    def _proxy(self) -> Iterator[str]:
        if self.config.proxy is None:
            if any(os.environ.get(name) for name in _PROXIES):
                yield "--noproxy '*'"
        elif "@" in urlsplit(self.config.proxy).netloc and not self.show_secrets:
            print(
                "pyctrl: the password of the proxy is left out of the command; curl reads HTTPS_PROXY", file=sys.stderr
            )
        else:
            yield f"--proxy {shlex.quote(self.config.proxy)}"

    async def _login(self, client: Client) -> list[str]:
        if self.account is not None:
            return [await self._bearer_of(self.account, client)]
        proof = await auth_info_of(self.config)
        impersonated = self.config.impersonate.headers() if self.config.impersonate else ()
        words = list(self._certificate(proof.certificate)) if proof.certificate and self._is_https() else []
        return [*words, *self._authorization(proof), *(f"-H {shlex.quote(': '.join(pair))}" for pair in impersonated)]

    def _certificate(self, certificate: ClientCertificate) -> Iterator[str]:
        yield f"--cert {self._file(certificate.certificate, 'certificate')}"
        yield f"--key {self._file(certificate.key, 'key')}"

    def _authorization(self, proof: AuthInfo) -> Iterator[str]:
        credentials = self.config.credentials
        if proof.header is None:
            return
        if proof.token is None:
            name = credentials.to_kubeconfig_user()["username"] if isinstance(credentials, BasicAuth) else ""
            yield f"--user {shlex.quote(name)}"  # curl asks for the password
        elif self.show_secrets:
            yield _bearer(proof.token)
        elif isinstance(credentials, TokenFile) and (file := _existing(credentials)):
            yield _bearer(f"$(cat {shlex.quote(file)})")
        else:
            yield _bearer(f"$({self._pyctrl('whoami', '-o', 'token')})")

    async def _bearer_of(self, account: str, client: Client) -> str:
        key = account_key(account, self.config.namespace)
        if self.show_secrets:
            return _bearer((await create_token(client, key)).token)
        acting = ("--as", self.login.as_user) if self.login.as_user else ()
        groups = (word for group in self.login.as_groups for word in ("--as-group", group))
        return _bearer(f"$({self._pyctrl('token', key.name, '-n', key.namespace, *acting, *groups)})")

    def _file(self, pem: Pem, part: Part) -> str:
        if pem.path is not None:
            return shlex.quote(str(pem.path.absolute()))
        return f"<({self._pyctrl('whoami', '-o', part)})"

    def _pyctrl(self, *words: str) -> str:
        """Return a pyctrl command with the same login."""
        program = "pyctrl" if shutil.which("pyctrl") else f"{shlex.quote(sys.executable)} -m pyctrl"
        kubeconfig = ("--kubeconfig", str(self.login.kubeconfig.absolute())) if self.login.kubeconfig else ()
        context = ("--context", self.login.context) if self.login.context else ()
        return f"{program} {shlex.join((*words, *kubeconfig, *context))}"


def _bearer(token: str) -> str:
    """Return the header in double quotes, for substitutions of the shell."""
    return f'-H "Authorization: Bearer {token}"'


def _existing(credentials: TokenFile) -> str | None:
    path = str(credentials.to_kubeconfig_user()["tokenFile"])
    return path if Path(path).exists() else None
