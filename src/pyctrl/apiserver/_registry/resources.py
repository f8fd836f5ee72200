"""`ResourceRegistry`: the resources that a server serves, with a `ResourceType` for each resource and version."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

from pyctrl.apiserver import _errors as answers
from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType, served_types
from pyctrl.apiserver._fieldmanager.fieldset import DecodedFields, FieldSet
from pyctrl.apiserver._registry.builtin_resource import Resource, RESTFactory, builtin_resources
from pyctrl.apiserver._registry.builtin_type import BuiltinResourceType, Described
from pyctrl.apiserver._registry.strategy import Strategy
from pyctrl.apiserver._schema.components import OpenAPIComponents
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._storage.storage import Storage

__all__ = ["DEFINITIONS", "ResourceRegistry", "ResourceType"]

DEFINITIONS = ("apiextensions.k8s.io", "v1", "customresourcedefinitions")


_OTHER_SCHEMES = ("apiextensions.k8s.io", "apiregistration.k8s.io")  # in the schemes of other servers

#: Kinds in every group version of the scheme (metav1.AddToGroupVersion).
_EVERYWHERE = frozenset(
    (
        "CreateOptions",
        "DeleteOptions",
        "GetOptions",
        "ListOptions",
        "PatchOptions",
        "UpdateOptions",
        "WatchEvent",
    )
)


class ResourceType(Protocol):
    """One resource in one version: its names, and how its objects are decoded, prepared and shown.

    A write calls `decode`, then managed fields and mutating admission change the object, then `prepare_*` sets the
    fields that the server decides and validates. All of them change the object in place and raise `StatusError` when it
    is invalid. `decode` returns the decoded fields when the object is valid as it is; `prepare_create` gets them as
    `settled`, unless the object was changed in between.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    list_kind: str
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    verbs: tuple[str, ...]
    subresources: frozenset[str]
    parts: frozenset[str]  # those that are read, replaced and patched like the object, such as status
    has_generation: bool
    storage_group: str  # the group of the collection: that of both groups of events is the core group
    storage_prefix: str  # of the keys that kube-apiserver has in etcd
    storage_version: str  # the version in which objects are stored
    converts: bool  # whether a webhook converts between versions
    deprecation: str  # the warning that answers each request, or ""
    allows_unconditional_update: bool  # whether an update may leave out the resourceVersion
    allows_create_on_update: bool  # whether a PUT to a free name creates the object
    returns_deleted_object: bool  # whether a DELETE is answered with the object instead of a Status
    rest: Mapping[str, RESTFactory]  # the handlers of sub-resources by name

    @property
    def api_version(self) -> str: ...
    @property
    def schema(self) -> SchemaNode: ...
    @property
    def columns(self) -> Sequence[Mapping[str, JSON]]: ...
    def cells(self, obj: dict[str, JSON]) -> list[JSON]: ...
    def reset_fields(self, subresource: str | None) -> FieldSet: ...
    def decode(
        self,
        obj: dict[str, JSON],
        *,
        field_validation: str,
        warnings: list[str],
        duplicates: Sequence[str] = (),
        is_applied: bool = False,
    ) -> DecodedFields | None: ...
    def prepare_create(
        self,
        obj: dict[str, JSON],
        *,
        warnings: list[str],
        settled: DecodedFields | None = None,
        user: User | None = None,
    ) -> None: ...
    def prepare_update(
        self, new: dict[str, JSON], old: dict[str, JSON], *, subresource: str | None, warnings: list[str]
    ) -> None: ...
    def blank(self) -> dict[str, JSON]: ...
    def selectable_fields(self, obj: Mapping[str, JSON]) -> Mapping[str, str]: ...
    def on_read(self, obj: dict[str, JSON]) -> dict[str, JSON]: ...


