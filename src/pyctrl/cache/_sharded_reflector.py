"""The reflector of a coverage that has some hash ranges of uids only: it lists added ranges beside its watch."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, NamedTuple

from msgspec import structs

from pyctrl._backoff import Backoff
from pyctrl._tasks import until_first_ends
from pyctrl.api import ShardSelector
from pyctrl.cache._covered_ranges import EVERYTHING, HIDDEN, Ranges, share_of
from pyctrl.cache._decoder import SplitListPage, check_json, read_page
from pyctrl.cache._options import ShardMemory
from pyctrl.cache._record import UNORDERED, Record, RecordReader, version_number
from pyctrl.cache._reflector import PAGE_SIZE, PAGE_TIMEOUT, ListWatch, Reflector, failure_of
from pyctrl.cache._shard_uid import SHARED, shard_label_selector
from pyctrl.cache._sharded_store_writer import ShardedStoreWriter
from pyctrl.cache._unreadable import UnreadableObjects, unreadable_record
from pyctrl.cache._watch_errors import retry_action_for, retry_after
from pyctrl.errors import DecodeError, Expired

__all__ = ["ShardedReflector"]

log = logging.getLogger("pyctrl.cache")

MIN_OBJECTS_TO_JUDGE = 20  # objects of at most half of the hashes, all in the ranges: by chance once in a million


class _Listed(NamedTuple):
    """The complete list of added ranges."""

    ranges: Ranges
    records: list[Record]
    version: int


class ShardedReflector(Reflector):
    """Passes the lists and watches of the wanted ranges to the handler.

    There is one watch, of all covered ranges. When ranges are wanted in addition, only these are listed, while the
    watch goes on. Then the watch starts again with all ranges, at the lower version of both. When ranges are no longer
    wanted, the watch starts again without them, where it was.

    Whether the server applies the selector of the request or not, the writer takes only what is in the ranges.

    Args:
        arguments: those of `Reflector`.
        writer: the writer of the handler.
        reader: makes records of the lists of added ranges.
        unreadable: notes objects of these lists that cannot be decoded.
        memory: whether to send the selector.
        options: those of `Reflector`.
    """

    def __init__(
        self,
        *arguments: Any,
        writer: ShardedStoreWriter,
        reader: RecordReader,
        unreadable: UnreadableObjects,
        memory: ShardMemory,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._writer, self._reader, self._unreadable = writer, reader, unreadable
        self._ranges, self._memory = writer.ranges, memory
        self._unsharded: ListWatch = self._list_watch
        self._can_stream = False  # only the answer to a list says whether the server has applied the selector
        self._watched: Ranges = ()  # the ranges of the present request
        self._listed: _Listed | None = None
        self._listing_backoff = Backoff(self._random)

    async def run(self) -> None:
        """List and watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(super().run())
            group.create_task(self._list_added())

    # --- the list of all ranges, and the watch ---

    async def _advance(self) -> None:
        while not self._ranges.wanted:
            self._handler.position = None
            self._writer.skip_list()
            self._on_news()
            await self._ranges.changed()
        await self._take_listed()
        if not self._ranges.covered:
            self._handler.position = None
        is_list = self._handler.position is None
        self._watched = self._ranges.wanted if is_list else self._ranges.covered
        self._list_watch = self._select(self._watched)
        await super()._advance()
        if is_list and self._handler.position is not None:
            self._judge()

    async def _watch(self, *query: tuple[str, str]) -> None:
        await until_first_ends(super()._watch(*query), self._until_outdated())
        if self._is_outdated:
            self._needs_check = False  # the watch did not end by itself

    async def _until_outdated(self) -> None:
        while not self._is_outdated:
            await self._ranges.changed()

    @property
    def _is_outdated(self) -> bool:
        """Whether the watch must start again, because of other ranges or a list of added ones."""
        return self._ranges.covered != self._watched or self._listed is not None

    async def _take_listed(self) -> None:
        """Take the list of added ranges, now that no watch runs which could move on without them."""
        listed, self._listed = self._listed, None
        if listed is None:
            return
        self._ranges.notify()  # other ranges may have to be listed by now
        if self._handler.position is None:
            return  # the next list is of all ranges
        if UNORDERED in (listed.version, self._writer.progress):
            self._handler.position = None  # versions do not compare: list all ranges
        elif await self._writer.add_listed(listed.records, listed.ranges, listed.version):
            self._handler.position = str(self._writer.progress)
        self._on_news()

    def _select(self, ranges: Ranges, *, has_shared: bool = True) -> ListWatch:
        if self._ranges.by_label:
            return self._unsharded.with_labels(shard_label_selector(ranges, has_shared=has_shared))
        if ranges == EVERYTHING or self._memory is ShardMemory.FILTER or self._ranges.owners:
            return self._unsharded  # servers select by the uid of the object, not by that of its owner
        query = (*self._unsharded.query, ("shardSelector", str(ShardSelector(ranges))))
        return structs.replace(self._unsharded, query=query)

    # --- the lists of added ranges ---

    async def _list_added(self) -> None:
        """List what is wanted in addition to what the watch covers, whenever there is something."""
        while True:
            pending, is_busy = self._ranges.pending, self._listed is not None or bool(self._ranges.adding)
            if not pending or is_busy or not self._ranges.covered or self._handler.position is None:
                await self._ranges.changed()
                continue
            try:
                self._listed = await self._list(pending)
            except Exception as error:  # noqa: BLE001 - no failure may end the reflector
                self._log(error, retry_action_for(error, is_streamed_list=False))
                now = asyncio.get_running_loop().time()
                await asyncio.sleep(retry_after(error) + self._listing_backoff.next(now))
            else:
                self._ranges.notify()

    async def _list(self, ranges: Ranges) -> _Listed:
        """List some ranges: in pages or, if the server forgets their version meanwhile, at once."""
        try:
            return await self._list_pages(ranges, PAGE_SIZE)
        except Expired:
            return await self._list_pages(ranges, 0)

    async def _list_pages(self, ranges: Ranges, page_size: int) -> _Listed:
        selected, selector = self._select(ranges, has_shared=False), ShardSelector(ranges)
        limit = (("limit", str(page_size)),) if page_size else ()
        records: list[Record] = []
        more = ""
        while True:
            request = selected.request(*limit, *((("continue", more),) if more else ()), timeout=PAGE_TIMEOUT)
            response = await self._transport.request(request)
            if response.status != 200:
                raise failure_of(request, response, response.body)
            page = read_page(response.body)
            found = (self._record(bytes(item), selector, isinstance(page, SplitListPage)) for item in page.items or ())
            records += [record for record in found if record is not None]
            more = page.metadata.continue_
            if not more:
                return _Listed(ranges, records, version_number(page.metadata.resource_version))

    def _record(self, data: bytes, selector: ShardSelector, is_split: bool) -> Record | None:
        """Return the record of an item; None if it is not in the ranges, or if its name cannot be read."""
        try:
            if is_split:
                check_json(data)
            found = self._reader.identity(data)
            bare = Record(data, found.name, found.namespace or "", found.uid or "", UNORDERED)
            return self._reader.record(data, found) if self._is_in(bare, selector) else None
        except DecodeError as error:
            record = unreadable_record(self._unreadable.gvk, data, str(error))
            if record is None or not self._is_in(record, selector):
                return None
            self._unreadable.note(record)
            return record

    def _is_in(self, record: Record, selector: ShardSelector) -> bool:
        uid = self._ranges.uid_of(record)
        return uid not in (SHARED, HIDDEN) and selector.matches(uid)  # the watch has what is shared

    # --- what the server does ---

    def _judge(self) -> None:
        """Conclude from the list of all ranges whether the server has applied the selector, and log it once."""
        if self._list_watch is self._unsharded or self._ranges.by_label or not self._ranges.covered:
            return
        before = self.is_applied
        if self._ranges.foreign:
            self.is_applied = False
        elif self._handler.is_sharded or self._is_no_chance():
            self.is_applied = True
        if self.is_applied is not before:
            self._log_judgement()

    def _is_no_chance(self) -> bool:
        """Return whether a server that ignores the selector would hardly have sent objects of the ranges only.

        The lists of custom resources do not say that the selector was applied (Kubernetes 1.36).
        """
        return share_of(self._ranges.covered) <= 1 / 2 and self._ranges.listed >= MIN_OBJECTS_TO_JUDGE

    def _log_judgement(self) -> None:
        fields = {**self._list_watch.log_fields, "shard_memory": self._memory.value}
        if self.is_applied:
            log.info("The server selects the shard of %s", self._list_watch.path, extra=fields)
            return
        text = "The server does not select the shard of %s, filtering its answers: memory is sharded, traffic is not"
        level = logging.WARNING if self._memory is ShardMemory.SERVER else logging.INFO
        log.log(level, text, self._list_watch.path, extra=fields)
