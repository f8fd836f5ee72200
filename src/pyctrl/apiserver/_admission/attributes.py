"""Admission attributes: the write that plugins admit."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from pyctrl.apiserver._errors import FieldError, StatusError, forbidden

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._request.options import DeleteOptions, WriteOptions
    from pyctrl.apiserver._request.request import ResourceRequest
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._storage.storage import StoredObject

__all__ = ["CONNECT", "CREATE", "DELETE", "UPDATE", "Attributes", "Kind", "Reinvocations"]


CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"
DELETE: Final = "DELETE"
CONNECT: Final = "CONNECT"


class Kind(NamedTuple):
    """A group, version and kind."""

    group: str
    version: str
    kind: str


class Reinvocations(msgspec.Struct, kw_only=True):
    """The webhooks or policies of one plugin to invoke again because a later one has changed the object."""

    invoked: dict[Hashable, None] = {}  # what can be reinvoked, by key
    required: set[Hashable] = set()
    last_output: dict[str, Any] | None = None

    def require_all(self) -> None:
        """Require all that were invoked so far and can be reinvoked."""
        self.required.update(self.invoked)


class ReinvocationContext(msgspec.Struct, kw_only=True):
    """The second round of mutating admission."""

    round: int = 0
    is_wanted: bool = False  # a webhook or policy changed the object in the first round
    plugins: dict[str, Reinvocations] = {}

    def of(self, plugin: str) -> Reinvocations:
        """Return the reinvocations of a plugin."""
        return self.plugins.setdefault(plugin, Reinvocations())


class Attributes(msgspec.Struct, kw_only=True, eq=False):
    """The attributes of one write.

    `object` and `old` are whole objects in the version of the request. A mutating plugin changes `object` in place or
    replaces it. A delete has no object, a create no old one. For a subresource with its own kind (`scale`,
    `eviction`, `binding`, `token`) they are of that kind, which is `kind`.
    """

    operation: str
    request: ResourceRequest
    object: dict[str, Any] | None
    old: dict[str, Any] | None = None
    name: str
    stored: StoredObject | None = None  # of a delete; `old` is read from it for webhooks and policies only
    options: WriteOptions | DeleteOptions
    own_kind: Kind | None = None  # of a subresource; None for the kind of the resource
    reinvocation: ReinvocationContext = msgspec.field(default_factory=ReinvocationContext)
    is_mutated_dynamically: bool = False  # dynamic plugins ran and may have changed the object

    @property
    def resource(self) -> ResourceType:
        """The written resource, in the version of the request."""
        return self.request.resource

    @property
    def subresource(self) -> str:
        """The written subresource, or ""."""
        return self.request.target.subresource

    @property
    def namespace(self) -> str:
        """The namespace of the request, "" in cluster scope; of a Namespace, its own name."""
        target = self.request.target
        if target.resource == "namespaces" and not target.group:
            return self.name
        return target.namespace

    @property
    def kind(self) -> Kind:
        """The kind of `object` and `old`."""
        resource = self.request.resource
        return self.own_kind or Kind(resource.group, resource.version, resource.kind)

    @property
    def dry_run(self) -> bool:
        """Whether the write is a dry run."""
        return self.options.dry_run

    @property
    def user(self) -> User:
        """The user of the request."""
        return self.request.user

    @property
    def shown_name(self) -> str:
        """The name in error messages: that of the request, of the object, or its generateName."""
        if self.name:
            return self.name
        metadata = (self.object or {}).get("metadata") or {}
        return str(metadata.get("name") or metadata.get("generateName") or "Unknown")

    def warn(self, text: str) -> None:
        """Add a warning to the response; a text that a header cannot carry is dropped."""
        if text and text.isprintable():
            self.request.warnings.append(text)

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation to the audit event."""
        self.request.annotations.setdefault(key, value)

    def forbidden(self, why: str, *causes: FieldError) -> StatusError:
        """Return the 403 error of a plugin that rejects the write."""
        target = self.request.target
        return forbidden(target.resource, self.shown_name, why, target.group, causes)
