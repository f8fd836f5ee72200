"""Typed objects: the base of all kinds, custom resources, and the metadata-only view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import new_class
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, cast, get_args, get_origin

from pydantic import Field
from pydantic.fields import FieldInfo
from typing_extensions import TypeVar

from pyctrl.api._meta import ObjectMeta
from pyctrl.api._model.model import Model
from pyctrl.api._names import GroupVersionKind, Key
from pyctrl.errors import DecodeError

if TYPE_CHECKING:
    from pyctrl.api._markers import PrinterColumn, ScaleSubresource  # only definitions use them

__all__ = ["CustomResource", "KubernetesObject", "Metadata", "ResourceInfo", "kind_argument"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceInfo:
    """How a kind is served: the part of its definition beside the schema."""

    plural: str
    singular: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: frozenset[str] = frozenset()
    columns: tuple[PrinterColumn, ...] = ()
    scale: ScaleSubresource | None = None
    selectable_fields: tuple[str, ...] = ()
    is_served: bool = True
    is_stored: bool = False  # as declared; a single version is stored in any case
    deprecation: str | None = None  # "" deprecates without a message of its own
    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


class KubernetesObject(Model, defer_build=True):
    """Base of typed kinds: those of `pyctrl.kinds`, and your own through `CustomResource`.

    Class keywords, of which a concrete kind requires the first two:
        group, version: group ``""`` is the core group.
        kind: defaults to the class's name.
        plural: as in URLs. Defaults to the lower-case kind with an English plural ending.
        singular: defaults to the lower-case kind.
        scope: ``"Namespaced"`` (default) or ``"Cluster"``.
        short_names, categories: as kubectl accepts them.
        subresources: names such as ``"status"`` and ``"scale"``; defaults to ``("status",)`` for a custom resource.

    Class keywords that only the definition uses (`pyctrl.manifests.definition`):
        columns: the columns that `kubectl get` shows.
        scale: the paths of the scale sub-resource. Setting it gives the kind that sub-resource.
        selectable_fields: paths that field selectors may name, such as ``.spec.color``.
        served: whether this version is served.
        stored: marks the storage version among several.
        deprecated: True, or the warning that users of this version get.
        annotations, labels: of the definition.
    """

    #: The GroupVersionKind of this class; absent on classes that are not a kind, such as `CustomResource` itself.
    gvk: ClassVar[GroupVersionKind]
    #: How the kind is served.
    resource: ClassVar[ResourceInfo]

    api_version: str = ""
    """Group and version on the wire, such as `apps/v1`. The class sets it."""
    kind: str = ""
    """Kind on the wire. The class sets it."""
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    """Name, namespace, labels, owners and other metadata."""

    def __init_subclass__(
        cls,
        *,
        group: str | None = None,
        version: str | None = None,
        kind: str | None = None,
        plural: str | None = None,
        singular: str | None = None,
        scope: Literal["Namespaced", "Cluster"] = "Namespaced",
        short_names: tuple[str, ...] = (),
        categories: tuple[str, ...] = (),
        subresources: tuple[str, ...] | None = None,
        columns: tuple[PrinterColumn, ...] = (),
        scale: ScaleSubresource | None = None,
        selectable_fields: tuple[str, ...] = (),
        served: bool = True,
        stored: bool = False,
        deprecated: bool | str = False,
        annotations: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        if group is None and version is None:
            return
        if group is None or not version:
            raise TypeError(f"{cls.__name__}: a kind needs both group= and version= (group '' is the core group)")
        name = kind or cls.__name__
        _name_kind(cls, GroupVersionKind(group, version, name))
        cls.resource = ResourceInfo(
            plural=plural or _plural(name.lower()),
            singular=singular or name.lower(),
            namespaced=_scope(cls, scope) == "Namespaced",
            short_names=tuple(short_names),
            categories=tuple(categories),
            subresources=frozenset(
                (*(cls._default_subresources if subresources is None else subresources), *(("scale",) if scale else ()))
            ),
            columns=tuple(columns),
            scale=scale,
            selectable_fields=tuple(selectable_fields),
            is_served=served,
            is_stored=stored,
            deprecation=(deprecated if isinstance(deprecated, str) else "") if deprecated else None,
            annotations=dict(annotations or {}),
            labels=dict(labels or {}),
        )

    _default_subresources: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return Key(self.metadata.namespace, self.metadata.name)

    @classmethod
    def from_wire(cls, data: bytes | str | Mapping[str, Any]) -> Self:
        """Decode an object of this kind. An item of a list may lack apiVersion and kind.

        Raises:
            DecodeError: the data is not JSON, a field is wrong, or the object is of another kind.
        """
        obj = super().from_wire(data)
        expected = cls.gvk
        if obj.kind != expected.kind or obj.api_version != expected.api_version:
            found = GroupVersionKind.parse(obj.api_version, obj.kind)
            raise DecodeError(f"expected {expected}, got {found} ({obj.key})")
        return obj

    def to_wire(self) -> dict[str, Any]:
        """Return the object as JSON-ready dicts and lists; apiVersion and kind are always included."""
        self.__pydantic_fields_set__.update(("api_version", "kind"))
        return super().to_wire()

    def to_json(self) -> bytes:
        """Return the object as JSON bytes; apiVersion and kind are always included."""
        self.__pydantic_fields_set__.update(("api_version", "kind"))
        return super().to_json()


def _name_kind(cls: type[KubernetesObject], gvk: GroupVersionKind) -> None:
    """Set the class's kind. pydantic takes class attributes that are set here as the defaults of inherited fields."""
    cls.gvk = gvk
    _set_default(cls, "api_version", gvk.api_version)
    _set_default(cls, "kind", gvk.kind)


