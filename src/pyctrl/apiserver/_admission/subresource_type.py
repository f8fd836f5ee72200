"""Kinds of subresources, such as Scale, as the types of objects that policies patch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pyctrl.apiserver._admission.attributes import Kind
from pyctrl.apiserver._errors import UndecodableBody
from pyctrl.apiserver._schema.schema import JSON, SchemaNode
from pyctrl.apiserver._schema.typed import DecodeFailed, decode
from pyctrl.apiserver._serializer.strict import report_unknown

if TYPE_CHECKING:
    from pyctrl.apiserver._schema.components import OpenAPIComponents

__all__ = ["PatchedType", "SubresourceType"]


class PatchedType(Protocol):
    """What a patch needs to know about the type of an object: a resource, or the kind of a subresource."""

    @property
    def schema(self) -> SchemaNode: ...

    @property
    def is_custom(self) -> bool: ...

    @property
    def api_version(self) -> str: ...

    @property
    def kind(self) -> Any: ...

    def decode(self, obj: dict[str, JSON], *, field_validation: str, warnings: list[str]) -> object: ...


@dataclass(frozen=True, slots=True)
class SubresourceType:
    """The kind of a subresource with its schema."""

    kind: Kind
    schema: SchemaNode

    @classmethod
    def of(cls, kind: Kind, components: OpenAPIComponents) -> SubresourceType | None:
        """Return the type of a kind; None if the core group's document does not have it."""
        schema = components.kind("core_v1", kind.group, kind.version, kind.kind)
        return None if schema is None else cls(kind, schema)

    @property
    def api_version(self) -> str:
        """The group and version of the kind."""
        return f"{self.kind.group}/{self.kind.version}" if self.kind.group else self.kind.version

    @property
    def is_published(self) -> bool:
        """Whether apply configurations have a type for the kind; in kube-apiserver only Binding has one."""
        return self.kind.kind == "Binding"

    @property
    def is_custom(self) -> bool:
        """Whether the type comes from a definition."""
        return False

    def decode(self, obj: dict[str, JSON], *, field_validation: str, warnings: list[str]) -> object:
        """Decode an object as its Go type does.

        Raises:
            UndecodableBody: It does not fit.
        """
        unknown: list[str] = []
        try:
            read = decode(self.schema, obj, unknown)
        except DecodeFailed as failed:
            raise UndecodableBody(self.kind.kind, self.kind.version, str(failed)) from None
        report_unknown(self.kind.kind, self.kind.version, unknown, (), field_validation, warnings)
        return read
