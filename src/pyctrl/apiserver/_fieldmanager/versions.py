"""Objects in the API versions of their managers.

The fields of a manager are those of its version. So objects are converted to that version before they are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from pyctrl.apiserver._fieldmanager.fieldset import Comparison, FieldSet, recursive_difference
from pyctrl.apiserver._fieldmanager.typed import typed_problems
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.apiserver._schema.typed import DecodeFailed

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["Comparisons", "ConversionError", "VersionedObject", "convert"]


class ConversionError(Exception):
    """Raised when an object cannot be converted to the version of a manager. The message is upstream's."""


class VersionedObject(NamedTuple):
    """An object, without managed fields, and its type in one version."""

    type: ResourceType
    content: dict[str, JSON]


def convert(obj: VersionedObject, version: str) -> VersionedObject | None:
    """Convert an object to an API version; None if the kind is built in and does not have the version.

    Raises:
        ConversionError: The definition does not have the version, or a field of the object is not in its schema there.
    """
    source, content = obj
    if version == source.api_version:
        return obj
    target = source.in_version(version)
    if target is None:
        if source.is_custom:
            raise ConversionError(f"request to convert CR to an invalid group/version: {version}")
        return None
    if target is source:  # the versions have the same form
        return obj
    try:
        moved = target.converted(content, source)
    except DecodeFailed as failed:
        raise ConversionError(str(failed)) from failed
    if target.is_custom and (problems := typed_problems(target.schema, moved)):
        raise ConversionError(problems)
    return VersionedObject(target, moved)


class Comparisons:
    """How a write changes an object, in each version.

    Args:
        before: The object before the write, None if it does not exist.
        subresource: The subresource that is written; its reset fields are no changes.
    """

    def __init__(
        self, type: ResourceType, before: dict[str, JSON] | None, after: dict[str, JSON], subresource: str | None
    ) -> None:
        self._type, self._before, self._after, self._subresource = type, before, after, subresource
        self._found: dict[str, tuple[FieldSet, FieldSet] | None] = {}

    def at(self, version: str) -> tuple[FieldSet, FieldSet] | None:
        """Return the fields that change and those that are removed; None if the version is not there, as `convert`.

        Raises:
            ConversionError: An object cannot be converted to the version.
        """
        if version not in self._found:
            self._found[version] = self._compare(version)
        return self._found[version]

    def _compare(self, version: str) -> tuple[FieldSet, FieldSet] | None:
        after = convert(VersionedObject(self._type, self._after), version)
        if after is None:
            return None
        before: Mapping[str, JSON] = after.type.blank()
        if self._before is not None:
            found = convert(VersionedObject(self._type, self._before), version)
            assert found is not None, "both objects have the same versions"
            before = found.content
        reset = after.type.reset_fields(self._subresource)
        comparison = Comparison(after.type.schema, before, after.content)
        return recursive_difference(comparison.changed, reset), recursive_difference(comparison.removed, reset)
