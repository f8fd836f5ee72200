"""Kustomizations that people edit: our entries come and go, and every other line stays as it is."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["entries", "merged"]

RESOURCES = "resources:"


def merged(current: str, wanted: str, *, gone: Collection[str]) -> str:
    """Return a kustomization with the resources that another one lists, too, and without those that are gone.

    Args:
        current: the file as it is, with what people have put into it.
        wanted: the file as it would be made.
        gone: entries of files that are not there any more.
    """
    has = set(entries(current))
    new = [each for each in entries(wanted) if each not in has]
    leaving = {each for each in gone if each in has}
    if not new and not leaving:
        return current
    lines = [line for line in current.splitlines() if _entry(line) not in leaving or not _entry(line)]
    return "\n".join(_inserted(lines, new)) + "\n"


def _inserted(lines: list[str], new: list[str]) -> list[str]:
    """Put entries behind the last one of the resources."""
    if not new:
        return lines
    if RESOURCES not in lines:
        return [*lines, RESOURCES, *(f"- {each}" for each in new)]
    end = start = lines.index(RESOURCES) + 1
    while end < len(lines) and (_entry(lines[end]) or lines[end].lstrip().startswith("#")):
        end += 1
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())] if end > start else ""
    return [*lines[:end], *(f"{indent}- {each}" for each in new), *lines[end:]]


def entries(text: str) -> list[str]:
    """Return the resources of a kustomization."""
    found, is_inside = [], False
    for line in text.splitlines():
        if entry := _entry(line):
            found += [entry] * is_inside
        elif line.strip() and not line.lstrip().startswith("#"):
            is_inside = line.rstrip() == RESOURCES
    return found


def _entry(line: str) -> str:
    """Return what a line of a list names; "" for any other."""
    stripped = line.strip()
    return stripped[2:].partition(" #")[0].strip().strip("'\"") if stripped.startswith("- ") else ""
