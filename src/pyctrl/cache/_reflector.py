"""The reflector: lists one part of a kind, watches it, resumes the watch, and relists when it must."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from math import inf
from random import Random
from typing import Self

from msgspec import Struct, field, structs

from pyctrl._backoff import Backoff
from pyctrl._headers import DIRECT_WATCH
from pyctrl._log import Lines, RepeatedErrors
from pyctrl.cache._decoder import error_of, read_page
from pyctrl.cache._record import UNORDERED, version_number
from pyctrl.cache._watch_errors import (
    EndedEarly,
    RetryAction,
    WentBack,
    advice,
    needs_attention,
    retry_action_for,
    retry_after,
)
from pyctrl.cache._watch_handler import WatchHandler
from pyctrl.client import HttpRequest, HttpResponse, HttpStream, Transport, deliver
from pyctrl.errors import ApiError, DecodeError, Forbidden, NotFound, PyctrlError, RequestTimeout

__all__ = [
    "CHECK_TIMEOUT",
    "PAGE_SIZE",
    "PAGE_TIMEOUT",
    "IdleTimeout",
    "ListWatch",
    "Reflector",
    "ReflectorStage",
    "failure_of",
]


log = logging.getLogger("pyctrl.cache")

PAGE_SIZE = 500  # client-go's pager
CHECK_TIMEOUT = 10.0  # seconds for a list of one object
PAGE_TIMEOUT = 60.0  # seconds; kube-apiserver's own limit for requests that are no watches
HEAD_SILENCE = 30.0  # seconds to wait for the head of the answer to a watch
LIST_SILENCE = 10.0  # seconds between events of a streamed list; the server may wait 3 for its cache to catch up
WATCH_SILENCE = 90.0  # seconds; bookmarks come every 60
WATCH_SECONDS = (240, 290)  # timeoutSeconds, drawn for each watch; many proxies cut a connection after 5 minutes
DIRECT_WATCH_SECONDS = 10 * 365 * 86_400  # timeoutSeconds of a direct watch, which need not end
SHORT_WATCH = 5.0  # seconds; a server or proxy that works keeps a watch for longer
SHORT_PAUSE = 1.0  # seconds at most, after a short watch that brought something
MAX_FAILURES_WITHOUT_PROGRESS = 3  # failures in a row without progress, after which the request changes


class ReflectorStage(Enum):
    """The state of a reflector."""

    STREAMING = "streaming"  # listing by a watch with sendInitialEvents, which goes on as the watch
    PAGING = "paging"  # listing in pages
    WATCHING = "watching"  # watching from the version of the list or of the last watch
    WAITING = "waiting"  # waiting after a failure


class ListWatch(Struct, frozen=True, kw_only=True):
    """The collection to list and watch: its path, selectors as query, headers, and fields for logs."""

    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    log_fields: Mapping[str, str] = field(default_factory=dict)

    def request(self, *query: tuple[str, str], timeout: float | None = None) -> HttpRequest:
        """Return a GET request for the collection."""
        return HttpRequest(
            method="GET", path=self.path, query=(*self.query, *query), headers=self.headers, timeout=timeout
        )

    def with_labels(self, selector: str) -> ListWatch:
        """Return the objects of the collection that match a label selector, too."""
        parts = [text for name, text in self.query if name == "labelSelector"]
        others = tuple(pair for pair in self.query if pair[0] != "labelSelector")
        return structs.replace(self, query=(*others, ("labelSelector", ",".join([*parts, selector]))))

    def as_direct(self) -> ListWatch:
        """Return the same for a server in this process: its watches last, and are silent while nothing happens."""
        return structs.replace(self, headers={**self.headers, DIRECT_WATCH: "true"})

    @property
    def is_direct(self) -> bool:
        """Whether the server is in this process, so that no connection can break unnoticed."""
        return DIRECT_WATCH in self.headers


class Reflector:
    """Passes the lists and watches of one collection to a `WatchHandler`, until cancelled.

    No failure of server, network or data ends it. It requests the list as a stream, or in pages when the server does
    not support streams. It resumes a watch at its last version. It relists only after 410 Gone, or when watches fail
    repeatedly at one version; subscribers are then notified of the differences only. After a failure, and after a watch
    that brought nothing, it compares its version with the server's. When the server is behind, as after a restore of
    etcd from a backup, it relists too. Waits grow from 0.8 to 30 seconds, with jitter. A failure is logged once, and
    again after five minutes.

    Args:
        transport: sends the requests; without retries of its own.
        list_watch: the collection.
        handler: takes the bytes of the answers.
        random: draws waits and the length of watches.
        on_news: is called when a list is complete, when something has failed, when an error is cleared, and, while
            there are ``waiters``, after each answer and each chunk of a watch.
        waiters: the futures of callers that wait for progress. While there are some, every answer counts as news.
        on_refusal: is called when a permission is missing; returns whether its owner logs what to grant.
        until_served: is called when the server does not know the collection; returns when it may know it.
    """

    def __init__(
        self,
        transport: Transport,
        list_watch: ListWatch,
        handler: WatchHandler,
        *,
        random: Random,
        on_news: Callable[[], None],
        waiters: Mapping[asyncio.Future[None], None],
        on_refusal: Callable[[Forbidden], bool],
        until_served: Callable[[NotFound], Awaitable[None]],
    ) -> None:
        self._transport, self._list_watch, self._handler = transport, list_watch, handler
        self._random, self._on_news, self._on_refusal = random, on_news, on_refusal
        self._until_served, self._waiters = until_served, waiters
        self._backoff = Backoff(random)
        self._can_stream = True
        self._page_size = PAGE_SIZE
        self._failures_without_progress = 0
        self._progress: str | None = None  # the position after the last answer
        self._pause: asyncio.Future[None] | None = None
        self._repeated_errors = RepeatedErrors()
        self._advice = ""  # the advice that was logged last
        self.stage = ReflectorStage.STREAMING
        #: Why it is not up to date; None when it is.
        self.error: Exception | None = None
        #: How often in a row it has failed.
        self.failures: int = 0
        self._needs_check = False  # whether the server may have gone back to an older version
        self._left_behind: str | None = None  # the position at the last check, if the server was ahead then
        #: Whether the watch brings neither events nor bookmarks, although the server is ahead.
        self.is_stalled: bool = False
        #: Whether the server applies shard selectors; None until it is known, and if none is sent.
        self.is_applied: bool | None = None
        #: When the server last answered or sent something, in the loop's time.
        self.heard_at: float | None = None

    @property
    def relists(self) -> int:
        """The number of complete lists after the first."""
        return max(0, self._handler.lists - 1)

    def retry_now(self) -> None:
        """Try again now, if the reflector waits after a failure whose cause is gone."""
        if self._pause is not None and not self._pause.done():
            self._pause.set_result(None)

    async def run(self) -> None:
        """List and watch until cancelled."""
        while True:
            try:
                await self._advance()
            except Exception as error:  # noqa: BLE001 - no failure may end the reflector
                await self._recover(error)

    async def _advance(self) -> None:
        if self._needs_check and self._handler.position is not None:
            await self._check()
        if self._handler.position is not None:
            self.stage = ReflectorStage.WATCHING
            await self._watch(("resourceVersion", self._handler.position))
        elif self._can_stream:
            self.stage = ReflectorStage.STREAMING
            self._handler.begin_list()
            await self._watch(("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan"))
        else:
            self.stage = ReflectorStage.PAGING
            self._handler.begin_list()
            await self._page()

    # --- requests ---

    async def _page(self) -> None:
        more = ""
        while True:
            limit = (("limit", str(self._page_size)),) if self._page_size else ()
            request = self._list_watch.request(*limit, *((("continue", more),) if more else ()), timeout=PAGE_TIMEOUT)
            response = await self._transport.request(request)
            if response.status != 200:
                raise failure_of(request, response, response.body)
            self._handler.begin_answer()
            more = self._handler.take_page(response.body)
            self._note_response()
            if not more:
                return

    async def _check(self) -> None:
        """Compare the position with the server's version, and relist if the server has gone back or the watch stalls.

        Versions are numbers and compare (KEP-5504). A list without resourceVersion is a quorum read.
        """
        request = self._list_watch.request(("limit", "1"), timeout=CHECK_TIMEOUT)
        try:
            response = await self._transport.request(request)
            self._needs_check = False
            if response.status != 200:
                return  # the watch fails too, and says why
            version = version_number(read_page(response.body).metadata.resource_version)
        except (RequestTimeout, DecodeError):  # the watch may work nevertheless
            self._needs_check = False
            return
        position = version_number(self._handler.position or "")
        if UNORDERED in (position, version):
            return
        facts = {**self._list_watch.log_fields, "seen": position, "server": version}
        if version < position:
            log.warning("The server has gone back to an older version, as after a restore; relisting", extra=facts)
            self._handler.position = self._left_behind = None
        elif version > position and self._handler.has_bookmarks and self._left_behind == self._handler.position:
            if not self.is_stalled:
                log.warning("The watch is stalled behind the server; relisting", extra=facts)
            self.is_stalled = True
            self._handler.position = self._left_behind = None
        else:
            self._left_behind = self._handler.position if version > position else None

    async def _watch(self, *query: tuple[str, str]) -> None:
        loop = asyncio.get_running_loop()
        begun, position = loop.time(), self._handler.position
        seconds = str(DIRECT_WATCH_SECONDS if self._list_watch.is_direct else self._random.randint(*WATCH_SECONDS))
        request = self._list_watch.request(
            ("watch", "true"), ("allowWatchBookmarks", "true"), ("timeoutSeconds", seconds), *query
        )
        try:
            async with asyncio.timeout(HEAD_SILENCE) as limit, self._transport.stream(request) as stream:
                await self._read(request, stream, limit)
        except TimeoutError as error:
            raise RequestTimeout(f"{request} received neither events nor bookmarks in time") from error
        finally:
            self._needs_check = position is not None and self._handler.position == position
        is_short = loop.time() - begun < SHORT_WATCH
        if self._handler.position is None or (self._handler.position == position and is_short):
            raise EndedEarly(f"{request} was ended by the server before it sent anything new")
        if is_short:
            await self._wait(self._random.uniform(0.0, SHORT_PAUSE))

    async def _read(self, request: HttpRequest, stream: HttpStream, limit: asyncio.Timeout) -> None:
        if stream.status != 200:
            raise failure_of(request, stream, await stream.read())
        self._handler.begin_answer()
        self._note_response()

        def take(chunk: bytes) -> None:
            try:
                self._handler.take_chunk(chunk)
                if self._handler.went_back:
                    raise WentBack(f"{request} sent a version that is lower than {self._handler.position}")
            finally:
                self._note_response()

        with IdleTimeout(limit, self._idle_deadline):
            await deliver(stream, take)

    def _idle_deadline(self) -> float:
        """Return the time, by the loop's clock, at which the watch counts as dead unless the server sends something."""
        if self._handler.position is None:
            return (self.heard_at or 0.0) + LIST_SILENCE
        return inf if self._list_watch.is_direct else (self.heard_at or 0.0) + WATCH_SILENCE

    def _note_response(self) -> None:
        """Record that the server has answered, and call `on_news` if that matters to anyone."""
        self.heard_at = asyncio.get_running_loop().time()
        is_news = False
        if self._handler.position is not None:
            is_news = self.stage is not ReflectorStage.WATCHING  # a list is complete
            if self.error is not None:
                is_news = True
                self.error, self.failures = None, 0
                self._repeated_errors.forget()
            if self._handler.position != self._progress:
                self._progress, self._failures_without_progress = self._handler.position, 0
                if self.stage is ReflectorStage.WATCHING:  # progress by a list does not prove that watches work
                    self.is_stalled, self._left_behind = False, None
            self.stage = ReflectorStage.WATCHING
            self._page_size = PAGE_SIZE
        if is_news or self._waiters:
            self._on_news()

    # --- after a failure ---

    async def _recover(self, error: Exception) -> None:
        is_streamed_list = self.stage is ReflectorStage.STREAMING
        action = retry_action_for(error, is_streamed_list=is_streamed_list)
        self.error = error
        self.failures += 1
        self._needs_check = self._handler.position is not None
        self._on_news()  # callers that wait for the first list may give up
        if isinstance(error, NotFound):
            if self.failures > 1:  # discovery has listed the kind in between
                self._log(error, action)
            self.stage = ReflectorStage.WAITING
            return await self._until_served(error)
        self._log(error, action)
        if action is RetryAction.LIMITED:
            self._failures_without_progress += 1
            if self._failures_without_progress >= MAX_FAILURES_WITHOUT_PROGRESS:
                self._failures_without_progress = 0
                action = RetryAction.PAGES if is_streamed_list else RetryAction.RELIST
        if action is RetryAction.PAGES:
            self._can_stream = False
        elif action is RetryAction.RELIST:
            if self.stage is ReflectorStage.PAGING:
                self._page_size = 0  # the continue token expired before the last page: list everything at once
            self._handler.position = None
        if action is not RetryAction.AT_ONCE:
            now = asyncio.get_running_loop().time()
            await self._wait(retry_after(error) + self._backoff.next(now))

    async def _wait(self, seconds: float) -> None:
        self.stage = ReflectorStage.WAITING
        self._pause = asyncio.get_running_loop().create_future()
        timer = asyncio.get_running_loop().call_later(seconds, self.retry_now)
        try:
            await self._pause
        finally:
            timer.cancel()
            self._pause = None

    def _log(self, error: Exception, action: RetryAction) -> None:
        facts = {**self._list_watch.log_fields, "error": str(error), "retry": action.value}
        if not isinstance(error, PyctrlError):
            log.error("Unexpected error in a transform, an index function or pyctrl", extra=facts, exc_info=error)
        elif action is RetryAction.PAGES:
            text = "The server does not support streaming lists of %s, falling back to pages"
            log.info(text, self._list_watch.path, extra=facts)
        elif isinstance(error, Forbidden) and self._on_refusal(error):  # `on_refusal` logs what to grant
            log.log(self._level(error), "Failed to watch %s: %s", self._list_watch.path, error, extra=facts)
        elif needs_attention(error):
            level = self._repeated_errors.level(str(error), logging.WARNING, asyncio.get_running_loop().time())
            log.log(
                level, "Failed to watch %s: %s%s", self._list_watch.path, error, self._new_advice(error), extra=facts
            )
        else:
            log.log(self._level(error), "List or watch of %s failed: %s", self._list_watch.path, error, extra=facts)

    def _new_advice(self, error: Exception) -> Lines:
        """Return what to do about an error; advice of several lines only once in a row."""
        before, self._advice = self._advice, advice(error)
        return Lines("" if "\n" in self._advice and self._advice == before else self._advice)

    def _level(self, error: Exception) -> int:
        """Return the log level of a failure that may be temporary: higher before the first answer."""
        level = logging.WARNING if self.heard_at is None else logging.INFO
        return self._repeated_errors.level(str(error), level, asyncio.get_running_loop().time(), every=inf)


def failure_of(request: HttpRequest, answer: HttpResponse | HttpStream, body: bytes) -> ApiError:
    """Return the error of an answer that is no success."""
    seconds = answer.headers.get("Retry-After")
    return error_of(body, http_code=answer.status, request=str(request), retry_after=seconds)


class IdleTimeout:
    """Lets the surrounding timeout expire at a deadline that moves with each event.

    Moving the timer at each event would cost as much as the event. So the timer fires at the deadline that it was set
    for, and is set again if the deadline has moved.

    Args:
        timeout: the timeout of the surrounding block.
        deadline: returns the current deadline, by the loop's clock; it never decreases.
    """

    def __init__(self, timeout: asyncio.Timeout, deadline: Callable[[], float]) -> None:
        self._timeout = timeout
        self._deadline = deadline
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        if not self._timeout.expired():  # else it has just expired, and the cancellation is on its way
            self._timeout.reschedule(None)
            self._check()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _check(self) -> None:
        loop, due = asyncio.get_running_loop(), self._deadline()
        if due == inf:
            self._timer = None  # the watch lasts
        elif loop.time() < due:
            self._timer = loop.call_at(due, self._check)
        else:
            self._timeout.reschedule(due)
