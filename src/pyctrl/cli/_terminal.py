"""Whether somebody looks, and at what."""

from __future__ import annotations

import os
from typing import TextIO

__all__ = ["has_colour", "is_terminal"]


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream ends at something that can redraw a line."""
    return stream.isatty() and os.environ.get("TERM") not in (None, "", "dumb")


def has_colour(stream: TextIO) -> bool:
    """Whether to print colours: on a terminal that knows them, unless NO_COLOR (https://no-color.org) is set."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")
