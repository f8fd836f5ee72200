"""What a controller may not do: its manager reviews what it declares, and servers refuse what it tries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection

from pyctrl.api import Access
from pyctrl.controller._request import Request
from pyctrl.errors import Forbidden

__all__ = ["PermissionTracker"]

log = logging.getLogger("pyctrl.controller")

SHOWN = 3  # of each list in a sentence
MAX_LOGGED_FORBIDDEN = 100  # refusals that are said once; who may nothing need not hear of all


class PermissionTracker:
    """The rights that a controller lacks, as far as is known; nothing, before anybody has said so.

    Refused is a request whose last attempt failed because the server forbade something; it stays so until an attempt
    ends otherwise. When a right that was missing is there, the requests that it was refused to are tried again at once.
    Each cluster that the controller works in has its own rights, and is reviewed by itself.

    Args:
        retry: tries a request again, as if it had not failed.
        name: of the controller.
    """

    def __init__(self, retry: Callable[[Request], None], *, name: str = "") -> None:
        self._retry, self._name = retry, name
        self._missing: dict[str, Collection[Access]] = {}  # here and below: by cluster
        self._essential: dict[str, Collection[Access]] = {}  # of what is missing
        self._expected: set[str] = set()  # clusters whose review is still to come
        self._reviewers: dict[str, Callable[[Forbidden], object]] = {}
        self._refused: dict[Request, Forbidden] = {}
        self._logged: set[str] = set()
        self._complete = asyncio.Event()
        self._complete.set()

    # --- what the manager says ---

    def expect_review(self, cluster: str = "", *, on_refusal: Callable[[Forbidden], object] | None = None) -> None:
        """Let the controller wait: somebody will say what is missing in a cluster, and wants to know of refusals."""
        self._expected.add(cluster)
        if on_refusal is not None:
            self._reviewers[cluster] = on_refusal
        self._update_complete()

    def review(self, missing: Collection[Access], *, dispensable: Collection[Access] = (), cluster: str = "") -> None:
        """Say what is missing of what the controller needs; what it is granted is made use of at once.

        For what is ``dispensable`` of it, nothing waits.
        """
        granted = set(self._missing.get(cluster, ())).difference(missing)
        self._missing[cluster] = missing
        self._essential[cluster] = [access for access in missing if access not in dispensable]
        self._expected.discard(cluster)
        self._update_complete()
        if granted:
            self._retry_refused(missing, cluster)

    def forget(self, cluster: str) -> None:
        """Forget what is missing in a cluster that has left."""
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

    # --- what the controller finds out ---

    def record_outcome(self, request: Request, error: BaseException | None) -> None:
        """Take note of how an attempt ended."""
        refusal = None if error is None else _refusal_in(error)
        if refusal is None:
            if self._refused:
                self._refused.pop(request, None)
            return
        self._refused[request] = refusal
        if (reviewer := self._reviewers.get(refusal.cluster)) is not None:
            reviewer(refusal)

    def log_ignored(self, error: Forbidden) -> None:
        """Take note of a refusal that an attempt has ignored. It is said once; the controller lacks nothing by it."""
        refused = f"{Access.refused_by(error) or error.message}{_of(error.cluster)}"
        if refused not in self._logged and len(self._logged) < MAX_LOGGED_FORBIDDEN:
            self._logged.add(refused)
            text = "Reconciles go on although they may not %s; to be told at start, declare it with allow(...)"
            log.warning(text, refused, extra={"controller": self._name})

    async def wait_until_complete(self) -> None:
        """Wait until nothing is missing, for as long as it takes."""
        await self._complete.wait()

    @property
    def problem(self) -> str:
        """What is missing, in words; "" when nothing is."""
        if self._expected:
            return f"its rights are being reviewed{_of(min(self._expected))}"
        essential = [f"{access}{_of(cluster)}" for cluster, missing in self._essential.items() for access in missing]
        if essential:
            return f"it may not {_shortened(essential)}"
        refused = self._refused.values()
        refusals = dict.fromkeys(f"{Access.refused_by(error)}{_of(error.cluster)}" for error in refused)
        return f"it was refused to {_shortened(list(refusals))}" if refusals else ""


def _refusal_in(error: BaseException) -> Forbidden | None:
    """Find the missing right that an attempt failed of: in the error, what it was raised from, or a group of errors."""
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
