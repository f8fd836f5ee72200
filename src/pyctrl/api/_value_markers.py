"""Markers of the value types that every object uses; all other markers are in `_markers`, imported on demand."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Format", "Pattern", "SchemaMarker"]


class SchemaMarker:
    """Base of the markers. A marker at a place that it does not fit is an error of `definition`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Format(SchemaMarker):
    """Set the ``format`` of a string or a number, such as ``ipv4``; it validates nothing in Python."""

    name: str


@dataclass(frozen=True, slots=True)
class Pattern(SchemaMarker):
    """Set the ``pattern`` of a type that is a string on the wire but not in Python, so that ``Field`` cannot check it.

    The pattern is a Go (RE2) expression and is searched for: ``^`` and ``$`` anchor it to the whole string. It
    validates nothing in Python.
    """

    regex: str
