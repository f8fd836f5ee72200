"""Whether the login may do what the program needs: reviewed at start, and whenever the server has refused something."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

from pyctrl._log import Lines
from pyctrl.api import Access
from pyctrl.cache import Informer
from pyctrl.client import Client
from pyctrl.controller import Controller
from pyctrl.errors import Forbidden, MissingPermissions
from pyctrl.manager._permissions.access_review import AccessReview, AccessReviewStatus, review_accesses, whoami
from pyctrl.manager._permissions.required import RequiredPermissions
from pyctrl.manager._runnables.runnable import RunnableHandle
from pyctrl.rbac import Grants, Permission

__all__ = ["PermissionLog", "PermissionWatcher"]


REVIEW_DELAYS = (2.0, 4.0, 8.0, 16.0, 30.0)  # seconds until what is missing is reviewed again; the last one for ever
REVIEW_TIMEOUT = 10.0  # seconds for the reviews of one round; a server that is alive takes milliseconds
REVIEW_INTERVAL = 2.0  # seconds between reviews that refusals ask for: of a server that says one thing and does another


class PermissionWatcher:
    """Review what a manager's runnables need, say what is missing, and let controllers know what they lack.

    Ready when everything was reviewed once, or could not be within ten seconds; what is unknown keeps nobody from
    anything. What is missing is reviewed again, after 2 to 30 seconds, until it is granted; then, at once, controllers
    that waited for it begin, kinds are listed, and requests that were refused are tried again.

    Args:
        client: whose rights are reviewed, and how.
        is_strict: missing rights are an error, at start.
        is_optional: the cluster is one of several of which each may lack rights: only controllers that live in it wait.
        members: what runs, with what it needs.
        informers: what is cached.
        resolve: which namespaces permissions are about.
    """

    name = "preflight"

    def __init__(
        self,
        client: Client,
        *,
        is_strict: bool,
        is_optional: bool = False,
        members: Callable[[], Iterable[RunnableHandle]],
        informers: Callable[[], Iterable[Informer]],
        resolve: Callable[[Iterable[Permission]], Grants],
    ) -> None:
        self._client, self._is_strict, self._informers = client, is_strict, informers
        self._is_optional = is_optional
        self._needs = RequiredPermissions(members=members, informers=informers, resolve=resolve, cluster=client.cluster)
        self._log = PermissionLog(self._needs)
        self._reviews: dict[Access, AccessReview] = {}
        self._suspects: dict[Access, None] = {}  # refused, although nobody knows that they are missing
        self._rounds = 0  # without news
        self._reviewed_at = 0.0
        self._news = asyncio.Event()
        self._reviewed = asyncio.Event()

    # --- what others tell, and ask ---

    def adopt(self, controller: Controller) -> None:
        """Look after a controller: it waits until its rights have been reviewed."""
        controller.permissions.expect_review(self._client.cluster, on_refusal=partial(self.suspect, by=controller))
        self._news.set()

    def reset(self) -> None:
        """Review everything again: somebody else is logged in."""
        self._reviews.clear()
        self._log.user, self._rounds = "", 0
        self._news.set()

    def suspect(self, error: Forbidden, by: Controller | None = None) -> bool:
        """Take note of a refusal; say whether what to do about it is told here."""
        refused = Access.refused_by(error)
        if refused is None or not self._reviewed.is_set():
            return refused is not None  # the first review is on its way
        self._log.user = self._log.user or error.user
        suspects = [access for access in self._needs.accesses(by) if access.includes(refused)]
        if not suspects and by is not None:
            self._needs.note_undeclared(by, refused)
            suspects = [refused]
        verdicts = {self._reviews[access].verdict for access in suspects if access in self._reviews}
        if AccessReviewStatus.UNKNOWN in verdicts:
            if by is not None:
                self._log.missing(
                    [AccessReview(access=refused, verdict=AccessReviewStatus.MISSING)]
                )  # the refusal is proof enough
            return by is not None
        if AccessReviewStatus.MISSING not in verdicts:
            self._look_into(suspects)
        return bool(suspects)

    def _look_into(self, suspects: Sequence[Access]) -> None:
        """Review soon what was refused; if that is nothing, what is needed has changed since the last review."""
        if not suspects or not self._suspects.keys() >= set(suspects):
            self._suspects.update(dict.fromkeys(suspects))
            asyncio.get_running_loop().call_at(self._reviewed_at + REVIEW_INTERVAL, self._news.set)

    @property
    def missing(self) -> dict[str, str]:
        """What is missing, in words, by the name of who needs it."""
        return self._needs.affected(review.access for review in self._with(AccessReviewStatus.MISSING))

    # --- its life ---

    async def run(self) -> None:
        """Review at start, then what was refused, and again and again what is missing."""
        await self._review()
        self._reviewed.set()
        while True:
            await self._pause()
            await self._review()

    async def wait_until_ready(self) -> None:
        """Wait for the first review. Raises MissingPermissions if that is asked for."""
        await self._reviewed.wait()
        missing = self._with(AccessReviewStatus.MISSING)
        if self._is_strict and missing:
            texts = [replace(gap, is_waiting=None).text(self._log.user) for gap in self._needs.gaps(missing)]
            raise MissingPermissions("the login may not do what this program needs:\n\n" + "\n\n".join(texts))

    async def _pause(self) -> None:
        """Wait for news, or until it is time to ask again."""
        is_open = any(self._is_open(access) for access in self._needs.accesses())
        pause = REVIEW_DELAYS[min(self._rounds, len(REVIEW_DELAYS) - 1)] if is_open else None
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._news.wait()
                return
        self._rounds += 1

    async def _review(self) -> None:
        self._news.clear()
        await self._locate()
        self._needs.refresh()
        suspects, self._suspects = self._suspects, {}
        wanted = [access for access in self._needs.accesses() if self._is_open(access) or access in suspects]
        reviews = await review_accesses(self._client, wanted, patience=timedelta(seconds=REVIEW_TIMEOUT))
        if not self._log.user and any(review.verdict is AccessReviewStatus.MISSING for review in reviews):
            self._log.user = await whoami(self._client)
        self._take(reviews)  # no await from here: what is said, what controllers know and what is asked next agree

    async def _locate(self) -> None:
        """Wait until the resources of kinds without a class are known; before, their names may be guesses."""
        with suppress(TimeoutError):
            async with asyncio.timeout(REVIEW_TIMEOUT):
                for informer in self._informers():
                    await informer.wait_until_located()

    # --- what is known ---

    def _take(self, reviews: Sequence[AccessReview]) -> None:
        """Keep what was found out, and let everybody know."""
        self._reviewed_at = asyncio.get_running_loop().time()
        for review in reviews:
            if review.verdict is not AccessReviewStatus.UNKNOWN or review.access not in self._reviews:
                self._reviews[review.access] = review
        granted = [review for review in self._with(AccessReviewStatus.ALLOWED) if review.access in self._log.told]
        missing = [review for review in self._with(AccessReviewStatus.MISSING) if review.access not in self._log.told]
        if missing or granted:
            self._rounds = 0
        if self._reviewed.is_set() or not self._is_strict:
            self._log.missing(missing)
            self._log.remind(self.missing)
        self._log.unknown(reviews)
        self._log.granted(granted)
        self._tell(granted)

    def _tell(self, granted: Sequence[AccessReview]) -> None:
        """Let controllers and informers make use of what was granted, and controllers know what they lack."""
        for review in granted:
            self._needs.forget_undeclared(review.access)
        readable = {(review.access.group, review.access.resource) for review in granted}
        for informer in self._informers():
            if informer.resource[:2] in readable:
                informer.retry_now()
        missing = {review.access for review in self._with(AccessReviewStatus.MISSING)}
        for controller, need in self._needs.of_controllers():
            lacking = [access for access in need.accesses if access in missing]
            is_guest = self._is_optional and controller.cluster != self._client.cluster
            dispensable = lacking if is_guest else need.dispensable
            controller.permissions.review(lacking, dispensable=dispensable, cluster=self._client.cluster)

    def _with(self, verdict: AccessReviewStatus) -> list[AccessReview]:
        """Return what has a verdict, of what is needed."""
        needed = self._needs.accesses()
        return [r for access in needed if (r := self._reviews.get(access)) is not None and r.verdict is verdict]

    def _is_open(self, access: Access) -> bool:
        """Tell whether a review may say something new without anybody having been refused."""
        review = self._reviews.get(access)
        return review is None or review.verdict is AccessReviewStatus.MISSING or review.may_change


log = logging.getLogger("pyctrl.manager")

REMINDER = 300.0  # seconds; whoever looks at the end of a log sees why nothing happens


class PermissionLog:
    """Says what is missing, granted or unknown, and remembers what it has said."""

    def __init__(self, needs: RequiredPermissions) -> None:
        self._needs = needs
        self._told: dict[Access, None] = {}
        self._is_mute = False
        self._reminded_at = 0.0
        #: Who is logged in, as the server says; "" before anybody knows.
        self.user = ""

    @property
    def told(self) -> Collection[Access]:
        """What was said to be missing."""
        return self._told.keys()

    def missing(self, missing: Iterable[AccessReview]) -> None:
        """Say what is missing and how to grant it, unless that was said."""
        news = [review for review in missing if review.access not in self._told]
        for gap in self._needs.gaps(news):
            log.warning("%s", Lines(gap.text(self.user)), extra={"needed_by": gap.affected})
            self._reminded_at = asyncio.get_running_loop().time()
        self._told.update(dict.fromkeys(review.access for review in news))

    def granted(self, granted: Iterable[AccessReview]) -> None:
        """Say what is no longer missing."""
        reviews = list(granted)
        for gap in self._needs.gaps(reviews):
            log.info("rights granted: %s", gap.remedy(self.user).what, extra={"needed_by": gap.affected})
        for review in reviews:
            self._told.pop(review.access, None)

    def unknown(self, reviews: Iterable[AccessReview]) -> None:
        """Say that rights could not be reviewed, once."""
        unknown = [review for review in reviews if review.verdict is AccessReviewStatus.UNKNOWN]
        if unknown and not self._is_mute:
            self._is_mute = True
            facts = {"rights": len(unknown), "reason": unknown[0].remark}
            level = logging.WARNING if unknown[0].may_change else logging.INFO
            log.log(level, "rights could not be reviewed; what is missing will show when it is refused", extra=facts)

    def remind(self, missing: Mapping[str, str]) -> None:
        """Say in one line, now and then, that rights are still missing: by name, what."""
        now = asyncio.get_running_loop().time()
        if missing and now - self._reminded_at >= REMINDER:
            self._reminded_at = now
            log.warning("rights are still missing, see above how to grant them", extra={"missing": dict(missing)})
