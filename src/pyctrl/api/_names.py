"""Names of kinds (GroupVersionKind), of the places that serve them (GroupVersionResource), and of objects (Key)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from pyctrl.api._openapi_models import ObjectLike
    from pyctrl.api._unstructured import Unstructured  # noqa: F401 - a type argument, as a string

__all__ = ["GroupKind", "GroupVersionKind", "GroupVersionResource", "Key", "UntypedKind"]

T_co = TypeVar("T_co", covariant=True)


def _api_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


def _split(api_version: str) -> tuple[str, str]:
    group, _, version = api_version.rpartition("/")
    return group, version


class GroupKind(NamedTuple):
    """A kind without its version, as in owner references and access rules. Prints as ``Kind.group``."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class UntypedKind(Generic[T_co]):
    """A kind whose objects decode as ``T_co``. A type for `Kind`; `GroupVersionKind` is its only subclass."""

    __slots__ = ()


class _GroupVersionKind(NamedTuple):
    group: str
    version: str
    kind: str


class GroupVersionKind(_GroupVersionKind, UntypedKind["Unstructured"]):
    """A kind in one version, such as ``apps/v1, Kind=Deployment``; the core group is ``""``."""

    __slots__ = ()

    @classmethod
    def parse(cls, api_version: str, kind: str) -> GroupVersionKind:
        """Return the GroupVersionKind of an object's ``apiVersion`` and ``kind``."""
        return cls(*_split(api_version), kind)

    @property
    def api_version(self) -> str:
        """``group/version``, or the version alone in the core group, as objects write it."""
        return _api_version(self.group, self.version)

    @property
    def group_kind(self) -> GroupKind:
        """The kind without its version."""
        return GroupKind(self.group, self.kind)

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"


class GroupVersionResource(NamedTuple):
    """Where a kind is served: ``resource`` is the plural in the URL."""

    group: str
    version: str
    resource: str

    @property
    def api_version(self) -> str:
        """``group/version``, or the version alone in the core group."""
        return _api_version(self.group, self.version)

    @property
    def path(self) -> str:
        """The root of the group version in URLs: ``/api/v1`` or ``/apis/apps/v1``."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def __str__(self) -> str:
        return f"{self.api_version}, Resource={self.resource}"


class Key(NamedTuple):
    """The name of an object of a kind: namespace ("" when cluster-scoped) and name. Prints as ``namespace/name``."""

    namespace: str
    name: str

    @classmethod
    def of(cls, obj: ObjectLike) -> Key:
        """Return the key of an object, from its metadata."""
        metadata = obj.metadata
        if metadata is None:  # of a model of kubernetes_asyncio, whose fields are None if they are not set
            return cls("", "")
        return cls(metadata.namespace or "", metadata.name or "")

    @classmethod
    def parse(cls, text: str) -> Key:
        """Parse ``namespace/name`` or ``name``.

        Raises:
            ValueError: when the name is missing or there is more than one slash.
        """
        namespace, slash, name = text.rpartition("/")
        if not name or (slash and not namespace) or "/" in namespace:
            raise ValueError(f"expected 'namespace/name' or 'name', got {text!r}")
        return cls(namespace, name)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name
