"""The marks of values that every object has; the others are imported when a program names one."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Format", "Pattern", "SchemaMarker"]


class SchemaMarker:
    """Base of the marks. One that does not fit the place where it stands is an error of `definition`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Format(SchemaMarker):
    """Set the ``format`` of a text or a number, such as ``ipv4``; it validates nothing in Python."""

    name: str


@dataclass(frozen=True, slots=True)
class Pattern(SchemaMarker):
    """Set the ``pattern`` of a text on the wire that is no text in Python, and that ``Field(pattern=…)`` cannot check.

    It is one of Go (RE2), searched for: ``^`` and ``$`` make it the whole text. It validates nothing in Python.
    """

    regex: str
