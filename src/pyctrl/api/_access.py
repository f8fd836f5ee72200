"""What somebody wants to do: a verb on a resource, or on a path that is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

from pyctrl.api._request_target import RequestTarget
from pyctrl.errors import Forbidden

__all__ = ["Access"]


def qualified(group: str, resource: str) -> str:
    """Name a resource of a rule with its group, as kubectl takes it: ``deployments.apps/status``."""
    plural, slash, subresource = resource.partition("/")
    return f"{plural}.{group}{slash}{subresource}" if group else resource


class Access(NamedTuple):
    """One thing to be allowed or not, as RBAC and access reviews see it. A path has nothing but its verb.

    An empty ``namespace`` means all of them, or a kind that is in none; an empty ``name`` means every name.
    """

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    is_resource: bool = True

    @classmethod
    def of_request(cls, method: str, path: str, query: Mapping[str, str]) -> Access:
        """Tell what a request wants to do, as kube-apiserver asks its authorizer.

        A list or watch that a field selector restricts to ``metadata.name=NAME`` is one of that name: who may have that
        object may list and watch it so. The version of the API does not matter.

        Args:
            method: of HTTP, in capitals.
            path: without the query; the server has decoded what was escaped, or not.
            query: the first value of each parameter.
        """
        target = RequestTarget.parse(path)
        if target is None:
            return cls(method.lower(), path=path, is_resource=False)
        verb = target.verb(method, query)
        return cls(
            verb=verb,
            group=target.group,
            resource=target.resource,
            subresource=target.subresource,
            namespace=target.namespace or (target.name if target.resource == "namespaces" else ""),
            name=target.name or (_selected(query) if verb in ("list", "watch") else ""),
        )

    @property
    def shown_resource(self) -> str:
        """The resource as rules name it: ``pods``, ``pods/log``."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def qualified_resource(self) -> str:
        """The resource as kubectl takes it: ``pods``, ``deployments.apps``, ``deployments.apps/status``."""
        return qualified(self.group, self.shown_resource)

    @classmethod
    def refused_by(cls, error: Forbidden) -> Self | None:
        """Return what a refusal was about, whatever the name of the object; None when it is not about a right."""
        if error.resource:
            resource, _, subresource = error.resource.partition("/")
            return cls(error.verb, error.api_group, resource, subresource, error.namespace)
        return cls(error.verb, path=error.path, is_resource=False) if error.path else None

    def includes(self, other: Access) -> bool:
        """Tell whether who may do this may do the other: the same, or one part of it."""
        return (
            self.is_resource == other.is_resource
            and self.verb in ("*", other.verb)
            and self.group in ("*", other.group)
            and (self.resource == "*" or (self.resource, self.subresource) == (other.resource, other.subresource))
            and self.namespace in ("", other.namespace)
            and self.name in ("", other.name)
            and self.path == other.path
        )

    def __str__(self) -> str:
        if not self.is_resource:
            return f"{self.verb} {self.path}"
        name = f" {self.name!r}" if self.name else ""
        place = f"in namespace {self.namespace!r}" if self.namespace else "at the cluster scope"
        return f"{self.verb} {self.qualified_resource}{name} {place}"


_NAME = "metadata.name="


def _selected(query: Mapping[str, str]) -> str:
    """Give the one name that a field selector leaves, if it can be one."""
    for term in query.get("fieldSelector", "").split(","):
        if term.startswith(_NAME):
            name = term.removeprefix(_NAME).removeprefix("=")
            return "" if name in (".", "..") or "/" in name or "%" in name else name
    return ""
