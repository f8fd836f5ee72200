"""Fingerprints in ConfigMaps."""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client
from pyctrl.errors import ManagerError, NotFound
from pyctrl.manager._fingerprints.store import Fingerprints
from pyctrl.rbac import Permission, PermissionScope, Resource, allow

if TYPE_CHECKING:
    from pyctrl.kinds.core.v1 import ConfigMap

__all__ = ["ConfigMapFingerprints"]

log = logging.getLogger("pyctrl.manager")

PART = 700 * 1024  # bytes in one ConfigMap, which the API server limits to 1 MiB
MAX_PARTS = 16
SETS = ("a", "b")
_KEY = "fingerprints"
_PARTS = "pyctrl.dev/parts"  # annotation of the first ConfigMap: the set and the number of parts
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_CONFIG_MAPS = Resource("", "configmaps", True)


class ConfigMapFingerprints(Fingerprints):
    """Keeps fingerprints in ConfigMaps in the operator's own namespace: one, or several if they do not fit.

    The first one has the data or, if it is too large, names the set of ConfigMaps that have it. The other set is
    written before the first one changes, so that a reader sees the data from before or after. What exceeds
    `MAX_PARTS` ConfigMaps is not kept. A conflict with another writer loses the write.

    Args:
        name: the name of the first ConfigMap; others have a suffix.
        namespace: the namespace; by default the operator's own.
        verify_within: as for `Fingerprints`.
        interval: as for `Fingerprints`.
        code: as for `Fingerprints`.

    Raises:
        ManagerError: the name is not a valid name of an object.
    """

    def __init__(
        self,
        name: str,
        *,
        namespace: str | None = None,
        verify_within: timedelta = timedelta(hours=10),
        interval: timedelta = timedelta(minutes=5),
        code: str = "",
    ) -> None:
        super().__init__(verify_within=verify_within, interval=interval, code=code)
        if not _NAME.fullmatch(name) or len(name) > 200:
            raise ManagerError(f"a ConfigMap for fingerprints needs a name such as 'podset-fingerprints', got {name!r}")
        self.name: str = name
        self.namespace: str | None = namespace
        self._client: Client | None = None
        self._own_namespace = "default"

    def connect(self, client: Client, namespace: str) -> None:
        """Take the client of the manager and its own namespace."""
        self._client, self._own_namespace = client, namespace

    @property
    def rbac(self) -> Sequence[Permission]:
        """Permissions to create ConfigMaps, and to read, change and delete only these."""
        where = PermissionScope.OWN if self.namespace is None else frozenset([self.namespace])
        create = allow(_CONFIG_MAPS, "create", where=where, essential=False)
        names = (self.name, *(self._part(each, number) for each in SETS for number in range(MAX_PARTS)))
        return create, allow(_CONFIG_MAPS, "get", "update", "delete", names=names, where=where, essential=False)

    async def load(self) -> bytes | None:
        """Return what was saved last. Raises ApiError and TransportError."""
        first = await self._find(self.name)
        if first is None:
            return None
        which, parts = _parts_of(first)
        if not parts:
            return _data_of(first)
        found = [await self._find(self._part(which, number)) for number in range(parts)]
        return b"".join(_data_of(part) for part in found if part is not None)

    async def save(self, data: bytes) -> None:
        """Replace what was saved. Raises ApiError and TransportError."""
        if len(data) > PART * MAX_PARTS:
            raise ManagerError(
                f"{len(data):,} bytes of fingerprints do not fit into {MAX_PARTS} ConfigMaps; keep them in a file, or "
                "leave controllers out with options(fingerprints=False)"
            )
        first = await self._find(self.name)
        which, former = ("b", 0) if first is None else _parts_of(first)
        if len(data) <= PART:
            await self._put(first, self.name, data, "")
        else:
            other = SETS[1 - SETS.index(which)]
            chunks = [data[begin : begin + PART] for begin in range(0, len(data), PART)]
            for number, chunk in enumerate(chunks):
                name = self._part(other, number)
                await self._put(await self._find(name), name, chunk, "")
            await self._put(first, self.name, b"", f"{other} {len(chunks)}")
        for number in range(former):
            with suppress(NotFound):
                await self._delete(self._part(which, number))

    def _part(self, which: str, number: int) -> str:
        return f"{self.name}-{which}-{number}"

    def _key(self, name: str) -> Key:
        return Key(self.namespace or self._own_namespace, name)

    async def _find(self, name: str) -> ConfigMap | None:
        from pyctrl.kinds.core.v1 import ConfigMap  # here and below: imported with all other kinds of its group

        assert self._client is not None  # the manager has called `connect`
        return await self._client.find(ConfigMap, self._key(name))

    async def _put(self, present: ConfigMap | None, name: str, data: bytes, parts: str) -> None:
        from pyctrl.kinds.core.v1 import ConfigMap

        assert self._client is not None
        key = self._key(name)
        metadata = ObjectMeta(name=key.name, namespace=key.namespace, annotations={_PARTS: parts} if parts else {})
        encoded = {_KEY: base64.b64encode(data).decode()} if data else {}
        made = ConfigMap(metadata=metadata, binary_data=encoded)
        if present is None:
            await self._client.create(made)
        else:
            made.metadata.resource_version = present.metadata.resource_version  # a conflict loses this write
            await self._client.update(made)

    async def _delete(self, name: str) -> None:
        from pyctrl.kinds.core.v1 import ConfigMap

        assert self._client is not None
        await self._client.delete(ConfigMap, self._key(name))

    def __repr__(self) -> str:
        return f"ConfigMapFingerprints({self.name!r})"


def _parts_of(first: ConfigMap) -> tuple[str, int]:
    """Return the set that the first ConfigMap names, and the number of its parts: 0 if it has the data itself."""
    which, _, number = first.metadata.annotations.get(_PARTS, "").partition(" ")
    is_valid = which in SETS and number.isdecimal() and int(number) <= MAX_PARTS
    return (which, int(number)) if is_valid else (SETS[1], 0)


def _data_of(found: ConfigMap) -> bytes:
    value = found.binary_data.get(_KEY, b"")
    return value if isinstance(value, bytes) else base64.b64decode(value)
