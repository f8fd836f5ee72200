"""Permission watcher: reviews the required permissions at start and after each Forbidden response."""

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

log = logging.getLogger("pyctrl.manager")

REVIEW_DELAYS = (2.0, 4.0, 8.0, 16.0, 30.0)  # seconds before missing permissions are reviewed again; the last repeats
REVIEW_TIMEOUT = 10.0  # seconds for all reviews of one round; a healthy server takes milliseconds
REVIEW_INTERVAL = 2.0  # seconds between reviews after Forbidden responses, which reviews may contradict
REMINDER = 300.0  # seconds between reminders, so that the end of a log shows why controllers wait


class PermissionWatcher:
    """Reviews the permissions of a manager's runnables, logs missing ones, and notifies the controllers.

    Ready when all permissions were reviewed once, or after ten seconds; unknown permissions block no runnable. Missing
    permissions are reviewed again after 2 to 30 seconds until they are granted. Then controllers that waited for them
    start, kinds are listed, and forbidden requests are retried, all at once.

    Args:
        client: sends the reviews; its user is reviewed.
        is_strict: whether permissions missing at start are an error.
        is_optional: whether the cluster is one of a fleet: only controllers in that cluster wait for permissions there.
        members: returns the runnables, with the permissions that they declare.
        informers: returns the informers of the cache.
        resolve: returns the permissions that apply to this cluster, by namespace.
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
        self._suspects: dict[Access, None] = {}  # forbidden, although the last review allowed them
        self._rounds = 0  # without a change
        self._reviewed_at = 0.0
        self._changed = asyncio.Event()
        self._reviewed = asyncio.Event()

    # --- used by controllers, caches and the manager ---

    def adopt(self, controller: Controller) -> None:
        """Let a controller wait until its permissions have been reviewed."""
        controller.permissions.expect_review(
            self._client.cluster, on_refusal=partial(self.check_refusal, by=controller)
        )
        self._changed.set()

    def reset(self) -> None:
        """Review all permissions again, because the user has changed."""
        self._reviews.clear()
        self._log.user, self._rounds = "", 0
        self._changed.set()

    def check_refusal(self, error: Forbidden, by: Controller | None = None) -> bool:
        """Review an access that was forbidden; return whether this watcher logs how to grant it."""
        refused = Access.refused_by(error)
        if refused is None or not self._reviewed.is_set():
            return refused is not None  # the first review is in progress
        self._log.user = self._log.user or error.user
        suspects = [access for access in self._needs.accesses(by) if access.includes(refused)]
        if not suspects and by is not None:
            self._needs.note_undeclared(by, refused)
            suspects = [refused]
        verdicts = {self._reviews[access].verdict for access in suspects if access in self._reviews}
        if AccessReviewStatus.UNKNOWN in verdicts:
            if by is not None:
                review = AccessReview(access=refused, verdict=AccessReviewStatus.MISSING)  # as the response shows
                self._log.missing([review])
            return by is not None
        if AccessReviewStatus.MISSING not in verdicts:
            self._review_soon(suspects)
        return bool(suspects)

    def _review_soon(self, suspects: Sequence[Access]) -> None:
        """Schedule a review of forbidden accesses, or of all requirements if they have changed since the last one."""
        if not suspects or not self._suspects.keys() >= set(suspects):
            self._suspects.update(dict.fromkeys(suspects))
            asyncio.get_running_loop().call_at(self._reviewed_at + REVIEW_INTERVAL, self._changed.set)

    @property
    def missing(self) -> dict[str, str]:
        """Descriptions of the missing accesses, by the name of the runnable that needs them."""
        return self._needs.affected(review.access for review in self._with(AccessReviewStatus.MISSING))

    # --- reviews ---

    async def run(self) -> None:
        """Review all permissions at start, then repeatedly the missing and forbidden ones."""
        await self._review()
        self._reviewed.set()
        while True:
            await self._wait_for_next_round()
            await self._review()

    async def wait_until_ready(self) -> None:
        """Wait for the first review.

        Raises:
            MissingPermissions: permissions are missing, and the watcher is strict.
        """
        await self._reviewed.wait()
        missing = self._with(AccessReviewStatus.MISSING)
        if self._is_strict and missing:
            permissions = self._needs.missing_permissions(missing)
            texts = [replace(each, is_waiting=None).text(self._log.user) for each in permissions]
            raise MissingPermissions("the user may not do all that this program needs:\n\n" + "\n\n".join(texts))

    async def _wait_for_next_round(self) -> None:
        """Wait for a change, or until missing permissions are due for another review."""
        is_open = any(self._is_open(access) for access in self._needs.accesses())
        pause = REVIEW_DELAYS[min(self._rounds, len(REVIEW_DELAYS) - 1)] if is_open else None
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._changed.wait()
                return
        self._rounds += 1

    async def _review(self) -> None:
        self._changed.clear()
        await self._wait_for_discovery()
        self._needs.refresh()
        suspects, self._suspects = self._suspects, {}
        wanted = [access for access in self._needs.accesses() if self._is_open(access) or access in suspects]
        reviews = await review_accesses(self._client, wanted, patience=timedelta(seconds=REVIEW_TIMEOUT))
        if not self._log.user and any(review.verdict is AccessReviewStatus.MISSING for review in reviews):
            self._log.user = await whoami(self._client)
        self._apply(reviews)  # no await from here on: log, controllers and the next review must agree

    async def _wait_for_discovery(self) -> None:
        """Wait until the resources of kinds without a class are known; until then their names are guesses."""
        with suppress(TimeoutError):
            async with asyncio.timeout(REVIEW_TIMEOUT):
                for informer in self._informers():
                    await informer.wait_until_located()

    # --- results ---

    def _apply(self, reviews: Sequence[AccessReview]) -> None:
        """Store reviews, log what is missing or granted, and notify controllers and informers."""
        self._reviewed_at = asyncio.get_running_loop().time()
        for review in reviews:
            if review.verdict is not AccessReviewStatus.UNKNOWN or review.access not in self._reviews:
                self._reviews[review.access] = review
        granted = [review for review in self._with(AccessReviewStatus.ALLOWED) if review.access in self._log.logged]
        missing = [review for review in self._with(AccessReviewStatus.MISSING) if review.access not in self._log.logged]
        if missing or granted:
            self._rounds = 0
        if self._reviewed.is_set() or not self._is_strict:
            self._log.missing(missing)
            self._log.remind(self.missing)
        self._log.unknown(reviews)
        self._log.granted(granted)
        self._notify(granted)

    def _notify(self, granted: Sequence[AccessReview]) -> None:
        """Let informers retry granted resources, and tell controllers which permissions are missing."""
        for review in granted:
            self._needs.forget_undeclared(review.access)
        readable = {(review.access.group, review.access.resource) for review in granted}
        for informer in self._informers():
            if informer.resource[:2] in readable:
                informer.retry_now()
        missing = {review.access for review in self._with(AccessReviewStatus.MISSING)}
        for controller, need in self._needs.of_controllers():
            lacking = [access for access in need.accesses if access in missing]
            is_foreign = self._is_optional and controller.cluster != self._client.cluster
            dispensable = lacking if is_foreign else need.dispensable
            controller.permissions.review(lacking, dispensable=dispensable, cluster=self._client.cluster)

    def _with(self, verdict: AccessReviewStatus) -> list[AccessReview]:
        """Return the reviews of needed accesses that have this result."""
        needed = self._needs.accesses()
        return [r for access in needed if (r := self._reviews.get(access)) is not None and r.verdict is verdict]

    def _is_open(self, access: Access) -> bool:
        """Return whether another review may have a new result although no request was forbidden."""
        review = self._reviews.get(access)
        return review is None or review.verdict is AccessReviewStatus.MISSING or review.may_change


class PermissionLog:
    """Logs missing, granted and unknown permissions, each once."""

    def __init__(self, needs: RequiredPermissions) -> None:
        self._needs = needs
        self._logged: dict[Access, None] = {}
        self._has_logged_unknown = False
        self._reminded_at = 0.0
        #: The authenticated user, as the server returned it; "" until it is known.
        self.user = ""

    @property
    def logged(self) -> Collection[Access]:
        """The accesses that were logged as missing."""
        return self._logged.keys()

    def missing(self, missing: Iterable[AccessReview]) -> None:
        """Log missing permissions and how to grant them, unless that was logged before."""
        new = [review for review in missing if review.access not in self._logged]
        for each in self._needs.missing_permissions(new):
            log.warning("%s", Lines(each.text(self.user)), extra={"needed_by": each.affected})
            self._reminded_at = asyncio.get_running_loop().time()
        self._logged.update(dict.fromkeys(review.access for review in new))

    def granted(self, granted: Iterable[AccessReview]) -> None:
        """Log permissions that are no longer missing."""
        reviews = list(granted)
        for each in self._needs.missing_permissions(reviews):
            log.info("Permission granted: %s", each.remedy(self.user).what, extra={"needed_by": each.affected})
        for review in reviews:
            self._logged.pop(review.access, None)

    def unknown(self, reviews: Iterable[AccessReview]) -> None:
        """Log once that permissions could not be reviewed."""
        unknown = [review for review in reviews if review.verdict is AccessReviewStatus.UNKNOWN]
        if unknown and not self._has_logged_unknown:
            self._has_logged_unknown = True
            facts = {"permissions": len(unknown), "reason": unknown[0].remark}
            level = logging.WARNING if unknown[0].may_change else logging.INFO
            log.log(level, "Failed to review permissions, missing ones show as Forbidden responses", extra=facts)

    def remind(self, missing: Mapping[str, str]) -> None:
        """Log, every five minutes, that permissions are still missing."""
        now = asyncio.get_running_loop().time()
        if missing and now - self._reminded_at >= REMINDER:
            self._reminded_at = now
            text = "Permissions are still missing, see the earlier warnings for how to grant them"
            log.warning(text, extra={"missing": dict(missing)})