def _set_default(cls: type[Model], field: str, default: Any) -> None:
    setattr(cls, field, default)


def _scope(cls: type, scope: str) -> str:
    if scope not in ("Namespaced", "Cluster"):
        raise TypeError(f"{cls.__name__}: scope must be 'Namespaced' or 'Cluster', got {scope!r}")
    return scope


def _plural(singular: str) -> str:
    if singular.endswith(("s", "x", "z", "ch", "sh")):
        return f"{singular}es"
    if singular.endswith("y") and singular[-2:-1] not in "aeiou":
        return f"{singular[:-1]}ies"
    return f"{singular}s"


SpecT = TypeVar("SpecT", bound=Model)
StatusT = TypeVar("StatusT", bound=Model, default=Model)


class CustomResource(KubernetesObject, Generic[SpecT, StatusT]):
    """Base of your own kinds: a spec that users write and a status that the operator writes.

        class PodSet(CustomResource[PodSetSpec, PodSetStatus], group="apps.jicki.cn", version="v1alpha1"): ...

    Takes the class keywords of `KubernetesObject`. An absent status reads as the defaults of its class; so does an
    absent spec, if all of its fields have defaults.
    """

    spec: SpecT
    """Desired state, which users write."""
    status: StatusT = Field(default=None, validate_default=False)  # type: ignore[assignment]  # set per kind below
    """State that the operator has observed; it writes this with `client.status`."""

    _default_subresources: ClassVar[tuple[str, ...]] = ("status",)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if (parent := _parametrised(cls)) is not None:
            _default_parts(parent)


def _parametrised(cls: type) -> type[Model] | None:
    """Return the ``CustomResource[Spec, Status]`` that a class was declared with; None while it has type variables."""
    for base in cls.__mro__[1:]:
        metadata = getattr(base, "__pydantic_generic_metadata__", None)
        if metadata and metadata["origin"] is CustomResource and not metadata["parameters"]:
            return cast(type[Model], base)
    return None


def _default_parts(parent: type[Model]) -> None:
    """Make an instance of their class the default of status, and of a spec whose fields all have defaults.

    The default is set on the parent, because the class is known only once the type variables are bound, and a subclass
    copies its parent's fields.
    """
    fields = parent.__pydantic_fields__
    for name in ("spec", "status"):
        model = fields[name].annotation
        if fields[name].default_factory is None and isinstance(model, type) and issubclass(model, Model):
            needs_nothing = not any(field.is_required() for field in model.__pydantic_fields__.values())
            if name == "status" or needs_nothing:
                fields[name] = FieldInfo.from_annotated_attribute(model, Field(default_factory=model))


T = TypeVar("T", bound=KubernetesObject)


class Metadata(KubernetesObject, Generic[T]):
    """The metadata of objects of kind ``T``, without the rest: cheap to read, watch and cache.

    ``Metadata[PodSet]`` has the `gvk` of PodSet; for a kind without a class use `Metadata.of`. Such an object can be
    deleted and its metadata patched. It cannot be created or updated, because it lacks the rest of the object.
    """

    _views: ClassVar[dict[GroupVersionKind, type[Metadata[Any]]]] = {}

    def __class_getitem__(cls, item: Any) -> Any:
        """Return the view of a kind's class. Anything else, such as a type variable, is for the type checker only."""
        if isinstance(item, type) and issubclass(item, KubernetesObject):
            view = cls.of(item.gvk)
            view.resource = item.resource
            return view
        return cls

    @classmethod
    def of(cls, gvk: GroupVersionKind) -> type[Metadata[Any]]:
        """Return the metadata view of a kind that has no class. Its scope is looked up in the cluster when needed."""
        view = Metadata._views.get(gvk)
        if view is None:
            view = cast(type[Metadata[Any]], new_class(f"Metadata[{gvk.kind}]", (Metadata,), _keywords(gvk)))
            del view.resource  # it was guessed from the kind's name; only a class declares it
            Metadata._views[gvk] = view
        return view

    @classmethod
    def from_wire(cls, data: bytes | str | Mapping[str, Any]) -> Self:
        """Decode the metadata of an object, or a PartialObjectMetadata; the rest is left out."""
        view = super(KubernetesObject, cls).from_wire(data)
        view.__pydantic_extra__ = {}
        view.api_version, view.kind = cls.gvk.api_version, cls.gvk.kind
        return view


def _keywords(gvk: GroupVersionKind) -> dict[str, Any]:
    return {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}


def kind_argument(cls: type, generic: type) -> type[KubernetesObject] | None:
    """Return the kind that a class or one of its bases names as the argument of a generic class; None without one."""
    for each in cls.__mro__:
        for base in vars(each).get("__orig_bases__", ()):
            origin = get_origin(base)
            if isinstance(origin, type) and issubclass(origin, generic):
                kind = next(iter(get_args(base)), None)
                if isinstance(kind, type) and (hasattr(kind, "gvk") or hasattr(kind, "openapi_types")):
                    return cast(type[KubernetesObject], kind)
    return None
