"""What a stretch of work was forbidden, for who watches over it: code may catch an error and say nothing."""

from __future__ import annotations

from contextvars import ContextVar

from pyctrl.errors import Forbidden

__all__ = ["refusals"]

#: A list that takes each Forbidden that a request of this task, or of one that it has begun, is answered; None for
#: nobody. Who sets it empties it.
refusals: ContextVar[list[Forbidden] | None] = ContextVar("pyctrl_refusals", default=None)
