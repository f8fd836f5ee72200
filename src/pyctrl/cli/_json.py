"""What programs read: JSON on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyctrl.api import Access

__all__ = ["access_to_wire", "print_json"]


def print_json(value: Any) -> None:
    """Print a value, for people to read too."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def access_to_wire(access: Access) -> Mapping[str, str]:
    """Return a right as SelfSubjectAccessReview names its parts; what says nothing is left out."""
    fields = {name: value for name, value in access._asdict().items() if value and name != "is_resource"}
    return {"group": access.group, **fields} if access.is_resource else fields
