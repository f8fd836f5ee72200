"""URLs of kinds and objects, from their names."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.cli._url.curl import CurlCommand
from pyctrl.client import Client, Config, ResourceMapping, path_for
from pyctrl.errors import CommandFailed

__all__ = ["UrlOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUrl:
    """A path of a server, with its query."""

    path: str
    query: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Return the path and query of the URL."""
        return quote(self.path) + (f"?{urlencode(self.query)}" if self.query else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlOptions:
    """The arguments and flags of the command."""

    kind: str
    name: str | None = None
    all_namespaces: bool = False
    subresource: str | None = None
    watch: bool = False
    account: str | None = None
    show_secrets: bool = False
    output: Literal["path", "url", "curl", "json"] | None = None
    login: ClientFlags = NO_CLIENT_FLAGS

    async def lines(self, client: Client, config: Config) -> list[str]:
        """Return the lines to print. Raises as `address` does."""
        address = str(await self.address(client, config))
        every = {"path": address, "url": f"{config.server}{address}"}
        if self.output in (None, "curl", "json"):
            curl = CurlCommand(login=self.login, config=config, account=self.account, show_secrets=self.show_secrets)
            every["curl"] = await curl.line(address, client, streams=self.watch)
        if self.output == "json":
            return [json.dumps(every, indent=2)]
        return [every[self.output]] if self.output else list(every.values())

    async def address(self, client: Client, config: Config) -> ResourceUrl:
        """Return the URL.

        Raises:
            UnknownKind: the cluster serves no kind of this name; the message lists similar ones.
            CommandFailed: the flags contradict each other, or do not fit the kind.
        """
        kind, name = self._split()
        mapping, *others = await client.discovery.named(kind)
        self._check(mapping, name)
        if others:
            print(f"pyctrl: {kind!r} may also mean {', '.join(map(_full_name, others))}", file=sys.stderr)
        namespace = "" if self.all_namespaces else config.namespace
        query = (("watch", "true"),) if self.watch else ()
        if self.watch and name:  # an object is watched as a list of one
            query, name = (("fieldSelector", f"metadata.name={name}"), *query), ""
        try:
            return ResourceUrl(path=path_for(mapping, namespace, name, self.subresource or ""), query=query)
        except ValueError as error:
            raise CommandFailed(str(error)) from error

    def _split(self) -> tuple[str, str]:
        kind, slash, name = self.kind.partition("/")
        if not slash:
            return kind, self.name or ""
        if self.name is not None:
            raise CommandFailed(f"{self.kind!r} already includes a name; unexpected {self.name!r}")
        if not kind or not name:
            raise CommandFailed(
                f"{self.kind!r} is not a kind; expected KIND, KIND NAME or KIND/NAME, such as deploy/web"
            )
        return kind, name

    def _check(self, mapping: ResourceMapping, name: str) -> None:
        known = ", ".join(sorted(mapping.subresources)) or "none"
        if self.all_namespaces and name:
            raise CommandFailed(f"{name!r} is in one namespace; name that with -n instead of -A")
        if self.subresource and not name:
            raise CommandFailed(f"a list has no subresources; name an object ({mapping.plural} has: {known})")
        if self.subresource and self.subresource not in mapping.subresources:
            raise CommandFailed(f"{_full_name(mapping)} has no subresource {self.subresource!r}; it has: {known}")
        if self.subresource and self.watch:
            raise CommandFailed("subresources cannot be watched; watch the object")
        verb = "watch" if self.watch else "get" if name else "list"
        if not self.subresource and mapping.verbs and verb not in mapping.verbs:
            can = ", ".join(sorted(mapping.verbs))
            print(f"pyctrl: {_full_name(mapping)} does not support {verb}; it supports: {can}", file=sys.stderr)


def _full_name(mapping: ResourceMapping) -> str:
    """Return the unambiguous name of a resource, as `pyctrl url` and kubectl accept it."""
    return f"{mapping.plural}.{mapping.gvk.version}.{mapping.gvk.group}"
