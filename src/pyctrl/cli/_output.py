"""Output of commands: terminals, colours and JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from pyctrl.api import Access

__all__ = ["access_to_wire", "has_colour", "is_terminal", "print_json"]


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that can redraw a line."""
    return stream.isatty() and os.environ.get("TERM") not in (None, "", "dumb")


def has_colour(stream: TextIO) -> bool:
    """Return whether to print colours: on a terminal, unless NO_COLOR (https://no-color.org) is set."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def access_to_wire(access: Access) -> Mapping[str, str]:
    """Return an access with the field names of SelfSubjectAccessReview, without empty fields."""
    fields = {name: value for name, value in access._asdict().items() if value and name != "is_resource"}
    return {"group": access.group, **fields} if access.is_resource else fields
