"""What an admission plugin gets to know about one write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyctrl.apiserver._errors import FieldError, StatusError, forbidden

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._request.options import DeleteOptions, WriteOptions
    from pyctrl.apiserver._request.request import ResourceRequest
    from pyctrl.apiserver._resources.resource_type import ResourceType

CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"
DELETE: Final = "DELETE"
CONNECT: Final = "CONNECT"


class Kind(NamedTuple):
    """A kind by its full name."""

    group: str
    version: str
    kind: str


@dataclass(slots=True, kw_only=True)
class ReinvocationContext:
    """Who is to be asked once more, because somebody after them changed the object."""

    round: int = 0
    is_wanted: bool = False  # somebody changed the object in the first round
    invoked: dict[tuple[str, int], None] = field(default_factory=dict)  # webhooks that may be called again
    required: set[tuple[str, int]] = field(default_factory=set)
    last_output: dict[str, Any] | None = None

    def require_all(self) -> None:
        """Ask everybody again that was asked so far and wants to be."""
        self.required.update(self.invoked)


@dataclass(slots=True, kw_only=True)
class Attributes:
    """One write that wants to be admitted.

    `object` and `old` are whole objects in the version of the request; a plugin that mutates changes `object` in place
    or puts another one there. A delete has no object, a create has nothing old. For a sub-resource that has a kind of
    its own (`scale`, `eviction`, `binding`, `token`) they are of that kind, which `kind` names.
    """

    operation: str
    request: ResourceRequest
    object: dict[str, Any] | None
    old: dict[str, Any] | None = None
    name: str
    options: WriteOptions | DeleteOptions
    own_kind: Kind | None = None  # of a sub-resource; None is the resource's
    reinvocation: ReinvocationContext = field(default_factory=ReinvocationContext)
    is_mutated_dynamically: bool = False  # or may be: webhooks were asked

    @property
    def resource(self) -> ResourceType:
        """The resource that is written, in the version of the request."""
        return self.request.resource

    @property
    def subresource(self) -> str:
        """The part of it that is written, or ""."""
        return self.request.target.subresource

    @property
    def namespace(self) -> str:
        """The namespace of the request, "" in cluster scope; a Namespace is its own."""
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
        """Whether nothing will be stored."""
        return self.options.dry_run

    @property
    def user(self) -> User:
        """Who asks."""
        return self.request.user

    @property
    def shown_name(self) -> str:
        """The name that a refusal tells: that of the request, of the object, or what it is generated from."""
        if self.name:
            return self.name
        metadata = (self.object or {}).get("metadata") or {}
        return str(metadata.get("name") or metadata.get("generateName") or "Unknown")

    def warn(self, text: str) -> None:
        """Warn the client; a text that no header can carry is left out."""
        if text and text.isprintable():
            self.request.warnings.append(text)

    def annotate(self, key: str, value: str) -> None:
        """Note something in the audit log."""
        self.request.annotations.setdefault(key, value)

    def forbidden(self, why: str, *causes: FieldError) -> StatusError:
        """Make the 403 of a plugin that refuses."""
        target = self.request.target
        return forbidden(target.resource, self.shown_name, why, target.group, causes)
