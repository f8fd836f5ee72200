"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had, by number.

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

DEFAULT_LIMIT = 10  # spec.revisionHistoryLimit when it is absent

#: Go's encoder writes these for the sake of browsers; the hash is over what it writes.
_ESCAPED = {b"<": b"\\u003c", b">": b"\\u003e", b"&": b"\\u0026"}


def template_of(revision: ControllerRevision) -> PodTemplateSpec:
    """Return the template that a revision keeps."""
    template: dict[str, Any] = dict(revision.data["spec"]["template"])
    template.pop("$patch", None)
    return PodTemplateSpec.from_wire(template)


def _template_patch(template: PodTemplateSpec) -> dict[str, Any]:
    """Return a template as revisions keep it: as the patch that goes back to it."""
    return {"spec": {"template": {**template.to_wire(), "$patch": "replace"}}}


def hash_controller_revision(template: PodTemplateSpec, collisions: int) -> str:
    """Return the hash that StatefulSets name their revisions by: the real one, since it is over the same bytes."""
    raw = msgspec.json.encode(_template_patch(template), order="sorted")
    for plain, escaped in _ESCAPED.items():
        raw = raw.replace(plain, escaped)
    return safe_encode_string(str(fnv_1(raw + str(collisions).encode())))


class ControllerHistory:
    """The revisions of one owner, oldest first.

    Args:
        client: reads from the cache, which needs the index of orphans.
        owner: the StatefulSet or DaemonSet.
        selector: what its revisions' labels match.
        naming: makes a hash of a template and the number of collisions.
        label: the label that has the hash.
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
        self.known: list[ControllerRevision] = []
        #: How often another template had the name already.
        self.collisions = 0

    async def load(self, collisions: int) -> None:
        """Find the revisions, and adopt those that belong to nobody."""
        self.collisions = collisions
        self.known = await ControllerRefManager(self._client, ControllerRevision).settle(self._owner, self._selector)
        self._sort()

    def _sort(self) -> None:
        self.known.sort(key=lambda found: (found.revision, found.metadata.name))

    def named(self, name: str | None) -> ControllerRevision | None:
        """Return the revision of a name, or None."""
        return next((found for found in self.known if found.metadata.name == name), None)

    async def obtain(self, template: PodTemplateSpec) -> ControllerRevision:
        """Return the revision of a template as the newest there is: made now, or an old one with a new number."""
        data = _template_patch(template)
        number = self.known[-1].revision + 1 if self.known else 1
        equal = [found for found in self.known if found.data == data]
        if not equal:
            revision = await self._create(template, data, number)
        elif equal[-1] is self.known[-1]:
            return equal[-1]
        else:
            revision = await self._client.patch(equal[-1], MergePatch({"revision": number}))
        self.known = [*(found for found in self.known if found.key != revision.key), revision]
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
        """Delete the oldest revisions beyond the limit, of those whose names are not in use."""
        unused = [found for found in self.known if found.metadata.name not in live and not is_deleting(found)]
        for found in _beyond_limit(unused, DEFAULT_LIMIT if limit is None else limit):
            await self._client.delete(found)


def _beyond_limit(unused: list[ControllerRevision], limit: int) -> Iterable[ControllerRevision]:
    return unused[: max(0, len(unused) - limit)]
