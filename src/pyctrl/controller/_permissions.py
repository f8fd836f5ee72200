"""The missing permissions of a controller, from the manager's reviews and from forbidden requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection

from pyctrl.api import Access
from pyctrl.controller._request import Request
from pyctrl.errors import Forbidden

__all__ = ["PermissionTracker"]

log = logging.getLogger("pyctrl.controller")

SHOWN = 3  # permissions in a message
MAX_LOGGED_FORBIDDEN = 100  # different forbidden requests that are logged


class PermissionTracker:
    """The permissions that a controller is known to lack.

    A request is refused when its last reconcile failed because the server forbade something, until a reconcile ends
    otherwise. Once a missing permission is granted, the requests that were refused for it are retried at once. Each
    cluster in which the controller works has its own permissions and its own review.

    Args:
        retry: retries a request, with its failures forgotten.
        name: of the controller.
    """

    def __init__(self, retry: Callable[[Request], None], *, name: str = "") -> None:
        self._retry, self._name = retry, name
        self._missing: dict[str, Collection[Access]] = {}  # by cluster, as `_essential` and `_reviewers`
        self._essential: dict[str, Collection[Access]] = {}  # the missing permissions that the controller waits for
        self._expected: set[str] = set()  # clusters without a review so far
        self._reviewers: dict[str, Callable[[Forbidden], object]] = {}
        self._refused: dict[Request, Forbidden] = {}
        self._logged: set[str] = set()
        self._complete = asyncio.Event()
        self._complete.set()

    # --- reviews ---

    def expect_review(self, cluster: str = "", *, on_refusal: Callable[[Forbidden], object] | None = None) -> None:
        """Let the controller wait for a `review` of a cluster; ``on_refusal`` is called with forbidden requests."""
        self._expected.add(cluster)
        if on_refusal is not None:
            self._reviewers[cluster] = on_refusal
        self._update_complete()

    def review(self, missing: Collection[Access], *, dispensable: Collection[Access] = (), cluster: str = "") -> None:
        """Set the missing permissions of a cluster, and retry the requests that were refused for granted ones.

        The controller does not wait for ``dispensable`` permissions.
        """
        granted = set(self._missing.get(cluster, ())).difference(missing)
        self._missing[cluster] = missing
        self._essential[cluster] = [access for access in missing if access not in dispensable]
        self._expected.discard(cluster)
        self._update_complete()
        if granted:
            self._retry_refused(missing, cluster)

    def forget(self, cluster: str) -> None:
        """Forget a cluster that has left the fleet."""
        for known in (self._missing, self._essential, self._reviewers):
            known.pop(cluster, None)
        self._expected.discard(cluster)
        self._refused = {request: error for request, error in self._refused.items() if error.cluster != cluster}
        self._update_complete()

    def _update_complete(self) -> None:
        if self._expected or any(self._essential.values()):
            self._complete.clear()
        else:
            self._complete.set()

    def _retry_refused(self, missing: Collection[Access], cluster: str) -> None:
        for request, error in list(self._refused.items()):
            wanted = Access.refused_by(error)
            is_missing = wanted is not None and any(access.includes(wanted) for access in missing)
            if error.cluster == cluster and not is_missing:
                self._retry(request)

    # --- reconciles ---

    def record_outcome(self, request: Request, error: BaseException | None) -> None:
        """Record the error with which a reconcile ended, or None."""
        refusal = None if error is None else _refusal_in(error)
        if refusal is None:
            if self._refused:
                self._refused.pop(request, None)
            return
        self._refused[request] = refusal
        if (reviewer := self._reviewers.get(refusal.cluster)) is not None:
            reviewer(refusal)

    def log_ignored(self, error: Forbidden) -> None:
        """Log a forbidden request of a reconcile that succeeded, once. It does not make the controller unready.

        What admission refuses is not logged: no permission is missing, and the reconcile has dealt with it.
        """
        wanted = Access.refused_by(error)
        refused = f"{wanted}{_of(error.cluster)}"
        if wanted is not None and refused not in self._logged and len(self._logged) < MAX_LOGGED_FORBIDDEN:
            self._logged.add(refused)
            text = (
                "Reconciles succeed although they may not %s; declare it with allow(...) to have it reviewed at start"
            )
            log.warning(text, refused, extra={"controller": self._name})

    async def wait_until_complete(self) -> None:
        """Wait, without a limit, until no essential permission is missing."""
        await self._complete.wait()

    @property
    def problem(self) -> str:
        """The missing permissions as text; "" when none is missing."""
        if self._expected:
            return f"its permissions are being reviewed{_of(min(self._expected))}"
        essential = [f"{access}{_of(cluster)}" for cluster, missing in self._essential.items() for access in missing]
        if essential:
            return f"it may not {_shortened(essential)}"
        refused = self._refused.values()
        refusals = dict.fromkeys(f"{Access.refused_by(error)}{_of(error.cluster)}" for error in refused)
        return f"it was forbidden to {_shortened(list(refusals))}" if refusals else ""


def _refusal_in(error: BaseException) -> Forbidden | None:
    """Return the Forbidden error in an error, its causes and its group, if it is about a missing permission."""
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop(0)
        if each is None or each in seen:  # an error may be its own cause
            continue
        if isinstance(each, Forbidden) and Access.refused_by(each) is not None:
            return each
        seen.append(each)
        waiting += [*(each.exceptions if isinstance(each, BaseExceptionGroup) else ()), each.__cause__]
    return None


def _of(cluster: str) -> str:
    return f" in cluster {cluster!r}" if cluster else ""


def _shortened(words: list[str]) -> str:
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more
