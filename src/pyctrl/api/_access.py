"""What somebody wants to do: a verb on a resource, or on a path that is none."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Access"]


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

    @property
    def shown_resource(self) -> str:
        """The resource as rules name it: ``pods``, ``pods/log``."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def qualified_resource(self) -> str:
        """The resource as kubectl takes it: ``pods``, ``deployments.apps``, ``deployments.apps/status``."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        return f"{resource}/{self.subresource}" if self.subresource else resource

    def __str__(self) -> str:
        if not self.is_resource:
            return f"{self.verb} {self.path}"
        name = f" {self.name!r}" if self.name else ""
        place = f"in namespace {self.namespace!r}" if self.namespace else "at the cluster scope"
        return f"{self.verb} {self.qualified_resource}{name} {place}"
