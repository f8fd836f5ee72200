"""Follows one part of a kind for ever: lists it, watches it, resumes, and lists again only when it must."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from math import inf
from random import Random
from typing import Self

from msgspec import Struct, field

from pyctrl._backoff import Backoff
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

__all__ = ["IdleTimeout", "ListWatch", "Reflector", "ReflectorStage"]


log = logging.getLogger("pyctrl.cache")

PAGE_SIZE = 500  # client-go's pager
CHECK_TIMEOUT = 10.0  # seconds for a list of one object
PAGE_TIMEOUT = 60.0  # seconds; kube-apiserver's own limit for requests that are no watches
HEAD_SILENCE = 30.0  # seconds until a watch is answered at all
LIST_SILENCE = 10.0  # seconds between the first events of a streamed list; the server may first catch up, for 3
WATCH_SILENCE = 90.0  # seconds; bookmarks come every 60
WATCH_SECONDS = (240, 290)  # drawn for each watch; below the 5 minutes after which many proxies cut
INSTANT = 5.0  # seconds; servers and proxies that mean well keep a watch for longer
SHORT_PAUSE = 1.0  # seconds at most, after a watch that brought something but ended soon
MAX_FAILURES_WITHOUT_PROGRESS = 3  # failures in a row without progress, after which something else is tried


class ReflectorStage(Enum):
    """What a reflector is doing."""

    STREAMING = "streaming"  # the list comes as events; the watch goes on from it, on the same connection
    PAGING = "paging"  # the list comes in pages
    WATCHING = "watching"  # events come, from where the list or the last watch ended
    WAITING = "waiting"  # something failed; the next try has its time


class ListWatch(Struct, frozen=True, kw_only=True):
    """What to follow: the path of a collection, selectors as query, and how logs call it."""

    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    log_fields: Mapping[str, str] = field(default_factory=dict)

    def request(self, *query: tuple[str, str], timeout: float | None = None) -> HttpRequest:
        """Make a request for the collection."""
        return HttpRequest(
            method="GET", path=self.path, query=(*self.query, *query), headers=self.headers, timeout=timeout
        )


class Reflector:
    """Supplies an intake until it is cancelled. No failure of server, network or data ends it.

    It asks for the list as a stream, and in pages when the server does not know that. It resumes where it was, and
    lists again only after 410 or when watches fail time and again at one version; then the feed tells only what has
    changed. After a failure, and after a watch that brought nothing, it compares its version with the server's: when
    the server has gone back, as after a restore of etcd from a backup, it lists again too. Waits grow from 0.8 to 30
    seconds, with jitter. Failures are logged once, and again after five minutes.

    Args:
        transport: how to reach the server; without retries of its own.
        target: what to follow.
        intake: where the bytes go.
        random: draws waits and the length of watches.
        on_news: is called when a list is complete, when something has failed, when an error is cleared, and, while
            there are ``waiters``, after each answer and each chunk of a watch.
        waiters: futures of callers that wait for progress. Not empty: each sign of life of the server is news.
        on_refusal: is called when a right is missing, and says whether somebody else tells the user what to grant.
        until_served: waits when the server does not know the collection, says so, and returns when it may know it.
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
        self._progress: str | None = None  # the last position that was seen
        self._pause: asyncio.Future[None] | None = None
        self._repeated_errors = RepeatedErrors()
        self._advice = ""  # that was given last
        self.stage = ReflectorStage.STREAMING
        #: Why it is not up to date; None when it is.
        self.error: Exception | None = None
        #: How often in a row it has failed.
        self.failures: int = 0
        self._needs_check = False  # whether the server may have gone back
        self._left_behind: str | None = None  # the position at the last check, if the server was further then
        #: Whether bookmarks should have come and have not: the server was further when the last watch began.
        self.is_stalled: bool = False
        #: When the server last gave a sign of life, in the loop's time.
        self.heard_at: float | None = None

    @property
    def relists(self) -> int:
        """How many complete lists there were after the first."""
        return max(0, self._handler.lists - 1)

    def retry_now(self) -> None:
        """Try again now, if it waits after a failure: what failed is mended."""
        if self._pause is not None and not self._pause.done():
            self._pause.set_result(None)

    async def run(self) -> None:
        """Follow the target until cancelled."""
        while True:
            try:
                await self._advance()
            except Exception as error:  # noqa: BLE001 - whatever it is, the cache must not fall silent
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

    # --- talking to the server ---

    async def _page(self) -> None:
        more = ""
        while True:
            limit = (("limit", str(self._page_size)),) if self._page_size else ()
            request = self._list_watch.request(*limit, *((("continue", more),) if more else ()), timeout=PAGE_TIMEOUT)
            response = await self._transport.request(request)
            if response.status != 200:
                raise _failure(request, response, response.body)
            self._handler.begin_answer()
            more = self._handler.take_page(response.body)
            self._note_response()
            if not more:
                return

    async def _check(self) -> None:
        """Compare how far the watch has come with how far the server is, and list if the server has gone back.

        Versions are numbers that can be compared (KEP-5504). The list is the newest state, not one that is cached.
        """
        request = self._list_watch.request(("limit", "1"), timeout=CHECK_TIMEOUT)
        try:
            response = await self._transport.request(request)
            self._needs_check = False
            if response.status != 200:
                return  # the watch says why
            version = version_number(read_page(response.body).metadata.resource_version)
        except (RequestTimeout, DecodeError):  # watches may work all the same
            self._needs_check = False
            return
        position = version_number(self._handler.position or "")
        if UNORDERED in (position, version):
            return
        facts = {**self._list_watch.log_fields, "seen": position, "server": version}
        if version < position:
            log.warning("The server has gone back to an older version, as after a restore; listing again", extra=facts)
            self._handler.position = self._left_behind = None
        elif version > position and self._handler.has_bookmarks and self._left_behind == self._handler.position:
            if not self.is_stalled:
                log.warning("The watch does not follow the server; listing again", extra=facts)
            self.is_stalled = True
            self._handler.position = self._left_behind = None
        else:
            self._left_behind = self._handler.position if version > position else None

    async def _watch(self, *query: tuple[str, str]) -> None:
        loop = asyncio.get_running_loop()
        begun, position = loop.time(), self._handler.position
        seconds = str(self._random.randint(*WATCH_SECONDS))
        request = self._list_watch.request(
            ("watch", "true"), ("allowWatchBookmarks", "true"), ("timeoutSeconds", seconds), *query
        )
        try:
            async with asyncio.timeout(HEAD_SILENCE) as limit, self._transport.stream(request) as stream:
                await self._read(request, stream, limit)
        except TimeoutError as error:
            raise RequestTimeout(f"{request} was silent for longer than a living server is") from error
        finally:
            self._needs_check = position is not None and self._handler.position == position
        is_short = loop.time() - begun < INSTANT
        if self._handler.position is None or (self._handler.position == position and is_short):
            raise EndedEarly(f"{request} was ended by the server before anything came of it")
        if is_short:
            await self._wait(self._random.uniform(0.0, SHORT_PAUSE))

    async def _read(self, request: HttpRequest, stream: HttpStream, limit: asyncio.Timeout) -> None:
        if stream.status != 200:
            raise _failure(request, stream, await stream.read())
        self._handler.begin_answer()
        self._note_response()

        def take(chunk: bytes) -> None:
            try:
                self._handler.take_chunk(chunk)
                if self._handler.went_back:
                    raise WentBack(f"{request} sent a version that is lower than {self._handler.position}")
            finally:
                self._note_response()

        with IdleTimeout(limit, self._too_late):
            await deliver(stream, take)

    def _too_late(self) -> float:
        """When the server has been silent for longer than a living one is."""
        return (self.heard_at or 0.0) + (LIST_SILENCE if self._handler.position is None else WATCH_SILENCE)

    def _note_response(self) -> None:
        """Note that the server lives, and what came of it."""
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
                if self.stage is ReflectorStage.WATCHING:  # a list does not show that watches do their work
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
        self._on_news()  # who waits for the first list may rather not
        if isinstance(error, NotFound):
            if self.failures > 1:  # although it was said to be served
                self._log(error, action)
            self.stage = ReflectorStage.WAITING
            return await self._until_served(error)
        self._log(error, action)
        if action is RetryAction.DOUBT:
            self._failures_without_progress += 1
            if self._failures_without_progress >= MAX_FAILURES_WITHOUT_PROGRESS:
                self._failures_without_progress = 0
                action = RetryAction.PAGES if is_streamed_list else RetryAction.RELIST
        if action is RetryAction.PAGES:
            self._can_stream = False
        elif action is RetryAction.RELIST:
            if self.stage is ReflectorStage.PAGING:
                self._page_size = 0  # the list takes longer than the server keeps its state: all at once, then
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
        facts = {**self._list_watch.log_fields, "error": str(error), "remedy": action.value}
        if not isinstance(error, PyctrlError):
            log.error("a defect in a transform, an index or pyctrl itself", extra=facts, exc_info=error)
        elif action is RetryAction.PAGES:
            log.info("the server does not stream lists of %s, asking for pages", self._list_watch.path, extra=facts)
        elif isinstance(error, Forbidden) and self._on_refusal(error):  # somebody else says what to do, loudly
            log.log(self._level(error), "%s cannot be read: %s", self._list_watch.path, error, extra=facts)
        elif needs_attention(error):
            level = self._repeated_errors.level(str(error), logging.WARNING, asyncio.get_running_loop().time())
            log.log(level, "%s cannot be read: %s%s", self._list_watch.path, error, self._advise(error), extra=facts)
        else:
            log.log(self._level(error), "list or watch of %s failed: %s", self._list_watch.path, error, extra=facts)

    def _advise(self, error: Exception) -> Lines:
        """Say what to do; what takes several lines once only."""
        before, self._advice = self._advice, advice(error)
        return Lines("" if "\n" in self._advice and self._advice == before else self._advice)

    def _level(self, error: Exception) -> int:
        """Return how loud a failure is that may pass by itself: louder when nothing ever worked."""
        level = logging.WARNING if self.heard_at is None else logging.INFO
        return self._repeated_errors.level(str(error), level, asyncio.get_running_loop().time(), every=inf)


def _failure(request: HttpRequest, answer: HttpResponse | HttpStream, body: bytes) -> ApiError:
    seconds = answer.headers.get("Retry-After")
    return error_of(body, http_code=answer.status, request=str(request), retry_after=seconds)


class IdleTimeout:
    """Lets a timeout expire, in whose block this is, once it is too late.

    When that is changes with each event. The timer is not moved along, which would cost as much as the event: it rings
    where it was set, and is set anew when it is not too late yet.

    Args:
        timeout: what ends the wait.
        too_late: returns the time, by the loop's clock, as it is now known; it only grows.
    """

    def __init__(self, timeout: asyncio.Timeout, too_late: Callable[[], float]) -> None:
        self._timeout = timeout
        self._too_late = too_late
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        if not self._timeout.expired():  # else its time has run out in this very moment, and the cancellation is near
            self._timeout.reschedule(None)
            self._look()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        loop, due = asyncio.get_running_loop(), self._too_late()
        if loop.time() < due:
            self._timer = loop.call_at(due, self._look)
        else:
            self._timeout.reschedule(due)
