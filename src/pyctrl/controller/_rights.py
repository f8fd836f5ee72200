"""What a controller may not do: its manager reviews what it declares, and the server refuses what it tries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from pyctrl.api import Access
from pyctrl.controller._reconciler import Request
from pyctrl.errors import Forbidden

__all__ = ["Rights"]

SHOWN = 3  # of each list in a sentence


class Rights:
    """The rights that a controller lacks, as far as is known; nothing, before anybody has said so.

    Refused is a request whose last attempt failed because the server forbade something; it stays so until an attempt
    ends otherwise. When a right that was missing is there, the requests that it was refused to are tried again at once.

    Args:
        retry: tries a request again, as if it had not failed.
    """

    def __init__(self, retry: Callable[[Request], None]) -> None:
        self._retry = retry
        self._missing: Collection[Access] = ()
        self._essential: Collection[Access] = ()  # of what is missing
        self._refused: dict[Request, Forbidden] = {}
        self._is_reviewed = True
        self._complete = asyncio.Event()
        self._complete.set()
        #: Is told of each refusal: whoever reviews, to find out what is missing.
        self.on_refusal: Callable[[Forbidden], object] | None = None

    # --- what the manager says ---

    def expect_review(self) -> None:
        """Let the controller wait: somebody will say what is missing."""
        self._is_reviewed = False
        self._complete.clear()

    def review(self, missing: Collection[Access], *, dispensable: Collection[Access] = ()) -> None:
        """Say what is missing of what the controller needs; what it is granted is made use of at once.

        For what is ``dispensable`` of it, nothing waits.
        """
        granted, self._missing, self._is_reviewed = set(self._missing).difference(missing), missing, True
        self._essential = [access for access in missing if access not in dispensable]
        if self._essential:
            self._complete.clear()
        else:
            self._complete.set()
        if granted:
            for request, error in list(self._refused.items()):
                wanted = Access.refused_by(error)
                if wanted is None or not any(access.includes(wanted) for access in missing):
                    self._retry(request)

    # --- what the controller finds out ---

    def heed(self, request: Request, error: BaseException | None) -> None:
        """Take note of how an attempt ended."""
        refusal = None if error is None else _refusal_in(error)
        if refusal is None:
            if self._refused:
                self._refused.pop(request, None)
            return
        self._refused[request] = refusal
        if self.on_refusal is not None:
            self.on_refusal(refusal)

    async def wait_until_complete(self) -> None:
        """Wait until nothing is missing, for as long as it takes."""
        await self._complete.wait()

    @property
    def lack(self) -> str:
        """What is missing, in words; "" when nothing is."""
        if not self._is_reviewed:
            return "its rights are being reviewed"
        if self._essential:
            return f"it may not {_shortened([str(access) for access in self._essential])}"
        refusals = dict.fromkeys(str(Access.refused_by(error)) for error in self._refused.values())
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


def _shortened(words: list[str]) -> str:
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more
