"""The scale sub-resource: the same `Scale` for every kind that has one, read from and written to its own fields."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pyctrl.api import LabelSelector

from ._admission import UPDATE, Attributes
from ._answers import Answer, Unfit, conflict, internal, invalid, invalid_value
from ._backend import Backend, check_place, metadata_of
from ._bodies import media_type
from ._custom_type import CustomType
from ._forms import Form, Shape, answer_value
from ._options import WriteOptions, write_options
from ._own_kinds import SCALE, decode_own, read_own
from ._patch import check_patch_type, outcome_unfit, patched
from ._request import Request
from ._storage import Stored
from ._verbs_write import Change, Writes

if TYPE_CHECKING:
    from ._resources import ResourceType

_PATHS = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
_OF_SCALE = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class Scales:
    """get, replace and patch of `/scale`."""

    def __init__(self, backend: Backend, writes: Writes) -> None:
        self._backend = backend
        self._writes = writes

    def get(self, request: Request) -> Answer:
        """GET the scale of an object."""
        stored, resource = self._backend.live(request), request.resource
        obj = stored.read(resource)
        if isinstance(resource, CustomType) and _get(obj, path := _path(resource, "specReplicasPath")) is None:
            raise internal(f'the spec replicas field "{path}" does not exist')
        return _answered(scale_of(obj, resource), request.form)

    async def replace(self, request: Request) -> Answer:
        """PUT a scale: its replicas go into the object."""
        options = write_options(request.query, "UpdateOptions")
        return await self._write(request, options, lambda _: read_own(request, SCALE, self._backend.registry))

    async def patch(self, request: Request) -> Answer:
        """PATCH a scale."""
        options = write_options(request.query, "PatchOptions")
        media = media_type(request.headers, default="")
        check_patch_type(request, media)

        def wanted(live: dict[str, Any]) -> dict[str, Any]:
            new, _ = patched(live, request, media)
            try:
                return self._decoded(new, request)
            except Unfit as unfit:
                raise outcome_unfit(live, request, media, unfit) from None

        return await self._write(request, options, wanted)

    async def _write(
        self, request: Request, options: WriteOptions, wanted: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> Answer:
        """Bring the scale that is wanted, which follows from the live one, into the object."""
        resource, admission = request.resource, self._backend.admission
        while True:
            stored = self._backend.live(request)
            old = scale_of(stored.read(resource), resource)
            attributes = Attributes(
                operation=UPDATE,
                request=request,
                object=self._decoded(wanted(scale_of(stored.read(resource), resource)), request),
                old=old,
                name=stored.name,
                options=options,
                own_kind=SCALE,
            )
            await admission.mutate(attributes)
            change = self._scaled(request, stored, attributes.object or old, options)
            attributes.object = scale_of(change.new, resource)
            await admission.validate(attributes)
            if self._backend.find(request) is stored:
                break
        again = partial(self._scaled, request, scale=attributes.object, options=options)
        await self._writes.update(request, stored, change, again, admitted=True)
        written = change.new if options.dry_run else self._backend.live(request).read(resource)
        return _answered(scale_of(written, resource), request.form)

    def _decoded(self, scale: dict[str, Any], request: Request) -> dict[str, Any]:
        """Read a scale as its Go type does, and check that it is one, of this object."""
        check_place(metadata_of(scale, request.resource), request)
        return decode_own(scale, SCALE, self._backend.registry.components)

    @staticmethod
    def _scaled(request: Request, stored: Stored, scale: dict[str, Any], options: WriteOptions) -> Change:
        """Make the change that a scale wants."""
        resource, metadata = request.resource, scale["metadata"]
        replicas = (scale.get("spec") or {}).get("replicas", 0)
        if replicas < 0 and not isinstance(resource, CustomType):  # which says so in its own words
            cause = invalid_value("spec.replicas", replicas, "must be greater than or equal to 0")
            raise invalid("Scale", stored.name, [cause], "autoscaling")
        version, uid = metadata.get("resourceVersion"), metadata.get("uid")
        if (version and version != str(stored.version)) or (uid and uid != stored.uid):
            raise conflict(request.target.resource, stored.name, request.target.group)
        new, old = stored.read(resource), stored.read(resource)
        _set(new, _path(resource, "specReplicasPath"), replicas)
        return Change(new=new, old=old, options=options)


def _answered(scale: dict[str, Any], form: Form) -> Answer:
    if form.shape is Shape.WHOLE:
        return answer_value(scale, form)
    if form.shape is Shape.METADATA:
        partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": scale["metadata"]}
        return answer_value(partial, form)
    from ._tables import scale_table  # here: only kubectl asks for tables

    return answer_value(scale_table(scale, version=form.version, include=form.include), form)


def scale_of(obj: dict[str, Any], resource: ResourceType) -> dict[str, Any]:
    """Read the `Scale` of an object."""
    metadata = obj["metadata"]
    wanted = _get(obj, _path(resource, "specReplicasPath"))
    status: dict[str, Any] = {"replicas": _get(obj, _path(resource, "statusReplicasPath")) or 0}
    selector = _selector(obj, resource)
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _OF_SCALE if name in metadata},
        "spec": {"replicas": wanted} if wanted else {},
        "status": status,
    }


def _selector(obj: dict[str, Any], resource: ResourceType) -> str:
    if isinstance(resource, CustomType):
        path = (resource.scale or {}).get("labelSelectorPath")
        return str(_get(obj, path) or "") if path else ""
    selector = (obj.get("spec") or {}).get("selector") or {}
    if resource.plural == "replicationcontrollers":
        return str(LabelSelector.from_dict(selector))
    return str(LabelSelector.from_wire(selector))


def _path(resource: ResourceType, name: str) -> str:
    paths = resource.scale if isinstance(resource, CustomType) else None
    return (paths or _PATHS)[name]


def _get(obj: Any, path: str) -> Any:
    for part in path.strip(".").split("."):
        obj = obj.get(part) if isinstance(obj, dict) else None
    return obj


def _set(obj: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.strip(".").split(".")
    for part in parents:
        obj = obj.setdefault(part, {})
    obj[last] = value
