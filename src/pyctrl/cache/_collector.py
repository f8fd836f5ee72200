"""Python's garbage collector, held back while a list is decoded."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["WORTH_HOLDING_BACK", "held_back"]

WORTH_HOLDING_BACK = 32  # objects; fewer make less than one collection of young ones


@contextmanager
def held_back() -> Iterator[None]:
    """Do not collect in this block, which must not await: it would hold for everybody.

    A list of a thousand objects is some ten thousand new containers and no garbage. The collector, which runs after
    every 700, would look at them again and again: more than half of the time that decoding them takes.
    """
    if not gc.isenabled():  # somebody has their reasons
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
