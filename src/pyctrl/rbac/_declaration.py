"""What an author would have to write to have a right."""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.api import Access
from pyctrl.kinds import BUILTIN_KINDS

__all__ = ["declaration"]


def declaration(accesses: Sequence[Access], *, cluster: str = "") -> str:
    """Return the `allow` that declares verbs of one resource: ``allow(Deployment, "create", "patch")``.

    Args:
        accesses: at least one, of one resource; each with a verb of its own.
        cluster: the name of another cluster of the manager; "" for its own.
    """
    first = accesses[0]
    kinds = (gvk.kind for gvk, of in BUILTIN_KINDS.items() if (gvk.group, of.plural) == (first.group, first.resource))
    what = next(kinds, f'Resource("{first.group}", "{first.resource}")')
    verbs = ", ".join(f'"{access.verb}"' for access in accesses)
    part = f', subresource="{first.subresource}"' if first.subresource else ""
    part += f', cluster="{cluster}"' if cluster else ""
    return f"allow({what}, {verbs}{part})"
