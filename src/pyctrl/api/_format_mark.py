"""The one mark that the fields of every object bear; the others are imported when a program names one."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Format", "SchemaMark"]


class SchemaMark:
    """Base of the marks. One that does not fit the place where it stands is an error of `definition`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Format(SchemaMark):
    """Set the ``format`` of a text or a number, such as ``ipv4``; it validates nothing in Python."""

    name: str