class ResourceRegistry:
    """The resources that are served now: built-in ones, and custom ones of established definitions."""

    def __init__(self, load: Callable[[str], Mapping[str, JSON]] | None = None) -> None:
        self.load: Callable[[str], Mapping[str, JSON]] = load or _load
        self.components: OpenAPIComponents = OpenAPIComponents(load) if load else _built_in_components()
        self._types: dict[tuple[str, str, str], BuiltinResourceType | CustomResourceType] = {}
        self._kinds: dict[tuple[str, str, str], BuiltinResourceType | CustomResourceType] = {}
        self._definitions: dict[str, tuple[CustomResourceType, ...]] = {}
        self.group_versions: dict[str, list[str]] = {}  # versions by group, the preferred one first
        self._built_in: frozenset[str] = frozenset()
        self.epoch: int = 0  # changes with the served resources; the key of the discovery cache
        declared, strategies = builtin_resources(), dict[tuple[str, str], Strategy]()
        for group, version, described in self._described():
            kind = described["responseKind"]["kind"]
            resource = declared.get((group, kind)) or Resource(group=group, kind=kind)
            if (group, kind) not in strategies:
                strategies[group, kind] = resource.new_strategy()
            strategy = strategies[group, kind]
            self._add(BuiltinResourceType(resource, version, described, self.components, strategy))
        self._built_in = frozenset(self.group_versions)

    def observe(self, storage: Storage) -> None:
        """Let strategies that keep state follow the stored objects, such as the allocator of service IPs."""
        for each in self._types.values():
            if isinstance(each, BuiltinResourceType) and each.strategy.observes is not None:
                storage.collection(each.storage_group, each.plural).listen(each.strategy.observes)

    def find(self, group: str, version: str, plural: str) -> BuiltinResourceType | CustomResourceType | None:
        """Return the type of a resource, None when it is not served."""
        return self._types.get((group, version, plural))

    def knows(self, group: str, version: str) -> bool:
        """Return whether the group is built in, or this version of it is served."""
        return group in self._built_in or version in self.group_versions.get(group, ())

    def by_kind(self, group: str, version: str, kind: str) -> BuiltinResourceType | CustomResourceType | None:
        """Return the type of a kind, None when it is not served."""
        return self._kinds.get((group, version, kind))

    def is_registered(self, api_version: str, kind: str) -> bool:
        """Return whether kube-apiserver's own scheme has a kind; custom and aggregated kinds are in other schemes."""
        group, _, version = api_version.rpartition("/")
        known = self.by_kind(group, version, kind.removesuffix("List"))
        if isinstance(known, BuiltinResourceType):
            return group not in _OTHER_SCHEMES
        return kind in _EVERYWHERE and version in self.group_versions.get(group, ())

    def of_group(self, group: str, version: str) -> list[BuiltinResourceType | CustomResourceType]:
        """Return the types of a group version, sorted by plural."""
        found = [each for key, each in self._types.items() if key[:2] == (group, version)]
        return sorted(found, key=lambda each: each.plural)

    def of_storage(self, storage_group: str, plural: str) -> list[BuiltinResourceType | CustomResourceType]:
        """Return the types of all versions of a resource, which share stored objects."""
        return [each for each in self._types.values() if each.plural == plural and each.storage_group == storage_group]

    def __iter__(self) -> Iterator[BuiltinResourceType | CustomResourceType]:
        return iter(self._types.values())

    def install(self, definition: Mapping[str, JSON]) -> None:
        """Serve the kind of an established definition, in place of an earlier state of the definition."""
        name = definition["metadata"]["name"]
        self._forget(name)
        types = served_types(definition, self.components)
        self._definitions[name] = types
        for each in types:
            self._add(each)
        self._renumber()

    def remove(self, name: str) -> None:
        """Stop serving the kind of a definition."""
        if self._forget(name):
            self._renumber()

    def installed(self, name: str) -> tuple[CustomResourceType, ...]:
        """Return the types of a definition's served versions, empty when it is not installed."""
        return self._definitions.get(name, ())

    def _forget(self, name: str) -> bool:
        gone = self._definitions.pop(name, ())
        for each in gone:
            self._types.pop((each.group, each.version, each.plural), None)
            self._kinds.pop((each.group, each.version, each.kind), None)
        return bool(gone)

    def _add(self, each: BuiltinResourceType | CustomResourceType) -> None:
        self._types[each.group, each.version, each.plural] = each
        self._kinds[each.group, each.version, each.kind] = each
        versions = self.group_versions.setdefault(each.group, [])
        if each.version not in versions:
            versions.append(each.version)

    def _renumber(self) -> None:
        """Collect the versions of each group again; custom versions are sorted, built-in ones keep their order."""
        self.epoch += 1
        self.group_versions = {}
        for group, version, _ in self._types:
            versions = self.group_versions.setdefault(group, [])
            if version not in versions:
                versions.append(version)
        custom = {each.group for types in self._definitions.values() for each in types}
        for group in custom:
            self.group_versions[group].sort(key=_version_rank)

    def _described(self) -> Iterator[tuple[str, str, Described]]:
        for documents in self.load("discovery").values():
            for group in documents:
                name = (group.get("metadata") or {}).get("name", "")
                for version in group["versions"]:
                    for resource in version["resources"]:
                        yield name, version["version"], resource

    def require(self, group: str, version: str, plural: str) -> BuiltinResourceType | CustomResourceType:
        """Return the type of a resource.

        Raises:
            StatusError: 404, the resource is not served.
        """
        found = self.find(group, version, plural)
        if found is None:
            raise answers.resource_not_served()
        return found


def _version_rank(version: str) -> tuple[int, int, int, str]:
    """Return the sort key of a version: v10, v2, v1, v2beta1, v1beta2, v1alpha1, then other names."""
    head, _, rest = version.partition("v")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    tail = rest[len(digits) :]
    for rank, stage in enumerate(("", "beta", "alpha")):
        minor = tail.removeprefix(stage) if stage else tail
        if not head and digits and tail.startswith(stage) and (minor.isdigit() if stage else not tail):
            return rank, -int(digits), -int(minor or 0), ""
    return 9, 0, 0, version


@cache  # shared by all servers of the process: compiling schemas is most of a server's start
def _built_in_components() -> OpenAPIComponents:
    return OpenAPIComponents(_load)


@cache
def _load(name: str) -> Mapping[str, JSON]:
    from pyctrl._schemas import load  # read with the first registry, not on import

    found: Mapping[str, JSON] = load(name)
    return found
