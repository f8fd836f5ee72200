"""A small program for `pyctrl dev`."""

from __future__ import annotations

PROGRAM = """\
def add_nothing(manager, *, colour: str = "red") -> None:
    raise ValueError(f"no {colour}")
"""
