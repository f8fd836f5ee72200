"""Where kinds and objects are: from what people call them to a path, a URL and a curl line."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUrl:
    """A path below a server, and what is asked of it there."""

    path: str
    query: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Return it as it stands in a URL."""
        return quote(self.path) + (f"?{urlencode(self.query)}" if self.query else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlOptions:
    """What is asked for."""

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
        """Return what to print. Raises as `address` does."""
        address = str(await self.address(client, config))
        every = {"path": address, "url": f"{config.server}{address}"}
        if self.output in (None, "curl", "json"):
            curl = CurlCommand(login=self.login, config=config, account=self.account, show_secrets=self.show_secrets)
            every["curl"] = await curl.line(address, client, streams=self.watch)
        if self.output == "json":
            return [json.dumps(every, indent=2)]
        return [every[self.output]] if self.output else list(every.values())

    async def address(self, client: Client, config: Config) -> ResourceUrl:
        """Find where it is.

        Raises:
            UnknownKind: the cluster serves nothing of this name; names what it serves.
            CommandFailed: the flags contradict each other, or the kind.
        """
        kind, name = self._split()
        mapping, *others = await client.discovery.named(kind)
        self._check(mapping, name)
        if others:
            print(f"pyctrl: {kind!r} may also mean {', '.join(map(_full_name, others))}", file=sys.stderr)
        namespace = "" if self.all_namespaces else config.namespace
        query = (("watch", "true"),) if self.watch else ()
        if self.watch and name:  # objects are watched as lists of one
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
            raise CommandFailed(f"{self.kind!r} has a name already; what is {self.name!r}?")
        if not kind or not name:
            raise CommandFailed(
                f"{self.kind!r} is no kind: KIND, KIND NAME or KIND/NAME was expected, such as deploy/web"
            )
        return kind, name

    def _check(self, mapping: ResourceMapping, name: str) -> None:
        known = ", ".join(sorted(mapping.subresources)) or "none"
        if self.all_namespaces and name:
            raise CommandFailed(f"{name!r} is in one namespace: name it with -n, without -A")
        if self.subresource and not name:
            raise CommandFailed(f"a list has no sub-resources: name an object ({mapping.plural} has: {known})")
        if self.subresource and self.subresource not in mapping.subresources:
            raise CommandFailed(f"{_full_name(mapping)} has no sub-resource {self.subresource!r}; it has: {known}")
        if self.subresource and self.watch:
            raise CommandFailed("sub-resources cannot be watched; watch the object")
        verb = "watch" if self.watch else "get" if name else "list"
        if not self.subresource and mapping.verbs and verb not in mapping.verbs:
            can = ", ".join(sorted(mapping.verbs))
            print(f"pyctrl: {_full_name(mapping)} cannot be asked to {verb}; it can: {can}", file=sys.stderr)


def _full_name(mapping: ResourceMapping) -> str:
    """Return the name that means this resource and no other, in words that `pyctrl url` and kubectl take."""
    return f"{mapping.plural}.{mapping.gvk.version}.{mapping.gvk.group}"
