"""ControllerRevisions: the numbered pod templates of a StatefulSet or DaemonSet.

The rules are those of kube-controller-manager's history package (pkg/controller/history).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import msgspec

from pyctrl.api import KubernetesObject, LabelSelector, ObjectMeta, is_deleting, set_controller_reference
from pyctrl.cache import CachedClient
from pyctrl.client import MergePatch
from pyctrl.cluster._controllers.controller_ref_manager import ControllerRefManager
from pyctrl.cluster._controllers.pod_template_hash import fnv_1, safe_encode_string
from pyctrl.errors import AlreadyExists
from pyctrl.kinds.apps.v1 import ControllerRevision
from pyctrl.kinds.core.v1 import PodTemplateSpec

__all__ = ["ControllerHistory", "hash_controller_revision", "template_of"]

DEFAULT_LIMIT = 10  # the default of spec.revisionHistoryLimit

#: Characters that Go's JSON encoder escapes; the hash is computed over its output.
_ESCAPED = {b"<": b"\\u003c", b">": b"\\u003e", b"&": b"\\u0026"}


def template_of(revision: ControllerRevision) -> PodTemplateSpec:
    """Return the pod template that a revision stores."""
    template: dict[str, Any] = dict(revision.data["spec"]["template"])
    template.pop("$patch", None)
    return PodTemplateSpec.from_wire(template)


def _template_patch(template: PodTemplateSpec) -> dict[str, Any]:
    """Return a template as revisions store it: as the patch that restores it, with sorted keys, as Go writes maps.

    Clients compare its bytes with those of a patch that they make.
    """
    patch = {"spec": {"template": {"$patch": "replace", **template.to_wire()}}}
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(patch, order="sorted"))
    return found


def hash_controller_revision(template: PodTemplateSpec, collisions: int) -> str:
    """Return the hash in the names of StatefulSet revisions, computed over the same bytes as upstream's."""
    raw = msgspec.json.encode(_template_patch(template), order="sorted")
    for plain, escaped in _ESCAPED.items():
        raw = raw.replace(plain, escaped)
    return safe_encode_string(str(fnv_1(raw + str(collisions).encode())))


class ControllerHistory:
    """The revisions of one owner, oldest first.

    Args:
        client: reads from the cache; ControllerRevision needs `index_orphans`.
        owner: the StatefulSet or DaemonSet.
        selector: the selector of its revisions.
        naming: returns the hash of a template and a collision count.
        label: the label with the hash.
    """

    def __init__(
        self,
        client: CachedClient,
        owner: KubernetesObject,
        selector: LabelSelector,
        *,
        naming: Callable[[PodTemplateSpec, int], str],
        label: str,
    ) -> None:
        self._client, self._owner, self._selector = client, owner, selector
        self._naming, self._label = naming, label
        self.revisions: list[ControllerRevision] = []
        #: The number of name collisions with other templates.
        self.collisions = 0

    async def load(self, collisions: int) -> None:
        """Load the revisions, and adopt those without a controller."""
        self.collisions = collisions
        self.revisions = await ControllerRefManager(self._client, ControllerRevision).claim(self._owner, self._selector)
        self._sort()

    def _sort(self) -> None:
        self.revisions.sort(key=lambda found: (found.revision, found.metadata.name))

    def get(self, name: str | None) -> ControllerRevision | None:
        """Return the revision with a name, or None."""
        return next((found for found in self.revisions if found.metadata.name == name), None)

    async def create_or_update(self, template: PodTemplateSpec) -> ControllerRevision:
        """Return the newest revision, with this template: the existing one, a new one, or an old one renumbered."""
        data = _template_patch(template)
        number = self.revisions[-1].revision + 1 if self.revisions else 1
        equal = [found for found in self.revisions if found.data == data]
        if not equal:
            revision = await self._create(template, data, number)
        elif equal[-1] is self.revisions[-1]:
            return equal[-1]
        else:
            revision = await self._client.patch(equal[-1], MergePatch({"revision": number}))
        self.revisions = [*(found for found in self.revisions if found.key != revision.key), revision]
        return revision

    async def _create(self, template: PodTemplateSpec, data: dict[str, Any], number: int) -> ControllerRevision:
        meta = self._owner.metadata
        while True:
            hashed = self._naming(template, self.collisions)
            revision = ControllerRevision(
                metadata=ObjectMeta(
                    name=f"{meta.name}-{hashed}",
                    namespace=meta.namespace,
                    labels={**template.metadata.labels, self._label: hashed},
                    annotations=dict(meta.annotations),
                ),
                data=data,
                revision=number,
            )
            set_controller_reference(self._owner, revision)
            try:
                return await self._client.create(revision)
            except AlreadyExists:
                present = await self._client.live.find(ControllerRevision, revision.key)
                if present is not None and present.data == data:
                    return present
                self.collisions += 1

    async def truncate(self, live: Collection[str | None], limit: int | None) -> None:
        """Delete the oldest revisions beyond the limit whose names are not live."""
        unused = [found for found in self.revisions if found.metadata.name not in live and not is_deleting(found)]
        for found in _beyond_limit(unused, DEFAULT_LIMIT if limit is None else limit):
            await self._client.delete(found)


def _beyond_limit(unused: list[ControllerRevision], limit: int) -> Iterable[ControllerRevision]:
    return unused[: max(0, len(unused) - limit)]
