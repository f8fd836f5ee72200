"""Merging of tolerations, with fewer where one covers another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["is_superset", "merge_tolerations"]


_Toleration: TypeAlias = Mapping[str, Any]


def merge_tolerations(first: Sequence[_Toleration], second: Sequence[_Toleration]) -> list[_Toleration]:
    """Return all tolerations without those that another one covers; of equal ones, the first is kept."""
    every = [*first, *second]
    merged: list[_Toleration] = []
    for index, each in enumerate(every):
        if any(is_superset(kept, each) for kept in merged):
            continue
        if any(not _is_equal(each, later) and is_superset(later, each) for later in every[index + 1 :]):
            continue
        merged.append(each)
    return merged


def is_superset(whole: _Toleration, part: _Toleration) -> bool:
    """Return whether a toleration tolerates all that another one does."""
    if _is_equal(whole, part):
        return True
    key, exists = whole.get("key") or "", whole.get("operator") == "Exists"
    if (part.get("key") or "") != key and (key or not exists):
        return False
    effect = whole.get("effect") or ""
    if effect and (part.get("effect") or "") != effect:
        return False
    seconds, others = whole.get("tolerationSeconds"), part.get("tolerationSeconds")
    if effect == "NoExecute" and seconds is not None and (others is None or others > seconds):
        return False
    if exists:
        return True
    if whole.get("operator") not in ("Equal", "", None):
        return False
    return part.get("operator") == "Equal" and (part.get("value") or "") == (whole.get("value") or "")


def _is_equal(left: _Toleration, right: _Toleration) -> bool:
    names = ("key", "operator", "value", "effect", "tolerationSeconds")
    return all((left.get(name) or "") == (right.get(name) or "") for name in names[:4]) and left.get(
        names[4]
    ) == right.get(names[4])
