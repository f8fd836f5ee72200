"""What the server serves: a `ResourceType` per resource and version, found through the `ResourceRegistry`."""

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

DEFINITIONS = ("apiextensions.k8s.io", "v1", "customresourcedefinitions")


_OTHER_SCHEMES = ("apiextensions.k8s.io", "apiregistration.k8s.io")  # served by servers of their own

#: Kinds that are in every group and version of the scheme (metav1.AddToGroupVersion).
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
    """One resource in one version: what it is called and how its objects are brought into form.

    `decode` brings what a client sent into form; then come managed fields and admission, the system's metadata, and
    `prepare_*`, which makes the server's own decisions. All of them change the object in place and raise `Refused` when
    it is not acceptable. Where `decode` sees that nothing is wrong with the object, it says so, and `prepare_create` is
    told, unless somebody has changed the object in between.
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
    parts: frozenset[str]  # those of them that are read, replaced and patched like the object, such as the status
    has_generation: bool
    storage_group: str  # the group objects are stored under: events of events.k8s.io are those of the core group
    storage_prefix: str  # of the keys that kube-apiserver has in etcd
    storage_version: str  # the version objects are stored in; the same for all versions of one resource
    converts: bool  # whether only a webhook can make one version of another
    deprecation: str  # the warning a request to this version gets, or ""
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
    """Every resource that is served now: the built-in ones, and those of installed definitions."""

    def __init__(self, load: Callable[[str], Mapping[str, JSON]] | None = None) -> None:
        self.load: Callable[[str], Mapping[str, JSON]] = load or _load
        self.components: OpenAPIComponents = OpenAPIComponents(load) if load else _built_in_components()
        self._types: dict[tuple[str, str, str], BuiltinResourceType | CustomResourceType] = {}
        self._kinds: dict[tuple[str, str, str], BuiltinResourceType | CustomResourceType] = {}
        self._definitions: dict[str, tuple[CustomResourceType, ...]] = {}
        self.group_versions: dict[str, list[str]] = {}  # group -> versions, the preferred one first
        self._built_in: frozenset[str] = frozenset()
        self.epoch: int = 0  # moves when what is served changes; discovery is cached by it
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
        """Give the type of a resource, or None when it is not served."""
        return self._types.get((group, version, plural))

    def knows(self, group: str, version: str) -> bool:
        """Whether a group version is served, or could be for all that its built-in group says."""
        return group in self._built_in or version in self.group_versions.get(group, ())

    def by_kind(self, group: str, version: str, kind: str) -> BuiltinResourceType | CustomResourceType | None:
        """Give the type of a kind, or None when it is not served."""
        return self._kinds.get((group, version, kind))

    def is_registered(self, api_version: str, kind: str) -> bool:
        """Say whether kube-apiserver's own scheme has a kind; those of definitions and of two groups it has not."""
        group, _, version = api_version.rpartition("/")
        known = self.by_kind(group, version, kind.removesuffix("List"))
        if isinstance(known, BuiltinResourceType):
            return group not in _OTHER_SCHEMES
        return kind in _EVERYWHERE and version in self.group_versions.get(group, ())

    def of_group(self, group: str, version: str) -> list[BuiltinResourceType | CustomResourceType]:
        """Give the types of one group version, by the names of their resources."""
        found = [each for key, each in self._types.items() if key[:2] == (group, version)]
        return sorted(found, key=lambda each: each.plural)

    def of_storage(self, storage_group: str, plural: str) -> list[BuiltinResourceType | CustomResourceType]:
        """Give the types of one resource in all its versions: they show the same stored objects."""
        return [each for each in self._types.values() if each.plural == plural and each.storage_group == storage_group]

    def __iter__(self) -> Iterator[BuiltinResourceType | CustomResourceType]:
        return iter(self._types.values())

    def install(self, definition: Mapping[str, JSON]) -> None:
        """Serve what an established definition describes; replaces what an earlier form of it described."""
        name = definition["metadata"]["name"]
        self._forget(name)
        types = served_types(definition, self.components)
        self._definitions[name] = types
        for each in types:
            self._add(each)
        self._renumber()

    def remove(self, name: str) -> None:
        """Stop serving what a definition described."""
        if self._forget(name):
            self._renumber()

    def installed(self, name: str) -> tuple[CustomResourceType, ...]:
        """Give the types of a definition, its served versions; empty when it is not installed."""
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
        """Count groups and versions again: definitions of one group share it, built-in ones keep their order."""
        self.epoch += 1
        self.group_versions = {}
        for group, version, _ in self._types:
            versions = self.group_versions.setdefault(group, [])
            if version not in versions:
                versions.append(version)
        custom = {each.group for types in self._definitions.values() for each in types}
        for group in custom:
            self.group_versions[group].sort(key=version_rank)

    def _described(self) -> Iterator[tuple[str, str, Described]]:
        for documents in self.load("discovery").values():
            for group in documents:
                name = (group.get("metadata") or {}).get("name", "")
                for version in group["versions"]:
                    for resource in version["resources"]:
                        yield name, version["version"], resource

    def require(self, group: str, version: str, plural: str) -> BuiltinResourceType | CustomResourceType:
        """Give the type of a resource; raises `Refused` (404) when it is not served."""
        found = self.find(group, version, plural)
        if found is None:
            raise answers.resource_not_served()
        return found


def version_rank(version: str) -> tuple[int, int, int, str]:
    """Order versions as Kubernetes does: v10, v2, v1, v2beta1, v1beta2, v1alpha1, then any other text."""
    head, _, rest = version.partition("v")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    tail = rest[len(digits) :]
    for rank, stage in enumerate(("", "beta", "alpha")):
        minor = tail.removeprefix(stage) if stage else tail
        if not head and digits and tail.startswith(stage) and (minor.isdigit() if stage else not tail):
            return rank, -int(digits), -int(minor or 0), ""
    return 9, 0, 0, version


@cache  # for all servers of this process, which only read: compiling anew is most of what starting one takes
def _built_in_components() -> OpenAPIComponents:
    return OpenAPIComponents(_load)


@cache
def _load(name: str) -> Mapping[str, JSON]:
    from pyctrl._schemas import load  # the documents are read when the first registry is made, not on import

    found: Mapping[str, JSON] = load(name)
    return found
